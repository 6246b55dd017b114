/**
 * Checks the shape of a rendition's index or of an entry. A test compares the checks with the schemas, which a streamer does not load
 * (lib/shape.ts). Pure: no I/O, no clock.
 */

import { atLeast, type Check, isNumber, isString, object, oneOrMore } from '../../../lib/shape.ts';
import { INDEX_VERSION, OWN_RATE_VERSION } from '../../rendition/format.ts';
import type { ChunkEntry, RenditionIndex, RenditionIndexV1 } from '../../rendition/index.ts';

const isVersion: Check = (value) => value === OWN_RATE_VERSION || value === INDEX_VERSION || value === 2;
const sha256: Check = (value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
const isPositive: Check = (value) => isNumber(value) && value > 0;
const isNotNegative: Check = (value) => isNumber(value) && value >= 0;
const frameRate = { frameRateNum: atLeast(1), frameRateDen: atLeast(1) };
const keyframes = oneOrMore(object({ frame: atLeast(0), offset: atLeast(0) }));

const chunk = object(
  {
    firstFrame: atLeast(0),
    frames: atLeast(1),
    sizeBytes: atLeast(1),
    sha256,
    audio: object({ header: isString }),
  },
  { video: object({ header: isString, delayFrames: atLeast(0), keyframes }) },
);

const entry = object(
  { version: isVersion, profile: isString, expectedFrames: atLeast(1), chunk },
  { video: object(frameRate) },
);

const about = {
  profile: isString,
  sizeBytes: atLeast(13),
  durationSeconds: isPositive,
  bitrateKbps: isNotNegative,
};

const index = object(
  {
    version: isVersion,
    ...about,
    audio: object({ frames: atLeast(1) }),
    chunks: oneOrMore(chunk),
  },
  { video: object({ ...frameRate, frames: atLeast(1) }) },
);

const indexV1 = object(
  { version: (value) => value === 1, ...about, sha256 },
  {
    video: object({ ...frameRate, frames: atLeast(1), header: isString, keyframes }),
    audio: object({ frames: atLeast(1), header: isString }),
  },
);

export const isRenditionIndex = (value: unknown): value is RenditionIndex => index(value);
export const isRenditionIndexV1 = (value: unknown): value is RenditionIndexV1 => indexV1(value);
export const isChunkEntry = (value: unknown): value is ChunkEntry => entry(value);
