/** Tests what a rendition shows that has the overlays of a stream in its pictures. */
import { execFile } from 'node:child_process';
import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { lookProfile } from '../../../src/core/resources/upload/look.ts';
import type { ResolvedLayer } from '../../../src/core/resources/upload/overlays.ts';
import { lookTools, makeImageLayer, makeTextLayer } from '../../kit/make/looks.ts';
import { ffmpeg, room } from '../../kit/make/prepare.ts';
import { rendition } from '../../kit/make/rendition.ts';

const run = promisify(execFile);
const WIDTH = 1280;
const RED = [255, 0, 0];
const GREY = [128, 128, 128];

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

type Spot = readonly [x: number, y: number];

/** Returns the colours at a place of all frames. */
async function readColors(file: string, [x, y]: Spot): Promise<(frame: number) => number[]> {
  const filters = `scale=in_color_matrix=bt709,format=rgb24,crop=1:1:${x}:${y}`;
  const args = ['-v', 'error', '-i', file, '-vf', filters, '-fps_mode', 'passthrough', '-f', 'rawvideo', '-'];
  const { stdout } = await run('ffmpeg', args, { encoding: 'buffer' });
  return (frame) => [...stdout.subarray(3 * frame, 3 * frame + 3)];
}

/** Whether the decoded colour is this one, as far as encoders keep it. */
const isNear = (pixel: number[], color: number[]): boolean =>
  pixel.length === 3 && pixel.every((value, i) => Math.abs(value - (color[i] ?? 0)) < 12);

async function expectColor(file: string, spot: Spot, color: number[], frames: number[]) {
  const at = await readColors(file, spot);
  expect(frames.filter((frame) => !isNear(at(frame), color)).map((frame) => [frame, at(frame)])).toEqual([]);
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
