/** Attacks preparation with media that claims to be long, large or involved, so that one account's work delays all others. */
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findFix } from '../../src/core/lib/codes/codes.ts';
import { transcode } from '../../src/core/pods/prepare/transcode/transcode.ts';
import { BrokenPromiseError } from '../../src/core/pods/rendition/frame-times.ts';
import { DEFAULT_LIMITS } from '../../src/core/protocol/media-limits.ts';
import type { MediaInfo } from '../../src/core/resources/upload/spec.ts';
import { importMedia } from '../kit/make/imports.ts';
import { makeMedia } from '../kit/make/made-media.ts';
import { ffmpeg, quiet, room } from '../kit/make/prepare.ts';
import { openOutput, rendition, tools } from '../kit/make/rendition.ts';
import { tempDir } from '../kit/temp-dir.ts';
import { nestedBoxes, wav, withNumbers } from './boxes.ts';

const dir = tempDir();
const path = (name: string) => join(dir, name);

const makeFile = (name: string, ...args: string[]): Promise<string> => makeMedia(path(name), ...args);
const picture = (size: string, more = 'r=25:d=1') => ['-f', 'lavfi', '-i', `color=red:s=${size}:${more}`];
const film = () => makeFile('film.mp4', ...picture('64x64'), '-c:v', 'libx264', '-preset', 'ultrafast');

const refusal = (code: string, ...words: string[]) => {
  const message = expect.stringMatching(new RegExp(words.map((word) => `(?=.*${word})`).join(''), 's'));
  return expect.objectContaining({ code, message });
};

/** Expects a code of its own, or media of at most a minute. */
async function expectHarmless(importing: Promise<MediaInfo>): Promise<void> {
  const outcome = await importing.then(
    ({ durationSeconds }) => durationSeconds,
    (error) => error.code,
  );
  if (typeof outcome === 'number') expect(outcome).toBeLessThanOrEqual(60);
  else expect(outcome).toMatch(/^media_/);
}

describe('a file of a few bytes that lasts for years', () => {
  test('by frames that are far apart is refused, with its length and the limit', async () => {
    const spread = ['-vf', 'setpts=N*100000/TB', '-fps_mode', 'passthrough', '-video_track_timescale', '1'];
    const bomb = await makeFile('spread.mp4', ...picture('64x64', 'r=25:d=40'), '-enc_time_base', '1', ...spread);
    await expect(importMedia(bomb)).rejects.toEqual(refusal('media_too_long', '99,900,000 s', '86,400 s'));
    expect(findFix('media_too_long', 'uploadError')).toContain('playlist');
  });

  test.each([
    // One entry of 25 frames, each as long as 2^31 ticks.
    ['the length of a frame', 'stts', { 12: 0x7fffffff }],
    ['the length of the track', 'mdhd', { 16: 0x7fffffff }],
    ['the length of the file', 'mvhd', { 16: 0x7fffffff }],
    ['its clock', 'mdhd', { 12: 1 }],
  ])('by a number in its header, %s, is refused, or imported with its true length', async (_, box, numbers) => {
    await expectHarmless(importMedia(withNumbers(await readFile(await film()), box, numbers)));
  });

  test('below the limit of a day is refused by its bytes, which do not speak for so much output', async () => {
    const spread = ['-vf', 'setpts=N*20000/TB', '-fps_mode', 'passthrough', '-video_track_timescale', '1'];
    const bomb = await makeFile('day.mp4', ...picture('64x64', 'r=1:d=4'), '-enc_time_base', '1', ...spread);
    const limits = { gapSeconds: 100_000 };
    await expect(importMedia(bomb, { limits })).rejects.toEqual(refusal('media_too_long', 'has only [\\d,]+ bytes'));
  });

  test('as sound, which costs as much, is refused too', async () => {
    const silence = ['-f', 'lavfi', '-i', 'anullsrc=r=8000:cl=mono', '-t', '90000', '-c:a', 'flac'];
    const bomb = await makeFile('silence.flac', ...silence, '-frame_size', '65535');
    await expect(importMedia(bomb, { type: 'audio' })).rejects.toEqual(refusal('media_too_long', '86,400 s'));
  });

  test('is refused below the service’s limit where the account’s own is lower', async () => {
    const minute = await makeFile('minute.mp4', ...picture('64x64', 'r=5:d=60'), '-preset', 'ultrafast');
    expect((await importMedia(minute)).durationSeconds).toBe(60);
    await expect(importMedia(minute, { maxDurationSeconds: 30 })).rejects.toEqual(
      refusal('media_too_long', 'limit is 30 s'),
    );
  });
});

