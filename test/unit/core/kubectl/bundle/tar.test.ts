/** Tests archives by the tar of the machine, which reads what it was given. */
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { buildTar } from '../../../../../src/core/kubectl/bundle/tar.ts';

const time = new Date('2026-01-02T03:04:05Z');
const tar = (args: string[], input: Buffer) =>
  execFileSync('tar', args, { input, encoding: 'utf8', env: { PATH: process.env.PATH, TZ: 'UTC' } });

test('tar lists and extracts every file, also empty ones, in blocks, and with long paths', () => {
  const long = `logs/${'n'.repeat(63)}/${'p'.repeat(80)}/streamer.previous.log`;
  const files = [
    { path: 'summary.txt', content: 'Grüße\n' },
    { path: 'empty', content: '' },
    { path: 'block', content: 'x'.repeat(512) },
    { path: long, content: 'x'.repeat(1000) },
  ];
  const archive = buildTar(files, time);
  expect(archive.length % 512).toBe(0);
  expect(tar(['-t'], archive).trim().split('\n')).toEqual(files.map(({ path }) => path));
  expect(tar(['-tv'], archive)).toContain('2026-01-02 03:04');
  for (const { path, content } of files) expect(tar(['-xO', path], archive)).toBe(content);
});

test('a path that does not fit is refused', () => {
  expect(() => buildTar([{ path: 'n'.repeat(101), content: '' }], time)).toThrow(RangeError);
});
