/** Tests several candidates for leadership, before a real API server and proxies that cut them off from it. */
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createKube } from '../../../src/core/kube/client.ts';
import { LEASES, type LeaseSpec, NAMESPACES, SECRETS } from '../../../src/core/kube/core.ts';
import { createElector, type Elector, guardWrites } from '../../../src/core/kube/lease.ts';
import type { Kube } from '../../../src/core/kube/types.ts';
import { sleep } from '../../../src/core/lib/clock.ts';
import { Lifecycle } from '../../../src/core/lib/lifecycle.ts';
import { runOperator } from '../../../src/core/operator/main.ts';
import { LOST_LEASE_STATUS } from '../../../src/core/operator/runtime/leader-election.ts';
import { operatorConfig } from '../../../src/core/operator/runtime/settings.ts';
import { applyCrds } from '../../../src/core/resources/crd/install.ts';
import { DESTINATIONS } from '../../../src/core/resources/destination/resource.ts';
import { type Fault, type FaultyProxy, startFaultyProxy } from '../../kit/fake/kubeproxy.ts';
import { silent, THINGS, thing, writeKubeconfig } from '../../kit/real/kube.ts';
import { shareTestKubernetes, type TestKubernetes } from '../../kit/real/kubernetes.ts';
import { buildObject } from '../../kit/system/operator-system.ts';
import { tempDir } from '../../kit/temp-dir.ts';

const NS = 'leases';
const TIMES = { durationMs: 3000, renewDeadlineMs: 2000, retryPeriodMs: 400 };
/** Short times make much happen in a short test. */
const FAST = { durationMs: 1000, renewDeadlineMs: 700, retryPeriodMs: 100 };

let kubernetes: TestKubernetes;
let direct: Kube;
const folder = tempDir();
/** Two ways to the same API server, each with its own faults. */
let ways: { proxy: FaultyProxy; kube: Kube; kubeconfig: string }[];
const ends: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  kubernetes = await shareTestKubernetes();
  direct = createKube({ kubeconfig: kubernetes.kubeconfig });
  await applyCrds(direct);
  await direct.create(NAMESPACES, '', { metadata: { name: NS }, spec: {} });
  ways = await Promise.all(
    ['one', 'two'].map(async (name) => {
      const proxy = await startFaultyProxy(kubernetes);
      const kubeconfig = await writeKubeconfig(join(folder, name), proxy.url, {});
      return { proxy, kubeconfig, kube: createKube({ kubeconfig }) };
    }),
  );
});
afterEach(async () => {
  for (const { proxy } of ways) proxy.set('none');
  await Promise.all(ends.splice(0).map((end) => end()));
});
afterAll(async () => {
  for (const { kube, proxy } of ways ?? []) {
    await kube.close();
    await proxy.close();
  }
  await direct?.delete(NAMESPACES, '', NS);
  await direct?.close();
  await kubernetes?.stop();
});

const way = (index: number) => {
  const found = ways[index];
  if (!found) throw new Error(`There is no way ${index}.`);
  return found;
};
const elect = (index: number, name: string, identity: string, times = TIMES): Elector => {
  const elector = createElector(way(index).kube, { namespace: NS, name, identity, times, log: silent });
  ends.push(() => elector.release());
  elector.start();
  return elector;
};
const lease = async (name: string): Promise<LeaseSpec> => (await direct.get(LEASES, NS, name)).spec;
/** Resolves to the time of the event. */
const moment = (event: Promise<unknown>): Promise<number> => event.then(() => performance.now());

