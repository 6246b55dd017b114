/** Tests a rendition whose source changes under the hands of the Job, or is not the one that was imported. */
import { copyFile, mkdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { Lifecycle } from '../../../../../../src/core/lib/lifecycle.ts';
import { makeRange } from '../../../../../../src/core/pods/prepare/job/make-range.ts';
import { makeRendition } from '../../../../../../src/core/pods/prepare/job/make-rendition.ts';
import { runPrepare } from '../../../../../../src/core/pods/prepare/main.ts';
import type { JobContext } from '../../../../../../src/core/pods/prepare/steps/context.ts';
import { entryKey, indexKey } from '../../../../../../src/core/pods/rendition/index.ts';
import { prepareConfig } from '../../../../../../src/core/protocol/environment.ts';
import type { PrepareTask } from '../../../../../../src/core/protocol/task.ts';
import { encodeFitting, FITTING_PICTURE, halfWritten, media, quiet, room } from '../../../../../kit/make/prepare.ts';
import { createContext, taskFor, tools } from '../../../../../kit/make/rendition.ts';
import { listKeys } from '../../../../../kit/make/storage-suite.ts';
import { until } from '../../../../../kit/wait.ts';

const filesIn = (place: Room) => listKeys(place.storage, '');
type Room = Awaited<ReturnType<typeof room>>;
const task = taskFor('video', '720p30');

async function run(place: Room, task: PrepareTask) {
  const config = prepareConfig({
    LOOPSTREAM_TASK: JSON.stringify(task),
    LOOPSTREAM_RESULT_FILE: place.path('result'),
    LOOPSTREAM_STORAGE_URL: place.storageUrl,
  });
  const code = await runPrepare(config, new Lifecycle(), quiet);
  expect(await halfWritten(place.path('media'))).toEqual([]);
  return { code, result: JSON.parse(await readFile(place.path('result'), 'utf8')) };
}

async function putSource(place: Room, path: string): Promise<string> {
  const source = place.path('media/sources/x');
  await mkdir(place.path('media/sources'), { recursive: true });
  await copyFile(path, source);
  return source;
}

const KINDS = {
  'an MP4 that is copied': {
    name: 'in.mp4',
    output: [...encodeFitting(60), '-c:a', 'aac', '-movflags', '+faststart'],
    endIsKnown: true,
  },
  'a Matroska that is copied': { name: 'in.mkv', output: [...encodeFitting(60), '-c:a', 'aac'], endIsKnown: true },
  'an MP4 that is encoded': {
    name: 'small.mp4',
    output: ['-s', '320x180', '-movflags', '+faststart'],
    endIsKnown: true,
  },
  'a transport stream': { name: 'in.ts', output: ['-s', '320x180'], endIsKnown: false },
};

describe.each(Object.entries(KINDS))('%s', (_, { name, output, endIsKnown }) => {
  test('and whose object has lost its end fails with a code, for good, and leaves nothing half', async () => {
    await using place = await room();
    const path = await media(place.path(name), { video: FITTING_PICTURE, audio: 'sine=440:r=48000:d=8', output });
    const source = await putSource(place, path);
    await truncate(source, Math.floor((await stat(path)).size * 0.7));
    const { code, result } = await run(place, { ...task, sizeBytes: (await stat(path)).size });
    expect(code).toBe(0);
    expect(result).toMatchObject({ action: 'failed', error: { code: 'prepare_failed' } });
    expect(result.error.message).toMatch(/Its source in the media storage has \d+ of \d+ bytes\.$/);
    expect(await filesIn(place)).toEqual(['sources/x']);
    // A task of an earlier release does not say the size.
    if (endIsKnown) expect((await run(place, task)).result).toMatchObject({ error: { code: 'media_unreadable' } });
  });
});

/** A program in place of ffmpeg that does something to the source before it reads it. */
async function tamper(place: Room, command: string): Promise<JobContext> {
  const path = place.path('tampers');
  await writeFile(path, `#!/bin/sh\n${command}\nexec ffmpeg "$@"\n`, { mode: 0o755 });
  return { ...createContext(place), tools: { ...tools, ffmpeg: path } };
}

describe('a source', () => {
  const output = ['-s', '320x180'];
  const makeSource = (place: Room) =>
    media(place.path('in.mp4'), { video: FITTING_PICTURE, audio: 'sine=440:r=48000:d=8', output });

  test('that is deleted while a Job reads it is said to be gone, and its rendition is not complete', async () => {
    await using place = await room();
    const source = await putSource(place, await makeSource(place));
    const context = await tamper(place, `rm -f '${source}'`);
    await expect(makeRendition(task, context)).rejects.toMatchObject({ name: 'StorageError', code: 'not_found' });
    expect(await filesIn(place)).toEqual([]);
    const { code, result } = await run(place, task);
    expect(code).toBe(0);
    expect(result).toMatchObject({ error: { code: 'prepare_failed' } });
    expect(result.error.message).toMatch(/Its source is no longer in the media storage\.$/);
  });

  test('that is replaced while a Job reads it is read again', async () => {
    await using place = await room();
    const path = await makeSource(place);
    const source = await putSource(place, path);
    const context = await tamper(place, `cp '${path}' '${source}.new' && mv '${source}.new' '${source}'`);
    await expect(makeRendition(task, context)).rejects.toMatchObject({ name: 'StorageError', code: 'changed' });
    expect(await place.storage.head(indexKey(task.renditionKey))).toBeUndefined();
    expect(await run(place, task)).toMatchObject({ code: 0, result: { rendition: { state: 'ready' } } });
  });

  test('that is replaced under a helper ends its work, and the next try makes the range', async () => {
    await using place = await room();
    const path = await media(place.path('in.mkv'), {
      video: 'smptebars=s=160x90:r=2:d=34',
      audio: 'sine=440:r=48000:d=34',
      output: ['-g', '20', '-c:a', 'aac'],
    });
    const source = await putSource(place, path);
    const stop = new AbortController();
    // The Job of the whole is ended when its first part begins: its plan is there then.
    const begun = place.path('begun');
    const begins = await tamper(place, `touch '${begun}'; exec sleep 600`);
    const lead = makeRendition(task, { ...begins, signal: stop.signal });
    lead.catch(() => undefined);
    await until('the first part begins', () => stat(begun).then(Boolean, () => false));
    stop.abort(new Error('SIGTERM'));
    await expect(lead).rejects.toThrow('SIGTERM');

    const range = { ...task, action: 'range' as const };
    const replaces = await tamper(place, `cp '${path}' '${source}.new' && mv '${source}.new' '${source}'`);
    await expect(makeRange(range, 0, replaces)).rejects.toMatchObject({ name: 'StorageError', code: 'changed' });
    expect(await place.storage.head(indexKey(task.renditionKey))).toBeUndefined();
    await makeRange(range, 0, createContext(place));
    expect(await makeRange(range, 0, createContext(place))).toBe(0);
    expect(await place.storage.head(entryKey(task.renditionKey, 960))).toBeDefined();
  }, 240_000);
});
