import { describe, expect, test } from 'vitest';
import { type GivenProgram, readOnAir } from '../../../../src/core/programme/on-air.ts';
import { describeMoment, listPlanned } from '../../../../src/core/programme/plan.ts';
import type { LoopStream } from '../../../../src/core/resources/stream/resource.ts';
import type { LoopStreamStatus, Schedule } from '../../../../src/core/resources/stream/spec.ts';
import type { UploadStatus } from '../../../../src/core/resources/upload/spec.ts';

const BEGIN_MS = Date.parse('2026-03-01T00:00:00.000Z');
const at = (seconds: number) => new Date(BEGIN_MS + seconds * 1000).toISOString();
const EPOCH = at(0);

const item = (id: string, rendition = `r/${id}`) => ({ id, name: `Film ${id}`, rendition });
const program: GivenProgram = {
  version: 3,
  epoch: EPOCH,
  seed: 1,
  video: {
    mode: 'sequential',
    items: [item('a'), item('b'), item('c')],
    lists: [
      { id: 'first', items: 2 },
      { id: 'second', items: 1 },
    ],
  },
};

const ready = (id: string, durationSeconds: number): UploadStatus => ({
  renditions: [{ profile: '720p30', state: 'ready', key: `r/${id}`, durationSeconds }],
});
const LENGTHS: Record<string, UploadStatus> = { a: ready('a', 60), b: ready('b', 30), c: ready('c', 90) };

interface Scene {
  status?: Partial<LoopStreamStatus>;
  schedule?: Schedule;
  uploads?: Record<string, UploadStatus | undefined>;
  given?: GivenProgram;
  nowSeconds?: number;
}

const anchored = (seconds = 0, more = {}) => ({
  anchors: {
    video: { version: 3, epoch: EPOCH, round: 0, turn: 0, startedAt: at(seconds), since: at(seconds), ...more },
  },
});

function read({ status = anchored(), schedule, uploads = {}, given = program, nowSeconds = 200 }: Scene = {}) {
  const all = { ...LENGTHS, ...uploads };
  const stream = { spec: { replicas: 1, ...(schedule && { schedule }) }, status } as Pick<
    LoopStream,
    'spec' | 'status'
  >;
  const findUpload = (name: string) => (all[name] ? { status: all[name] } : undefined);
  const list = readOnAir(stream, given, 'video', { findUpload, now: new Date(BEGIN_MS + nowSeconds * 1000) });
  if (!list) throw new Error('nothing is on air');
  return list;
}
const plan = (scene: Scene, from: number, to: number, limit = 100) =>
  listPlanned(read(scene), BEGIN_MS + from * 1000, BEGIN_MS + to * 1000, limit);
const short = ({ items }: ReturnType<typeof plan>) =>
  items.map(({ id, startAt, exact }) => [id, (Date.parse(startAt) - BEGIN_MS) / 1000, exact]);

