/**
 * Tests credit on a real control plane with a real operator, a real Postgres and the role billing. Streams without
 * credit stop, go on after a top-up, and are counted before they are deleted. Their sessions say why they ended, and cost what the ledger
 * says. The test drives pods in kubelet's place.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { EVENTS, PODS } from '../../../src/core/kube/core.ts';
import { kubeTime, systemClock } from '../../../src/core/lib/clock.ts';
import { Lifecycle } from '../../../src/core/lib/lifecycle.ts';
import { findCondition } from '../../../src/core/resources/common/conditions.ts';
import { ACCOUNT_LABEL, COUNT_FINALIZER, CREDIT_CONDITION } from '../../../src/core/resources/common/names.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { parsePrices } from '../../../src/service/billing/ledger/prices.ts';
import { createBillingService } from '../../../src/service/billing/ledger/service.ts';
import { runBilling } from '../../../src/service/billing/main.ts';
import { createEstimates } from '../../../src/service/billing/metering/estimate.ts';
import { createSessionService } from '../../../src/service/billing/metering/session-service.ts';
import { billingConfig } from '../../../src/service/billing/setup/settings.ts';
import { readEvents } from '../../../src/service/domain/events/store.ts';
import { toReadiness } from '../../../src/service/domain/streams/view.ts';
import { startTestLedger, type TestLedger } from '../../kit/make/ledger.ts';
import { MEDIA } from '../../kit/make/operator.ts';
import { silent } from '../../kit/real/kube.ts';
import { query } from '../../kit/real/postgres.ts';
import {
  aroundEachTest,
  cluster,
  createDestination,
  createStream,
  createUpload,
  finishJob,
  getPod,
  getStream,
  kube,
  kubelet,
  MADE,
  NS,
  prepareUpload,
  setSpec,
  waitForJobPod,
  waitForPhase,
  waitForPod,
  waitUntilIdle,
} from '../../kit/system/operator-system.ts';
import { until } from '../../kit/wait.ts';

let test: TestLedger;
let billing: Lifecycle;
let account = '';
let number = 0;
beforeAll(async () => {
  test = await startTestLedger();
});
afterAll(() => test?.stop());
// Hooks registered first run last: billing still counts the streams that other hooks delete.
afterEach(() => billing.stop());
aroundEachTest({ metered: true });
beforeEach(async () => {
  account = `account-${++number}`;
  billing = await startBilling();
});

/** 720p30 costs a million an hour: 278 credits a second, so that an hour of credit is used up at once. */
const PRICES = JSON.stringify(
  [...parsePrices().keys()].map((profile) => {
    const [, quality, framerate] = /^(\d+p)(\d+)$/.exec(profile) ?? [];
    return { quality, framerate: Number(framerate), creditsPerHour: 1_000_000 };
  }),
);
const PER_SECOND = 278n;

async function startBilling(more: Record<string, string> = {}, clock = systemClock): Promise<Lifecycle> {
  const lifecycle = new Lifecycle();
  const config = billingConfig({
    KUBECONFIG: cluster.kubeconfig,
    LOOPSTREAM_NAMESPACE: NS,
    LOOPSTREAM_DATABASE_URL: test.url,
    LOOPSTREAM_PRICES: PRICES,
    LOOPSTREAM_OPS_HOST: '127.0.0.1',
    LOOPSTREAM_OPS_PORT: '0',
    ...more,
  });
  const { ready } = await runBilling({ ...config, meterIntervalMs: 1000 }, lifecycle, silent, { clock });
  await ready;
  return lifecycle;
}

const credit = async () => findCondition((await getStream()).status?.conditions, CREDIT_CONDITION);
const creditIs = (status: string) => until(`credit is ${status}`, async () => (await credit())?.status === status);
const listEvents = async (wanted: string) =>
  (await kube.list(EVENTS, { namespace: NS })).filter(({ reason }) => reason === wanted);
const sumCounted = async (): Promise<number> => {
  const [row] = await query(
    test.url,
    `select coalesce(sum(m.seconds), 0)::float8 as seconds from loopstream.meter_streams s
      join loopstream.meter_sessions m using (stream_uid) where s.account_id = '${account}'`,
  );
  return row?.seconds as number;
};

/** The events of the account, oldest first. */
const readTold = () => readEvents(test.db, account, undefined, { limit: 100 });

