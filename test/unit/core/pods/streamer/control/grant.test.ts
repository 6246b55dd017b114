import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { readGrantedPublisher, saveGrant } from '../../../../../../src/core/pods/streamer/control/grant.ts';
import { readGrant } from '../../../../../../src/core/protocol/to-streamer.ts';
import { tempDir } from '../../../../../kit/temp-dir.ts';

const GRANT = { publisher: 'uid-1', viewToken: 'view-token' };

let dir: string;
beforeEach(() => {
  dir = join(tempDir(), 'grant');
});

test('a restarted container reads the grant that was saved', async () => {
  await saveGrant(dir, GRANT);
  expect(await readGrantedPublisher(dir)).toBe('uid-1');
  expect(await readFile(join(dir, 'viewToken'), 'utf8')).toBe('view-token');
});

test('nobody but the process’s own user can read a grant', async () => {
  await saveGrant(dir, GRANT);
  await saveGrant(dir, { ...GRANT, viewToken: 'another' });
  const names = await readdir(dir);
  expect(names.toSorted()).toEqual(['publisher', 'viewToken']);
  for (const name of names) expect((await stat(join(dir, name))).mode & 0o777, name).toBe(0o600);
  expect((await stat(dir)).mode & 0o777).toBe(0o700);
});

test('a grant that was saved again replaces the one before', async () => {
  await saveGrant(dir, GRANT);
  await saveGrant(dir, { publisher: 'uid-2', viewToken: 'another' });
  expect(await readGrantedPublisher(dir)).toBe('uid-2');
  expect(await readFile(join(dir, 'viewToken'), 'utf8')).toBe('another');
});

test('a grant that could be saved only in part names no publisher', async () => {
  // No file can be renamed to the place of a directory.
  await mkdir(join(dir, 'viewToken'), { recursive: true });
  await expect(saveGrant(dir, GRANT)).rejects.toThrow();
  expect(await readGrantedPublisher(dir)).toBeUndefined();
});

test('a directory that is missing or empty names no publisher', async () => {
  expect(await readGrantedPublisher(dir)).toBeUndefined();
  await mkdir(dir);
  expect(await readGrantedPublisher(dir)).toBeUndefined();
});

test('the operator’s answer is a grant with what else it says left out', () => {
  expect(readGrant(JSON.stringify({ ...GRANT, more: 1 }))).toEqual({ ok: true, message: GRANT });
});

test.each([
  ['nothing', ''],
  ['no JSON', 'uid-1'],
  ['half a grant', JSON.stringify(GRANT).slice(0, -1)],
  ['null', 'null'],
  ['a text', '"uid-1"'],
  ['a list', '["uid-1", "view-token"]'],
  ['no publisher', '{"viewToken": "view-token"}'],
  ['no token', '{"publisher": "uid-1"}'],
  ['a publisher that is no text', '{"publisher": true, "viewToken": "view-token"}'],
  ['a token that is no text', '{"publisher": "uid-1", "viewToken": null}'],
])('an answer with %s is no grant', (_what, text) => expect(readGrant(text).ok).toBe(false));
