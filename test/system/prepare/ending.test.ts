/** Tests that a film which was cut off in the middle plays as far as it goes, with one warning that says so. */
import { copyFile, mkdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { breaksOff } from '../../../src/core/pods/prepare/inspect/ending.ts';
import { makeRendition } from '../../../src/core/pods/prepare/job/make-rendition.ts';
import { importWhole } from '../../kit/make/imports.ts';
import { ffmpeg, room } from '../../kit/make/prepare.ts';
import { createContext, taskFor } from '../../kit/make/rendition.ts';

/** An hour, cut in the 40th minute. */
const SECONDS = 3600;
const SHARE = 0.66;
const CONTAINERS: [name: string, options: string[]][] = [
  ['film.ts', []],
  ['film.flv', []],
  ['streamed.mkv', ['-live', '1']],
  ['fragmented.mp4', ['-movflags', 'frag_keyframe+empty_moov+default_base_moof']],
];
const formatOf: Record<string, string> = { ts: 'mpegts', flv: 'flv', mkv: 'matroska,webm', mp4: 'mov,mp4,m4a' };

let place: Awaited<ReturnType<typeof room>>;
const path = (name: string) => place.path(name);

beforeAll(async () => {
  place = await room();
  // Both fit into 720p30, and are looped without encoding: 3.2 s are 96 pictures and 150 frames of AAC, which in ADTS have no times.
  const [clip, tone] = [path('clip.mp4'), path('tone.aac')];
  const picture = ['-f', 'lavfi', '-i', 'color=white:s=1280x720:r=30:d=3.2', '-c:v', 'libx264', '-preset', 'ultrafast'];
  await ffmpeg(...picture, '-pix_fmt', 'yuv420p', '-g', '96', '-bf', '0', clip);
  await ffmpeg('-f', 'lavfi', '-i', 'sine=440:r=48000', '-ac', '2', '-c:a', 'aac', '-frames:a', '150', tone);
  const times = SECONDS / 3.2;
  const frames = await readFile(tone);
  await writeFile(tone, Buffer.concat(Array.from({ length: times }, () => frames)));
  await ffmpeg('-stream_loop', String(times - 1), '-i', clip, '-i', tone, '-c', 'copy', path('whole.mkv'));
  for (const [name, options] of CONTAINERS) await ffmpeg('-i', path('whole.mkv'), '-c', 'copy', ...options, path(name));
}, 120_000);
afterAll(() => place?.[Symbol.asyncDispose]());

const open = async (name: string) =>
  breaksOff(path(name), {
    ...{ format: formatOf[name.split('.').at(-1) ?? ''] ?? '', sizeBytes: (await stat(path(name))).size },
    ...{ startSeconds: 0, declaredEndSeconds: undefined, tracks: 2, video: undefined, audio: undefined },
  });

describe('an hour that is cut off in the 40th minute', () => {
  test.each(CONTAINERS)(
    'plays what is there, and says once that it breaks off: %s',
    async (name) => {
      expect(await open(name)).toBe(false);
      await truncate(path(name), Math.floor((await stat(path(name))).size * SHARE));
      expect(await open(name)).toBe(true);
      const { media, warnings } = await importWhole(path(name));
      expect(media.durationSeconds).toBeGreaterThan(0.9 * SHARE * SECONDS);
      expect(media.durationSeconds).toBeLessThan(1.1 * SHARE * SECONDS);
      expect(warnings.filter(({ code }) => code === 'file_shortened')).toEqual([
        { code: 'file_shortened', message: expect.stringMatching(/It breaks off after 2\d\d\d\.\d s\.$/) },
      ]);
      await using made = await room();
      await mkdir(made.path('media/sources'), { recursive: true });
      await copyFile(path(name), made.path('media/sources/x'));
      const { rendition, warnings: more } = await makeRendition(taskFor('video', '720p30'), createContext(made));
      expect(Math.abs((rendition.durationSeconds ?? 0) - media.durationSeconds)).toBeLessThan(0.2);
      expect(more).toEqual([]);
    },
    600_000,
  );
});
