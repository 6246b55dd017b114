/**
 * Checks the shape of a program, an index or an entry against its schema. The checks are written by hand, because the schema
 * library takes more memory than all the rest of a streamer. A test compares them with the schemas.
 * Pure: no I/O, no clock.
 */

import type { Program } from '../../../resources/stream/program.ts';
import { INDEX_VERSION, OWN_RATE_VERSION } from '../../rendition/format.ts';
import type { ChunkEntry, RenditionIndex, RenditionIndexV1 } from '../../rendition/index.ts';

type Check = (value: unknown) => boolean;

const isString: Check = (value) => typeof value === 'string';
const isInteger = (value: unknown): value is number => Number.isInteger(value);
const isNumber = (value: unknown): value is number => Number.isFinite(value);
const atLeast =
  (minimum: number): Check =>
  (value) =>
    isInteger(value) && value >= minimum;

/** Checks an object's members; more members are allowed. */
const object =
  (members: Record<string, Check>, optional: Record<string, Check> = {}): Check =>
  (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    const own = value as Record<string, unknown>;
    return (
      Object.entries(members).every(([name, check]) => Object.hasOwn(own, name) && check(own[name])) &&
      Object.entries(optional).every(([name, check]) => !Object.hasOwn(own, name) || check(own[name]))
    );
  };

const oneOrMore =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.length > 0 && value.every(check);

/** RFC 3339, section 5.6. */
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;
const isDateTime: Check = (value) =>
  typeof value === 'string' && DATE_TIME.test(value) && !Number.isNaN(Date.parse(value));

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

const track = object({
  mode: (value) => value === 'sequential' || value === 'shuffle',
  items: oneOrMore(object({ id: isString, name: isString, rendition: isString })),
});

const program = object(
  {
    version: isInteger,
    epoch: isDateTime,
    seed: isInteger,
    profile: isString,
    video: track,
    destinations: oneOrMore(isString),
  },
  {
    audio: track,
    audioEpoch: isDateTime,
    skipped: object({}, { video: isString, audio: isString }),
    destinationsRevision: isString,
  },
);

export const isRenditionIndex = (value: unknown): value is RenditionIndex => index(value);
export const isRenditionIndexV1 = (value: unknown): value is RenditionIndexV1 => indexV1(value);
export const isChunkEntry = (value: unknown): value is ChunkEntry => entry(value);
export const isProgram = (value: unknown): value is Program => program(value);
