/**
 * Measures what a stream costs the control plane from its creation until it is live: processor time of each part, the operator's requests,
 * and bytes in etcd. The peers are as many bare pods, and a loop that does the least that any operator must: create the object, create the
 * same pod, and put one status. Processor time is counted, so that other work on the machine matters little.
 */
import { PODS, type Pod } from '../../../src/core/kube/core.ts';
import { objectPath } from '../../../src/core/kube/paths.ts';
import { sleep } from '../../../src/core/lib/clock.ts';
import { LOOPSTREAMS, type LoopStream } from '../../../src/core/resources/stream/resource.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { sumCpuSeconds } from '../processes.ts';
import { median, type Row } from '../report.ts';
import { perStream, sum } from './audit.ts';
import { type BenchCluster, PEERS } from './cluster.ts';
import { sumStoredBytes } from './etcd.ts';
import { createBarePod, createStream, deleteAll, inParallel, isLive, watchAll } from './objects.ts';
import type { OperatorProcess } from './process.ts';
import { removeStreams } from './scale.ts';

const OPERATOR = 'operator';
const WARM_UP = 50;
const IDLE_MS = 10_000;
/** The part of the time before from which on a measurement of idle parts counts as no lower. */
const STEADY = 0.9;
const SETTLED_MS = 3_000;
const MAX_RATIO = 1.45;
const MAX_OPERATOR_MS = 3;
const MAX_STORED_BYTES = 10_240;

/** Processor time by part: of the whole in seconds, of an object in milliseconds. */
type Costs = Map<string, number>;

/**
 * Processor seconds that each part takes in a second with nothing to do. Work of the step before goes on for a while, so the time
 * is measured until it falls no more. kube-apiserver has bursts of seconds now and then, so the least counts and not the last.
 */
async function measureIdle(read: () => Costs): Promise<Costs> {
  const measure = async (): Promise<Costs> => {
    const start = read();
    await sleep(IDLE_MS);
    return new Map([...read()].map(([name, cpu]) => [name, ((cpu - (start.get(name) ?? 0)) * 1000) / IDLE_MS]));
  };
  for (let least = await measure(); ; ) {
    const next = await measure();
    const falls = sum(next) <= sum(least) * STEADY;
    if (sum(next) < sum(least)) least = next;
    if (!falls) return least;
  }
}

/** Measures `run` without what the parts take when they have nothing to do. */
async function measureCosts(parts: Record<string, number>, count: number, run: () => Promise<void>): Promise<Costs> {
  const readAll = (): Costs => new Map(Object.entries(parts).map(([name, pid]) => [name, sumCpuSeconds([pid])]));
  const idle = await measureIdle(readAll);
  const before = readAll();
  const from = performance.now();
  await run();
  const tookSeconds = (performance.now() - from) / 1000;
  return new Map(
    [...readAll()].map(([name, cpu]) => {
      const seconds = cpu - (before.get(name) ?? 0) - (idle.get(name) ?? 0) * tookSeconds;
      return [name, (seconds * 1000) / count];
    }),
  );
}

const runs = ({ status }: Pod): boolean => status?.phase === 'Running';

/** Waits until the operator has nothing left to write. Its watches, and the Secrets of destinations, are read again and again. */
async function settle(operator: OperatorProcess): Promise<void> {
  for (let before = -1; ; ) {
    const { GET: _, ...writes } = Object.fromEntries(await operator.sumMetric('rest_client_requests_total', 'method'));
    const now = Object.values(writes).reduce((a, b) => a + b, 0);
    if (now === before) return;
    before = now;
    await sleep(SETTLED_MS);
  }
}

async function measureBarePods({ kube, parts, etcd }: BenchCluster, count: number) {
  const pods = await watchAll(kube, PODS, PEERS);
  const costs = await measureCosts(parts, count, async () => {
    const all = pods.reached(count, runs);
    await inParallel(count, (n) => createBarePod(kube, n));
    await all;
  });
  const bytes = await sumStoredBytes(etcd, `/registry/pods/${PEERS}/`);
  await deleteAll(kube, PODS, PEERS);
  await pods.empty();
  pods.stop();
  return { costs, bytes: bytes / count };
}

