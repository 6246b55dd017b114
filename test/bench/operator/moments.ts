/** Measures single events: the time until a pod exists, until a new leader, and the lateness of the last of many schedules. */

import { PODS } from '../../../src/core/kube/core.ts';
import type { KubeObject, Resource } from '../../../src/core/kube/types.ts';
import { sleep } from '../../../src/core/lib/clock.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { until } from '../../kit/wait.ts';
import { median, type Row } from '../report.ts';
import { type BenchCluster, PEERS } from './cluster.ts';
import { createStream, deleteAll, inParallel, isLive, type Watched, watchAll } from './objects.ts';
import { startOperator } from './process.ts';
import { removeStreams } from './scale.ts';

const LEASE_SECONDS = 15;
const CRONJOBS: Resource = { group: 'batch', version: 'v1', kind: 'CronJob', plural: 'cronjobs', namespaced: true };
const JOBS: Resource = { ...CRONJOBS, kind: 'Job', plural: 'jobs' };

/** Makes one stream after the other, each when the one before is live: the operator has no other work. */
export async function measureLatency(cluster: BenchCluster, count: number): Promise<Row> {
  const pods = await watchAll(cluster.kube, PODS, NAMESPACE);
  const streams = await watchAll(cluster.kube, LOOPSTREAMS, NAMESPACE);
  const times: number[] = [];
  for (let n = 0; n < count; n++) {
    const there = pods.reached(n + 1);
    const live = streams.reached(n + 1, isLive);
    const start = performance.now();
    await createStream(cluster.kube, n);
    times.push((await there) - start);
    await live;
  }
  pods.stop();
  streams.stop();
  await removeStreams(cluster);
  const sorted = times.sort((a, b) => a - b);
  const p99 = sorted[Math.ceil(0.99 * sorted.length) - 1] ?? Number.NaN;
  return {
    what: `stream asked for → its pod is seen, ${count} one after the other`,
    ours: `median ${median(times).toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`,
    peer: '–',
    beside: '–',
    result: p99 <= 100 ? 'holds' : 'missed',
    bar: 'p99 ≤ 100 ms',
  };
}

/** Kills the leader; a stream made at that moment waits for the next one. No other operator may run. */
export async function measureTakeover(cluster: BenchCluster, rounds: number): Promise<Row> {
  const times: number[] = [];
  let operators = [await startOperator(cluster, { leaderElection: true })];
  for (let round = 0; round < rounds; round++) {
    operators.push(await startOperator(cluster, { leaderElection: true }));
    const leader = await until('one leads', async () => {
      for (const operator of operators) if (await operator.leads()) return operator;
      return undefined;
    });
    const pods = await watchAll(cluster.kube, PODS, NAMESPACE);
    const there = pods.reached(pods.list().length + 1);
    const start = performance.now();
    await leader.kill();
    await createStream(cluster.kube, round);
    times.push((await there) - start);
    pods.stop();
    operators = operators.filter((operator) => operator !== leader);
  }
  await removeStreams(cluster);
  for (const operator of operators) await operator.stop();
  const worst = Math.max(...times) / 1000;
  return {
    what: 'leader killed → the next one makes a pod',
    ours: `${(median(times) / 1000).toFixed(1)} s (longest ${worst.toFixed(1)} s)`,
    peer: `${LEASE_SECONDS} s`,
    beside: 'how long the Lease lasts',
    result: worst <= LEASE_SECONDS + 2 ? 'holds' : 'missed',
    bar: '≤ Lease + 2 s',
  };
}

interface Start {
  /** The measured objects: the pods, and the Jobs before them. */
  watched: Watched<KubeObject>;
  count: number;
}

/** Returns the lateness of the last of each kind, in milliseconds after `due`: the next whole minute that leaves `seconds` to make all. */
async function lastLateness(starts: Start[], seconds: number, make: (due: Date) => Promise<void>): Promise<number[]> {
  const due = new Date(Math.ceil((Date.now() + seconds * 1000) / 60_000) * 60_000);
  await make(due);
  if (Date.now() > due.getTime() - 1000) throw new Error('making the schedules took longer than there was time');
  const all = starts.map(({ watched, count }) => watched.reached(count));
  await sleep(due.getTime() - Date.now());
  const start = performance.now() - (Date.now() - due.getTime());
  return (await Promise.all(all)).map((moment) => moment - start);
}

/** The time to make the CronJobs. They are due each minute, so all must exist within one. */
const CRON_SECONDS = 20;

/** Makes as many CronJobs, each with a pod as intended; returns the times of the last Job and of the last pod. */
async function cronJobs({ kube }: BenchCluster, count: number): Promise<number[]> {
  const container = { name: 'main', image: 'example.com/image:1' };
  const template = {
    spec: { containers: [container], restartPolicy: 'Never', automountServiceAccountToken: false },
  };
  const spec = { schedule: '* * * * *', jobTemplate: { spec: { template } } };
  const [jobs, pods] = [await watchAll(kube, JOBS, PEERS), await watchAll(kube, PODS, PEERS)];
  const cronjobs = await watchAll(kube, CRONJOBS, PEERS);
  const leftMs = 60_000 - (Date.now() % 60_000);
  if (leftMs < CRON_SECONDS * 1000) await sleep(leftMs);
  const late = await lastLateness(
    [
      { watched: jobs, count },
      { watched: pods, count },
    ],
    CRON_SECONDS,
    () => inParallel(count, (n) => kube.create(CRONJOBS, PEERS, { metadata: { name: `cron-${n}` }, spec })),
  );
  for (const resource of [CRONJOBS, JOBS, PODS]) await deleteAll(kube, resource, PEERS);
  for (const watched of [cronjobs, jobs, pods]) {
    await watched.empty();
    watched.stop();
  }
  return late;
}

async function ourSchedules(cluster: BenchCluster, count: number): Promise<number> {
  const { kube } = cluster;
  const pods = await watchAll(kube, PODS, NAMESPACE);
  const [late = Number.NaN] = await lastLateness([{ watched: pods, count }], 120, async (due) => {
    const streams = await watchAll(kube, LOOPSTREAMS, NAMESPACE);
    const scheduled = streams.reached(count, ({ status }) => status?.phase === 'scheduled');
    await inParallel(count, (n) => createStream(kube, n, { schedule: { startAt: due.toISOString() } }));
    await scheduled;
    streams.stop();
  });
  pods.stop();
  await removeStreams(cluster);
  return late;
}

/** Alternates with as many CronJobs. The last pod's time is the result; the last Job's is reported too. */
export async function measureSchedules(cluster: BenchCluster, count: number, rounds: number): Promise<Row> {
  const ours: number[] = [];
  const jobs: number[] = [];
  const peers: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const [job = Number.NaN, pod = Number.NaN] = await cronJobs(cluster, count);
    jobs.push(job);
    peers.push(pod);
    ours.push(await ourSchedules(cluster, count));
  }
  const times = (values: number[]) => values.map((ms) => `${(ms / 1000).toFixed(1)} s`).join(', ');
  return {
    what: `${count} schedules in one second: the last pod is late by`,
    ours: times(ours),
    peer: `${times(peers)} (its last Job: ${times(jobs)})`,
    beside: 'CronJob controller',
    result: `${(median(ours) / median(peers)).toFixed(2)}×`,
    bar: '≤ 1×',
  };
}
