/** Tests uploads on a real control plane, and the operator's own stops and starts. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { JOBS, type Pod } from '../../../src/core/kube/core.ts';
import { findCondition } from '../../../src/core/resources/common/conditions.ts';
import { PLAYLISTS } from '../../../src/core/resources/playlist/resource.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { MEDIA } from '../../kit/make/operator.ts';
import { room } from '../../kit/make/prepare.ts';
import { serve } from '../../kit/serve.ts';
import {
  aroundEachTest,
  buildObject,
  countReconciles,
  createDestination,
  createStream,
  createUpload,
  finishJob,
  getPod,
  goLive,
  kube,
  kubelet,
  MADE,
  NS,
  operator,
  readVersions,
  waitForJobPod,
  waitForPhase,
  waitUntilAtRest,
  waitUntilIdle,
  withoutOperator,
} from '../../kit/system/operator-system.ts';
import { until } from '../../kit/wait.ts';

aroundEachTest();

/** Stands for a fault of the program: what a server answers keeps it busy for ever. */
const FAULT = `import { subscribe } from 'node:diagnostics_channel'; subscribe('undici:request:headers', () => { for (;;); });`;
const MAIN = join(import.meta.dirname, '../../../src/service/main.ts');

/** Returns the variables that the operator gives a Job, for a process of this machine. */
function readJobEnvironment(spec: Pod['spec']): Record<string, string> {
  const env = spec.containers?.[0]?.env ?? [];
  const given = env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const]));
  const { LOOPSTREAM_DECODER_SOCKET: _, ...others } = Object.fromEntries(given);
  return others;
}

/** Runs a Job that meets the fault. Resolves with what kubelet reads at its end. */
async function runEndless(environment: Record<string, string>, place: Awaited<ReturnType<typeof room>>) {
  const resultFile = place.path('termination-message');
  const job = spawn(process.execPath, [`--import=data:text/javascript,${encodeURIComponent(FAULT)}`, MAIN, 'prepare'], {
    env: {
      ...environment,
      PATH: process.env.PATH,
      LOOPSTREAM_RESULT_FILE: resultFile,
      LOOPSTREAM_STORAGE_URL: place.storageUrl,
      LOOPSTREAM_INPUT_DIR: place.dir,
      LOOPSTREAM_ALLOW_PRIVATE_LINKS: 'true',
      LOOPSTREAM_STEP_SECONDS: '1',
    },
    stdio: 'ignore',
  });
  onTestFinished(() => void job.kill('SIGKILL'));
  const [exitCode] = (await once(job, 'close')) as [number];
  return { exitCode, message: await readFile(resultFile, 'utf8') };
}

describe('an upload', () => {
  it('that cannot be read fails with its code, once, and the streams that play it say so', async () => {
    await createDestination();
    await createUpload();
    await createStream();
    await finishJob('film-import', { action: 'failed', error: { code: 'media_unreadable', message: 'Cut off.' } });
    const upload = await until('it failed', async () => {
      const found = await kube.get(UPLOADS, NS, 'film');
      return found.status?.phase === 'failed' && found;
    });
    expect(upload.status?.error).toEqual({ code: 'media_unreadable', message: 'Cut off.' });
    const waiting = await until('the stream says so', async () => {
      const found = await waitForPhase('waiting');
      return findCondition(found.status?.conditions, 'MediaReady')?.reason === 'MediaFailed' && found;
    });
    expect(findCondition(waiting.status?.conditions, 'MediaReady')?.message).toBe(
      'Upload "film" could not be imported: Cut off.',
    );
    await kube.delete(JOBS, NS, 'film-import', { propagationPolicy: 'Background' });
    await until('the Job is gone', async () => (await kube.list(JOBS, { namespace: NS })).length === 0);
    await waitUntilIdle();
    expect(await kube.list(JOBS, { namespace: NS })).toEqual([]);
  });

  it('at which two runs of the real Job compute without an end fails, with its reason', async () => {
    await using server = await serve((_, response) => response.end('text'));
    await using place = await room();
    const source = { url: `${server.url}/my.mp4` };
    await kube.create(UPLOADS, NS, buildObject('Upload', 'film', { track: 'video', source }) as never);
    for (const run of ['the first', 'the second']) {
      const { metadata, spec } = await waitForJobPod('film-import');
      await kubelet.bind(metadata.name);
      const { exitCode, message } = await runEndless(readJobEnvironment(spec), place);
      expect(exitCode, run).toBe(70);
      await kubelet.end(metadata.name, exitCode, message);
    }
    const failed = await until('it failed', async () => {
      const found = await kube.get(UPLOADS, NS, 'film');
      return found.status?.phase === 'failed' && found;
    });
    expect(failed.status?.error).toMatchObject({
      code: 'media_too_complex',
      message: expect.stringContaining('never came to an end'),
    });
    await until('the Job is gone', async () => (await kube.list(JOBS, { namespace: NS })).length === 0);
  });

  it('is prepared for the profile of each stream that plays it, also through a playlist', async () => {
    await createUpload();
    await kube.create(PLAYLISTS, NS, buildObject('Playlist', 'mix', { items: [{ uploadName: 'film' }] }) as never);
    await createStream({ replicas: 0 });
    const { uploadName: _, ...spec } = {
      quality: '1080p',
      playlistNames: ['mix'],
      destinationNames: ['tv'],
      replicas: 0,
      uploadName: '',
    };
    await kube.create(LOOPSTREAMS, NS, buildObject('LoopStream', 'mixed', spec) as never);
    await finishJob('film-import', { action: 'import', media: MEDIA });
    await finishJob('film-720p30', MADE);
    await finishJob('film-1080p30', { ...MADE, rendition: { ...MADE.rendition, profile: '1080p30' } });
    const ready = await until('it is ready', async () => {
      const found = await kube.get(UPLOADS, NS, 'film');
      return found.status?.phase === 'ready' && found;
    });
    expect(ready.status?.renditions?.map(({ profile, state }) => `${profile} ${state}`)).toEqual([
      '1080p30 ready',
      '720p30 ready',
    ]);
    expect(ready.status?.conditions?.map(({ type, status }) => `${type} ${status}`)).toEqual([
      'Ready True',
      'Imported True',
      'Prepared True',
    ]);
  });
});

describe('the operator', () => {
  it('writes nothing when it is started again, and nothing while nothing changes', async () => {
    await goLive();
    await createStream({ replicas: 0 }, 'idle');
    await waitForPhase('idle', 'idle');
    await waitUntilAtRest();
    const before = await withoutOperator(readVersions);
    await until('it has looked at everything', async () => (await countReconciles()) >= 4);
    await waitUntilIdle();
    expect(await readVersions()).toEqual(before);
  });

  it('leaves the streams on air when it stops, and catches up on missed changes', async () => {
    await goLive();
    await withoutOperator(async () => {
      expect((await getPod())?.metadata.deletionTimestamp).toBeUndefined();
      await kubelet.run('bunny-onair', false);
    });
    await waitForPhase('reconnecting');
  });

  it('is ready when it works, and shows its work', async () => {
    const get = async (path: string) => fetch(`http://127.0.0.1:${operator.opsPort}${path}`);
    expect((await get('/healthz')).status).toBe(200);
    expect((await get('/readyz')).status).toBe(200);
    expect((await get('/else')).status).toBe(404);
    const metrics = await (await get('/metrics')).text();
    for (const name of ['controller_runtime_reconcile_total', 'workqueue_depth', 'loopstream_status_phase']) {
      expect(metrics).toContain(`# TYPE ${name} `);
    }
  });
});
