/** Tests sources of which a part cannot be decoded: what can be decoded plays, and one warning says that something is missing. */
import { copyFile, mkdir, open, writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { makeRendition } from '../../../src/core/pods/prepare/job/make-rendition.ts';
import { entryKey, indexKey, parseIndex, type RenditionIndex } from '../../../src/core/pods/rendition/index.ts';
import type { Storage } from '../../../src/core/pods/storage/storage.ts';
import { encodeFitting, ffmpeg, ffprobe, media, room } from '../../kit/make/prepare.ts';
import { createContext, rendition, taskFor, tools } from '../../kit/make/rendition.ts';

type Place = Awaited<ReturnType<typeof room>>;

const film = (place: Place, seconds: number, { size = '320x180', output = ['-g', '60'] } = {}) =>
  media(place.path('in.mp4'), {
    video: `smptebars=s=${size}:r=30:d=${seconds}`,
    audio: `sine=440:r=48000:d=${seconds}`,
    output: [...output, '-c:a', 'aac', '-ac', '2', '-movflags', '+faststart'],
  });

/** Overwrites the pictures between two times; the tables still describe them. */
async function damage(path: string, [from, to]: [number, number], fill: (bytes: number) => Buffer): Promise<void> {
  const { packets } = await ffprobe(path, '-select_streams', 'v', '-show_packets');
  const file = await open(path, 'r+');
  for (const { pts_time, pos, size } of packets as { pts_time: string; pos: string; size: string }[])
    if (Number(pts_time) >= from && Number(pts_time) < to)
      await file.write(fill(Number(size)), 0, Number(size), Number(pos));
  await file.close();
}

const zeros = (bytes: number) => Buffer.alloc(bytes);
const noise = (bytes: number) => Buffer.alloc(bytes, 0xa5);

describe('pictures that cannot be decoded are missed once', () => {
  test.each<[string, [number, number], (bytes: number) => Buffer, string]>([
    ['a tail of zeros', [34, 40], zeros, '0:00:32'],
    ['a tail of noise', [34, 40], noise, '0:00:32'],
    ['a hole', [20, 22], zeros, '0:00:16'],
  ])('in a film of parts: %s', async (_what, times, fill, said) => {
    await using place = await room();
    const path = await film(place, 40);
    await damage(path, times, fill);
    const { index, warnings } = await rendition(place, path);
    expect(index.video?.frames).toBe(1200);
    expect(warnings).toEqual([{ code: 'part_replaced', message: expect.stringContaining(`It begins at ${said}.`) }]);
  });

  test.each<[string, number, [number, number]]>([
    ['a tail', 8, [5, 8]],
    ['a hole', 8, [2.5, 3.5]],
  ])('in a file that one encoder makes: %s', async (_what, seconds, times) => {
    await using place = await room();
    const path = await film(place, seconds);
    await damage(path, times, zeros);
    const { warnings } = await rendition(place, path);
    expect(warnings.map(({ code }) => code)).toEqual(['part_replaced']);
  });

  test('in a file that could be copied', async () => {
    await using place = await room();
    const path = await film(place, 8, { size: '1280x720', output: encodeFitting(60) });
    // No keyframe is among them.
    await damage(path, [2.5, 3.5], zeros);
    const { warnings, index } = await rendition(place, path);
    expect(index.video?.frames).toBe(240);
    expect(warnings.map(({ code }) => code)).toEqual(['part_replaced']);
  });

  test('and nothing is said of a whole file', async () => {
    await using place = await room();
    expect((await rendition(place, await film(place, 8))).warnings).toEqual([]);
  });
});

test('a recording that begins inside a group of pictures lacks nothing', async () => {
  await using place = await room();
  const path = place.path('in.ts');
  await ffmpeg('-i', await film(place, 4), '-c', 'copy', '-bsf:v', 'noise=drop=lt(n\\,5)', path);
  expect((await rendition(place, path)).warnings).toEqual([]);
});

const readJson = async (storage: Storage, key: string) => text(await storage.read(key));

test('a film that cannot be made in parts keeps those that streams may be playing', async () => {
  await using place = await room();
  await mkdir(place.path('media/sources'), { recursive: true });
  await copyFile(await film(place, 64), place.path('media/sources/x'));
  // Two of four parts crash; one encoder of the whole does not.
  const crashes = place.path('crashes');
  const script = 'case "$*" in *start_time=32.000000*|*start_time=48.000000*) kill -SEGV $$;; esac';
  await writeFile(crashes, `#!/bin/sh\n${script}\nexec ffmpeg "$@"\n`, { mode: 0o755 });
  const task = taskFor('video', '720p30');
  const played = Promise.withResolvers<string[]>();
  const onPrepared = ({ seconds }: { seconds: number }) => {
    if (seconds >= 32)
      played.resolve(Promise.all([0, 480].map((frame) => readJson(place.storage, entryKey(task.renditionKey, frame)))));
  };
  const context = { ...createContext(place), tools: { ...tools, ffmpeg: crashes }, onPrepared };
  await makeRendition(task, context);
  const index = parseIndex(await readJson(place.storage, indexKey(task.renditionKey))) as RenditionIndex;
  expect(index.chunks.map(({ firstFrame }) => firstFrame)).toEqual([0, 480, 960, 1440]);
  const before = (await played.promise).map((entry) => JSON.parse(entry).chunk);
  expect(index.chunks.slice(0, 2)).toEqual(before);
  const after = [0, 480].map((frame) => readJson(place.storage, entryKey(task.renditionKey, frame)));
  expect(await Promise.all(after)).toEqual(await played.promise);
}, 240_000);
