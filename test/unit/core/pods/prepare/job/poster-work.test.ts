/** Proves that an import makes a picture of the file that shows something, upright and in its shape, and fails for none. */
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { type Imported, importSource } from '../../../../../../src/core/pods/prepare/job/import-source.ts';
import { makeRendition } from '../../../../../../src/core/pods/prepare/job/make-rendition.ts';
import type { JobContext } from '../../../../../../src/core/pods/prepare/steps/context.ts';
import { isPoster, MAX_POSTER_BYTES } from '../../../../../../src/core/resources/upload/poster.ts';
import type { UploadSpec } from '../../../../../../src/core/resources/upload/spec.ts';
import { ffmpeg, ffprobe, halfWritten, media, room } from '../../../../../kit/make/prepare.ts';
import { createContext, picture, TONE, taskFor, tools } from '../../../../../kit/make/rendition.ts';
import { run } from '../../../../../kit/run.ts';
import { serve } from '../../../../../kit/serve.ts';

type Room = Awaited<ReturnType<typeof room>>;
const KEY = 'renditions/upload-x/video-poster.jpg';
const SOUND_KEY = 'renditions/upload-x/audio-poster.jpg';
const LIMITS = { allowPrivateLinks: true, maxBytes: 2 ** 30, timeoutSeconds: 60, minBytesPerSecond: 1 };

async function importFile(
  place: Room,
  path: string,
  { type = 'video', ...more }: { type?: UploadSpec['track'] } & Partial<JobContext> = {},
): Promise<Imported> {
  const bytes = await readFile(path);
  await using server = await serve((_, response) => response.end(bytes));
  const task = { action: 'import' as const, type, url: server.url, sourceKey: 'sources/x' };
  return await importSource(
    { ...task, renditions: { content: 'upload-x' } },
    { ...createContext(place), ...more },
    LIMITS,
  );
}

interface Look {
  width: number;
  height: number;
  /** Means of the colours, from 0 to 255, of the left and of the right half. */
  left: number[];
  right: number[];
}

/** Decodes a poster. */
async function look(place: Room, key = KEY): Promise<Look> {
  const bytes = await buffer(await place.storage.read(key));
  expect(isPoster(bytes)).toBe(true);
  const path = place.path('poster.jpg');
  await writeFile(path, bytes);
  const { streams } = await ffprobe(path, '-show_streams');
  const { width, height, codec_name } = streams[0];
  expect(codec_name).toBe('mjpeg');
  const raw = place.path('poster.rgb');
  await ffmpeg('-i', path, '-vf', 'format=rgb24,scale=2:1:flags=area', '-pix_fmt', 'rgb24', '-f', 'rawvideo', raw);
  const colours = [...(await readFile(raw))];
  return { width, height, left: colours.slice(0, 3), right: colours.slice(3) };
}

const isBlack = ({ left, right }: Look): boolean => Math.max(...left, ...right) < 16;
const RED_AND_BLUE = 'color=red:s=320x180:r=25:d=4[l];color=blue:s=320x180:r=25:d=4[r];[l][r]hstack';

