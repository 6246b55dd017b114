/**
 * Names slates of the owner: what a stream shows while no item of it can be played. A slate is two seconds of a picture, made from an upload
 * with a still picture, and stands in the place of a rendition's profile, as `720p30-s0a1b2c`. Pure: no I/O, no clock.
 */
import { hashName } from './look.ts';

/** Another way of drawing makes other slates. */
const VERSION = 1;

/** Stands in the place of a rendition's profile. An upload has one slate in each quality. */
export const slateProfile = (profile: string): string => `${profile}-s${hashName([VERSION, profile])}`;

/** Reads the profile of its pictures; undefined for what is no slate. */
export const parseSlateProfile = (profile: string): string | undefined => /^(\d+p\d+)-s[0-9a-z]{6}$/.exec(profile)?.[1];
