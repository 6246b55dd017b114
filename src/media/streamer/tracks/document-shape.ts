/**
 * Checks the shape of a program or an index against its schema. The checks are written by hand, because the schema
 * library takes more memory than all the rest of a streamer. A test compares them with the schemas.
 * Pure: no I/O, no clock.
 */

import type { Program } from '../../../resources/stream/program.ts';
import { INDEX_VERSION } from '../../rendition/format.ts';
import type { RenditionIndex } from '../../rendition/index.ts';

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

const index = object(
  {
    version: (value) => value === INDEX_VERSION,
    profile: isString,
    sizeBytes: atLeast(13),
    sha256: (value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value),
    durationSeconds: (value) => isNumber(value) && value > 0,
    bitrateKbps: (value) => isNumber(value) && value >= 0,
  },
  {
    video: object({
      frameRateNum: atLeast(1),
      frameRateDen: atLeast(1),
      frames: atLeast(1),
      header: isString,
      keyframes: oneOrMore(object({ frame: atLeast(0), offset: atLeast(0) })),
    }),
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
export const isProgram = (value: unknown): value is Program => program(value);
