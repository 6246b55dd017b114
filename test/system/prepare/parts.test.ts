/** Tests that a rendition in parts is complete after any interruptions, and that no part is encoded twice. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { SourceFile } from '../../../src/core/pods/prepare/inspect/source-file.ts';
import { listChunks } from '../../../src/core/pods/prepare/transcode/chunk-writer.ts';
import { cutParts } from '../../../src/core/pods/prepare/transcode/part-plan.ts';
import { readPartsPlan } from '../../../src/core/pods/prepare/transcode/part-plan-object.ts';
import { makeParts, makeRangeParts } from '../../../src/core/pods/prepare/transcode/parts.ts';
import type { PlanInput } from '../../../src/core/pods/prepare/transcode/plan.ts';
import { parseChunkKey } from '../../../src/core/pods/rendition/format.ts';
import { type Chunk, chunkKey } from '../../../src/core/pods/rendition/index.ts';
import type { Storage } from '../../../src/core/pods/storage/storage.ts';
import { DEFAULT_LIMITS } from '../../../src/core/protocol/media-limits.ts';
import { halfWritten, media, quiet, room } from '../../kit/make/prepare.ts';
import { tools } from '../../kit/make/rendition.ts';
import { tempDir } from '../../kit/temp-dir.ts';

const KEY = 'renditions/x/video-720p24.flv';
const FRAMES = 64 * 24;

/** Describes a film of four parts. Its pictures change seldom, so they are encoded fast. */
async function describeFilm(path: string): Promise<PlanInput> {
  await media(path, {
    video: 'smptebars=s=160x90:r=2:d=64',
    audio: 'sine=440:r=44100:d=64',
    output: ['-g', '20', '-c:a', 'aac'],
  });
  const { signal } = new AbortController();
  const examined = await new SourceFile(path, { type: 'video', tools, signal, limits: DEFAULT_LIMITS }).examine();
  const only = { maxPixels: DEFAULT_LIMITS.pixels, canTonemap: false, allowCopy: false };
  return { path, ...examined, type: 'video', quality: '720p', framerate: 24, ...only };
}

/** ffmpeg with x264's fastest preset: which parts are made, and when, is the same with any. */
const fastFfmpeg = join(tempDir(), 'ffmpeg');
beforeAll(async () => {
  const replace = 'for arg; do shift; [ "$arg" = veryfast ] && arg=ultrafast; set -- "$@" "$arg"; done';
  await writeFile(fastFfmpeg, `#!/bin/sh\n${replace}\nexec ffmpeg "$@"\n`, { mode: 0o755 });
});

const optionsFor = (storage: Storage, input: PlanInput, { signal } = new AbortController()) => ({
  ...{ storage, renditionKey: KEY, profile: '720p24', input, videoFrames: FRAMES },
  ...{ ffmpeg: fastFfmpeg, signal, log: quiet },
});

const make = (storage: Storage, input: PlanInput, onProgress = () => {}, stop?: AbortController) =>
  makeParts({ ...optionsFor(storage, input, stop), keepsSameOnly: false, onProgress, onPrepared: () => {} });

/** Calls `onWritten` with the key of each chunk that is complete. */
const watch = (storage: Storage, onWritten: (key: string) => void): Storage => ({
  head: (key) => storage.head(key),
  read: (...args) => storage.read(...args),
  write: (...args) => storage.write(...args),
  withLocalFile: (...args) => storage.withLocalFile(...args),
  delete: (key) => storage.delete(key),
  list: (prefix) => storage.list(prefix),
  publish: (key, fill, complete = () => key) =>
    storage.publish(key, fill, () => {
      const completed = complete();
      onWritten(completed);
      return completed;
    }),
});

/** A program in place of ffmpeg that notes the frames of each part which it begins with. */
async function countingFfmpeg(place: Awaited<ReturnType<typeof room>>) {
  const [ffmpeg, begun] = [place.path('counts'), place.path('begun')];
  const script = `#!/bin/sh\necho "$*" | grep -o 'trim=end_frame=[0-9]*' >> '${begun}'\nexec ffmpeg "$@"\n`;
  await writeFile(ffmpeg, script, { mode: 0o755 });
  const countFrames = async () => {
    const lines = (await readFile(begun, 'utf8').catch(() => '')).split('\n').filter(Boolean);
    return lines.reduce((sum, line) => sum + Number(line.split('=').at(-1)), 0);
  };
  return { ffmpeg, countFrames };
}

