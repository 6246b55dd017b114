/**
 * Credit on a real control plane with a real operator, a real Postgres and the role billing: what is used up stops, what is
 * topped up goes on, and what is deleted is counted before it goes. Pods are driven by the test's hand in kubelet's place.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { parsePrices } from '../../src/billing/prices.ts';
import { kubeTime } from '../../src/clock.ts';
import { billingConfig } from '../../src/config.ts';
import { EVENTS, LOOPSTREAMS, PODS } from '../../src/kube/resources.ts';
import { Lifecycle } from '../../src/lifecycle.ts';
import { runBilling } from '../../src/meter/run.ts';
import { findCondition } from '../../src/streams/conditions.ts';
import { ACCOUNT_LABEL, COUNT_FINALIZER, CREDIT_CONDITION } from '../../src/streams/names.ts';
import { toReadiness } from '../../src/streams/view.ts';
import { silent } from '../support/kube.ts';
import { startTestLedger, type TestLedger } from '../support/ledger.ts';
import {
  aroundEachTest,
  cluster,
  createDestination,
  createStream,
  createUpload,
  getPod,
  getStream,
  kube,
  kubelet,
  NS,
  phase,
  pod,
  prepare,
} from '../support/operator-system.ts';
import { query } from '../support/postgres.ts';
import { until } from '../support/rtmp.ts';

let test: TestLedger;
let billing: Lifecycle;
let account = '';
let number = 0;
beforeAll(async () => {
  test = await startTestLedger();
});
afterAll(() => test?.stop());
// What is registered first is done last: what is deleted after a test finds somebody who counts it.
afterEach(() => billing.stop());
aroundEachTest({ metered: true });
beforeEach(async () => {
  account = `account-${++number}`;
  billing = await startBilling();
});

/** 720p30 costs a million an hour: 278 credits a second, so that an hour of credit is used up in no time. */
const PRICES = JSON.stringify(
  [...parsePrices().keys()].map((profile) => {
    const [, quality, framerate] = /^(\d+p)(\d+)$/.exec(profile) ?? [];
    return { quality, framerate: Number(framerate), creditsPerHour: 1_000_000 };
  }),
);
const PER_SECOND = 278n;

async function startBilling(more: Record<string, string> = {}): Promise<Lifecycle> {
  const lifecycle = new Lifecycle();
  const config = billingConfig({
    KUBECONFIG: cluster.kubeconfig,
    LOOPSTREAM_NAMESPACE: NS,
    LOOPSTREAM_DATABASE_URL: test.url,
    LOOPSTREAM_PRICES: PRICES,
    LOOPSTREAM_METER_INTERVAL_SECONDS: '1',
    LOOPSTREAM_OPS_HOST: '127.0.0.1',
    LOOPSTREAM_OPS_PORT: '0',
    ...more,
  });
  const { ready } = await runBilling(config, lifecycle, silent);
  await ready;
  return lifecycle;
}

const credit = async () => findCondition((await getStream()).status?.conditions, CREDIT_CONDITION);
const creditIs = (status: string) => until(`credit is ${status}`, async () => (await credit())?.status === status);
const counted = async (): Promise<number> => {
  const [row] = await query(
    test.url,
    `select coalesce(sum(m.seconds), 0)::int as seconds from loopstream.meter_streams s
      join loopstream.meter_sessions m using (stream_uid) where s.account_id = '${account}'`,
  );
  return row?.seconds as number;
};

/** A stream of the account, on air. */
async function onAir(): Promise<void> {
  await createDestination();
  await createUpload();
  await createStream();
  await kube.mergePatch(LOOPSTREAMS, NS, 'bunny', { metadata: { labels: { [ACCOUNT_LABEL]: account } } });
  await prepare();
  await run();
}

async function run(): Promise<void> {
  await pod();
  await kubelet.bind('bunny-onair');
  await kubelet.run('bunny-onair', true);
  await phase('live');
}