/** Makes copies of a live stream and its pod. */
async function measureLoop({ kube, parts }: BenchCluster, count: number, pattern: { stream: LoopStream; pod: Pod }) {
  const { stream, pod } = pattern;
  const pods = await watchAll(kube, PODS, PEERS);
  const { labels, annotations } = pod.metadata;
  const { nodeName: _, ...spec } = pod.spec;
  const path = (name: string) => objectPath(LOOPSTREAMS, PEERS, name, 'status');
  const costs = await measureCosts(parts, count, async () => {
    const all = pods.reached(count, runs);
    await inParallel(count, async (n) => {
      const { apiVersion, kind } = stream;
      const name = `stream-${n}`;
      const created = await kube.create(LOOPSTREAMS, PEERS, {
        apiVersion,
        kind,
        metadata: { name },
        spec: stream.spec,
      } as never);
      await kube.create(PODS, PEERS, {
        ...pod,
        metadata: { name, labels, annotations },
        spec,
        status: undefined,
      } as never);
      const { status } = await kube.raw('PUT', path(name), { ...created, status: stream.status });
      if (status !== 200) throw new Error(`a status was answered with ${status}`);
    });
    await all;
  });
  await deleteAll(kube, PODS, PEERS);
  await pods.empty();
  pods.stop();
  await deleteAll(kube, LOOPSTREAMS, PEERS);
  return costs;
}

/** Brings some streams on air and removes them again. Returns one of them; and no part is measured with cold caches. */
async function makePattern(cluster: BenchCluster): Promise<{ stream: LoopStream; pod: Pod }> {
  const { kube } = cluster;
  const watched = await watchAll(kube, LOOPSTREAMS, NAMESPACE);
  const all = watched.reached(WARM_UP, isLive);
  await inParallel(WARM_UP, (n) => createStream(kube, n));
  await all;
  const stream = watched.list().find(isLive);
  watched.stop();
  if (!stream) throw new Error('there is no live stream');
  const pod = await kube.get(PODS, NAMESPACE, stream.status?.podName ?? '');
  await removeStreams(cluster);
  return { stream, pod };
}

async function measureStreams(cluster: BenchCluster, operator: OperatorProcess, count: number) {
  const { kube, parts, etcd, audit } = cluster;
  const watched = await watchAll(kube, LOOPSTREAMS, NAMESPACE);
  const readRequests = () => operator.sumMetric('rest_client_requests_total', 'method');
  const requests = await readRequests();
  audit.takeWrites();
  const costs = await measureCosts({ ...parts, [OPERATOR]: operator.pid }, count, async () => {
    const all = watched.reached(count, isLive);
    await inParallel(count, (n) => createStream(kube, n));
    await all;
    await settle(operator);
  });
  const writes = audit.takeWrites();
  for (const [method, after] of await readRequests()) requests.set(method, after - (requests.get(method) ?? 0));
  const dropped = await operator.sumMetric('loopstream_events_dropped_total', 'type');
  const kinds = {
    loopstream: `/registry/loopstream.dev/loopstreams/${NAMESPACE}/`,
    pod: `/registry/pods/${NAMESPACE}/`,
    secret: `/registry/secrets/${NAMESPACE}/stream-`,
  };
  const bytes = new Map<string, number>();
  for (const [kind, prefix] of Object.entries(kinds)) bytes.set(kind, (await sumStoredBytes(etcd, prefix)) / count);
  const eventBytes = (await sumStoredBytes(etcd, `/registry/events/${NAMESPACE}/stream-`)) / count;
  watched.stop();
  await removeStreams(cluster);
  return { costs, requests, writes, dropped, bytes, eventBytes };
}

