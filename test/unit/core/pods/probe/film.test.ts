import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { Film } from '../../../../../src/core/pods/probe/film.ts';

const SECONDS = 5;

const decode = (media: Buffer, ...output: string[]): string =>
  execFileSync('ffmpeg', ['-v', 'error', '-xerror', '-f', 'flv', '-i', 'pipe:0', ...output, 'pipe:1'], {
    input: media,
    encoding: 'latin1',
    maxBuffer: 2 ** 28,
  });

test('the film is the same however often it is asked for, decodes without a fault, and is black and silent', () => {
  const film = new Film();
  const parts = [film.start()];
  for (let ms = 0; ms < SECONDS * 1000; ms += 37) parts.push(film.take(ms));
  parts.push(film.take(SECONDS * 1000 - 1));
  const media = Buffer.concat(parts);
  const other = new Film();
  expect(Buffer.concat([other.start(), other.take(SECONDS * 1000 - 1)]).equals(media)).toBe(true);

  const pictures = Buffer.from(decode(media, '-an', '-pix_fmt', 'gray', '-f', 'rawvideo'), 'latin1');
  expect(pictures.length).toBe(SECONDS * 30 * 640 * 360);
  expect(pictures.every((brightness) => brightness < 20)).toBe(true);
  const samples = Buffer.from(decode(media, '-vn', '-f', 's16le'), 'latin1');
  expect(samples.length).toBeGreaterThan(SECONDS * 48_000 * 4 * 0.99);
  expect(samples.every((byte) => byte === 0)).toBe(true);
  expect(film.take(SECONDS * 1000 - 1)).toEqual(Buffer.alloc(0));
});