describe('the poster of', () => {
  test('a video is a picture of it, in its shape, of 480 pixels at most', async () => {
    await using place = await room();
    const path = await media(place.path('in.mp4'), { video: RED_AND_BLUE, audio: TONE });
    expect(await importFile(place, path)).toMatchObject({ poster: true });
    const { width, height, left, right } = await look(place);
    expect([width, height]).toEqual([480, 136]);
    expect(left[0]).toBeGreaterThan(200);
    expect(right[2]).toBeGreaterThan(200);
  });

  test('a film that begins in black is a picture of what follows', async () => {
    await using place = await room();
    const video = `${picture('640x360', 25, 4)},tpad=start_duration=6:color=black`;
    await importFile(place, await media(place.path('in.mp4'), { video }));
    expect(isBlack(await look(place))).toBe(false);
  });

  test('a film that is black all through is black, and the import is as any other', async () => {
    await using place = await room();
    await importFile(place, await media(place.path('in.mp4'), { video: 'color=black:s=640x360:r=25:d=4' }));
    expect(isBlack(await look(place))).toBe(true);
  });

  test('a film that was turned in its container is upright', async () => {
    await using place = await room();
    const lying = await media(place.path('lying.mp4'), { video: RED_AND_BLUE });
    const turned = place.path('turned.mp4');
    await ffmpeg('-i', lying, '-c', 'copy', '-metadata:s:v', 'rotate=90', turned);
    await importFile(place, turned);
    const { width, height, left } = await look(place);
    expect([width, height]).toEqual([136, 480]);
    // Both colours lie one above the other now.
    expect(Math.abs((left[0] ?? 0) - (left[2] ?? 0))).toBeLessThan(60);
  });

  test('a film with oblong pixels has the shape in which it is shown', async () => {
    await using place = await room();
    await importFile(place, await media(place.path('in.mp4'), { video: `${picture('720x576', 25, 2)},setsar=64/45` }));
    expect(await look(place)).toMatchObject({ width: 480, height: 270 });
  });

  test('a picture is that picture, and a small one is not enlarged', async () => {
    await using place = await room();
    const path = place.path('in.png');
    await ffmpeg('-f', 'lavfi', '-i', 'testsrc2=s=100x60', '-frames:v', '1', path);
    await importFile(place, path);
    expect(await look(place)).toMatchObject({ width: 100, height: 60 });
  });

  test('noise is small enough all the same', async () => {
    await using place = await room();
    const video = 'nullsrc=s=1280x720:r=25:d=1,geq=random(1)*255:128:128';
    await importFile(place, await media(place.path('in.mp4'), { video, output: ['-b:v', '40M'] }));
    const { sizeBytes = 0 } = (await place.storage.head(KEY)) ?? {};
    expect(sizeBytes).toBeGreaterThan(MAX_POSTER_BYTES / 3);
    expect(sizeBytes).toBeLessThanOrEqual(MAX_POSTER_BYTES);
  });

  test('sound is its cover art, and none where it has none', async () => {
    await using place = await room();
    const [cover, plain, song] = ['cover.png', 'plain.mp3', 'song.mp3'].map(place.path) as [string, string, string];
    await ffmpeg('-f', 'lavfi', '-i', 'testsrc2=s=600x600', '-frames:v', '1', cover);
    await ffmpeg('-f', 'lavfi', '-i', 'sine=d=3', plain);
    await ffmpeg(
      '-i',
      plain,
      '-i',
      cover,
      '-map',
      '0',
      '-map',
      '1',
      '-c:v',
      'mjpeg',
      '-disposition:v',
      'attached_pic',
      song,
    );
    expect(await importFile(place, song, { type: 'audio' })).toMatchObject({ poster: true });
    expect(await look(place, SOUND_KEY)).toMatchObject({ width: 480, height: 480 });
    await place.storage.delete(SOUND_KEY);
    expect(await importFile(place, plain, { type: 'audio' })).not.toHaveProperty('poster');
    expect(await place.storage.head(SOUND_KEY)).toBeUndefined();
  });

  test('an image shows the image', async () => {
    await using place = await room();
    const path = place.path('logo.png');
    await ffmpeg('-f', 'lavfi', '-i', RED_AND_BLUE, '-frames:v', '1', path);
    expect(await importFile(place, path, { type: 'image' })).toMatchObject({ poster: true });
    const { width, height, left } = await look(place, 'renditions/upload-x/image-poster.jpg');
    expect({ width, height, isRed: (left[0] ?? 0) > 200 }).toEqual({ width: 480, height: 136, isRed: true });
  });

  test('a file that is refused is none', async () => {
    await using place = await room();
    const path = await media(place.path('in.mp4'), { video: picture('64x64', 25, 3) });
    const limits = { ...createContext(place).limits, durationSeconds: 1 };
    await expect(importFile(place, path, { limits })).rejects.toMatchObject({ code: 'media_too_long' });
    expect(await place.storage.head(KEY)).toBeUndefined();
    expect(await halfWritten(place.path('media'))).toEqual([]);
  });
});

/** An ffmpeg that never ends when it is to make a poster, and notes its process there. */
async function makeHanging(place: Room): Promise<JobContext['tools']> {
  const path = place.path('ffmpeg');
  const script = `#!/bin/sh\ncase "$*" in *mjpeg*) echo $$ >>${place.path('pids')}; exec sleep 600;; *) exec ffmpeg "$@";; esac\n`;
  await writeFile(path, script);
  await chmod(path, 0o755);
  return { ...tools, ffmpeg: path };
}

describe('a poster whose making never ends', () => {
  test('does not keep the file from being known as imported, nor the import from ending', {
    timeout: 60_000,
  }, async () => {
    await using place = await room();
    const path = await media(place.path('in.mp4'), { video: picture('320x180', 25, 2) });
    const events: string[] = [];
    const imported = await importFile(place, path, {
      tools: await makeHanging(place),
      posterMs: 1000,
      onImported: () => events.push('imported'),
      onPoster: (isMaking) => events.push(isMaking ? 'begun' : 'given up'),
    });
    expect(events).toEqual(['begun', 'imported', 'given up']);
    expect(imported).not.toHaveProperty('poster');
    expect(imported.media.video?.width).toBe(320);
    const pid = (await readFile(place.path('pids'), 'utf8')).trim();
    await expect(run('kill', ['-0', pid])).rejects.toThrow();
  });

  test('does not keep a rendition from being complete', { timeout: 60_000 }, async () => {
    await using place = await room();
    const path = await media(place.path('in.mp4'), { video: picture('320x180', 25, 2) });
    await place.storage.write('sources/x', await readFile(path));
    const task = { ...taskFor('video', '720p30'), posterKey: KEY };
    const made = await makeRendition(task, { ...createContext(place), tools: await makeHanging(place) });
    expect(made.rendition.state).toBe('ready');
    expect(made).not.toHaveProperty('poster');
  });
});

test('an upload of an earlier release gets its poster with the next rendition, once', async () => {
  await using place = await room();
  const path = await media(place.path('in.mp4'), { video: RED_AND_BLUE });
  await place.storage.write('sources/x', await readFile(path));
  const task = { ...taskFor('video', '720p30'), posterKey: KEY };
  expect(await makeRendition(task, createContext(place))).toMatchObject({ poster: true });
  expect(await look(place)).toMatchObject({ width: 480 });
  // Another Job finds the rendition, and the poster with it.
  expect(await makeRendition(task, createContext(place))).toMatchObject({ poster: true });
  expect(await makeRendition(taskFor('video', '720p30'), createContext(place))).not.toHaveProperty('poster');
});
