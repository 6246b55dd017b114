import fc from 'fast-check';
import { Compile } from 'typebox/compile';
import { expect, test } from 'vitest';
import { ChunkEntry, RenditionIndex, RenditionIndexV1 } from '../../../../../../src/core/pods/rendition/index.ts';
import {
  isChunkEntry,
  isRenditionIndex,
  isRenditionIndexV1,
} from '../../../../../../src/core/pods/streamer/tracks/document-shape.ts';
import { Program } from '../../../../../../src/core/protocol/program.ts';
import { isProgram } from '../../../../../../src/core/protocol/to-streamer.ts';

const items = [{ id: 'a', name: 'A', rendition: 'renditions/a.flv' }];
const track = { mode: 'sequential', items, lists: [{ id: 'p', items: 1 }] };
const program = {
  version: 3,
  epoch: '2026-01-02T03:04:05.678Z',
  seed: 7,
  profile: '720p30',
  video: track,
  audio: { ...track, mode: 'shuffle' },
  audioEpoch: '2026-01-02T03:04:05Z',
  skipped: { video: 'a', audio: 'b' },
  destinations: ['main'],
};
const indexV1 = {
  version: 1,
  profile: '720p30',
  sizeBytes: 1000,
  sha256: 'a'.repeat(64),
  durationSeconds: 2,
  bitrateKbps: 4,
  video: { frameRateNum: 30, frameRateDen: 1, frames: 60, header: 'AA==', keyframes: [{ frame: 0, offset: 13 }] },
  audio: { frames: 94, header: 'AA==' },
};

const chunk = {
  firstFrame: 60,
  frames: 60,
  sizeBytes: 1000,
  sha256: 'a'.repeat(64),
  video: { header: 'AA==', delayFrames: 2, keyframes: [{ frame: 60, offset: 0 }] },
  audio: { header: 'AA==' },
};
const rate = { frameRateNum: 30, frameRateDen: 1 };
const entry = { version: 2, profile: '720p30', expectedFrames: 120, video: rate, chunk };
const index = {
  version: 2,
  profile: '720p30',
  sizeBytes: 1000,
  durationSeconds: 2,
  bitrateKbps: 4,
  video: { ...rate, frames: 60 },
  audio: { frames: 94 },
  chunks: [chunk],
};

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Lists every place in a document, as the keys that lead there. */
const placesIn = (value: Json, path: string[] = []): string[][] => [
  path,
  ...(typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, child]) => placesIn(child, [...path, key]))
    : []),
];

/** Returns the document with another value at a place, or without it. */
function changed(document: Json, [key, ...rest]: string[], value: Json | undefined): Json | undefined {
  if (key === undefined) return value;
  if (typeof document !== 'object' || document === null) return document;
  const copy: { [key: string]: Json } = { ...(document as { [key: string]: Json }) };
  const child = changed(copy[key] ?? null, rest, value);
  if (child === undefined) delete copy[key];
  else copy[key] = child;
  return Array.isArray(document) ? Object.values(copy) : copy;
}

const VALUES: (Json | undefined)[] = [undefined, null, true, 0, 1, -1, 12, 13, 1.5, -0.5, 2 ** 53, '', 'x', [], {}];
const DATES = ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05+01:00', '2026-01-02', '2026-13-02T03:04:05Z', 'now'];
const anything = fc.oneof(
  fc.constantFrom(...VALUES, ...DATES, 'shuffle', 'A'.repeat(64)),
  fc.jsonValue() as fc.Arbitrary<Json>,
);

test.each([
  ['a program', program, Program, isProgram],
  ['an index', index, RenditionIndex, isRenditionIndex],
  ['an index of an earlier release', indexV1, RenditionIndexV1, isRenditionIndexV1],
  ['an entry', entry, ChunkEntry, isChunkEntry],
] as const)('%s is accepted exactly when its schema accepts it, with any change', (_, document, schema, is) => {
  const validator = Compile(schema);
  expect(is(document)).toBe(true);
  const places = fc.constantFrom(...placesIn(document as unknown as Json));
  fc.assert(
    fc.property(fc.array(fc.tuple(places, anything), { minLength: 1, maxLength: 3 }), (changes) => {
      const mutant = changes.reduce<Json | undefined>(
        (doc, [place, value]) => (doc === undefined ? doc : changed(doc, place, value)),
        document as unknown as Json,
      );
      expect(is(mutant)).toBe(validator.Check(mutant));
    }),
    { numRuns: 20_000 },
  );
});
