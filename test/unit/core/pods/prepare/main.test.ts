import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile, truncate, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { fileURLToPath } from 'node:url';
import { Value } from 'typebox/value';
import { describe, expect, test } from 'vitest';
import { Lifecycle } from '../../../../../src/core/lib/lifecycle.ts';
import { runPrepare } from '../../../../../src/core/pods/prepare/main.ts';
import { prepareConfig } from '../../../../../src/core/protocol/environment.ts';
import { PrepareProgress, PrepareResult, type PrepareTask } from '../../../../../src/core/protocol/task.ts';
import { reserveFreePort } from '../../../../../tools/process/ports.ts';
import { findChunkKeys } from '../../../../kit/make/chunks.ts';
import { halfWritten, media, quiet, room } from '../../../../kit/make/prepare.ts';
import { serve } from '../../../../kit/serve.ts';
import { until } from '../../../../kit/wait.ts';

const VIDEO = { video: 'testsrc2=s=320x180:r=25:d=2', audio: 'sine=440:d=2' };

/** Runs the Job's whole program on one task. */
async function runJob(place: Awaited<ReturnType<typeof room>>, task: unknown, env: Record<string, string> = {}) {
  const resultFile = place.path('termination-message');
  const config = prepareConfig({
    LOOPSTREAM_TASK: JSON.stringify(task),
    LOOPSTREAM_RESULT_FILE: resultFile,
    LOOPSTREAM_STORAGE_URL: place.storageUrl,
    LOOPSTREAM_ALLOW_PRIVATE_LINKS: 'true',
    ...env,
  });
  const code = await runPrepare(config, new Lifecycle(), quiet);
  const text = await readFile(resultFile, 'utf8');
  const result: unknown = JSON.parse(text);
  expect(Value.Check(PrepareResult, result)).toBe(true);
  expect(Buffer.byteLength(text)).toBeLessThan(4096);
  return { code, result: result as PrepareResult };
}

const importTask = (url: string, type: 'video' | 'audio' = 'video'): PrepareTask => ({
  action: 'import',
  url,
  type,
  sourceKey: 'sources/x',
});

/** Imports the content that `handler` serves; a failure must leave nothing. */
async function runImport(
  handler: RequestListener,
  type: 'video' | 'audio' = 'video',
  env: Record<string, string> = {},
) {
  await using place = await room();
  await using server = await serve(handler);
  const { code, result } = await runJob(place, importTask(`${server.url}/my.mp4`, type), env);
  if (result.action === 'failed') {
    expect(await place.storage.head('sources/x')).toBeUndefined();
    expect(await halfWritten(place.path('media'))).toEqual([]);
  }
  return { code, result };
}

async function importedFile(
  make: (path: (name: string) => string) => Promise<string>,
  type: 'video' | 'audio' = 'video',
) {
  await using place = await room();
  const content = await readFile(await make(place.path));
  return { content, ...(await runImport((_, res) => res.end(content), type)) };
}

const failedWith = (code: string) => ({ code: 0, result: { action: 'failed', error: { code } } });

