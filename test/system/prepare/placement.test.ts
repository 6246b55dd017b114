/** Tests that fields become frames, and that pictures come out as they are to be shown, whatever the container says of them. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { encodeFitting, ffmpeg, room } from '../../kit/make/prepare.ts';
import { pictureIn, rendition } from '../../kit/make/rendition.ts';

const run = promisify(execFile);

/** A second of fields with sideways movement. */
const FIELDS = 'testsrc2=s=1280x720:r=60:d=1,scroll=h=0.01,interlace=scan=tff:lowpass=off';
const MBAFF = ['-c:v', 'libx264', '-flags', '+ildct+ilme', '-x264-params', 'tff=1:interlaced=1', '-b:v', '2M'];
const FITS = [...encodeFitting(30), '-maxrate', '2M', '-bufsize', '4M'];

/** Returns the frames that look interlaced, of those of which the detector is sure. */
async function countCombs(file: string): Promise<{ interlaced: number; progressive: number }> {
  const { stderr } = await ffmpeg('-v', 'info', '-i', file, '-an', '-vf', 'idet', '-f', 'null', '-');
  const [, tff, bff, progressive] =
    /Multi frame detection: TFF:\s*(\d+) BFF:\s*(\d+) Progressive:\s*(\d+)/.exec(stderr) ?? [];
  return { interlaced: Number(tff) + Number(bff), progressive: Number(progressive) };
}

test.each([
  ['H.264 in an MP4', 'in.mp4', MBAFF],
  ['H.264 in a Matroska that claims frames', 'in.mkv', [...MBAFF, '-field_order', 'progressive']],
  [
    'H.264 that would be copied, in a Matroska that claims frames',
    'fits.mkv',
    [...FITS, ...MBAFF, '-field_order', 'progressive'],
  ],
  ['MPEG-4 ASP in an AVI', 'in.avi', ['-c:v', 'mpeg4', '-flags', '+ildct+ilme', '-b:v', '4M']],
  [
    'MPEG-2 in a Matroska that claims frames',
    'two.mkv',
    ['-c:v', 'mpeg2video', '-flags', '+ildct+ilme', '-b:v', '6M', '-field_order', 'progressive'],
  ],
])('fields become frames: %s', async (_, name, output) => {
  await using place = await room();
  const file = place.path(name);
  await ffmpeg('-f', 'lavfi', '-i', FIELDS, '-pix_fmt', 'yuv420p', ...output, file);
  expect((await countCombs(file)).interlaced).toBeGreaterThan(20);
  const made = await rendition(place, file);
  const { interlaced, progressive } = await countCombs(made.file);
  expect(interlaced).toBeLessThan(3);
  expect(progressive).toBeGreaterThan(20);
});

test('the fields of a DV recording, the lower one first, become frames', async () => {
  await using place = await room();
  const file = place.path('in.avi');
  const fields = 'testsrc2=s=720x576:r=50:d=1,interlace=scan=bff:lowpass=off';
  await ffmpeg('-f', 'lavfi', '-i', fields, '-c:v', 'dvvideo', '-pix_fmt', 'yuv420p', file);
  expect((await countCombs((await rendition(place, file)).file)).interlaced).toBeLessThan(3);
});

test('frames stay sharp in a container that claims fields', async () => {
  await using place = await room();
  const file = place.path('in.mkv');
  const rows = "color=black:s=320x180:r=30:d=0.5,geq=lum='if(mod(Y,2),200,50)':cb=128:cr=128";
  await ffmpeg(
    '-f',
    'lavfi',
    '-i',
    rows,
    '-c:v',
    'libx264',
    '-qp',
    '1',
    '-pix_fmt',
    'yuv420p',
    '-field_order',
    'tt',
    file,
  );
  const contrast = async (path: string, scale: string) => {
    const filters = `${scale}signalstats,metadata=print:key=lavfi.signalstats.YHIGH:file=-`;
    const { stdout } = await ffmpeg('-i', path, '-an', '-vf', filters, '-f', 'null', '-');
    return Number(/YHIGH=(\d+)/.exec(stdout)?.[1]);
  };
  expect(await contrast(file, '')).toBeGreaterThan(190);
  expect(await contrast((await rendition(place, file)).file, '')).toBeGreaterThan(170);
});

/** Writes the first four numbers of the matrix of the first track. */
async function placeBy(file: string, [a, b, c, d]: [number, number, number, number]): Promise<void> {
  const bytes = await readFile(file);
  const at = bytes.indexOf('tkhd') + 4 + 40;
  for (const [place, value] of [a, b, 0, c, d, 0, 0, 0].entries()) bytes.writeInt32BE(value * 65_536, at + 4 * place);
  await writeFile(file, bytes);
}

/** Returns in which quarter of the picture most of the white is. */
async function whiteCorner(file: string): Promise<string | undefined> {
  const filters = 'format=gray,scale=2:2:flags=area';
  const { stdout } = await run(
    'ffmpeg',
    ['-v', 'error', '-i', file, '-an', '-vf', filters, '-frames:v', '1', '-f', 'rawvideo', '-'],
    {
      encoding: 'buffer',
    },
  );
  const brightest = stdout.indexOf(Math.max(...stdout));
  return ['top left', 'top right', 'bottom left', 'bottom right'][brightest];
}

const CORNER = 'color=black:s=1280x720:r=30:d=0.5,drawbox=x=0:y=0:w=320:h=180:c=white:t=fill';

test.each<[string, [number, number, number, number], string]>([
  ['as it is', [1, 0, 0, 1], 'top left'],
  ['mirrored', [-1, 0, 0, 1], 'top right'],
  ['upside down', [1, 0, 0, -1], 'bottom left'],
  ['turned by 180°', [-1, 0, 0, -1], 'bottom right'],
  ['turned clockwise', [0, 1, -1, 0], 'top right'],
  ['turned counterclockwise', [0, -1, 1, 0], 'bottom left'],
  ['transposed', [0, 1, 1, 0], 'top left'],
  ['transposed over the other diagonal', [0, -1, -1, 0], 'bottom right'],
])('a picture that is to be shown %s is so, in a form that is else copied', async (_, matrix, corner) => {
  await using place = await room();
  const file = place.path('in.mp4');
  await ffmpeg('-f', 'lavfi', '-i', CORNER, '-c:v', 'libx264', ...FITS, file);
  await placeBy(file, matrix);
  expect(await whiteCorner((await rendition(place, file)).file)).toBe(corner);
});

test.each<[string, [number, number, number, number], number[]]>([
  ['twice as wide', [2, 0, 0, 1], [1280, 360, 0, 180]],
  ['skewed', [1, 0, 0.5, 1], [1280, 720, 0, 0]],
])('a picture that is to be shown %s is not copied', async (_, matrix, box) => {
  await using place = await room();
  const file = place.path('in.mp4');
  await ffmpeg('-f', 'lavfi', '-i', 'color=white:s=1280x720:r=30:d=0.5', '-c:v', 'libx264', ...FITS, file);
  await placeBy(file, matrix);
  const made = await rendition(place, file);
  expect(made.video.color_space).toBe('bt709');
  expect(await pictureIn(made.file)).toEqual(box);
});
