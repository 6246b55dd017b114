/**
 * Names looks. A look is a rendition of an item with the overlays of a stream in its pictures: `720p30-l3k9x0a` stands in the place of the
 * profile, and streams that show the same over an item share it. Pure: no I/O, no clock.
 */
import { createHash } from 'node:crypto';
import type { ResolvedLayer } from './overlays.ts';

/** Another way of drawing makes other pictures. */
const VERSION = 1;
const HASH_CHARS = 6;

const sortEntries = (fields: object): [string, unknown][] =>
  Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));

/** The fields of a layer without the key of its picture: a picture is the same wherever it is stored. */
const nameLayer = ({ show = {}, ...layer }: ResolvedLayer): unknown => [
  sortEntries(layer).filter(([name]) => name !== 'imageKey'),
  sortEntries(show),
];

/**
 * Hashes what an item shows in a profile, into 6 letters and digits. Names of Jobs have room for no more. Looks are of one account, and of
 * one item: nobody gains by two that have the same name.
 */
export const lookName = (profile: string, layers: readonly ResolvedLayer[]): string =>
  hashName([VERSION, profile, layers.map(nameLayer)]);

/** Hashes JSON into as many letters and digits as the name of a Job has room for. */
export function hashName(parts: unknown): string {
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  return BigInt(`0x${hash}`).toString(36).slice(-HASH_CHARS);
}

/** Stands in the place of a rendition's profile: `720p30-l3k9x0a`. */
export const lookProfile = (profile: string, layers: readonly ResolvedLayer[]): string =>
  `${profile}-l${lookName(profile, layers)}`;

/** Whether a storage key is that of a look. */
export const isLookKey = (key: string): boolean =>
  /^video-\d{3,4}p\d\d-l[0-9a-z]{6}[-.]/.test(key.slice(key.lastIndexOf('/') + 1));

/** Reads it; undefined for what is no look. */
export function parseLookProfile(profile: string): { profile: string; look: string } | undefined {
  const [, plain, look] = /^(\d+p\d+)-l([0-9a-z]{6})$/.exec(profile) ?? [];
  return plain === undefined || look === undefined ? undefined : { profile: plain, look };
}
