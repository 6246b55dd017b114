/**
 * Runs the jobs of the role `billing`: each by itself, by one process at a time, however many there are. The holder of
 * a job's lease (db/leases.ts) leaves the job's last end in it, so that two processes run it no more often than one. A
 * failed job is retried with growing pauses, and never delays another one.
 */

import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { exponentialMs } from '../../../core/lib/backoff.ts';
import { type Clock, sleep, systemClock } from '../../../core/lib/clock.ts';
import type { Lifecycle } from '../../../core/lib/lifecycle.ts';
import type { Logger } from '../../../core/lib/log.ts';
import { type Leases, takeForWork } from '../../db/leases.ts';

export interface BillingJob {
  /** For logs, metrics and the lease: one word or two with a hyphen, e.g. `monthly-invoices`. */
  name: string;
  /** From the end of a run to the next one, in milliseconds. */
  everyMs: number;
  /**
   * Does all that is due, and leaves the rest to the next run. It may be killed at any moment, and must bear that another
   * process does the same at the same time: a lease can be lost. `signal` is aborted when the process stops or that happens.
   */
  run(signal: AbortSignal): Promise<void>;
}

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
const BUCKETS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900];

export type JobMetrics = ReturnType<typeof jobMetrics>;

/** Shows each job from the start, so that its first failure is seen as a rise. */
export function jobMetrics(registry: Registry) {
  // Not `job`, which is what Prometheus calls a group of targets.
  const labels = { labelNames: ['task'], registers: [registry] };
  const success = new Gauge({
    name: 'billing_job_last_success_timestamp_seconds',
    help: 'Time of the last successful run of a billing job in this process. 0 before the first.',
    ...labels,
  });
  const seconds = new Histogram({
    name: 'billing_job_duration_seconds',
    help: 'Duration of a run of a billing job.',
    buckets: BUCKETS,
    ...labels,
  });
  const failures = new Counter({
    name: 'billing_job_failures_total',
    help: 'Failed runs of a billing job. Each is retried.',
    ...labels,
  });
  return {
    begin(job: string): void {
      success.set({ task: job }, 0);
      failures.inc({ task: job }, 0);
    },
    succeeded(job: string, at: Date, ms: number): void {
      success.set({ task: job }, at.getTime() / 1000);
      seconds.observe({ task: job }, ms / 1000);
    },
    failed: (job: string): void => failures.inc({ task: job }),
  };
}

export interface JobTools {
  leases: Leases;
  metrics: JobMetrics;
  log: Logger;
  clock?: Clock;
}

/** How long to wait after so many failures in a row; the first ones are tried again before the job's own time. */
export const retryMs = (failures: number, everyMs: number): number =>
  exponentialMs({ baseMs: FIRST_RETRY_MS, maxMs: Math.max(everyMs, MAX_RETRY_MS) }, failures - 1);

/** A tenth more or less, so that what began together does not stay together. */
const jitter = (ms: number): number => ms * (0.9 + 0.2 * Math.random());

/**
 * How long until it is due, as the holder before has left it: 0 when it is. A note from the future is of a clock that has
 * been set back since, and counts for nothing.
 */
export function dueInMs(note: string | undefined, everyMs: number, now: Date): number {
  const passed = now.getTime() - Date.parse(note ?? '');
  return passed >= 0 && passed < everyMs ? everyMs - passed : 0;
}

/** Takes the lease, runs the job if it is due; returns the time until it is due again. */
async function once(job: BillingJob, { leases, metrics, clock = systemClock }: JobTools, stopping: AbortSignal) {
  const { lease, signal } = await takeForWork(leases, `billing:${job.name}`, stopping);
  let note = lease.note;
  try {
    const waitMs = dueInMs(note, job.everyMs, clock.now());
    if (waitMs > 0) return waitMs;
    const since = clock.monotonicMs();
    await job.run(signal);
    note = clock.now().toISOString();
    metrics.succeeded(job.name, clock.now(), clock.monotonicMs() - since);
    return job.everyMs;
  } finally {
    await lease.release(note);
  }
}

async function again(job: BillingJob, tools: JobTools, stopping: AbortSignal): Promise<void> {
  for (let failures = 0; !stopping.aborted; ) {
    let waitMs: number;
    try {
      waitMs = await once(job, tools, stopping);
      failures = 0;
    } catch (err) {
      if (stopping.aborted) return;
      failures++;
      waitMs = retryMs(failures, job.everyMs);
      tools.metrics.failed(job.name);
      tools.log.error({ err, job: job.name, failures, waitMs }, 'a billing job failed; it is retried');
    }
    await sleep(jitter(waitMs), stopping).catch(() => undefined);
  }
}

/** Each job begins at once. Stopping lets the runs under way end, as far as they heed their signal. */
export function startJobs(jobs: readonly BillingJob[], tools: JobTools, lifecycle: Lifecycle): void {
  for (const job of jobs) tools.metrics.begin(job.name);
  const running = jobs.map((job) => again(job, tools, lifecycle.signal));
  lifecycle.defer('jobs', () => Promise.all(running).then(() => undefined));
}