describe('of two that want a lease', () => {
  test('one leads and renews, and the other follows at once when it is handed back', async () => {
    const a = elect(0, 'handed-back', 'a');
    await a.acquired;
    const b = elect(1, 'handed-back', 'b');
    const first = await lease('handed-back');
    expect(first).toMatchObject({ holderIdentity: 'a', leaseDurationSeconds: 3, leaseTransitions: 0 });
    expect(first.renewTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    // The time is longer than the lease: a renewal must happen.
    await vi.waitFor(
      async () => {
        const { acquireTime, renewTime = '' } = await lease('handed-back');
        expect(acquireTime).toBe(first.acquireTime);
        expect(Date.parse(renewTime) - Date.parse(acquireTime ?? '')).toBeGreaterThan(TIMES.durationMs + 500);
      },
      { timeout: 60_000, interval: 100 },
    );
    expect([a.isLeading(), b.isLeading()]).toEqual([true, false]);
    const releasing = a.release();
    expect(a.isLeading()).toBe(false);
    await releasing;
    // The lease was released, so the next candidate need not wait for its expiry.
    expect((await lease('handed-back')).holderIdentity).not.toBe('a');
    await b.acquired;
    expect(await lease('handed-back')).toMatchObject({ holderIdentity: 'b', leaseTransitions: 2 - 1 });
  });

  test('the leader goes on while their namespace is being deleted, where nobody can acquire the lease any more', async () => {
    const namespace = 'leases-that-end';
    const held = { name: 'held', finalizers: ['example.com/held'] };
    await direct.create(NAMESPACES, '', { metadata: { name: namespace }, spec: {} });
    await direct.create(SECRETS, namespace, { metadata: held } as never);
    const compete = (index: number, identity: string) => {
      const options = { namespace, name: 'ending', identity, times: FAST, log: silent };
      const elector = createElector(way(index).kube, options);
      ends.push(() => elector.release());
      elector.start();
      return elector;
    };
    const a = compete(0, 'a');
    await a.acquired;
    const b = compete(1, 'b');
    let end = 'nobody lost or acquired it';
    void a.lost.then((reason) => (end = reason));
    void b.acquired.then(() => (end = 'b leads'));
    try {
      await direct.delete(NAMESPACES, '', namespace);
      await direct.delete(LEASES, namespace, 'ending');
      const gone = performance.now();
      await vi.waitFor(() => expect(performance.now() - gone).toBeGreaterThan(4 * FAST.durationMs), 60_000);
      expect([end, a.isLeading(), b.isLeading()]).toEqual(['nobody lost or acquired it', true, false]);
    } finally {
      await direct.mergePatch(SECRETS, namespace, 'held', { metadata: { finalizers: null } });
    }
  });

  test.each<Fault>(['reset', 'silent', 'internal error'])(
    'the other leads when the first is cut off (%s), which has stopped by then',
    async (fault) => {
      const name = `cut-${fault.replace(' ', '-')}`;
      const a = elect(0, name, 'a');
      await a.acquired;
      const b = elect(1, name, 'b');
      // The candidate has seen the other's renewal.
      const { renewTime } = await lease(name);
      await vi.waitFor(async () => expect((await lease(name)).renewTime).not.toBe(renewTime), 60_000);
      way(0).proxy.set(fault);
      const lost = moment(a.lost);
      const acquired = await moment(b.acquired);
      expect(a.isLeading()).toBe(false);
      expect(acquired - (await lost)).toBeGreaterThan(0);
      expect(await a.lost).toMatch('could not be renewed for 2 s');
      expect(await lease(name)).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
    },
  );

  test('the first ends when somebody gives it to another by hand, and goes on when somebody deletes it', async () => {
    const a = elect(0, 'by-hand', 'a');
    await a.acquired;
    const b = elect(1, 'by-hand', 'b');
    await vi.waitFor(async () => expect((await lease('by-hand')).leaseTransitions).toBe(0), 60_000);
    // The other has surely seen it by then.
    const requests = way(1).proxy.requests();
    await vi.waitFor(() => expect(way(1).proxy.requests()).toBeGreaterThan(requests + 1), 60_000);
    await direct.delete(LEASES, NS, 'by-hand');
    await vi.waitFor(async () => expect((await lease('by-hand')).holderIdentity).toBe('a'), 60_000);
    expect([a.isLeading(), b.isLeading()]).toEqual([true, false]);
    await direct.mergePatch(LEASES, NS, 'by-hand', { spec: { holderIdentity: 'somebody' } });
    expect(await a.lost).toBe('The holder of the lease changed to somebody.');
    await b.acquired;
  });
});

test('two candidates never act at once, whatever happens to their ways to the API server', async () => {
  const faults: Fault[] = [
    'reset',
    'silent',
    'half-open',
    'internal error',
    'throttled',
    'late',
    'answer lost',
    'slow',
  ];
  const pick = <T>(from: T[]): T => from[Math.floor(Math.random() * from.length)] as T;
  const acts: string[] = [];
  const history: string[] = [];
  let lives = 0;
  const over = new AbortController();
  /** One life follows the other, as Kubernetes restarts an ended container. */
  const live = async (index: number): Promise<void> => {
    while (!over.signal.aborted) {
      const identity = `${index}-${++lives}`;
      const elector = elect(index, 'never-two', identity, FAST);
      const recorder = { ...direct, create: async () => void acts.push(identity) } as unknown as Kube;
      const { kube } = guardWrites(recorder, elector.isLeading);
      const acting = setInterval(() => void kube.create(THINGS, NS, thing('x', 1)).catch(() => {}), 5);
      // Some are stopped, and the others live until they are cut off for too long.
      const lifeMs = Math.random() < 0.3 ? 3000 * Math.random() : 60_000;
      await Promise.race([elector.lost, sleep(lifeMs, over.signal)]).catch(() => {});
      await elector.release();
      clearInterval(acting);
    }
  };
  const harm = async (index: number): Promise<void> => {
    while (!over.signal.aborted) {
      const fault = Math.random() < 0.4 ? 'none' : pick(faults);
      history.push(`${Math.round(performance.now())} ${index} ${fault}`);
      way(index).proxy.set(fault);
      await sleep(100 + 1900 * Math.random(), over.signal).catch(() => {});
    }
    way(index).proxy.set('none');
  };
  const all = [live(0), live(1), harm(0), harm(1)];
  // Leaders in the order of their acts.
  const leaders = () => acts.filter((who, i) => who !== acts[i - 1]);
  await vi.waitFor(() => expect(leaders().length).toBeGreaterThanOrEqual(5), { timeout: 60_000, interval: 100 });
  over.abort();
  await Promise.all(all);
  expect(leaders(), history.join('\n')).toEqual([...new Set(leaders())]);
});

test('of two operators one acts; the other takes over with its knowledge when the first is cut off', async () => {
  const start = async (index: number) => {
    const config = operatorConfig({
      KUBECONFIG: way(index).kubeconfig,
      LOOPSTREAM_NAMESPACE: NS,
      LOOPSTREAM_IMAGE: 'loopstream:1',
      LOOPSTREAM_ALLOW_PRIVATE_DESTINATIONS: 'true',
      LOOPSTREAM_STORAGE_VOLUME: '{"emptyDir":{}}',
      LOOPSTREAM_OPS_HOST: '127.0.0.1',
      LOOPSTREAM_OPS_PORT: '0',
    });
    const leaderElection = { durationMs: 4000, renewDeadlineMs: 3000, retryPeriodMs: 1000 };
    const lifecycle = new Lifecycle();
    ends.push(() => lifecycle.stop());
    const exit = Promise.withResolvers<number>();
    const { opsPort } = await runOperator({ ...config, leaderElection }, lifecycle, silent, { exit: exit.resolve });
    const metric = async (name: string): Promise<number> => {
      const text = await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text();
      const values = text.matchAll(new RegExp(`^${name}\\{.*\\} (\\d+)$`, 'gm'));
      return [...values].reduce((sum, [, value]) => sum + Number(value), 0);
    };
    const ready = async () => (await fetch(`http://127.0.0.1:${opsPort}/readyz`)).status;
    return { metric, ready, exited: exit.promise };
  };
  const leads = 'leader_election_master_status';
  const readReason = async (name: string) =>
    (await direct.get(DESTINATIONS, NS, name)).status?.conditions?.[0]?.reason ?? 'nothing';
  const create = (name: string) =>
    direct.create(DESTINATIONS, NS, buildObject('Destination', name, { secretName: 'none' }) as never);

  const first = await start(0);
  await vi.waitFor(async () => expect(await first.metric(leads)).toBe(1), 60_000);
  const second = await start(1);
  await create('tv');
  await vi.waitFor(async () => expect(await readReason('tv')).toBe('DestinationSecretMissing'), 60_000);
  expect([await second.ready(), await second.metric(leads)]).toEqual([200, 0]);
  expect(await second.metric('controller_runtime_reconcile_total')).toBe(0);

  way(0).proxy.set('reset');
  await create('radio');
  expect(await first.exited).toBe(LOST_LEASE_STATUS);
  await vi.waitFor(async () => expect(await readReason('radio')).toBe('DestinationSecretMissing'), 60_000);
  expect(await second.metric(leads)).toBe(1);
});
