/** Defines the quality and the frame rate of a picture as clients see them. Pure: no I/O, no clock. */
import { Type } from 'typebox';
import { FRAMERATES, type Framerate, QUALITIES, type Quality } from '../../core/resources/stream/profile.ts';

type PublicQuality = `q_${Quality}`;
type PublicFramerate = `f_${Framerate}`;
export const toPublicQuality = (quality: Quality): PublicQuality => `q_${quality}`;
export const toPublicFramerate = (framerate: Framerate): PublicFramerate => `f_${framerate}`;
export const PUBLIC_QUALITIES = QUALITIES.map(toPublicQuality);
export const PUBLIC_FRAMERATES = FRAMERATES.map(toPublicFramerate);

export const QualityOutput = Type.Enum(PUBLIC_QUALITIES, {
  title: 'StreamQuality',
  description: 'Height of the picture.',
});
export const FramerateOutput = Type.Enum(PUBLIC_FRAMERATES, {
  title: 'StreamFramerate',
  description: 'Frame rate in frames per second.',
});