/** The container ends, and leaves how long it was on air. */
async function end(onAirSeconds: number): Promise<void> {
  const now = kubeTime(new Date());
  const message = JSON.stringify({ runs: [{ run: 1, startedAt: now, lastAt: now, onAirSeconds }] });
  const terminated = { exitCode: 0, reason: 'Completed', message, startedAt: now, finishedAt: now };
  const containerStatuses = [
    { name: 'streamer', image: '', imageID: '', ready: false, restartCount: 0, state: { terminated } },
  ];
  const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: now }];
  await kube.mergePatch(
    PODS,
    NS,
    'bunny-onair',
    { status: { conditions, containerStatuses } },
    { subresource: 'status' },
  );
  // Not by the stand-in for kubelet, which would end it anew and take its last words away.
  await kube.delete(PODS, NS, 'bunny-onair', { gracePeriodSeconds: 0 });
  await until('the pod is gone', async () => (await getPod()) === undefined);
}

it('a stream whose credit is used up stops, says so, and goes on by itself when there is credit again', async () => {
  await test.give(account, 6n * PER_SECOND);
  await onAir();
  expect(await credit()).toMatchObject({ status: 'True', reason: 'CreditAvailable' });

  // It is told that less than an hour is left, once.
  const warnings = async () =>
    (await kube.list(EVENTS, { namespace: NS })).filter(({ reason }) => reason === 'CreditLow');
  await until('it is warned', async () => (await warnings()).length > 0);
  await creditIs('False');
  const stopping = await until('it stops', async () => (await getPod())?.metadata.deletionTimestamp);
  expect(stopping).toBeTypeOf('string');
  expect((await warnings()).map(({ count }) => count)).toEqual([1]);
  await end(7);
  const waiting = await phase('waiting');
  expect(toReadiness(waiting).issues).toEqual([
    expect.objectContaining({ code: 'insufficient_credits', message: 'The credit of the account is used up.' }),
  ]);
  await until('it is counted', async () => (await counted()) === 7);
  expect(await test.ledger.balance(account)).toBe(0n);

  await test.give(account, 1_000_000n);
  await creditIs('True');
  await run();
  expect((await getStream()).spec.replicas).toBe(1);
});

it('a stream that is deleted is counted before it goes, also when nobody counts at the time', async () => {
  await test.give(account, 1_000_000n);
  await onAir();
  expect((await getStream()).metadata.finalizers).toContain(COUNT_FINALIZER);
  await billing.stop();
  await kube.delete(LOOPSTREAMS, NS, 'bunny');
  await end(42.7);
  // The operator has let it go; billing has not.
  await until('the operator lets it go', async () => (await getStream()).metadata.finalizers?.length === 1);
  billing = await startBilling();
  await until('it is gone', async () => (await getStream().catch(() => undefined)) === undefined);
  expect(await counted()).toBe(42);
});

it('in its grace a stream stays on air, what it uses is owed, and nothing else starts', async () => {
  await billing.stop();
  billing = await startBilling({ LOOPSTREAM_CREDIT_GRACE_SECONDS: '5' });
  await test.give(account, 2n * PER_SECOND);
  await onAir();
  await until('the grace begins', async () => (await credit())?.reason === 'CreditGrace');
  await createStream({}, 'second');
  await kube.mergePatch(LOOPSTREAMS, NS, 'second', { metadata: { labels: { [ACCOUNT_LABEL]: account } } });
  const second = await until('the second one is told', async () =>
    findCondition((await getStream('second')).status?.conditions, CREDIT_CONDITION),
  );
  expect(second).toMatchObject({ status: 'False', reason: 'InsufficientCredits' });
  await creditIs('False');
  await end(6);
  await until('it is counted', async () => (await counted()) === 6);
  // Six seconds, of which two were paid for.
  expect(await test.ledger.balance(account)).toBe(2n * PER_SECOND - (6n * 1_000_000n) / 3600n);
});
