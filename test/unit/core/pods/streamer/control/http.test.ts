import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { Commands } from '../../../../../../src/core/pods/streamer/control/commands.ts';
import { type HttpOptions, serveHttp } from '../../../../../../src/core/pods/streamer/control/http.ts';
import { silent } from '../../../../../kit/real/kube.ts';
import { tempDir } from '../../../../../kit/temp-dir.ts';

const dir = tempDir();
beforeAll(async () => {
  await writeFile(join(dir, 'control'), 'control-token\n');
  await writeFile(join(dir, 'view'), 'view-token\n');
});

async function serve(viewTokenFile: string | undefined, metricsPort: number | undefined) {
  const controlOptions = {
    tokens: { controlTokenFile: join(dir, 'control'), viewTokenFile },
    audio: () => undefined,
    log: silent,
  };
  const state = { live: true, held: false, playable: true, destinations: [] };
  const options = {
    host: '127.0.0.1',
    port: 0,
    metricsPort,
    broadcaster: { stats: () => ({ idleMs: 0 }), listen: () => () => undefined },
    profile: () => '720p30',
    stats: () => state,
    metrics: async () => new Registry(),
    commands: new Commands({ ...controlOptions, skipped: undefined, video: undefined as never }),
  } as unknown as HttpOptions;
  const http = await serveHttp(options);
  onTestFinished(() => http.close());
  const getStatus = async (path: string, token?: string, port = http.port): Promise<number> => {
    const gone = new AbortController();
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const { status } = await fetch(`http://127.0.0.1:${port}${path}`, { headers, signal: gone.signal });
    gone.abort();
    return status;
  };
  return { http, getStatus, state };
}

test('numbers and the preview are for those with a token; health is for all', async () => {
  const { getStatus } = await serve(join(dir, 'view'), 0);
  for (const path of ['/stats', '/preview.flv']) {
    const wrong = [undefined, '', 'wrong', 'view-tokenx', 'view'];
    for (const token of wrong) expect(await getStatus(path, token), `${path} ${token}`).toBe(401);
    for (const token of ['view-token', 'control-token']) expect(await getStatus(path, token)).toBe(200);
  }
  expect([await getStatus('/healthz'), await getStatus('/readyz')]).toEqual([200, 200]);
});

test('a stream has started when a destination takes media, and at the latest after some time', async () => {
  onTestFinished(() => void vi.restoreAllMocks());
  const start = performance.now();
  const { getStatus, state } = await serve(join(dir, 'view'), 0);
  const started = async (live: boolean, held: boolean, afterMs: number) => {
    Object.assign(state, { live, held });
    vi.spyOn(performance, 'now').mockReturnValue(start + afterMs);
    return (await getStatus('/startupz')) === 200;
  };
  expect(await started(true, false, 0)).toBe(true);
  expect(await started(false, false, 5_000)).toBe(false);
  expect(await started(false, false, 15_000)).toBe(true);
  // Another pod waits for this one, which publishes later.
  expect(await started(false, true, 0)).toBe(false);
  expect(await started(false, true, 5_000)).toBe(true);
});

test('a viewer may not control', async () => {
  const { http } = await serve(join(dir, 'view'), 0);
  const stop = (token: string) =>
    fetch(`http://127.0.0.1:${http.port}/control/stop`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: '{}',
    });
  expect((await stop('view-token')).status).toBe(401);
  expect((await stop('control-token')).status).toBe(200);
});

test('a missing token grants nothing', async () => {
  const { getStatus } = await serve(join(dir, 'missing'), 0);
  for (const token of [undefined, '', 'undefined']) expect(await getStatus('/stats', token)).toBe(401);
  expect(await getStatus('/stats', 'control-token')).toBe(200);
});

test('metrics have a port of their own, at which there is nothing else', async () => {
  const { http, getStatus } = await serve(join(dir, 'view'), 0);
  expect(http.metricsPort).not.toBe(http.port);
  expect([await getStatus('/metrics'), await getStatus('/metrics', undefined, http.metricsPort)]).toEqual([404, 200]);
  for (const path of ['/stats', '/preview.flv', '/healthz', '/control/stop'])
    expect(await getStatus(path, 'control-token', http.metricsPort)).toBe(404);
});
