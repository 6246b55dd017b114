/** Tests what is said of files that hold nothing, or were never finished, and that more containers than the everyday ones are read. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { importMedia } from '../../../../../kit/make/imports.ts';
import { ffmpeg, media, room } from '../../../../../kit/make/prepare.ts';
import { picture } from '../../../../../kit/make/rendition.ts';

const refused = (file: Buffer) => importMedia(file).catch((error: unknown) => error);

test('an empty file is said to be empty, also one of zeros', async () => {
  expect(await refused(Buffer.alloc(0))).toMatchObject({ code: 'media_empty', message: 'The file is empty.' });
  expect(await refused(Buffer.alloc(100_000))).toMatchObject({ code: 'media_empty' });
});

test.each(['in.mp4', 'in.mov'])('a recording without its index was never finished: %s', async (name) => {
  await using place = await room();
  const whole = await readFile(await media(place.path(name), { video: picture('64x64') }));
  const recorded = whole.subarray(0, whole.indexOf('moov') - 4);
  expect(await refused(recorded)).toMatchObject({
    code: 'media_unfinished',
    message: expect.stringMatching(/never finished: its index is missing/),
  });
  // A recorder that knows no size yet writes zero.
  const open = Buffer.from(recorded);
  open.writeUInt32BE(0, open.indexOf('mdat') - 4);
  expect(await refused(open)).toMatchObject({ code: 'media_unfinished' });
  const cut = whole.subarray(0, whole.indexOf('mdat') + 100);
  expect(await refused(cut)).toMatchObject({ code: 'media_unreadable', message: expect.stringMatching(/breaks off/) });
});

test.each([
  ['in.wtv', ['-c:v', 'mpeg2video', '-c:a', 'mp2'], 'mpeg2video'],
  ['in.y4m', ['-an', '-pix_fmt', 'yuv420p'], 'rawvideo'],
  ['in.mpjpeg', ['-an', '-c:v', 'mjpeg', '-f', 'mpjpeg'], 'mjpeg'],
  ['in.h263', ['-an', '-s', '352x288', '-c:v', 'h263', '-f', 'h263'], 'h263'],
  ['in.h261', ['-an', '-s', '352x288', '-c:v', 'h261', '-f', 'h261'], 'h261'],
  [
    'in.dnxhd',
    ['-an', '-s', '1920x1080', '-r', '25', '-c:v', 'dnxhd', '-b:v', '120M', '-pix_fmt', 'yuv422p', '-f', 'dnxhd'],
    'dnxhd',
  ],
])('%s is imported', async (name, output, codec) => {
  await using place = await room();
  const sound = output[0] === '-an' ? [] : ['-f', 'lavfi', '-i', 'sine=440:d=1'];
  await ffmpeg('-f', 'lavfi', '-i', picture('320x240'), ...sound, ...output, place.path(name));
  const found = await importMedia(place.path(name));
  expect(found.video?.codec).toBe(codec);
  expect(found.durationSeconds).toBeCloseTo(1, 0);
});

test('a file in which nothing is known is said to be damaged or raw, with the way on', async () => {
  const raw = Buffer.from(Array.from({ length: 4000 }, (_, at) => Math.round(128 + 100 * Math.sin(at / 9))));
  expect(await refused(raw)).toMatchObject({
    code: 'media_unreadable',
    message: expect.stringMatching(/raw media without a header\. Export it as /),
  });
});

test('sound in LATM is imported', async () => {
  await using place = await room();
  await ffmpeg('-f', 'lavfi', '-i', 'sine=440:r=48000:d=1', '-c:a', 'aac', '-f', 'latm', place.path('in.latm'));
  expect((await importMedia(place.path('in.latm'), { type: 'audio' })).audio).toMatchObject({ sampleRate: 48_000 });
});
