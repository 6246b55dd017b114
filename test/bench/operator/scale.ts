/** Measures many streams at once, from their creation until all are live, beside as many bare pods until all run. */

import { PODS, type Pod } from '../../../src/core/kube/core.ts';
import { sleep } from '../../../src/core/lib/clock.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { median, type Row } from '../report.ts';
import { perStream, sum } from './audit.ts';
import { type BenchCluster, PEERS } from './cluster.ts';
import { createBarePod, createStream, deleteAll, inParallel, isLive, watchAll } from './objects.ts';
import type { OperatorProcess } from './process.ts';

const SETTLED_MS = 3_000;

const runs = ({ status }: Pod): boolean => status?.phase === 'Running';
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

async function barePods({ kube }: BenchCluster, count: number): Promise<number> {
  const pods = await watchAll(kube, PODS, PEERS);
  const start = performance.now();
  const all = pods.reached(count, runs);
  await inParallel(count, (n) => createBarePod(kube, n));
  const took = (await all) - start;
  await deleteAll(kube, PODS, PEERS);
  await pods.empty();
  pods.stop();
  return took;
}

async function streams({ kube }: BenchCluster, count: number): Promise<number> {
  const watched = await watchAll(kube, LOOPSTREAMS, NAMESPACE);
  const start = performance.now();
  const all = watched.reached(count, isLive);
  await inParallel(count, (n) => createStream(kube, n));
  const took = (await all) - start;
  watched.stop();
  return took;
}

export async function removeStreams({ kube }: BenchCluster): Promise<void> {
  const left = [await watchAll(kube, LOOPSTREAMS, NAMESPACE), await watchAll(kube, PODS, NAMESPACE)];
  await deleteAll(kube, LOOPSTREAMS, NAMESPACE);
  await Promise.all(left.map((watched) => watched.empty()));
  for (const watched of left) watched.stop();
}

/** Returns the writes until there are no more: events wait until everything else is done. */
async function takeAllWrites({ audit }: BenchCluster): Promise<Map<string, number>> {
  const writes = audit.takeWrites();
  for (let more = writes; sum(more) > 0; ) {
    await sleep(SETTLED_MS);
    more = audit.takeWrites();
    for (const [what, count] of more) writes.set(what, (writes.get(what) ?? 0) + count);
  }
  return writes;
}

/** Alternates between the two; the last streams stay on air. */
export async function measureScale(
  cluster: BenchCluster,
  operator: OperatorProcess,
  count: number,
  rounds: number,
): Promise<Row[]> {
  const times: { ours: number; peer: number }[] = [];
  const readDropped = () => operator.sumMetric('loopstream_events_dropped_total', 'type');
  const droppedBefore = await readDropped();
  let writes = new Map<string, number>();
  for (let round = 0; round < rounds; round++) {
    if (round > 0) await removeStreams(cluster);
    const peer = await barePods(cluster, count);
    // Events of what was there before are written late.
    await takeAllWrites(cluster);
    times.push({ peer, ours: await streams(cluster, count) });
    writes = await takeAllWrites(cluster);
  }
  const dropped = await readDropped();
  for (const [type, before] of droppedBefore) dropped.set(type, (dropped.get(type) ?? 0) - before);
  const isFew = (dropped.get('Warning') ?? 0) === 0 && (dropped.get('Normal') ?? 0) <= (count * rounds) / 100;
  const ratios = times.map(({ ours, peer }) => ours / peer);
  return [
    {
      what: `${count} streams, create → all live`,
      ours: seconds(median(times.map(({ ours }) => ours))),
      peer: seconds(median(times.map(({ peer }) => peer))),
      beside: 'bare pods, create → all run',
      result: `${median(ratios).toFixed(2)}× (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)})`,
      bar: 'aim 2.5×',
    },
    {
      what: `writes a stream, create → live: ${perStream(writes, count)}`,
      ours: (sum(writes) / count).toFixed(2),
      peer: '–',
      beside: '–',
      result: sum(writes) / count <= 6 ? 'holds' : 'missed',
      bar: '≤ 6',
    },
    {
      what: `events of ${count} starts that were dropped`,
      ours: [...dropped].map(([type, n]) => `${type} ${n}`).join(', '),
      peer: '–',
      beside: '–',
      result: isFew ? 'holds' : 'missed',
      bar: '0 warnings, ≤ 1 % of others',
    },
  ];
}