describe('a picture that is larger than a screen', () => {
  test.each(['mov', 'gif', 'mkv'])('of 81 million pixels in %s is refused without being decoded', async (ending) => {
    const codec = ending === 'gif' ? [] : ['-c:v', 'png'];
    const bomb = await makeFile(`large.${ending}`, ...picture('9000x9000', 'r=1:d=1'), ...codec);
    await expect(importMedia(bomb)).rejects.toEqual(refusal('media_too_many_pixels', '9000 × 9000', '35,389,440'));
  });

  test('behind a small one, which the header names, is not decoded', async () => {
    await using place = await room();
    const raw = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast', '-f', 'mpegts'];
    const parts = [
      await makeFile('small.ts', ...picture('320x180', 'r=25:d=2'), ...raw),
      await makeFile('huge.ts', ...picture('1280x720', 'r=25:d=2'), ...raw, '-output_ts_offset', '2'),
    ];
    await writeFile(path('grows.ts'), Buffer.concat(await Promise.all(parts.map((part) => readFile(part)))));
    const small = { ...DEFAULT_LIMITS, pixels: 320 * 180 };
    const outcome = await rendition(place, path('grows.ts'), 'video', '720p30', { limits: small }).catch(
      (error) => error.code,
    );
    // The remaining media is the small picture, or nothing.
    if (typeof outcome !== 'object') expect(outcome).toBe('prepare_failed');
    else expect(outcome.index.durationSeconds).toBeLessThanOrEqual(4.1);
  });
});

describe('a header that claims more than a file holds', () => {
  test.each([
    ['10^9 frames', () => film().then(async (file) => withNumbers(await readFile(file), 'stsz', { 4: 1, 8: 1e9 }))],
    [
      '4 · 10^9 samples a chunk',
      () => film().then(async (file) => withNumbers(await readFile(file), 'stsc', { 12: 0xfffffff0 })),
    ],
    [
      '2^31 entries of times',
      () => film().then(async (file) => withNumbers(await readFile(file), 'stts', { 4: 0x7fffffff })),
    ],
    ['100,000 boxes in each other', async () => nestedBoxes('moov', 100_000)],
    ['4 GHz of sound', async () => wav(4_000_000_000, 2)],
    ['65,535 channels', async () => wav(8000, 65_535)],
  ])('%s: it is refused, or imported with its true content', async (claim, make) => {
    const type = /sound|channels/.test(claim) ? 'audio' : 'video';
    await expectHarmless(importMedia(await make(), { type }));
  });

  test('300 tracks are refused, with their number', async () => {
    const tracks = Array.from({ length: 300 }, () => ['-map', '0:0']).flat();
    const bomb = path('tracks.mkv');
    await ffmpeg('-i', await film(), ...tracks, '-c', 'copy', bomb);
    await expect(importMedia(bomb)).rejects.toEqual(refusal('media_too_complex', '300 tracks', '256'));
  });
});

describe('reading a file ends', () => {
  /** Makes a program in ffprobe's place that reports a small film, and then runs `packets`. */
  async function prober(name: string, packets: string): Promise<string> {
    const header =
      '{"streams":[{"index":0,"codec_name":"h264","codec_type":"video","width":64,"height":64}],"format":{"size":"100000"}}';
    const script = `#!/bin/bash\ncase "$*" in *json*) echo '${header}' ;; *) echo $$ > "${path(`${name}.pid`)}"; ${packets} ;; esac\n`;
    await writeFile(path(name), script);
    await chmod(path(name), 0o755);
    return path(name);
  }
  const hasEnded = async (name: string) => {
    const pid = Number(await readFile(path(`${name}.pid`), 'utf8'));
    await expect
      .poll(() => {
        try {
          process.kill(pid, 0);
          return true;
        } catch {
          return false;
        }
      })
      .toBe(false);
  };

  test('at the first packet beyond a limit, however many there are', async () => {
    const ffprobe = await prober('endless', 'exec yes "stream_index=0|pts_time=1|duration_time=0.04|size=1|flags=K_"');
    await expect(importMedia(await film(), { ffprobe, limits: { frames: 10_000 } })).rejects.toEqual(
      refusal('media_too_complex', '10,001 frames', 'limit is 10,000'),
    );
    await hasEnded('endless');
  });

  test('after a time, without any report', async () => {
    const ffprobe = await prober('silent', 'exec sleep 600');
    await expect(importMedia(await film(), { ffprobe, limits: { probeSeconds: 1 } })).rejects.toEqual(
      refusal('prepare_timeout', '1 s'),
    );
    await hasEnded('silent');
  });

  test('by the work that decoding all of it would be', async () => {
    await expect(
      importMedia(await film(), { limits: { frames: 100, pixels: 5000, gigapixels: 1 } }),
    ).resolves.toBeDefined();
  });
});

