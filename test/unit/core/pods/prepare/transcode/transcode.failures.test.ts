/** Tests a task when the machine fails it: killed, no room, no progress. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { sweep } from '../../../../../../src/core/pods/prepare/job/sweep.ts';
import { planRendition } from '../../../../../../src/core/pods/prepare/transcode/plan.ts';
import { transcode } from '../../../../../../src/core/pods/prepare/transcode/transcode.ts';
import { entryKey, indexKey } from '../../../../../../src/core/pods/rendition/index.ts';
import { openStorage } from '../../../../../../src/core/pods/storage/open.ts';
import { appendPieces } from '../../../../../../src/core/pods/storage/pieces.ts';
import { findChunkKeys } from '../../../../../kit/make/chunks.ts';
import { halfWritten, media, quiet, room } from '../../../../../kit/make/prepare.ts';
import { openOutput, picture, taskFor } from '../../../../../kit/make/rendition.ts';
import { serve } from '../../../../../kit/serve.ts';
import { until } from '../../../../../kit/wait.ts';

const MAIN = fileURLToPath(new URL('../../../../../../src/core/main.ts', import.meta.url));
type Room = Awaited<ReturnType<typeof room>>;

const environment = (place: Room, task: unknown, more: Record<string, string> = {}) => ({
  PATH: process.env.PATH,
  LOOPSTREAM_TASK: JSON.stringify(task),
  LOOPSTREAM_RESULT_FILE: place.path('result'),
  LOOPSTREAM_STORAGE_URL: place.storageUrl,
  LOOPSTREAM_ALLOW_PRIVATE_LINKS: 'true',
  ...more,
});
const startJob = (place: Room, task: unknown, more: Record<string, string> = {}) =>
  spawn(process.execPath, [MAIN, 'prepare'], { stdio: 'ignore', env: environment(place, task, more) });
const tempFiles = (place: Room) => halfWritten(place.path('media'));
/** Lists the visible files of the storage. */
const visible = async (place: Room): Promise<string[]> => {
  const keys: string[] = [];
  for await (const key of place.storage.list('')) keys.push(key);
  return keys;
};
const sourceIn = async (place: Room): Promise<void> => {
  await mkdir(place.path('media/sources'), { recursive: true });
  const made = await media(place.path('in.mp4'), { video: picture('320x180', 30, 0.5), audio: 'sine=440:d=0.5' });
  await copyFile(made, place.path('media/sources/x'));
};

/** A later sweep removes the leftovers of a killed Job when they are old enough. */
async function proveCleared(place: Room): Promise<void> {
  const long = new Date(Date.now() - 86_400_000);
  for (const name of await tempFiles(place)) await utimes(place.path(`media/${name}`), long, long);
  const context = { storage: await openStorage(place.storageUrl), signal: new AbortController().signal, log: quiet };
  await sweep({ action: 'sweep', keep: '', shard: 0, shards: 1, graceSeconds: 60 }, context, new Date());
  expect(await tempFiles(place)).toEqual([]);
}

test('a killed Job’s rendition is invisible, the next try makes it, and nothing stays behind', async () => {
  await using place = await room();
  await sourceIn(place);
  const task = taskFor('video', '720p30');
  // The read is so slow that the kill comes long before its end.
  const slow = place.path('slow');
  await writeFile(slow, '#!/bin/sh\nexec ffmpeg -readrate 0.1 "$@"\n', { mode: 0o755 });
  const killed = startJob(place, task, { LOOPSTREAM_FFMPEG: slow });
  await until('it is writing', async () => (await tempFiles(place)).length > 0);
  expect(await visible(place)).toEqual(['sources/x']);
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  expect(await visible(place)).toEqual(['sources/x']);
  expect(await once(startJob(place, task), 'exit')).toEqual([0, null]);
  const chunks = await findChunkKeys(place.storage, task.renditionKey, 0);
  expect(chunks).toHaveLength(1);
  const made = [...chunks, entryKey(task.renditionKey, 0), indexKey(task.renditionKey)].sort();
  expect(await visible(place)).toEqual([...made, 'sources/x']);
  await proveCleared(place);
});

test('a killed Job’s import is invisible, and the next try completes it', async () => {
  await using place = await room();
  await sourceIn(place);
  const content = await readFile(place.path('media/sources/x'));
  await rm(place.path('media'), { recursive: true });
  const half = Math.floor(content.length / 2);
  let patient = true;
  await using server = await serve((_, res) => {
    res.setHeader('content-length', content.length);
    if (patient) res.write(content.subarray(0, half));
    else res.end(content);
  });
  const task = { action: 'import', url: server.url, type: 'video', sourceKey: 'sources/x' };
  const input = place.path('input');
  await mkdir(input);
  const killed = startJob(place, task, { LOOPSTREAM_INPUT_DIR: input });
  await until('it is writing', async () => (await readdir(input)).length > 0);
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  expect(await visible(place)).toEqual([]);
  patient = false;
  expect(await once(startJob(place, task), 'exit')).toEqual([0, null]);
  expect(await visible(place)).toEqual(['sources/x']);
  await proveCleared(place);
});