const format = (values: ReadonlyMap<string, number>, digits: number): string =>
  [...values]
    .filter(([, value]) => value > 0)
    .map(([name, value]) => `${name} ${value.toFixed(digits)}`)
    .join(', ');
const judge = (holds: boolean): string => (holds ? 'holds' : 'missed');

/** The one whose value is the median, or the next lower one. */
function findMiddle<T>(all: readonly T[], value: (one: T) => number): T {
  const middle = all.toSorted((a, b) => value(a) - value(b))[Math.floor((all.length - 1) / 2)];
  if (middle === undefined) throw new Error('there is no round');
  return middle;
}

export async function measureStreamCosts(
  cluster: BenchCluster,
  operator: OperatorProcess,
  count: number,
  rounds: number,
): Promise<Row[]> {
  const pattern = await makePattern(cluster);
  // It may still be looking at the new destinations, which is no idle time.
  await settle(operator);
  const bare = await measureBarePods(cluster, count);
  const loops: Costs[] = [];
  const all: Awaited<ReturnType<typeof measureStreams>>[] = [];
  for (let round = 0; round < rounds; round++) {
    loops.push(await measureLoop(cluster, count, pattern));
    all.push(await measureStreams(cluster, operator, count));
  }
  const readOperatorMs = ({ costs }: (typeof all)[number]) => costs.get(OPERATOR) ?? 0;
  const sumPlane = (one: (typeof all)[number]) => sum(one.costs) - readOperatorMs(one);
  // A burst of kube-apiserver falls into a round of one side or the other: each side counts by its own round in the middle.
  const ours = findMiddle(all, sumPlane);
  const loop = findMiddle(loops, sum);
  const ratio = sumPlane(ours) / sum(loop);
  const ratios = all.map((one, round) => sumPlane(one) / sum(loops[round] ?? loop));
  const range = `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`;
  const operatorMs = median(all.map(readOperatorMs));
  const stored = sum(ours.bytes);
  const ms = (value: number) => `${value.toFixed(1)} ms`;
  return [
    {
      what: `control plane's CPU a stream, create → live (${count}): ${format(ours.costs, 1)}`,
      ours: ms(sumPlane(ours)),
      peer: `${ms(sum(loop))} (${format(loop, 1)})`,
      beside: 'a loop: POST stream, POST pod, PUT status',
      result: `${ratio.toFixed(2)}× (${range})`,
      bar: `≤ ${MAX_RATIO}×`,
    },
    {
      what: "operator's CPU a stream, create → live",
      ours: ms(operatorMs),
      peer: `${ms(sum(bare.costs))} (${format(bare.costs, 1)})`,
      beside: "a bare pod, the control plane's",
      result: judge(operatorMs <= MAX_OPERATOR_MS),
      bar: `≤ ${MAX_OPERATOR_MS} ms`,
    },
    {
      what: `operator's requests a stream: ${perStream(ours.requests, count)}; writes: ${perStream(ours.writes, count)}`,
      ours: (sum(ours.requests) / count).toFixed(2),
      peer: '–',
      beside: '–',
      result: 'stated',
      bar: '–',
    },
    {
      what: `bytes in etcd for a live stream: ${format(ours.bytes, 0)}; for an hour ${ours.eventBytes.toFixed(0)} of events`,
      ours: stored.toFixed(0),
      peer: bare.bytes.toFixed(0),
      beside: 'a bare pod',
      result: judge(stored <= MAX_STORED_BYTES),
      bar: `≤ ${MAX_STORED_BYTES}`,
    },
    {
      what: 'events that were dropped',
      ours: `${sum(ours.dropped)} (${format(ours.dropped, 0)})`,
      peer: '–',
      beside: '–',
      result: judge((ours.dropped.get('Warning') ?? 0) === 0 && (ours.dropped.get('Normal') ?? 0) <= count / 100),
      bar: '0 warnings, ≤ 1 % of others',
    },
  ];
}