test('an encoder that goes on for ever is ended where the source was promised to end', async () => {
  await using place = await room();
  const endless = ['-v', 'error', ...picture('64x64', 'r=30'), '-f', 'lavfi', '-i', 'anullsrc=r=48000:cl=stereo'];
  const codecs = [
    '-c:v',
    'libx264',
    '-preset',
    'ultrafast',
    '-pix_fmt',
    'yuv420p',
    '-bf',
    '0',
    '-g',
    '60',
    '-c:a',
    'aac',
  ];
  const args = [...endless, ...codecs, '-output_ts_offset', '1', '-f', 'flv', 'pipe:1'];
  const options = { ffmpeg: tools.ffmpeg, framerate: 30 as const, seconds: 10, log: quiet };
  const { signal } = new AbortController();
  const output = openOutput(place, 30);
  const making = transcode(args, output, {
    ...options,
    signal,
    most: { seconds: 40, bytes: 1e9 },
  });
  await expect(making).rejects.toThrow(new BrokenPromiseError('it lasts more than 40 s'));
  await output.stop();
});

describe('real people’s media is accepted', () => {
  test('a picture with a song, of which there is one frame', async () => {
    const song = ['-f', 'lavfi', '-i', 'sine=d=120', '-c:a', 'aac', '-b:a', '24k'];
    const file = await makeFile('song.mp4', ...picture('640x360', 'r=1:d=1'), ...song);
    await expect(importMedia(file)).resolves.toMatchObject({ video: { width: 640 } });
  });

  test('a silent slide show with a picture each ten seconds, for ten hours', async () => {
    const slides = ['-vf', 'setpts=N*10/TB', '-fps_mode', 'passthrough', '-enc_time_base', '1'];
    const file = await makeFile('slides.mp4', ...picture('320x180', 'r=1:d=3600'), ...slides, '-preset', 'ultrafast');
    expect((await importMedia(file)).durationSeconds).toBeGreaterThanOrEqual(35_990);
  });

  test('8K, and a file with a hundred fonts', async () => {
    const eightK = await makeFile('8k.mp4', ...picture('7680x4320', 'r=1:d=1'), '-preset', 'ultrafast');
    await expect(importMedia(eightK)).resolves.toMatchObject({ video: { width: 7680, height: 4320 } });
    await writeFile(path('font.ttf'), 'font');
    const fonts = Array.from({ length: 100 }, (_, at) => [
      ...['-attach', path('font.ttf'), `-metadata:s:t:${at}`, 'mimetype=application/x-truetype-font'],
    ]).flat();
    const file = path('fonts.mkv');
    await ffmpeg('-i', await film(), ...fonts, '-c', 'copy', file);
    await expect(importMedia(file)).resolves.toMatchObject({ durationSeconds: 1 });
  });

  test('recordings joined end to end, whose clock jumps by half a day: they last as long as both', async () => {
    const film = ['-c:v', 'libx264', '-preset', 'ultrafast', '-f', 'mpegts'];
    const first = await makeFile('first.ts', ...picture('64x64', 'r=25:d=2'), ...film);
    const second = await makeFile('second.ts', ...picture('64x64', 'r=25:d=2'), ...film, '-output_ts_offset', '50000');
    for (const parts of [
      [first, second],
      [second, first],
    ]) {
      const joined = Buffer.concat(await Promise.all(parts.map((part) => readFile(part))));
      expect((await importMedia(joined)).durationSeconds).toBeCloseTo(4, 0);
    }
  });
});