test('a full storage is storage_full, and nothing half is left in it', async () => {
  await using place = await room();
  await sourceIn(place);
  // These processes see a file system of their own; a user namespace replaces root.
  const rootless = process.getuid?.() === 0 ? [] : ['--map-root-user'];
  const script = `
    mount -t tmpfs -o size=200k tmpfs '${place.path('media')}' && mkdir '${place.path('media/sources')}' &&
    cp '${place.path('in.mp4')}' '${place.path('media/sources/x')}' && "$0" '${MAIN}' prepare; echo $? > '${place.path('status')}'
    find '${place.path('media')}' -type f > '${place.path('left')}'`;
  const env = environment(place, taskFor('video', '720p30'));
  const shell = spawn('unshare', ['--mount', ...rootless, 'sh', '-c', script, process.execPath], {
    stdio: 'ignore',
    env,
  });
  await once(shell, 'exit');
  expect((await readFile(place.path('status'), 'utf8')).trim()).toBe('0');
  expect(JSON.parse(await readFile(place.path('result'), 'utf8'))).toMatchObject({
    action: 'failed',
    error: { code: 'storage_full' },
  });
  expect((await readFile(place.path('left'), 'utf8')).trim()).toBe(place.path('media/sources/x'));
});

test.each(['a link', 'the pieces of a client'])(
  'an import whose own disk is full is storage_full, and leaves nothing: %s',
  async (from) => {
    await using place = await room();
    await sourceIn(place);
    const content = await readFile(place.path('media/sources/x'));
    await rm(place.path('media/sources/x'));
    await using server = await serve((_, response) => response.end(content));
    await appendPieces(place.storage, 'incoming/x', 0, Readable.from([content]), async () => undefined);
    const pieces = await visible(place);
    const source = from === 'a link' ? { url: server.url } : { sent: { key: 'incoming/x', sizeBytes: content.length } };
    const task = { action: 'import', type: 'video', sourceKey: 'sources/x', ...source };
    const input = place.path('input');
    await mkdir(input);
    const rootless = process.getuid?.() === 0 ? [] : ['--map-root-user'];
    const script = `
    mount -t tmpfs -o size=16k tmpfs '${input}' && "$0" '${MAIN}' prepare; echo $? > '${place.path('status')}'
    find '${input}' -mindepth 1 > '${place.path('left')}'`;
    const env = environment(place, task, { LOOPSTREAM_INPUT_DIR: input });
    const shell = spawn('unshare', ['--mount', ...rootless, 'sh', '-c', script, process.execPath], {
      stdio: 'ignore',
      env,
    });
    await once(shell, 'exit');
    expect((await readFile(place.path('status'), 'utf8')).trim()).toBe('0');
    expect(JSON.parse(await readFile(place.path('result'), 'utf8'))).toMatchObject({ error: { code: 'storage_full' } });
    expect(await readFile(place.path('left'), 'utf8')).toBe('');
    // The next try finds all that the client has sent.
    expect(await visible(place)).toEqual(pieces);
    expect(await once(startJob(place, task), 'exit')).toEqual([0, null]);
  },
);

test('an encoder that hangs is ended, as prepare_timeout', async () => {
  await using place = await room();
  const ffmpeg = place.path('hangs');
  await writeFile(ffmpeg, '#!/bin/sh\necho $$ > "$(dirname "$0")/pid"\nexec sleep 600\n');
  await chmod(ffmpeg, 0o755);
  const stream = {
    packets: 1,
    hidden: 0,
    startSeconds: 0,
    endSeconds: 1,
    largestStepSeconds: 0,
    bytes: 1,
    regular: true,
  };
  const source = {
    format: 'mov',
    startSeconds: 0,
    declaredEndSeconds: 1,
    sizeBytes: 1,
    tracks: 1,
    video: undefined,
    audio: undefined,
  };
  const plan = planRendition({
    path: 'x',
    source,
    scan: { video: undefined, audio: stream },
    type: 'audio',
    quality: '720p',
    framerate: 30,
    maxPixels: 1e6,
    canTonemap: false,
    allowCopy: false,
  });
  const { signal } = new AbortController();
  const options = {
    ffmpeg,
    framerate: undefined,
    seconds: 1,
    most: { seconds: 9, bytes: 1e6 },
    signal,
    log: quiet,
    stallMs: 3000,
  };
  const output = openOutput(place, undefined);
  await expect(transcode(plan.args, output, options)).rejects.toMatchObject({ code: 'prepare_timeout' });
  await output.stop();
  const pid = Number(await readFile(place.path('pid'), 'utf8'));
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});