describe('an import', () => {
  test('returns a description of the file', async () => {
    const { code, result, content } = await importedFile((path) => media(path('in.mp4'), VIDEO));
    expect({ code, result }).toEqual({
      code: 0,
      result: {
        action: 'import',
        media: {
          sha256: createHash('sha256').update(content).digest('hex'),
          sizeBytes: content.length,
          durationSeconds: 2,
          video: { codec: 'h264', width: 320, height: 180, framerate: 25 },
          audio: { codec: 'aac', sampleRate: 44100, channels: 1 },
          tracks: [
            { index: 0, kind: 'video', codec: 'h264', automatic: true },
            { index: 1, kind: 'audio', codec: 'aac', automatic: true, channels: 1 },
          ],
        },
        warnings: [],
      },
    });
  });

  test('of an HTML page is link_is_a_page', async () => {
    const page = `<!doctype html><title>Not found</title>${'<p>Nothing here.</p>'.repeat(5000)}`;
    expect(await runImport((_, res) => res.setHeader('content-type', 'video/mp4').end(page))).toMatchObject(
      failedWith('link_is_a_page'),
    );
  });

  test('of a video that is served as a page succeeds: its content decides', async () => {
    await using place = await room();
    const content = await readFile(await media(place.path('in.mp4'), VIDEO));
    const asPage = runImport((_, res) => res.setHeader('content-type', 'text/html; charset=utf-8').end(content));
    expect(await asPage).toMatchObject({ code: 0, result: { action: 'import', media: { video: { codec: 'h264' } } } });
  });

  test('of nothing at all is media_empty', async () => {
    expect(await runImport((_, res) => res.end())).toMatchObject(failedWith('media_empty'));
  });

  test('of a 404 is link_unreachable', async () => {
    expect(await runImport((_, res) => res.writeHead(404).end())).toMatchObject(failedWith('link_unreachable'));
  });

  test('of a private address is link_forbidden unless it is allowed', async () => {
    const env = { LOOPSTREAM_ALLOW_PRIVATE_LINKS: 'false' };
    expect(await runImport((_, res) => res.end('secret'), 'video', env)).toMatchObject(failedWith('link_forbidden'));
  });

  test('of more than the limit is media_too_large', async () => {
    const env = { LOOPSTREAM_MAX_SOURCE_BYTES: '1000' };
    expect(await runImport((_, res) => res.end(Buffer.alloc(5000)), 'video', env)).toMatchObject(
      failedWith('media_too_large'),
    );
  });

  test.each([
    ['mp4 whose index is at its end', 'in.mp4', [], 0.5],
    ['mp4 whose index is at its beginning', 'in.mp4', ['-movflags', '+faststart'], 0.5],
    ['Matroska', 'in.mkv', [], 0.6],
  ])('of a truncated %s is media_unreadable', async (_what, name, output, share) => {
    const cut = importedFile(async (path) => {
      const file = await media(path(name), { ...VIDEO, output });
      await truncate(file, Math.floor((await readFile(file)).length * share));
      return file;
    });
    expect(await cut).toMatchObject(failedWith('media_unreadable'));
  });

  test('of a file whose last frame alone is broken succeeds', async () => {
    const cut = importedFile(async (path) => {
      const file = await media(path('in.mp4'), { ...VIDEO, output: ['-movflags', '+faststart'] });
      await truncate(file, (await readFile(file)).length - 200);
      return file;
    });
    expect(await cut).toMatchObject({ code: 0, result: { action: 'import' } });
  });

  test('of sound alone as a video is media_has_no_video', async () => {
    const sound = importedFile((path) => media(path('in.m4a'), { audio: 'sine=440:d=1' }));
    expect(await sound).toMatchObject(failedWith('media_has_no_video'));
  });

  test('of pictures alone as audio is media_has_no_audio', async () => {
    const silent = importedFile((path) => media(path('in.mp4'), { video: VIDEO.video }), 'audio');
    expect(await silent).toMatchObject(failedWith('media_has_no_audio'));
  });

  test.each([
    [
      'HLS',
      'link_is_a_page',
      (url: string) => `#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n${url}\n#EXT-X-ENDLIST\n`,
    ],
    ['concat', 'media_unreadable', (url: string) => `ffconcat version 1.0\nfile '${url}'\n`],
  ])('of a %s playlist reads neither our disk nor our network', async (_what, code, playlist) => {
    await using place = await room();
    const local = await media(place.path('local.ts'), VIDEO);
    let asked = 0;
    await using inner = await serve((_, res) => res.end(String(++asked)));
    for (const target of [local, `${inner.url}/a.ts`]) {
      const result = await runImport((_, res) => res.end(playlist(target)));
      expect(result).toMatchObject(failedWith(code));
    }
    expect(asked).toBe(0);
  });
});

describe('a rendition', () => {
  const task = {
    action: 'rendition',
    type: 'video',
    sourceKey: 'sources/x',
    profile: '720p30',
    renditionKey: 'renditions/x/video-720p30.flv',
  };

  test('follows an import, and returns its place', async () => {
    await using place = await room();
    const content = await readFile(await media(place.path('in.mp4'), { video: 'testsrc2=s=320x180:r=25:d=0.4' }));
    await using server = await serve((_, res) => res.end(content));
    await runJob(place, importTask(server.url));
    expect(await runJob(place, task)).toMatchObject({
      code: 0,
      result: { action: 'rendition', rendition: { profile: '720p30', state: 'ready', key: task.renditionKey } },
    });
  });

  test('of a source that is gone fails for good', async () => {
    await using place = await room();
    expect(await runJob(place, task)).toMatchObject(failedWith('prepare_failed'));
  });

  test('is tried again when ffmpeg cannot be run', async () => {
    await using place = await room();
    await place.storage.write('sources/x', Buffer.from('x'));
    const env = { LOOPSTREAM_FFPROBE: place.path('no-such-program') };
    expect(await runJob(place, task, env)).toMatchObject({ code: 1, result: { error: { code: 'prepare_failed' } } });
  });

  test('of pictures that cannot be decoded fails with a code', async () => {
    await using place = await room();
    const file = await media(place.path('in.mkv'), { video: VIDEO.video, output: ['-c:v', 'mjpeg'] });
    const broken = await readFile(file);
    broken.fill(0x55, 2000, broken.length - 2000);
    await writeFile(file, broken);
    await place.storage.write('sources/x', await readFile(file));
    const { result } = await runJob(place, task);
    expect(result.action).toBe('failed');
    expect(await findChunkKeys(place.storage, task.renditionKey, 0)).toEqual([]);
  });
});