const owned = (name = 'bunny') =>
  kube.mergePatch(LOOPSTREAMS, NS, name, { metadata: { labels: { [ACCOUNT_LABEL]: account } } });

/** Makes a stream of the account with all its parts, which is off air before its schedule. */
async function prepareStream(spec: Parameters<typeof createStream>[0] = {}): Promise<void> {
  await createDestination();
  await createUpload();
  await createStream(spec);
  await owned();
  await prepareUpload();
}

/** Puts a stream of the account on air. */
async function onAir(): Promise<void> {
  await prepareStream();
  await run();
}

async function run(): Promise<void> {
  await waitForPod();
  await kubelet.bind('bunny-onair');
  await kubelet.run('bunny-onair', true);
  await waitForPhase('live');
}

/** Ends the container, which leaves its time on air. */
async function end(onAirSeconds: number): Promise<void> {
  const now = kubeTime(new Date());
  const startedAt = kubeTime(new Date(Date.now() - onAirSeconds * 1000));
  const message = JSON.stringify({ runs: [{ run: 1, startedAt, lastAt: now, onAirSeconds }] });
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
  // The stand-in for kubelet would end the pod anew and remove its last message.
  await kube.delete(PODS, NS, 'bunny-onair', { gracePeriodSeconds: 0 });
  await until('the pod is gone', async () => (await getPod()) === undefined);
}

it('a stream whose credit is used up stops, says so, and goes on by itself when there is credit again', async () => {
  await test.give(account, 6n * PER_SECOND);
  await onAir();
  expect(await credit()).toMatchObject({ status: 'True', reason: 'CreditAvailable' });

  // The account gets one warning when less than an hour is left.
  const warnings = () => listEvents('CreditLow');
  await until('it is warned', async () => (await warnings()).length > 0);
  await creditIs('False');
  const stopping = await until('it stops', async () => (await getPod())?.metadata.deletionTimestamp);
  expect(stopping).toBeTypeOf('string');
  expect((await warnings()).map(({ count }) => count)).toEqual([1]);
  await end(7);
  const waiting = await waitForPhase('waiting');
  expect(toReadiness(waiting).issues).toEqual([
    expect.objectContaining({ code: 'insufficient_credits', message: 'The credit of the account is used up.' }),
  ]);
  await until('it is counted', async () => (await sumCounted()) === 7);
  expect(await test.ledger.balance(account)).toBe(0n);
  await expect.poll(readTold).toHaveLength(2);
  const [low, exhausted] = await readTold();
  expect(low).toMatchObject({ type: 'credit.low', seq: 1, data: { hoursLeft: 1 }, snapshot: { state: 'low' } });
  expect(exhausted).toMatchObject({
    type: 'credit.exhausted',
    object: 'account',
    objectID: account,
    seq: 2,
    data: { code: 'insufficient_credits', fix: expect.stringContaining('Add credit') },
    snapshot: { state: 'exhausted', hadCredit: true },
  });

  await test.give(account, 1_000_000n);
  await creditIs('True');
  await run();
  expect((await getStream()).spec.replicas).toBe(1);
});

