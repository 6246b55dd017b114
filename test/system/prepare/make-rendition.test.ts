import { copyFile, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { makeRange } from '../../../src/core/pods/prepare/job/make-range.ts';
import { makeRendition } from '../../../src/core/pods/prepare/job/make-rendition.ts';
import {
  type Chunk,
  chunkKey,
  entryKey,
  indexKey,
  parseIndex,
  type RenditionIndex,
} from '../../../src/core/pods/rendition/index.ts';
import type { Storage } from '../../../src/core/pods/storage/storage.ts';
import { FRAMERATES, formatProfile } from '../../../src/core/resources/stream/profile.ts';
import { findChunkKeys } from '../../kit/make/chunks.ts';
import { encodeFitting, FITTING_PICTURE, ffmpeg, halfWritten, media, room } from '../../kit/make/prepare.ts';
import {
  createContext,
  picture,
  pictureIn,
  played,
  rendition,
  TONE,
  taskFor,
  tools,
} from '../../kit/make/rendition.ts';

const DEMO = fileURLToPath(new URL('../../../tools/local/demo/bigbuckbunny.mp4', import.meta.url));

/** This is long enough for the number of pictures to show a wrong frame rate. */
const SHORT = 0.4;
const tone = `sine=440:r=48000:d=${SHORT}`;
const white = (size: string, fps = 30) => `color=white:s=${size}:r=${fps}:d=${SHORT}`;

/** The sound begins a tenth of a second after the pictures, and these not at zero. */
const LATE = ['-muxdelay', '3', '-af', 'asetpts=PTS+0.1/TB'];

/** Rounding to another frame rate may move the end by one frame. */
function expectFrames({ videoTimes, video }: Awaited<ReturnType<typeof rendition>>, frames: number): void {
  expect(Math.abs(videoTimes.length - frames)).toBeLessThanOrEqual(1);
  expect(video.profile).toBe('High');
}

const readIndex = async (storage: Storage, key: string) =>
  parseIndex(await text(await storage.read(indexKey(key)))) as RenditionIndex;

describe('any source becomes a rendition that keeps its promises', () => {
  const sources: [string, { video: string; audio?: string; output?: string[]; name?: string }][] = [
    [
      '50 frames a second, and 5.1 sound at 96 kHz',
      { video: picture('320x180', 50, SHORT), audio: `anoisesrc=r=96000:d=${SHORT},pan=5.1|c0=c0|c1=c0` },
    ],
    [
      'MPEG-4 in AVI with 25 frames a second and MP3 in mono',
      {
        video: picture('320x180', 25, SHORT),
        audio: `${tone},aformat=channel_layouts=mono`,
        output: ['-c:v', 'mpeg4', '-c:a', 'libmp3lame'],
        name: 'in.avi',
      },
    ],
    [
      'a transport stream of 23.976 frames a second that begins late, with sound that begins later',
      { video: picture('320x180', '24000/1001', SHORT), audio: tone, output: LATE, name: 'in.ts' },
    ],
  ];
  test.each(sources)('%s', async (_what, { name = 'in.mp4', ...source }) => {
    await using place = await room();
    const made = await rendition(place, await media(place.path(name), source));
    expectFrames(made, 12);
  });

  test('no sound, an odd size that keeps its shape between black borders, and a start that is not zero', async () => {
    await using place = await room();
    const source = { video: white('321x241'), output: ['-output_ts_offset', '7.3'] };
    const made = await rendition(place, await media(place.path('in.mkv'), source));
    expectFrames(made, 12);
    expect(await pictureIn(made.file)).toEqual([960, 720, 160, 0]);
  });

  test('interlaced MPEG-2 in a transport stream, of pixels that are made square', async () => {
    await using place = await room();
    const output = ['-c:v', 'mpeg2video', '-flags', '+ildct+ilme'];
    const source = { video: `${white('720x576', 25)},setsar=16/15`, audio: tone, output };
    const made = await rendition(place, await media(place.path('in.ts'), source));
    expectFrames(made, 12);
    expect(await pictureIn(made.file)).toEqual([960, 720, 160, 0]);
  });

  test('a phone’s portrait video stands upright, and is HEVC with 10 bits', async () => {
    await using place = await room();
    const output = ['-c:v', 'libx265', '-pix_fmt', 'yuv420p10le', '-x265-params', 'log-level=none'];
    const flat = await media(place.path('flat.mp4'), { video: white('640x360'), audio: tone, output });
    const turned = place.path('turned.mp4');
    await ffmpeg('-i', flat, '-c', 'copy', '-metadata:s:v:0', 'rotate=90', turned);
    const made = await rendition(place, turned);
    expectFrames(made, 12);
    expect(await pictureIn(made.file)).toEqual([404, 720, 438, 0]);
  });

  test('sound and pictures stay together to the millisecond, with any B-frames and open GOPs', async () => {
    await using place = await room();
    const moment = (yes: string, no: string) => `'if(between(t,0.4,0.6),${yes},${no})'`;
    const source = await media(place.path('in.mov'), {
      video: "color=black:s=320x180:r=30:d=0.7,drawbox=t=fill:c=white:enable='between(t,0.4,0.6)'",
      audio: `aevalsrc=${moment('sin(2*PI*1000*t)', '0')}:s=44100:d=0.7`,
      output: ['-c:a', 'pcm_s16le', '-bf', '3', '-x264-params', 'open-gop=1:keyint=10'],
    });
    const { file } = await rendition(place, source);
    const { y, heard } = await played(file);
    expect(y.findIndex((brightness) => brightness > 100)).toBe(12);
    expect(heard[0]).toBeCloseTo(0.4, 2);
  });

  test('for a preview it is small, and the first minute of a longer source', async () => {
    await using place = await room();
    const long = { video: 'color=white:s=160x90:r=5:d=63', audio: 'sine=440:d=63', name: 'in.mkv' };
    const made = await rendition(place, await media(place.path('in.mkv'), long), 'video', 'preview');
    expect(made.videoTimes).toHaveLength(1800);
    expect(made.index.bitrateKbps).toBeLessThan(1000);
  });

  test('the demo clip, 25 frames a second and 5.1, becomes 720p30', async () => {
    await using place = await room();
    const begin = place.path('in.mp4');
    await ffmpeg('-i', DEMO, '-c', 'copy', '-t', String(SHORT), begin);
    expectFrames(await rendition(place, begin), 12);
  });
});

// Still pictures encode fast. All of them change at once late in a GOP, which must begin no other one: before its middle an encoder would
// not consider that.
const still = (seconds: number) => ({
  video: `smptebars=s=320x180:r=25:d=${seconds},drawbox=t=fill:c=black:enable='between(t,0.5,1.5)'`,
  audio: `sine=440:d=${seconds}`,
});

test.each(FRAMERATES)('%d frames a second, over a GOP and more', async (framerate) => {
  await using place = await room();
  const seconds = 2.08;
  const source = await media(place.path('in.mp4'), still(seconds));
  const made = await rendition(place, source, 'video', formatProfile('720p', framerate));
  expect(made.keyframes).toEqual([0, 2 * framerate]);
  expectFrames(made, seconds * framerate);
});

// The encoder's GOP settings depend on the frame rate alone (plan.test.ts). Nine times as many pixels cost nine times as much, and a few
// pictures show the quality.
test.each([['1080p', 60] as const, ['1440p', 30] as const, ['2160p', 24] as const])(
  '%s in %d frames a second',
  async (quality, framerate) => {
    await using place = await room();
    const source = await media(place.path('in.mp4'), still(0.2));
    const made = await rendition(place, source, 'video', formatProfile(quality, framerate));
    expectFrames(made, 0.2 * framerate);
  },
);

describe('sound alone', () => {
  test.each([
    [
      'MP3 with cover art',
      'in.mp3',
      ['-map', '1:a', '-map', '0:v', '-frames:v', '1', '-c:v', 'mjpeg', '-disposition:v', 'attached_pic'],
    ],
    ['mono FLAC', 'in.flac', ['-map', '1:a', '-ac', '1']],
    ['Opus', 'in.ogg', ['-map', '1:a', '-c:a', 'libopus']],
    ['the sound of a video', 'in.mp4', []],
  ])('%s becomes an audio rendition', async (_what, name, output) => {
    await using place = await room();
    const source = await media(place.path(name), { video: picture('64x64'), audio: TONE, output });
    const made = await rendition(place, source, 'audio');
    expect(made.video).toBeUndefined();
    expect(made.index.video).toBeUndefined();
    expect(made.index.durationSeconds).toBeCloseTo(1, 1);
  });

  test('cover art does not make a video of it', async () => {
    await using place = await room();
    const output = ['-map', '1:a', '-map', '0:v', '-frames:v', '1', '-c:v', 'mjpeg', '-disposition:v', 'attached_pic'];
    const source = await media(place.path('in.mp3'), { video: picture('64x64'), audio: TONE, output });
    await expect(rendition(place, source, 'video')).rejects.toMatchObject({ code: 'media_has_no_video' });
  });
});

describe('a rendition is made once', () => {
  const fitting = {
    video: `${picture('320x180', 30, 2.5)},scale=1280:720:flags=neighbor`,
    audio: 'sine=440:r=48000:d=2.6',
    output: [
      ...['-profile:v', 'main', '-pix_fmt', 'yuv420p', '-bf', '0', '-g', '60', '-sc_threshold', '0'],
      ...['-b:v', '2M', '-maxrate', '2M', '-bufsize', '4M', '-ac', '2'],
    ],
  };

  test('a source that fits is copied picture by picture', async () => {
    await using place = await room();
    const source = await media(place.path('in.mp4'), fitting);
    const made = await rendition(place, source);
    expect(made.video.profile).not.toBe('High');
    const hashes = async (path: string) =>
      (
        await ffmpeg('-i', path, '-map', '0:v', '-c', 'copy', '-bsf:v', 'h264_mp4toannexb', '-f', 'framehash', '-')
      ).stdout.match(/\b[0-9a-f]{64}\b/g);
    expect(await hashes(made.file)).toEqual(await hashes(source));
  });

  test('the source is read once: its header is believed, and the output is proven', async () => {
    await using place = await room();
    await mkdir(place.path('media/sources'), { recursive: true });
    await copyFile(await media(place.path('in.mp4'), fitting), place.path('media/sources/x'));
    const ffprobe = place.path('ffprobe');
    await writeFile(ffprobe, `#!/bin/sh\necho asked >> '${place.path('asked')}'\nexec ffprobe "$@"\n`, { mode: 0o755 });
    const context = { ...createContext(place), tools: { ffmpeg: 'ffmpeg', ffprobe, drawText: 'draw-text' } };
    expect(await makeRendition(taskFor('video', '720p30'), context)).toMatchObject({
      rendition: { durationSeconds: 2.5 },
    });
    expect(await readFile(place.path('asked'), 'utf8')).toBe('asked\n');
  });

  test('a source with other too far apart is encoded, and the second time only looked up, unless its index is missing', async () => {
    await using place = await room();
    const apart = { video: picture('1280x720', 30, 4.5), output: [...fitting.output, '-g', '300'] };
    const made = await rendition(place, await media(place.path('in.mp4'), apart));
    expect(made.video.profile).toBe('High');
    const task = taskFor('video', '720p30');
    await place.storage.delete('sources/x');
    expect(await makeRendition(task, createContext(place))).toMatchObject({ rendition: { state: 'ready' } });
    expect(made.index.chunks).toHaveLength(1);
    await place.storage.delete(indexKey(task.renditionKey));
    await expect(makeRendition(task, createContext(place))).rejects.toMatchObject({ code: 'not_found' });
  });

  test('what an interrupted Job has prepared stays, and the next one completes it with the same bytes', async () => {
    await using place = await room();
    await mkdir(place.path('media/sources'), { recursive: true });
    const long = { video: 'color=red:s=1280x720:r=30:d=65', audio: 'sine=440:r=48000:d=65', output: ['-g', '60'] };
    // The times of Matroska are read before, so its chunks can be played at once.
    const source = await media(place.path('in.mkv'), long);
    await copyFile(source, place.path('media/sources/x'));
    const task = taskFor('video', '720p30');
    const stop = new AbortController();
    const prepared: number[] = [];
    const onPrepared = ({ seconds, totalSeconds }: { seconds: number; totalSeconds: number }) => {
      expect(totalSeconds).toBeCloseTo(65, 0);
      prepared.push(seconds);
      stop.abort(new Error('SIGTERM'));
    };
    await expect(makeRendition(task, { ...createContext(place, stop.signal), onPrepared })).rejects.toThrow('SIGTERM');
    expect(prepared[0]).toBe(30);
    const [chunk = ''] = await findChunkKeys(place.storage, task.renditionKey, 0);
    const first = await place.storage.head(chunk);
    const entry = await place.storage.head(entryKey(task.renditionKey, 0));
    expect(first?.sizeBytes).toBeGreaterThan(0);
    expect(entry).toBeDefined();
    expect(await place.storage.head(indexKey(task.renditionKey))).toBeUndefined();
    expect(await halfWritten(place.path('media'))).toEqual([]);

    const made = await rendition(place, source);
    expect(await findChunkKeys(place.storage, task.renditionKey, 0)).toEqual([chunk]);
    expect(await place.storage.head(chunk)).toEqual(first);
    expect(await place.storage.head(entryKey(task.renditionKey, 0))).toEqual(entry);
    expect(made.index.chunks.map(({ firstFrame }) => firstFrame)).toEqual([0, 900, 1800]);
    await using another = await room();
    expect((await rendition(another, source)).index).toEqual(made.index);
  });

  test('a copy that breaks behind its first chunk leaves that to streams, and only the rest is encoded', async () => {
    await using place = await room();
    const path = place.path('in.mkv');
    const output = [...encodeFitting(60), '-b:v', '3M', '-c:a', 'aac', '-ac', '2'];
    const [video, audio] = [FITTING_PICTURE.replace('d=8', 'd=40'), 'sine=440:r=48000:d=40'];
    await media(path, { video, audio, output });
    // A copy of less than all of it fails; encoding works.
    const part = Math.floor((await stat(path)).size * 0.9);
    const breaks = place.path('breaks');
    const script = `#!/bin/sh\ncase "$*" in *'-c:v copy'*) ffmpeg "$@" | head -c ${part}; exit 1;; esac\nexec ffmpeg "$@"\n`;
    await writeFile(breaks, script, { mode: 0o755 });
    const task = taskFor('video', '720p30');
    await mkdir(place.path('media/sources'), { recursive: true });
    await copyFile(path, place.path('media/sources/x'));
    const parts: number[] = [];
    const first = Promise.withResolvers<string[]>();
    const onPrepared = ({ seconds }: { seconds: number }) => {
      parts.push(Math.round(seconds));
      if (parts.length === 1) first.resolve(findChunkKeys(place.storage, task.renditionKey, 0));
    };
    await makeRendition(task, { ...createContext(place), tools: { ...tools, ffmpeg: breaks }, onPrepared });
    const index = await readIndex(place.storage, task.renditionKey);
    expect(parts).toEqual([30, 30, 40]);
    expect(index.chunks.map(({ firstFrame }) => firstFrame)).toEqual([0, 900]);
    expect(await first.promise).toEqual([chunkKey(task.renditionKey, index.chunks[0] as Chunk)]);
    expect(index.chunks[0]?.video?.header).not.toBe(index.chunks[1]?.video?.header);
    expect(index.video?.frames).toBe(1200);
  });

  test('pictures that change their size on the way are encoded, and a warning says so', async () => {
    await using place = await room();
    const [path, joined] = [place.path('in.ts'), place.path('joined.h264')];
    const pieces = ['1280x720', '640x360'].map(async (size) => {
      const piece = place.path(`${size}.h264`);
      await ffmpeg('-f', 'lavfi', '-i', `testsrc2=s=${size}:r=30:d=4`, ...encodeFitting(60), piece);
      return readFile(piece);
    });
    await writeFile(joined, Buffer.concat(await Promise.all(pieces)));
    const sound = ['-f', 'lavfi', '-i', 'sine=440:r=48000:d=8'];
    await ffmpeg('-r', '30', '-i', joined, ...sound, '-c:v', 'copy', '-c:a', 'aac', '-ac', '2', path);
    const { index, warnings } = await rendition(place, path);
    expect(index.video?.frames).toBe(240);
    expect(warnings.map(({ code }) => code)).toContain('media_changes');
  });

  test('a range is left alone where no Job makes the whole in parts', async () => {
    await using place = await room();
    const task = { ...taskFor('video', '720p30'), action: 'range' as const };
    expect(await makeRange(task, 1, createContext(place))).toBe(0);
  });

  test('stopping it in the middle leaves nothing', async () => {
    await using place = await room();
    await mkdir(join(place.dir, 'media', 'sources'), { recursive: true });
    // Much of it is hard to encode, so that output appears long before the end.
    await media(place.path('media/sources/x.mp4'), { video: 'nullsrc=s=320x180:r=30:d=4,noise=alls=100:allf=t' });
    const stop = new AbortController();
    const task = { ...taskFor('video', '720p60'), sourceKey: 'sources/x.mp4' };
    const shares: number[] = [];
    const onProgress = (share: number) => {
      shares.push(share);
      stop.abort(new Error('SIGTERM'));
    };
    await expect(makeRendition(task, { ...createContext(place, stop.signal), onProgress })).rejects.toThrow('SIGTERM');
    expect(shares[0]).toBeLessThan(1);
    expect(await halfWritten(place.path('media'))).toEqual([]);
    expect(await findChunkKeys(place.storage, task.renditionKey, 0)).toEqual([]);
  });
});
