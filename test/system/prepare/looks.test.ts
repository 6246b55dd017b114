/** Tests what a rendition shows that has the overlays of a stream in its pictures. */
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { lookProfile } from '../../../src/core/resources/upload/look.ts';
import type { ResolvedLayer } from '../../../src/core/resources/upload/overlays.ts';
import { type Color, GREY, isNear, RED, readColors, type Spot } from '../../kit/make/colors.ts';
import { lookTools, makeImageLayer, makeTextLayer } from '../../kit/make/looks.ts';
import { ffmpeg, room } from '../../kit/make/prepare.ts';
import { rendition } from '../../kit/make/rendition.ts';

const WIDTH = 1280;

let place: Awaited<ReturnType<typeof room>>;
let tools: Awaited<ReturnType<typeof lookTools>>;
beforeAll(async () => {
  tools = await lookTools();
});
// Each has a storage of its own, since a rendition that is there is not made again.
beforeEach(async () => {
  place = await room();
  await mkdir(join(place.dir, 'media', 'sources'), { recursive: true });
});
afterEach(() => place?.[Symbol.asyncDispose]());

async function makeSource(name: string, seconds: number, more: string[] = []): Promise<string> {
  const path = join(place.dir, name);
  await ffmpeg(
    ...['-f', 'lavfi', '-i', `color=c=0x808080:s=1280x720:r=30:d=${seconds}`],
    ...['-f', 'lavfi', '-i', `sine=f=440:r=48000:d=${seconds}`, '-ac', '2', ...more, '-g', '60', '-c:a', 'aac', path],
  );
  return path;
}

/** A red square, as large as a tenth of the width, in the storage. */
async function makeLogo(): Promise<string> {
  await ffmpeg('-f', 'lavfi', '-i', 'color=c=red:s=64x64', '-frames:v', '1', join(place.dir, 'logo.png'));
  await copyFile(join(place.dir, 'logo.png'), join(place.dir, 'media', 'sources', 'logo'));
  return 'sources/logo';
}

const make = (path: string, layers: ResolvedLayer[]) =>
  rendition(place, path, 'video', lookProfile('720p30', layers), { tools, look: { layers } });

async function expectColor(file: string, spot: Spot, color: Color, frames: number[]) {
  const at = await readColors(file, [spot]);
  expect(frames.filter((frame) => !isNear(at[frame]?.[0], color)).map((frame) => [frame, at[frame]])).toEqual([]);
}

const CORNER: Spot = [WIDTH - 60, 60];

test.each([
  ['made by one encoder', 4, ['-s', '640x360']],
  ['made in parts', 40, []],
  ['of a source that is copied otherwise', 4, ['-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-bf', '0']],
])('a look %s has its layers in each picture, and is as long as the plain rendition', async (_how, seconds, more) => {
  const source = await makeSource(`${seconds}-${more.length}.mp4`, seconds, more);
  const layers = [makeImageLayer(await makeLogo(), { anchor: 'TopRight', sizePercent: 10 }), makeTextLayer('Now', {})];
  const look = await make(source, layers);
  const plain = await rendition(place, source);
  expect(look.index.video?.frames).toBe(plain.index.video?.frames);
  expect(look.index.durationSeconds).toBe(plain.index.durationSeconds);
  expect(look.index.audio.frames).toBe(plain.index.audio.frames);
  expect(look.index.video?.frames).toBe(30 * seconds);
  const frames = [0, 1, 30 * (seconds - 1), 30 * seconds - 1];
  await expectColor(look.file, CORNER, RED, frames);
  await expectColor(look.file, [200, 200], GREY, frames);
  await expectColor(plain.file, CORNER, GREY, frames);
});

test('a layer is shown at its times, to the frame', async () => {
  const source = await makeSource('timed.mp4', 40);
  const imageKey = await makeLogo();
  const at = (anchor: 'TopLeft' | 'TopRight' | 'BottomLeft', show: object) =>
    makeImageLayer(imageKey, { anchor, sizePercent: 10, show });
  const layers = [
    at('TopLeft', { firstSeconds: 2 }),
    at('TopRight', { lastSeconds: 3 }),
    at('BottomLeft', { everySeconds: 18, forSeconds: 2 }),
  ];
  const { file } = await make(source, layers);
  const all = Array.from({ length: 1200 }, (_, frame) => frame);
  const expectShown = async (spot: Spot, isShown: (frame: number) => boolean) => {
    await expectColor(file, spot, RED, all.filter(isShown));
    await expectColor(
      file,
      spot,
      GREY,
      all.filter((frame) => !isShown(frame)),
    );
  };
  await expectShown([60, 60], (frame) => frame < 60);
  await expectShown(CORNER, (frame) => frame >= 37 * 30);
  await expectShown([60, 660], (frame) => frame % 540 < 60);
});