it('the history says why each session ended, whoever was away, and costs what the ledger and the usage say', async () => {
  const readHistory = async () => {
    const stream = await getStream();
    const prices = parsePrices(PRICES);
    return createSessionService({ db: test.db, findStream: () => stream, prices }).all(account, 'bunny');
  };
  const leave = async (onAirSeconds: number) => {
    await until('it leaves the air', async () => (await getPod())?.metadata.deletionTimestamp);
    await end(onAirSeconds);
  };
  await test.give(account, 60n * PER_SECOND);
  await onAir();
  const [running, ...none] = await readHistory();
  expect(none).toEqual([]);
  expect(running).toMatchObject({ number: 1, endedAt: null, end: null });
  await setSpec({ replicas: 0 });
  await leave(7.5);
  await waitForPhase('stopped');

  // The meter is away during a whole session, and nobody is asked what it was.
  await billing.stop();
  await setSpec({ replicas: 1 });
  await run();
  const past = (ms: number) => new Date(Date.now() - ms).toISOString();
  await setSpec({ schedule: { startAt: past(60_000), endAt: past(1_000) } });
  await leave(1.2);
  await waitForPhase('ended');
  expect((await readHistory())[0]).toMatchObject({ number: 2, onAirSeconds: 1.2, creditsEstimated: true });
  billing = await startBilling();
  await until('the second one is counted', async () => (await sumCounted()) === 8.7);

  // The last one is on air for longer than it can pay for.
  await setSpec({ schedule: null } as never);
  await run();
  await test.give(account, -(60n * PER_SECOND - 10n * PER_SECOND));
  await creditIs('False');
  await leave(6);
  await until('the third one is counted', async () => (await sumCounted()) === 14.7);
  const history = await readHistory();
  expect(history.map(({ number, onAirSeconds, end: why }) => [number, onAirSeconds, why?.code])).toEqual([
    [3, 6, 'credit_used_up'],
    [2, 1.2, 'schedule_ended'],
    [1, 7.5, 'stream_stopped'],
  ]);
  expect(history.every(({ creditsEstimated, endedAt }) => !creditsEstimated && endedAt !== null)).toBe(true);
  const cost = history.reduce((sum, { credits }) => sum + BigInt(credits ?? 0), 0n);
  expect(cost).toBe(10n * PER_SECOND);
  const service = createBillingService({
    db: test.db,
    enabled: true,
    currency: 'USD',
    currentRate: () => Promise.reject(),
  });
  const principal = { accountId: account, userId: account, scopes: new Set<never>(), via: 'key' } as const;
  const usage = await service.usage(principal, { groupBy: 'stream', timeZone: 'UTC' });
  expect(usage.lines).toEqual([{ day: null, streamID: 'bunny', credits: String(cost), onAirSeconds: 14.7 }]);
  const { edges } = await service.ledger(principal, { first: 100 });
  const charges = edges.filter(({ node }) => node.kind === 'charge');
  expect(charges.reduce((sum, { node }) => sum - BigInt(node.credits), 0n)).toBe(cost);
});

it('a deleted stream is counted before it goes, also without a meter at the time', async () => {
  await test.give(account, 1_000_000n);
  await onAir();
  expect((await getStream()).metadata.finalizers).toContain(COUNT_FINALIZER);
  await billing.stop();
  await kube.delete(LOOPSTREAMS, NS, 'bunny');
  await end(42.7);
  // The operator has removed its finalizer; billing has not.
  await until('the operator lets it go', async () => (await getStream()).metadata.finalizers?.length === 1);
  billing = await startBilling();
  await until('it is gone', async () => (await getStream().catch(() => undefined)) === undefined);
  expect(await sumCounted()).toBe(42.7);
});

it('media that is being prepared when billing takes a stream over goes on, although nobody has reported the credit yet', async () => {
  await billing.stop();
  await createDestination();
  await createUpload();
  await createStream();
  await finishJob('film-import', { action: 'import', media: MEDIA });
  const { metadata } = await waitForJobPod('film-720p30');
  await owned();
  await setSpec({ readinessGates: [{ conditionType: CREDIT_CONDITION }] });
  const readMedia = async () => findCondition((await getStream()).status?.conditions, 'MediaReady')?.reason;
  await until('it awaits the credit', async () => (await readMedia()) === 'MediaAwaitsCredit');
  await waitUntilIdle();
  expect((await waitForJobPod('film-720p30')).metadata.uid).toBe(metadata.uid);

  await test.give(account, 1_000_000n);
  billing = await startBilling();
  await finishJob('film-720p30', MADE);
  await run();
});

it('in its grace a stream stays on air, its usage is owed, and no other stream starts', async () => {
  await billing.stop();
  billing = await startBilling({ LOOPSTREAM_CREDIT_GRACE_SECONDS: '5' });
  await test.give(account, 2n * PER_SECOND);
  await onAir();
  await until('the grace begins', async () => (await credit())?.reason === 'CreditGrace');
  await createStream({}, 'second');
  await owned('second');
  const second = await until('the second one is told', async () =>
    findCondition((await getStream('second')).status?.conditions, CREDIT_CONDITION),
  );
  expect(second).toMatchObject({ status: 'False', reason: 'InsufficientCredits' });
  await creditIs('False');
  await end(6);
  await until('it is counted', async () => (await sumCounted()) === 6);
  // Six seconds, of which two were paid for.
  expect(await test.ledger.balance(account)).toBe(2n * PER_SECOND - (6n * 1_000_000n) / 3600n);

  // After a top-up, streams that should run go on air; a stopped one stays off.
  await setSpec({ replicas: 0 });
  await test.give(account, 1_000_000n);
  await waitForPod('second-onair');
  expect((await waitForPhase('stopped')).status?.replicas).toBe(0);
  expect(await credit()).toMatchObject({ status: 'True' });
});

