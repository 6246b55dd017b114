/**
 * Tests the meter on a real Postgres and a real API server, with streams whose sessions are kept as the operator keeps them. It is killed
 * at 200 random points, runs twice at once, gets old states, and has clocks that jump. It loses both servers for a while, and is away for
 * so long that the sessions overflow. The charges are the time on air, to the tenth of a second, and never more.
 */
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createKube } from '../../../src/core/kube/client.ts';
import { NAMESPACES } from '../../../src/core/kube/core.ts';
import type { Kube } from '../../../src/core/kube/types.ts';
import { systemClock } from '../../../src/core/lib/clock.ts';
import { computeSessions, type PodTime } from '../../../src/core/operator/stream/sessions.ts';
import { ACCOUNT_LABEL, API_VERSION, FIELD_MANAGER_OPERATOR } from '../../../src/core/resources/common/names.ts';
import { applyCrds } from '../../../src/core/resources/crd/install.ts';
import { LOOPSTREAMS, type LoopStream } from '../../../src/core/resources/stream/resource.ts';
import { MAX_SESSIONS } from '../../../src/core/resources/stream/sessions.ts';
import { createLedger } from '../../../src/service/billing/ledger/ledger.ts';
import { parsePrices } from '../../../src/service/billing/ledger/prices.ts';
import { createMeter } from '../../../src/service/billing/metering/meter.ts';
import { meterJob, type WorkDeps } from '../../../src/service/billing/metering/stream-jobs.ts';
import { createStreamMarks } from '../../../src/service/billing/metering/stream-marks.ts';
import { createDb, createPool } from '../../../src/service/db/pool.ts';
import { startTestLedger, type TestLedger } from '../../kit/make/ledger.ts';
import { silent } from '../../kit/real/kube.ts';
import { shareTestKubernetes, type TestKubernetes } from '../../kit/real/kubernetes.ts';
import { query } from '../../kit/real/postgres.ts';
import { createRestarts } from '../../kit/real/restarts.ts';
import { until } from '../../kit/wait.ts';

const NS = 'metered';
const LIVES = 200;
const ACCOUNTS = ['ann', 'ann', 'bob', 'bob'];
/** A credit for each tenth of a second, so that the ledger shows charges to the tenth. */
const PRICES = parsePrices(
  JSON.stringify(
    ['720p', '1080p', '1440p', '2160p'].flatMap((quality) =>
      [24, 25, 30, 60].map((framerate) => ({ quality, framerate, creditsPerHour: 36_000 })),
    ),
  ),
);

let cluster: TestKubernetes;
let kube: Kube;
let test: TestLedger;
let restarts: ReturnType<typeof createRestarts>;
beforeAll(async () => {
  [cluster, test] = await Promise.all([shareTestKubernetes(), startTestLedger()]);
  kube = createKube({ kubeconfig: cluster.kubeconfig });
  await applyCrds(kube);
  await kube.create(NAMESPACES, '', { metadata: { name: NS }, spec: {} });
});
afterAll(async () => {
  await kube?.close();
  await test?.stop();
  await restarts?.end();
  await cluster?.stop();
});

const chance = (probability: number) => Math.random() < probability;
const between = (low: number, high: number) => low + Math.floor(Math.random() * (high - low));