describe('the plan of a stream on air', () => {
  test('has the item that plays at its begin, and those that begin before its end, with their places', () => {
    expect(plan({}, 70, 180).items).toEqual([
      {
        startAt: at(60),
        endAt: at(90),
        durationSeconds: 30,
        id: 'b',
        name: 'Film b',
        playlistID: 'first',
        rule: null,
        index: 1,
        exact: true,
      },
      {
        startAt: at(90),
        endAt: at(180),
        durationSeconds: 90,
        id: 'c',
        name: 'Film c',
        playlistID: 'second',
        rule: null,
        index: 0,
        exact: true,
      },
    ]);
  });

  test('comes in parts, each from where the last one says', () => {
    const whole = plan({}, 70, 2000);
    const items: unknown[] = [];
    for (let from: number | undefined = 70; from !== undefined; ) {
      const part = plan({}, from, 2000, 2);
      items.push(...part.items);
      from = part.nextMs === undefined ? undefined : (part.nextMs - BEGIN_MS) / 1000;
    }
    expect(items).toEqual(whole.items);
    expect(items.length).toBeGreaterThan(20);
  });

  test('begins where the list last moved: what played before a skip is not known', () => {
    expect(short(plan({ status: anchored(150) }, 0, 250))).toEqual([
      ['a', 150, true],
      ['b', 210, true],
      ['c', 240, true],
    ]);
  });

  test('is counted from the anchor, so an item that became longer moves none of the rounds before', () => {
    const status = anchored(1_000_000, { round: 5000, turn: 1, since: at(0) });
    const uploads = { a: ready('a', 61) };
    expect(short(plan({ status, uploads }, 1_000_000, 1_000_200))).toEqual([
      ['b', 1_000_000, true],
      ['c', 1_000_030, true],
      ['a', 1_000_120, true],
      ['b', 1_000_181, true],
    ]);
  });

  test('ends with the schedule, in the middle of an item', () => {
    const { items } = plan({ schedule: { endAt: at(230) } }, 190, 500);
    expect(items.map(({ id, endAt }) => [id, endAt])).toEqual([['a', at(230)]]);
    expect(plan({ schedule: { endAt: at(230) } }, 240, 500).items).toEqual([]);
  });

  test('leaves out what cannot be played: items without a rendition, and those that the pod found broken', () => {
    const given = { ...program, video: { ...program.video, items: [item('a', ''), item('b'), item('c')] } };
    expect(short(plan({ given }, 0, 120))).toEqual([
      ['b', 0, true],
      ['c', 30, true],
    ]);
    const unplayable = {
      total: 3,
      count: 1,
      items: [
        { field: 'playlistNames' as const, upload: 'b', reason: 'ItemInvalid', message: 'It is broken.', since: EPOCH },
      ],
    };
    expect(short(plan({ status: { ...anchored(), unplayable } }, 0, 120))).toEqual([
      ['a', 0, true],
      ['c', 60, true],
    ]);
  });

  test.each([
    [
      'that is still being prepared',
      { renditions: [{ profile: '720p30', state: 'pending' as const, key: 'r/b', durationSeconds: 31 }] },
      31,
    ],
    ['of which only the source is known', { media: { sha256: 'f'.repeat(64), sizeBytes: 1, durationSeconds: 32 } }, 32],
    ['of which nothing is known', undefined, 75],
  ])('is an estimate behind an item %s', (_what, b, seconds) => {
    const list = read({ uploads: { b: b as UploadStatus } });
    expect(list.exactUntilMs).toBe(BEGIN_MS + 60_000);
    expect(short(plan({ uploads: { b: b as UploadStatus } }, 0, 180)).slice(0, 3)).toEqual([
      ['a', 0, true],
      ['b', 60, false],
      ['c', 60 + seconds, false],
    ]);
  });

  test.each([
    ['until the first item of a new version plays', anchored(0, { version: 2 })],
    ['of a pod that says no place', {}],
    ['of a pod that says an impossible place', anchored(0, { turn: 3 })],
    ['of a pod that says a place beyond all numbers', anchored(0, { round: 10_000_000_000 })],
  ])('is an estimate from now on %s', (_when, status) => {
    const list = read({ status });
    expect([list.sinceMs, list.exactUntilMs]).toEqual([BEGIN_MS + 200_000, BEGIN_MS + 200_000]);
    expect(short(plan({ status }, 0, 250))).toEqual([
      ['a', 180, false],
      ['b', 240, false],
    ]);
  });

  test('of sound has whole AAC frames, as a streamer plays it', () => {
    const given: GivenProgram = { ...program, audio: { mode: 'sequential', items: [item('a')] } };
    const findUpload = () => ({ status: ready('a', 10) });
    const stream = { spec: { replicas: 1 }, status: {} } as Pick<LoopStream, 'spec' | 'status'>;
    const list = readOnAir(stream, given, 'audio', { findUpload, now: new Date(BEGIN_MS) });
    expect(list?.programme.durations).toEqual([469 * 2560]);
    expect(readOnAir(stream, program, 'audio', { findUpload, now: new Date(BEGIN_MS) })).toBeUndefined();
  });
});

describe('a moment of a stream on air', () => {
  const look = (scene: Scene, seconds: number) =>
    describeMoment(read({ ...scene, nowSeconds: seconds }), BEGIN_MS + seconds * 1000, { next: 3, last: 10 });
  const ids = (items: { id: string }[]) => items.map(({ id }) => id).join('');

  test('has the item that plays, the next three and the last ten, as far as they are known', () => {
    const { current, next, last } = look({}, 70);
    expect([current?.id, ids(next), ids(last)]).toEqual(['b', 'cab', 'a']);
    expect(ids(look({}, 10_000).last)).toBe('bacbacbacb');
    expect(ids(look({ status: anchored(0) }, 0).last)).toBe('');
  });

  test('has nothing that comes after the end of the schedule', () => {
    const { current, next } = look({ schedule: { endAt: at(95) } }, 70);
    expect([current?.id, ids(next), next[0]?.endAt]).toEqual(['b', 'c', at(95)]);
  });
});