it('warns once when a day is left and once when an hour is, and the account gets the same warnings', async () => {
  await billing.stop();
  let passedMs = 0;
  const clock = { ...systemClock, now: () => new Date(Date.now() + passedMs) };
  billing = await startBilling({}, clock);
  await test.give(account, 25_000_000n);
  await onAir();
  const estimates = createEstimates({ db: test.db, prices: parsePrices(PRICES), clock });
  const service = createBillingService({
    db: test.db,
    enabled: true,
    currency: 'USD',
    clock,
    currentRate: async (accountId) => estimates.get(accountId, [await getStream()]),
  });
  const readCredit = async () => {
    const principal = { accountId: account, userId: account, scopes: new Set<never>(), via: 'key' } as const;
    const { state, secondsLeft } = await service.get(principal);
    const warnings = await listEvents('CreditLow');
    return { state, left: ((secondsLeft ?? 0) / 3600).toFixed(1), warnings: warnings.map(({ message }) => message) };
  };
  const afterHours = (hours: number) => {
    passedMs = hours * 3_600_000;
  };
  const matchMessage = (time: string) =>
    expect.stringMatching(`^The credit of the account lasts for less than ${time} at`);
  expect(await readCredit()).toEqual({ state: 'active', left: '25.0', warnings: [] });
  afterHours(2);
  await expect.poll(readCredit).toEqual({ state: 'low', left: '23.0', warnings: [matchMessage('24 hours')] });
  afterHours(24.5);
  const both = expect.arrayContaining([matchMessage('24 hours'), matchMessage('an hour')]);
  await expect.poll(readCredit).toEqual({ state: 'low', left: '0.5', warnings: both });
  afterHours(25);
  await creditIs('False');
  expect(await readCredit()).toMatchObject({ state: 'exhausted', left: '0.0' });
  expect((await listEvents('CreditLow')).map(({ count }) => count)).toEqual([1, 1]);
  const listTold = async () => (await readTold()).map(({ type, seq, data }) => [type, seq, data.hoursLeft]);
  await expect.poll(listTold).toEqual([
    ['credit.low', 1, 24],
    ['credit.low', 2, 1],
    ['credit.exhausted', 3, null],
  ]);
});

it('a schedule whose time comes without credit makes no pod and says why; with credit again it is kept', async () => {
  const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
  // The media was prepared before the account existed: without credit nothing is prepared.
  await createDestination();
  await createUpload();
  await createStream({ schedule: { startAt: inMs(3_600_000) } });
  await prepareUpload();
  await owned();
  await waitForPhase('scheduled');
  await creditIs('False');

  // A whole window passes without credit.
  await setSpec({ schedule: { startAt: inMs(500), endAt: inMs(3_000) } });
  const waiting = await waitForPhase('waiting');
  expect(toReadiness(waiting).issues).toEqual([expect.objectContaining({ code: 'insufficient_credits' })]);
  const event = await until('an Event says so', async () =>
    (await listEvents('NotReady')).find(({ message }) => message?.includes('no credit yet')),
  );
  expect(event).toMatchObject({ type: 'Warning', message: expect.stringContaining('Add credit') });
  expect(findCondition((await waitForPhase('ended')).status?.conditions, 'Live')?.reason).toBe('NotStarted');

  // A top-up comes in the middle of a window: the rest of it is on air.
  const startAt = inMs(500);
  await setSpec({ schedule: { startAt, endAt: null } } as never);
  await waitForPhase('waiting');
  expect(await getPod()).toBeUndefined();
  await test.give(account, 100_000_000n);
  await run();
  expect((await getStream()).status?.lastScheduleTime).toBe(startAt);

  // The next window has credit, and runs normally.
  await setSpec({ schedule: { startAt, endAt: inMs(0) } });
  await until('it stops', async () => (await getPod())?.metadata.deletionTimestamp);
  await end(1);
  await waitForPhase('ended');
  await setSpec({ schedule: { startAt: inMs(1_000), endAt: null } } as never);
  await waitForPhase('scheduled');
  await run();
});