/** Makes a stream whose pods run, break off and are replaced, with the operator's records of it. */
function createScene(name: string) {
  let nowMs = Date.parse('2026-03-01T00:00:00Z');
  let pods = 1;
  let truth = 0;
  const time = () => new Date(nowMs).toISOString();
  const begin = (): PodTime => ({
    podUID: `${name}-${pods++}`,
    runs: [],
    endedThrough: 0,
    over: false,
    onAirSince: time(),
    lifetime: { beganMs: nowMs, createdMs: nowMs },
  });
  let account = begin();
  const runs = () => account.runs as { run: number; startedAt: string; lastAt: string; onAirSeconds: number }[];
  const write = async () => {
    const stream: LoopStream = await kube.get(LOOPSTREAMS, NS, name);
    const { sessions: book } = computeSessions(stream, [account], true, new Date(nowMs));
    const said = { apiVersion: API_VERSION, kind: 'LoopStream', metadata: { name, namespace: NS } };
    await kube.apply(
      LOOPSTREAMS,
      NS,
      { ...said, status: { sessions: book } },
      { fieldManager: FIELD_MANAGER_OPERATOR, subresource: 'status' },
    );
    return book;
  };
  return {
    async live() {
      for (let i = between(1, 4); i > 0; i--) {
        if (runs().length === 0 || account.endedThrough === runs().at(-1)?.run) {
          runs().push({ run: runs().length + 1, startedAt: time(), lastAt: time(), onAirSeconds: 0 });
        }
        const run = runs().at(-1) as { lastAt: string; onAirSeconds: number; run: number };
        const seconds = Math.round(Math.random() * (chance(0.2) ? 40_000 : 600)) / 10;
        nowMs += seconds * 1000;
        truth += seconds;
        Object.assign(run, { lastAt: time(), onAirSeconds: Math.round((run.onAirSeconds + seconds) * 10) / 10 });
        // The pod breaks off, and is away for a while.
        if (chance(0.6)) account = { ...account, endedThrough: run.run, onAirSince: undefined };
        nowMs += between(0, 90_000);
      }
      if (chance(0.2)) await this.replace();
      else await write();
    },
    /** Replaces the pod; its last report is stored before its finalizer goes. */
    async replace() {
      account = { ...account, endedThrough: runs().at(-1)?.run ?? 0, over: true, onAirSince: undefined };
      await write();
      account = begin();
      account = { ...account, onAirSince: undefined };
    },
    onAirSeconds: () => truth,
  };
}

