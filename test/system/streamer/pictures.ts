/** Compares the pictures that receivers got. */
import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { parseFlv } from '../../../src/core/pods/rendition/flv.ts';
import { run } from '../../kit/run.ts';

/** Cuts what is still being written behind the last whole tag. */
export async function readWhole(path: string): Promise<Buffer> {
  const data = await readFile(path);
  for (let size = data.length; size > data.length - 8_000_000; size -= 1) {
    try {
      parseFlv(data.subarray(0, size));
      return data.subarray(0, size);
    } catch {}
  }
  throw new Error(`${path} has no whole tag`);
}

/** A hash of each picture. */
async function listPictures(path: string): Promise<string[]> {
  const args = ['-v', 'error', '-i', path, '-map', '0:v', '-f', 'framemd5', '-'];
  const { stdout } = await run('ffmpeg', args);
  const lines = stdout.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => line.split(',').at(-1)?.trim() ?? '');
}

/** Expects each picture of `path` among those of `source`, which is a loop; returns their number. */
export async function expectPicturesOf(source: string, path: string): Promise<number> {
  const known = new Set(await listPictures(source));
  const pictures = await listPictures(path);
  expect(pictures.filter((picture) => !known.has(picture))).toEqual([]);
  return pictures.length;
}