const GREY_PICTURES = (size: string, rate: number, seconds: number) => [
  ...['-f', 'lavfi', '-i', `color=c=0x808080:s=${size}:r=${rate}:d=${seconds}`],
];
const SOUND = ['-f', 'lavfi', '-i', 'sine=f=440:r=48000'];
const X264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '60'];

/** Pictures of the first size, and from the middle on of the other, in one track. */
async function makeChangingSource(name: string, seconds: number): Promise<string> {
  const joined = place.path('joined.h264');
  const parts: Buffer[] = [];
  for (const size of ['640x360', '320x240']) {
    const part = place.path(`${size}.h264`);
    await ffmpeg(...GREY_PICTURES(size, 30, seconds / 2), ...X264, part);
    parts.push(await readFile(part));
  }
  await writeFile(joined, Buffer.concat(parts));
  const file = place.path(name);
  await ffmpeg('-r', '30', '-i', joined, ...SOUND, '-c:v', 'copy', '-c:a', 'aac', '-t', String(seconds), file);
  return file;
}

/** Grey pictures with a tone for four seconds. */
async function makeOddSource(name: string, size: string, rate: number, more: string[]): Promise<string> {
  const file = place.path(name);
  await ffmpeg(...GREY_PICTURES(size, rate, 4), ...SOUND, ...X264, '-c:a', 'aac', ...more, '-t', '4', file);
  return file;
}

async function makeRotatedSource(): Promise<string> {
  const flat = await makeOddSource('flat.mp4', '360x640', 30, []);
  await ffmpeg('-i', flat, '-c', 'copy', '-metadata:s:v:0', 'rotate=90', place.path('turned.mp4'));
  return place.path('turned.mp4');
}

test.each<[string, () => Promise<string>, number]>([
  ['changes its size', () => makeChangingSource('sizes.ts', 8), 8],
  ['changes its size in the middle of a part', () => makeChangingSource('sizes.mkv', 40), 40],
  ['is turned by its display matrix', makeRotatedSource, 4],
  ['has pixels that are not square', () => makeOddSource('wide.mp4', '320x360', 30, ['-aspect', '16:9']), 4],
  [
    'is interlaced',
    () => makeOddSource('fields.mp4', '640x360', 25, ['-flags', '+ildct+ilme', '-x264-params', 'tff=1:interlaced=1']),
    4,
  ],
  [
    'has ten bits',
    () =>
      makeOddSource('deep.mkv', '640x360', 30, [
        '-c:v',
        'libx265',
        '-pix_fmt',
        'yuv420p10le',
        '-x265-params',
        'log-level=none',
      ]),
    4,
  ],
  [
    'has pictures of uneven lengths',
    () =>
      makeOddSource('uneven.mkv', '640x360', 30, ['-vf', "select='not(mod(n,7))+not(mod(n,5))'", '-fps_mode', 'vfr']),
    4,
  ],
])('a source that %s has its layers in each picture, at their places and times', async (_what, makeIt, seconds) => {
  const source = await makeIt();
  const imageKey = await makeLogo();
  const layers = [
    makeImageLayer(imageKey, { anchor: 'TopRight', sizePercent: 10 }),
    makeImageLayer(imageKey, { anchor: 'BottomLeft', sizePercent: 10, show: { lastSeconds: 1 } }),
  ];
  const { file, index, warnings } = await make(source, layers);
  expect(warnings.map(({ code }) => code)).not.toContain('part_replaced');
  expect(index.video?.frames).toBe(30 * seconds);
  const all = Array.from({ length: 30 * seconds }, (_, frame) => frame);
  await expectColor(file, CORNER, RED, all);
  await expectColor(file, [640, 360], GREY, all);
  const isLast = (frame: number) => frame >= 30 * (seconds - 1);
  await expectColor(file, [60, 660], RED, all.filter(isLast));
  expect((await readColors(file, [[60, 660]])).filter(([color]) => isNear(color, RED))).toHaveLength(30);
});
