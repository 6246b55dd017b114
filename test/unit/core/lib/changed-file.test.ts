import { mkdir, rename, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { ChangedFile } from '../../../../src/core/lib/changed-file.ts';
import { tempDir } from '../../../kit/temp-dir.ts';

let dir: string;
let path: string;
beforeEach(() => {
  dir = tempDir();
  path = join(dir, 'program.json');
});

/** Counts the calls of a taker that can use what it finds, or cannot. */
const taker = (isUsable = true) => {
  const calls = { count: 0, isUsable };
  const take = async () => {
    calls.count++;
    return calls.isUsable;
  };
  return { calls, take };
};

test('a file is taken once, and again when another file is renamed to its place', async () => {
  const { calls, take } = taker();
  const file = new ChangedFile(path);
  await writeFile(path, 'a');
  await file.poll(take);
  await file.poll(take);
  expect(calls.count).toBe(1);
  await writeFile(join(dir, 'next'), 'b');
  // Another file counts, even where all of its times and sizes are those of the one before.
  const time = new Date(1e12);
  await Promise.all([path, join(dir, 'next')].map((one) => utimes(one, time, time)));
  await file.poll(take);
  expect(calls.count).toBe(2);
  await rename(join(dir, 'next'), path);
  await file.poll(take);
  await file.poll(take);
  expect(calls.count).toBe(3);
});

test('a file behind a link is taken again when the link is swapped, as Kubernetes does', async () => {
  const { calls, take } = taker();
  for (const version of ['..1', '..2']) {
    await mkdir(join(dir, version));
    await writeFile(join(dir, version, 'program.json'), 'same');
  }
  await symlink('..1', join(dir, '..data'));
  await symlink(join('..data', 'program.json'), path);
  const file = new ChangedFile(path);
  await file.poll(take);
  await file.poll(take);
  await symlink('..2', join(dir, '..data_tmp'));
  await rename(join(dir, '..data_tmp'), join(dir, '..data'));
  await file.poll(take);
  expect(calls.count).toBe(2);
});

test('a file that could not be used is taken again by each poll, until it can be', async () => {
  const { calls, take } = taker(false);
  const file = new ChangedFile(path);
  await file.poll(take);
  await writeFile(path, 'a');
  await file.poll(take);
  await file.poll(take);
  expect(calls.count).toBe(3);
  calls.isUsable = true;
  await file.poll(take);
  await file.poll(take);
  expect(calls.count).toBe(4);
});

test('a file whose taker fails is taken again', async () => {
  const { calls, take } = taker();
  await writeFile(path, 'a');
  const file = new ChangedFile(path);
  await expect(file.poll(() => Promise.reject(new Error('not now')))).rejects.toThrow('not now');
  await file.poll(take);
  expect(calls.count).toBe(1);
});
