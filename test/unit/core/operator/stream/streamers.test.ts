import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import type { Pod } from '../../../../../src/core/kube/core.ts';
import type { ChangeHandler } from '../../../../../src/core/kube/reflector.ts';
import { Lifecycle } from '../../../../../src/core/lib/lifecycle.ts';
import type { Caches } from '../../../../../src/core/operator/caches/caches.ts';
import { createStreamers, pickFollowOptions } from '../../../../../src/core/operator/stream/streamers.ts';
import { STREAMER_PORT } from '../../../../../src/core/resources/common/names.ts';
import { makePod, NOW, stream } from '../../../../kit/make/operator.ts';
import { makeReport } from '../../../../kit/make/report.ts';
import { until } from '../../../../kit/wait.ts';

const pod = (ready: boolean): Pod => makePod(stream(), { ready });
const { uid } = pod(true).metadata;
const at = (epoch: string) => ({ video: { version: 1, epoch }, audio: null });
const pushed = (more: object = {}) => makeReport({ live: true, clock: at(NOW.toISOString()), ...more });

/** Follows pods, which nobody serves. `asked` has the names of those that are asked, again and again. */
function startStreamers(listed: Pod[] = [], silentMs = 600_000, ask: (name: string) => unknown = () => undefined) {
  const lifecycle = new Lifecycle();
  onTestFinished(() => lifecycle.stop());
  let change: ChangeHandler<Pod> = () => undefined;
  const pods = {
    list: () => listed,
    onChange: (handler: ChangeHandler<Pod>) => {
      change = handler;
      return () => undefined;
    },
  } as unknown as Caches['pods'];
  const enqueued: string[] = [];
  const asked: string[] = [];
  const streamers = createStreamers(lifecycle, {
    findToken: async ({ metadata }) => {
      asked.push(metadata.name);
      await ask(metadata.name);
      return 'token';
    },
  });
  const notLeading = streamers.accept(pod(true), pushed());
  streamers.follow(pods, (key) => enqueued.push(key), { silentMs });
  const see = (current: Pod, previous?: Pod) => change('tv/bunny-onair', current as never, previous as never);
  return { streamers, enqueued, asked, see, notLeading };
}

test('a report has its stream reconciled if it says something new', () => {
  const { streamers, enqueued, notLeading } = startStreamers();
  expect(notLeading).toBe(false);
  expect(streamers.accept(pod(true), pushed())).toBe(true);
  expect(streamers.accept(pod(true), pushed())).toBe(true);
  expect(enqueued).toHaveLength(1);
  streamers.accept(pod(true), pushed({ playable: false }));
  expect(enqueued).toHaveLength(2);
  expect(streamers.report(uid)?.problems).toMatchObject([{ reason: 'NothingPlayable' }]);
});

test('kubelet’s word that comes after a report rules until the next one', () => {
  const { streamers, see } = startStreamers();
  streamers.accept(pod(true), pushed());
  expect(streamers.report(uid)?.live).toBe(true);
  // Other changes of the pod say nothing of this.
  see(pod(true), pod(true));
  expect(streamers.report(uid)?.live).toBe(true);
  see(pod(false), pod(true));
  expect(streamers.report(uid)?.live).toBeUndefined();
  streamers.accept(pod(false), pushed());
  expect(streamers.report(uid)?.live).toBe(true);
});

test('a report from before a skip does not bring back the place from before it', async () => {
  const { streamers } = startStreamers();
  const before = pushed();
  streamers.accept(pod(true), before);
  const after = { ...before, clock: at(new Date(NOW.getTime() - 5000).toISOString()) };
  streamers.accept(pod(true), after);
  const skip = { id: 'x', track: 'video', void: false } as const;
  expect(await streamers.skip(uid, '127.0.0.1:1', 'token', skip)).toBeUndefined();
  expect(streamers.accept(pod(true), before)).toBe(true);
  expect(streamers.report(uid)?.clock.video?.epoch).toBe(after.clock.video?.epoch);
  // One that contradicts nothing counts at once.
  streamers.accept(pod(true), { ...after, playable: false });
  expect(streamers.report(uid)?.problems).toHaveLength(1);
});

/** Nobody listens at its address. */
const makeSilent = (name: string): Pod => {
  const made = pod(true);
  const status = { ...made.status, podIP: '127.255.255.254' };
  return { ...made, metadata: { ...made.metadata, name, uid: name }, status };
};

test('a pod that pushes is asked once in seven minutes at most, and each one where none has an address for its reports', () => {
  expect(pickFollowOptions({ reportsUrl: 'http://operator' })).toEqual({ silentMs: 450_000 });
  expect(pickFollowOptions({ reportsUrl: undefined })).toEqual({ silentMs: 15_000 });
});

test('an operator that begins to lead asks each pod, but one that has pushed meanwhile', async () => {
  const listed = [makeSilent('pushing'), makeSilent('silent')];
  const { streamers, asked } = startStreamers(listed);
  expect(streamers.accept(listed[0] as Pod, pushed())).toBe(true);
  await until('the other one is asked', () => asked.length > 0);
  expect(asked).toEqual(['silent']);
});

test('a pod that is silent is asked again and again, also a new one', async () => {
  const listed = [makeSilent('silent')];
  const { asked, see } = startStreamers(listed, 5);
  await until('it is asked', () => asked.length >= 3);
  const another = makeSilent('another');
  listed.push(another);
  see(another);
  await until('the new one is asked', () => asked.filter((name) => name === 'another').length >= 3);
});

test('a report that is pushed while its pod is asked counts, and not the older answer', async () => {
  const podIP = '127.94.0.2';
  const { promise, resolve } = Promise.withResolvers<void>();
  let questions = 0;
  const server = createServer((_request, response) => {
    questions++;
    if (questions > 1) return;
    void promise.then(() => response.end(JSON.stringify(pushed({ playable: false }))));
  });
  onTestFinished(() => void server.close().closeAllConnections());
  await new Promise<void>((done) => server.listen(STREAMER_PORT, podIP, done));
  const made = pod(true);
  const listed = [{ ...made, status: { ...made.status, podIP } }];
  const { streamers } = startStreamers(listed, 5);
  await until('it is asked', () => questions === 1);
  streamers.accept(listed[0] as Pod, pushed());
  resolve();
  await until('the first question is over', () => questions > 1);
  expect(streamers.report(uid)?.problems).toEqual([]);
});

test('a pod that has answered to stop is told so once, and its container again when it was started anew', async () => {
  const podIP = '127.94.0.1';
  let status = 503;
  const told: string[] = [];
  const server = createServer((request, response) => {
    told.push(`${request.method} ${request.url}`);
    response.writeHead(status).end('{}');
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(STREAMER_PORT, podIP, resolve));
  const { streamers } = startStreamers();
  const build = (restartCount: number): Pod => {
    const made = pod(true);
    const containerStatuses = made.status?.containerStatuses?.map((one) => ({ ...one, restartCount })) ?? [];
    return { ...made, status: { ...made.status, podIP, containerStatuses } };
  };
  await streamers.stop(build(0), 'token');
  status = 200;
  for (let n = 0; n < 3; n++) await streamers.stop(build(0), 'token');
  expect(told).toEqual(['POST /control/stop', 'POST /control/stop']);
  expect([streamers.hasStopped(build(0)), streamers.hasStopped(build(1))]).toEqual([true, false]);
  await streamers.stop(build(1), 'token');
  expect(told).toHaveLength(3);
});
