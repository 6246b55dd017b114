/** Tests the jobs of billing on a real Postgres, with the runners of two processes. */
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Lifecycle } from '../../../src/core/lib/lifecycle.ts';
import { type BillingJob, dueInMs, jobMetrics, retryMs, startJobs } from '../../../src/service/billing/ledger/jobs.ts';
import { createLeases } from '../../../src/service/db/leases.ts';
import { createDb, createPool, type Db } from '../../../src/service/db/pool.ts';
import { silent } from '../../kit/real/kube.ts';
import { shareTestPostgres, type TestPostgres } from '../../kit/real/postgres.ts';
import { until } from '../../kit/wait.ts';

let postgres: TestPostgres;
let db: Db;
const running: Lifecycle[] = [];
beforeAll(async () => {
  postgres = await shareTestPostgres();
  db = createDb(createPool(postgres.url, { searchPath: 'loopstream', max: 4 }));
});
afterAll(async () => {
  await Promise.all(running.map((lifecycle) => lifecycle.stop()));
  await db?.destroy();
  await postgres?.stop();
});

function start(...jobs: BillingJob[]) {
  const lifecycle = new Lifecycle();
  const registry = new Registry();
  startJobs(jobs, { leases: createLeases(db), metrics: jobMetrics(registry), log: silent }, lifecycle);
  running.push(lifecycle);
  return { stop: () => lifecycle.stop(), metrics: () => registry.metrics() };
}

describe('when a job is due', () => {
  const now = new Date('2026-03-01T12:00:00Z');
  it('is an interval after its last end; a note from the future or of no sense counts for nothing', () => {
    expect(dueInMs(undefined, 60_000, now)).toBe(0);
    expect(dueInMs('2026-03-01T11:59:30.000Z', 60_000, now)).toBe(30_000);
    expect(dueInMs('2026-03-01T11:59:00.000Z', 60_000, now)).toBe(0);
    expect(dueInMs('2026-03-02T00:00:00.000Z', 60_000, now)).toBe(0);
    expect(dueInMs('soon', 60_000, now)).toBe(0);
  });
  it('after failures it is tried soon, then ever more seldom, but never more seldom than a minute or its own time', () => {
    expect([1, 2, 3, 7, 100].map((n) => retryMs(n, 5_000))).toEqual([1_000, 2_000, 4_000, 60_000, 60_000]);
    expect(retryMs(100, 3_600_000)).toBe(3_600_000);
  });
});

it('two runners do a job one at a time and no more often than one; the other goes on when one stops', async () => {
  let [at, most] = [0, 0];
  const ends: number[] = [];
  const job: BillingJob = {
    name: 'alone',
    everyMs: 300,
    run: async () => {
      most = Math.max(most, ++at);
      await db.selectFrom('loopstream.idempotency').selectAll().execute();
      at--;
      ends.push(Date.now());
    },
  };
  const [one, two] = [start(job), start(job)];
  await until('it ran a few times', () => ends.length >= 4);
  const pauses = ends.slice(1).map((end, i) => end - (ends[i] ?? 0));
  // The jitter is a tenth.
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(250);
  await one.stop();
  const before = ends.length;
  await until('the other one goes on', () => ends.length >= before + 2);
  expect(most).toBe(1);
  await two.stop();
});

it('a failed job is counted, retried, and delays no other job; a stop signals the running one', async () => {
  let [tries, done] = [0, 0];
  let stopped = false;
  const failing: BillingJob = {
    name: 'failing',
    everyMs: 100,
    run: async () => {
      tries++;
      if (tries < 2) throw new Error('not today');
    },
  };
  const fine: BillingJob = { name: 'fine', everyMs: 50, run: async () => void done++ };
  const long: BillingJob = {
    name: 'long',
    everyMs: 50,
    run: async (signal) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      signal.addEventListener('abort', () => resolve());
      await promise;
      stopped = true;
    },
  };
  const runner = start(failing, fine, long);
  await until('it was tried again', () => tries >= 2);
  expect(done).toBeGreaterThan(1);
  expect(await runner.metrics()).toContain('billing_job_failures_total{task="failing"} 1');
  expect(await runner.metrics()).toContain('billing_job_failures_total{task="fine"} 0');
  await runner.stop();
  expect(stopped).toBe(true);
});
