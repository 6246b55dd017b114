import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { saveGrant } from '../../../../../../src/core/pods/streamer/control/grant.ts';
import { readControlTokens, readViewTokens } from '../../../../../../src/core/pods/streamer/control/tokens.ts';
import { controlToken } from '../../../../../../src/core/resources/stream/control-token.ts';
import { tempDir } from '../../../../../kit/temp-dir.ts';

let dir: string;
beforeEach(() => {
  dir = tempDir();
});

/** The files of a pod with these contents, and where all of its files would be. */
async function write(contents: Record<string, string> = {}) {
  for (const [name, content] of Object.entries(contents)) await writeFile(join(dir, name), content);
  return {
    controlTokenFile: join(dir, 'token'),
    controlKeyFile: join(dir, 'controlKey'),
    viewTokenFile: join(dir, 'viewToken'),
    grantDir: join(dir, 'grant'),
    podUid: 'uid-1',
  };
}

test('a pod reports with the token that it derives from its key, and accepts the one of the stream’s Secret too', async () => {
  const files = await write({ controlKey: 'the-key\n', token: 'of-the-stream\n' });
  const derived = controlToken('the-key', 'uid-1');
  expect(await readControlTokens(files)).toEqual([derived, 'of-the-stream']);
});

test('each pod derives another token from a key, which the token does not show', async () => {
  const files = await write({ controlKey: 'the-key' });
  const [mine = ''] = await readControlTokens(files);
  const [other] = await readControlTokens({ ...files, podUid: 'uid-2' });
  expect(mine).toMatch(/^[\w-]{43}$/);
  expect(other).not.toBe(mine);
  expect(mine).not.toContain('the-key');
});

test('a pod with the stream’s Secret alone has the token of that', async () => {
  expect(await readControlTokens(await write({ token: 'of-the-stream' }))).toEqual(['of-the-stream']);
});

test('a file that is missing, empty or not configured gives no token', async () => {
  const missing = await write();
  for (const files of [missing, await write({ controlKey: '\n', token: ' ', viewToken: '' }), { podUid: 'uid-1' }])
    expect([await readControlTokens(files), await readViewTokens(files)]).toEqual([[], []]);
});

test('tokens are read anew for each use', async () => {
  const files = await write({ token: 'before' });
  await readControlTokens(files);
  await write({ token: 'after' });
  expect(await readControlTokens(files)).toEqual(['after']);
});

test('viewers show the token of the stream’s Secret or the one that was granted', async () => {
  const files = await write();
  await saveGrant(files.grantDir, { publisher: 'uid-1', viewToken: 'granted' });
  expect(await readViewTokens(files)).toEqual(['granted']);
  await write({ viewToken: 'of-the-stream\n' });
  expect(await readViewTokens(files)).toEqual(['of-the-stream', 'granted']);
  expect(await readViewTokens({ ...files, grantDir: undefined })).toEqual(['of-the-stream']);
});