test('an invalid task ends with a sentence that names the variable', async () => {
  await using place = await room();
  await expect(runJob(place, { action: 'dance' })).rejects.toThrow('LOOPSTREAM_TASK');
});

/** Starts the Job's own process on a task; returns its addresses. */
const startJob = (place: Awaited<ReturnType<typeof room>>, task: PrepareTask, env: Record<string, string> = {}) =>
  spawn(process.execPath, [fileURLToPath(new URL('../../../../../src/core/main.ts', import.meta.url)), 'prepare'], {
    stdio: 'ignore',
    env: {
      PATH: process.env.PATH,
      LOOPSTREAM_TASK: JSON.stringify(task),
      LOOPSTREAM_RESULT_FILE: place.path('result'),
      LOOPSTREAM_STORAGE_URL: place.storageUrl,
      LOOPSTREAM_ALLOW_PRIVATE_LINKS: 'true',
      ...env,
    },
  });

test('a client of the pod gets its progress, and nothing else', async () => {
  await using place = await room();
  const content = await readFile(await media(place.path('in.mp4'), VIDEO));
  const half = Math.floor(content.length / 2);
  const { promise: rest, resolve: goOn } = Promise.withResolvers<void>();
  await using server = await serve((_, res) => {
    res.setHeader('content-length', content.length).write(content.subarray(0, half));
    void rest.then(() => res.end(content.subarray(half)));
  });
  const port = await reserveFreePort();
  const env = { LOOPSTREAM_HOST: '127.0.0.1', LOOPSTREAM_PORT: String(port) };
  const job = startJob(place, importTask(server.url), env);
  const exited = once(job, 'exit');
  const get = (path: string, method = 'GET') => fetch(`http://127.0.0.1:${port}${path}`, { method });
  const progress = await until('half has come', async () => {
    // The process does not listen at first.
    const answer = await get('/progress').then(
      (response) => response.json(),
      () => undefined,
    );
    return Value.Check(PrepareProgress, answer) && answer.progress > 0 && answer.progress;
  });
  expect(progress).toBeCloseTo(0.5, 1);
  expect((await get('/')).status).toBe(404);
  expect((await get('/progress', 'POST')).status).toBe(404);
  goOn();
  expect(await exited).toEqual([0, null]);
});

test('a port that is taken keeps no task from being done', async () => {
  await using place = await room();
  await using taken = await serve((_, res) => res.end());
  const content = await readFile(await media(place.path('in.mp4'), VIDEO));
  await using server = await serve((_, res) => res.end(content));
  const env = { LOOPSTREAM_HOST: '127.0.0.1', LOOPSTREAM_PORT: new URL(taken.url).port };
  expect(await runJob(place, importTask(server.url), env)).toMatchObject({ code: 0, result: { action: 'import' } });
});

test('SIGTERM ends the process soon, asks for another try and leaves nothing half', async () => {
  await using place = await room();
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  await using server = await serve((_, res) => res.write('x', () => ask()));
  const child = startJob(place, importTask(server.url));
  await asked;
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([1, null]);
  expect(await halfWritten(place.path('media'))).toEqual([]);
  expect(await place.storage.head('sources/x')).toBeUndefined();
});

test('an animated GIF is a video', async () => {
  const gif = importedFile(async (path) => {
    await media(path('in.gif'), { video: 'testsrc=s=64x64:r=10:d=1' });
    return path('in.gif');
  });
  expect(await gif).toMatchObject({ code: 0, result: { media: { video: { codec: 'gif' } } } });
});
