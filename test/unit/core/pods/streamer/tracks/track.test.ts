import { Readable } from 'node:stream';
import pino from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sleep, systemClock } from '../../../../../../src/core/lib/clock.ts';
import { encodeHeader, encodeTag, TAG_AUDIO, TAG_VIDEO } from '../../../../../../src/core/pods/rendition/flv.ts';
import type { Storage } from '../../../../../../src/core/pods/storage/storage.ts';
import { TrackPlayer } from '../../../../../../src/core/pods/streamer/tracks/track.ts';
import { buildIndex, buildProgram } from '../../../../../kit/make/streamer.ts';
import { until } from '../../../../../kit/wait.ts';

const ANSWER_MS = 50;
const ITEMS = 500;

let ended = new AbortController();
beforeEach(() => {
  ended = new AbortController();
});
afterEach(() => ended.abort());

const picture = (keyframe: boolean) => Buffer.from([keyframe ? 0x17 : 0x27, 1, 0, 0, 0, 9]);
const media = Buffer.concat([
  encodeHeader({ audio: true, video: true }),
  encodeTag(TAG_VIDEO, 0, Buffer.from([0x17, 0, 0, 0, 0, 1])),
  encodeTag(TAG_AUDIO, 0, Buffer.from([0xaf, 0, 0x11, 0x90])),
  ...Array.from({ length: 60 }, (_, n) => encodeTag(TAG_VIDEO, Math.round((n * 1000) / 30), picture(n === 0))),
  encodeTag(TAG_AUDIO, 0, Buffer.from([0xaf, 1, 0, 0])),
]);
const index = Buffer.from(JSON.stringify(buildIndex(media, 30)));

/** A slow storage, as one in another region; `asked` counts its requests. */
function slowStorage() {
  const build = (key: string) => (key.endsWith('.json') ? index : media);
  const storage: Partial<Storage> & { asked: number } = {
    asked: 0,
    head: async (key) => {
      storage.asked++;
      await sleep(ANSWER_MS);
      return { sizeBytes: build(key).length, modifiedAt: new Date(0), version: '1' };
    },
    read: async (key, { start = 0, end = build(key).length } = {}) => {
      storage.asked++;
      await sleep(ANSWER_MS);
      return Readable.from([build(key).subarray(start, end)]);
    },
  };
  return storage;
}

test('500 items in a storage that takes 50 ms an answer are on air a few seconds after the start, where their clock stands', async () => {
  const storage = slowStorage();
  const items = Array.from({ length: ITEMS }, (_, n) => ({ id: `item-${n}`, name: `${n}`, rendition: `r/${n}.flv` }));
  // 2 s each: the clock stands in the 301st.
  const epoch = new Date(Date.now() - 601_000).toISOString();
  const program = buildProgram(items, { epoch });
  const log = pino({ level: 'silent' });
  const track = new TrackPlayer({
    storage: storage as Partial<Storage> as Storage,
    kind: 'video',
    clock: systemClock,
    log,
    signal: ended.signal,
    onData: () => undefined,
  });
  const started = performance.now();
  await track.load(program, program.video);
  const item = await until('the first item', () => {
    const next = track.next();
    return typeof next === 'string' ? undefined : next;
  });
  const tookMs = performance.now() - started;
  expect(storage.asked).toBeGreaterThan(ITEMS);
  // One after the other they would take 100 s.
  expect(tookMs).toBeLessThan((storage.asked * ANSWER_MS) / 8);
  expect(Number(item.name)).toBeGreaterThanOrEqual(300);
  expect(Number(item.name)).toBeLessThanOrEqual(300 + Math.ceil(tookMs / 2000));
  const { current } = track.stats();
  expect(current).toMatchObject({ name: item.name, durationSeconds: 2 });
  const begun = Date.parse(epoch) + Number(item.name) * 2000;
  expect(current?.positionSeconds).toBeLessThanOrEqual(Math.max(0, (Date.now() - begun) / 1000 + 0.1));
  expect(current?.positionSeconds).toBeGreaterThanOrEqual(0);
  track.close();
});

test('a skip passes over left-out items, and reaches one that joins later', async () => {
  const items = [
    { id: 'a', name: 'a', rendition: 'r/a.flv' },
    { id: 'late', name: 'late', rendition: '' },
    { id: 'gone', name: 'gone', rendition: '' },
    { id: 'b', name: 'b', rendition: 'r/b.flv' },
  ];
  const program = buildProgram(items, { epoch: new Date().toISOString() });
  const track = new TrackPlayer({
    storage: slowStorage() as Partial<Storage> as Storage,
    kind: 'video',
    clock: systemClock,
    log: pino({ level: 'silent' }),
    signal: ended.signal,
    onData: () => undefined,
  });
  const nextName = () =>
    until('the next item', () => {
      const next = track.next();
      return typeof next === 'string' ? undefined : next.name;
    });
  await track.load(program, program.video);
  expect(await nextName()).toBe('a');
  expect(track.stats().next).toMatchObject({ id: 'b' });
  const first = track.skip();
  expect([await nextName(), await first]).toEqual(['b', true]);
  const joined = items.map((item) => (item.id === 'late' ? { ...item, rendition: 'r/late.flv' } : item));
  const later = { ...program, version: program.version + 1, video: { ...program.video, items: joined } };
  await track.load(later, later.video);
  const names = [];
  for (let n = 0; n < 3; n++) {
    const skip = track.skip();
    names.push(await nextName());
    expect(await skip).toBe(true);
  }
  expect(names).toEqual(['a', 'late', 'b']);
  track.close();
});