test('twenty Jobs that are killed at any time lose half a minute each at most, make what one makes, and no part twice', async () => {
  await using place = await room();
  await using other = await room();
  const input = await describeFilm(place.path('in.mkv'));
  const whole = await make(other.storage, input);
  expect(whole.chunks.map(({ firstFrame }) => firstFrame)).toEqual([0, 384, 768, 1152]);

  const { storage } = place;
  const written: string[] = [];
  const watched = watch(storage, (key) => written.push(key));
  const lengths = new Map(cutParts(FRAMES, 24).map(({ firstFrame, endFrame }) => [firstFrame, endFrame - firstFrame]));
  const countWritten = () =>
    written.reduce((sum, key) => sum + (lengths.get(parseChunkKey(key)?.firstFrame ?? -1) ?? Number.NaN), 0);
  const { ffmpeg, countFrames } = await countingFfmpeg(place);
  let lost = 0;
  for (let killed = 0; killed < 20; killed++) {
    const stop = new AbortController();
    // A random number of steps: they come a few times a second, and at the end of a part.
    let steps = Math.floor(Math.random() * 4);
    const onProgress = () => {
      if (steps-- <= 0) stop.abort(new Error('SIGKILL'));
    };
    const options = { ...optionsFor(watched, input, stop), ffmpeg, keepsSameOnly: false, onPrepared: () => {} };
    const isMade = await makeParts({ ...options, onProgress }).then(
      () => true,
      () => false,
    );
    expect(isMade || stop.signal.aborted).toBe(true);
    expect(await halfWritten(place.path('media'))).toEqual([]);
    const lostBefore = lost;
    lost = (await countFrames()) - countWritten();
    expect(lost - lostBefore).toBeLessThanOrEqual(32 * 24);
  }
  expect(await make(watched, input)).toEqual(whole);
  expect(written.toSorted()).toEqual([...new Set(written)].toSorted());
  const keys: string[] = [];
  for await (const { key } of listChunks(storage, KEY)) keys.push(key);
  expect(keys).toHaveLength(8);
}, 480_000);

test('another Job makes parts by the plan alone, and the first one only adds what is missing', async () => {
  await using place = await room();
  const { storage } = place;
  const input = await describeFilm(place.path('in.mkv'));
  const { path } = input;
  const stop = new AbortController();
  const begun = make(storage, input, () => stop.abort(new Error('SIGTERM')), stop);
  await expect(begun).rejects.toThrow('SIGTERM');

  const plan = await readPartsPlan(storage, KEY);
  if (!plan) throw new Error('no plan');
  const parts = cutParts(plan.videoFrames, plan.input.framerate);
  const other = optionsFor(storage, { ...plan.input, path });
  expect(await makeRangeParts(other, parts.slice(1))).toBe(3);
  expect(await makeRangeParts(other, parts.slice(1))).toBe(0);

  const written: string[] = [];
  const prepared: number[] = [];
  const index = await makeParts({
    ...optionsFor(
      watch(storage, (key) => written.push(key)),
      input,
    ),
    keepsSameOnly: true,
    onPrepared: (frames) => prepared.push(frames),
  });
  expect(written).toEqual([chunkKey(KEY, index.chunks[0] as Chunk)]);
  expect(prepared).toEqual([FRAMES]);
  expect(index.chunks.map(({ firstFrame, frames }) => [firstFrame, frames])).toEqual([
    [0, 384],
    [384, 384],
    [768, 384],
    [1152, 384],
  ]);
});

test('chunks of another content go before anything is made of this one', async () => {
  await using place = await room();
  const { storage } = place;
  const input = await describeFilm(place.path('in.mkv'));
  const part = cutParts(FRAMES, 24).slice(2);
  await makeRangeParts(optionsFor(storage, input), part);
  const written: string[] = [];
  const stop = new AbortController();
  const onPrepared = () => stop.abort(new Error('SIGTERM'));
  const watched = watch(storage, (key) => written.push(key));
  const made = makeParts({ ...optionsFor(watched, input, stop), keepsSameOnly: true, onPrepared });
  await expect(made).rejects.toThrow('SIGTERM');
  const left: string[] = [];
  for await (const { key, isEntry } of listChunks(storage, KEY)) if (!isEntry) left.push(key);
  expect(left).toEqual(written.toSorted());
});

test('black and silence stand in for a part that crashes ffmpeg, and a warning says where', async () => {
  await using place = await room();
  const { storage } = place;
  const input = await describeFilm(place.path('in.mkv'));
  const ffmpeg = place.path('crashes');
  const crashAt = (...times: number[]) => {
    const cases = times.map((time) => `*start_time=${time}.000000*) kill -SEGV $$;;`).join(' ');
    return writeFile(ffmpeg, `#!/bin/sh\ncase "$*" in ${cases} esac\nexec '${fastFfmpeg}' "$@"\n`, { mode: 0o755 });
  };
  const make = () => makeParts({ ...optionsFor(storage, input), ffmpeg, keepsSameOnly: false, onPrepared: () => {} });
  await crashAt(0);
  await expect(make()).rejects.toThrow();
  await crashAt(16, 32);
  await expect(make()).rejects.toThrow();
  await crashAt(32);
  const index = await make();
  expect(index.warnings?.map(({ code }) => code)).toEqual(['part_replaced']);
  expect(index.warnings?.[0]?.message).toMatch(/It begins at 0:00:32\.$/);
  const black = index.chunks.filter(({ standsIn }) => standsIn);
  expect(black.map(({ video }) => video?.header)).toEqual([index.chunks[0]?.video?.header]);
  expect(index.video?.frames).toBe(FRAMES);
});