/** Allows `effects` effects and then none, as if the process had been killed before the next one, or after it. */
function createFate(effects: number) {
  let left = effects;
  let dead = false;
  const clients = new Set<pg.PoolClient>();
  const die = (): never => {
    dead = true;
    for (const client of clients)
      (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
    throw new Error('killed');
  };
  const pass = async <T>(effect: () => Promise<T>): Promise<T> => {
    if (dead) return die();
    if (left-- > 0) return effect();
    if (chance(0.5)) await effect();
    return die();
  };
  const pool = createPool(test.url, { searchPath: 'loopstream', max: 3 });
  pool.on('connect', (client) => {
    clients.add(client);
    client.on('error', () => undefined);
    const send = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>;
    (client as { query: unknown }).query = (...args: unknown[]) => pass(() => send(...args));
  });
  const guarded = (name: keyof Kube) => ({
    [name]: (...args: unknown[]) => pass(() => (kube[name] as (...args: unknown[]) => Promise<unknown>)(...args)),
  });
  return { pool, kube: { ...kube, ...guarded('apply'), ...guarded('mergePatch') } as Kube };
}

/** Runs one life of a meter, with the streams as they were read; it ends well or at its fate. */
async function live(streams: readonly LoopStream[], effects: number): Promise<boolean> {
  const fate = createFate(effects);
  const db = createDb(fate.pool);
  const jumpMs = chance(0.3) ? between(-86_400_000, 86_400_000) : 0;
  const clock = { ...systemClock, now: () => new Date(Date.now() + jumpMs) };
  const work = {
    streams: { list: () => streams },
    meter: createMeter({ db, ledger: createLedger(db), prices: PRICES, clock }),
    books: createStreamMarks(fate.kube, () => undefined),
    settled: async () => undefined,
    everyMs: 1000,
    log: silent,
  } as unknown as WorkDeps;
  try {
    await meterJob(work).run(new AbortController().signal);
    return true;
  } catch {
    return false;
  } finally {
    await db.destroy().catch(() => undefined);
  }
}

const read = async (): Promise<LoopStream[]> => (await kube.list(LOOPSTREAMS, { namespace: NS })) as LoopStream[];

it('the meter counts the time on air, whatever happens to it', async () => {
  const scenes = await Promise.all(
    ACCOUNTS.map(async (account, i) => {
      const name = `stream-${i}`;
      const spec = { replicas: 1, quality: '720p', framerate: 30, uploadName: 'film', destinationNames: ['tv'] };
      const metadata = { name, labels: { [ACCOUNT_LABEL]: account } };
      await kube.create(LOOPSTREAMS, NS, { apiVersion: API_VERSION, kind: 'LoopStream', metadata, spec } as never);
      return createScene(name);
    }),
  );
  for (const account of new Set(ACCOUNTS)) await test.give(account, 10_000_000n);
  restarts = createRestarts(cluster);
  let before = await read();
  let [ended, overflowed] = [0, false];
  for (let life = 0; life < LIVES; life++) {
    for (const scene of scenes) if (chance(0.5)) await scene.live();
    // No meter counts for a while.
    if (life === 40) for (let i = 0; i < 2 * MAX_SESSIONS; i++) await scenes[0]?.live();
    const now = await read();
    overflowed ||= now.some(({ status }) => status?.sessions?.some(({ through }) => through !== undefined));
    const chooseView = () => (chance(0.2) ? before : now);
    if (life === 100) {
      const pool = new pg.Client({ connectionString: test.url });
      await pool.connect();
      await pool.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()',
      );
      await pool.end();
    }
    if (life === 120) await restarts.kill('kube-apiserver');
    // Half of the time two run at once; each is killed at some point, or completes.
    const lives = [live(chooseView(), between(0, 16)), ...(chance(0.5) ? [live(chooseView(), between(0, 16))] : [])];
    for (const well of await Promise.all(lives)) if (!well) ended++;
    if (life === 120) {
      await restarts.start('kube-apiserver');
      await until(
        'Kubernetes is back',
        () =>
          read().then(
            () => true,
            () => false,
          ),
        60_000,
      );
    }
    before = now;
  }
  expect(ended).toBeGreaterThan(LIVES / 4);
  expect(overflowed).toBe(true);
  for (const scene of scenes) await scene.replace();
  // One meter completes, and the next one finds nothing to do.
  expect(await live(await read(), Number.POSITIVE_INFINITY)).toBe(true);
  const entries = () => query(test.url, 'select count(*) from loopstream.ledger_entries');
  const settled = await entries();
  expect(await live(await read(), Number.POSITIVE_INFINITY)).toBe(true);
  expect(await entries()).toEqual(settled);

  const rows = await query(
    test.url,
    `select s.stream_id, sum(m.seconds)::float as seconds, sum(m.credits)::int as credits
      from loopstream.meter_streams s join loopstream.meter_sessions m using (stream_uid) group by 1 order by 1`,
  );
  expect(rows).toHaveLength(scenes.length);
  for (const [i, scene] of scenes.entries()) {
    const { seconds, credits } = rows[i] as { seconds: number; credits: number };
    expect(seconds).toBeCloseTo(scene.onAirSeconds(), 3);
    expect(credits).toBe(Math.round(seconds * 10));
  }
  const charged = await query(
    test.url,
    `select t.details->>'streamID' as stream_id, sum((t.details->>'seconds')::numeric)::float as seconds, sum(e.credits)::int as credits
      from loopstream.ledger_transactions t join loopstream.ledger_entries e on e.transaction_id = t.id
      where t.kind = 'charge' and e.account = 'revenue:streaming' group by 1 order by 1`,
  );
  expect(charged).toEqual(rows);
  for (const { status } of await read()) {
    const last = status?.sessions?.at(-1);
    expect(status?.acknowledgedSession).toBe(last?.through ?? last?.number);
  }
});
