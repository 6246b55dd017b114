/** Tests that pictures are copied over a break of their clock, and that sound and pictures stay together behind it. */
import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { importMedia } from '../../../../../kit/make/imports.ts';
import { ffmpeg, media, room } from '../../../../../kit/make/prepare.ts';
import { played, rendition } from '../../../../../kit/make/rendition.ts';

const FPS = 30;
const PART_SECONDS = 2;
const PARTS = 4;
/** A part is white and has a tone for a second, then it is black and silent. */
const FLASH = `color=black:s=1280x720:r=${FPS}:d=${PART_SECONDS},drawbox=t=fill:c=white:enable='lt(t,0.99)'`;
const BEEP = `aevalsrc='if(lt(t,1),0.5*sin(2764*t),0)':s=48000:d=${PART_SECONDS}:c=stereo`;
const FITTING = [
  '-c:v',
  'libx264',
  '-profile:v',
  'main',
  '-pix_fmt',
  'yuv420p',
  '-bf',
  '2',
  '-b_strategy',
  '0',
  '-g',
  '60',
];

/** Returns a hash of each decoded picture. */
async function hashPictures(file: string): Promise<string[]> {
  const { stdout } = await ffmpeg('-i', file, '-map', '0:v', '-fps_mode', 'passthrough', '-f', 'framemd5', '-');
  return stdout.split('\n').flatMap((line) => (/^\d/.test(line) ? (line.split(',').at(-1) ?? []) : []));
}

const JOINS: [string, string, (part: Buffer, jumped: Buffer) => Buffer[]][] = [
  ['restarts', 'ts', (part) => Array(PARTS).fill(part)],
  ['jumps ahead by an hour', 'ts', (part, jumped) => [part, jumped, part, jumped]],
  // As a recorder appends to its file: without another header.
  ['restarts', 'flv', (part) => [part, ...Array(PARTS - 1).fill(part.subarray(13))]],
];

describe('a source whose pictures fit', () => {
  test.each(JOINS)('is copied where its clock %s, in %s', async (_what, ending, join) => {
    await using place = await room();
    const output = [...FITTING, '-c:a', 'aac'];
    const part = await media(place.path(`part.${ending}`), { video: FLASH, audio: BEEP, output });
    await ffmpeg('-i', part, '-c', 'copy', '-output_ts_offset', '3600', place.path(`jumped.${ending}`));
    const file = place.path(`in.${ending}`);
    await writeFile(file, Buffer.concat(join(await readFile(part), await readFile(place.path(`jumped.${ending}`)))));

    expect((await importMedia(file)).durationSeconds).toBeCloseTo(PARTS * PART_SECONDS, 2);
    const made = await rendition(place, file);
    const pictures = await hashPictures(part);
    expect(await hashPictures(made.file)).toEqual(Array(PARTS).fill(pictures).flat());

    // A detector of silence hears it within a few milliseconds, and an AAC frame lasts 21.
    const { silent, heard } = await played(made.file);
    const soundless = Array.from({ length: PARTS }, (_, part) => part * PART_SECONDS + 1);
    expect(silent).toHaveLength(PARTS);
    expect(Math.max(...soundless.map((at, part) => Math.abs(at - (silent[part] ?? 0))))).toBeLessThan(0.03);
    expect(Math.max(...soundless.slice(1).map((at, part) => Math.abs(at - 1 - (heard[part] ?? 0))))).toBeLessThan(0.03);
  });
});
