import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { readToken } from '../../../../../../src/core/pods/streamer/control/tokens.ts';
import { tempDir } from '../../../../../kit/temp-dir.ts';

let file: string;
beforeEach(() => {
  file = join(tempDir(), 'token');
});

test('a token is the text of its file, read anew for each use', async () => {
  await writeFile(file, 'before\n');
  expect(await readToken(file)).toBe('before');
  await writeFile(file, 'after');
  expect(await readToken(file)).toBe('after');
});

test('a file that is missing, empty or not configured gives no token', async () => {
  expect([await readToken(undefined), await readToken(file)]).toEqual([undefined, undefined]);
  await writeFile(file, ' \n');
  expect(await readToken(file)).toBeUndefined();
});
