/**
 * Measures many cells in one cluster: beside the streams that an operator keeps on air, copies of a live stream with all its objects are
 * made in further namespaces, as far as the machine carries them in the time that there is. The copies have no operator. So the
 * rows say what their objects take of etcd and kube-apiserver, and whether the operator of the first cell notices them.
 */
import { availableMemory } from 'node:process';
import { NAMESPACES, PODS, type Pod, SECRETS, type Secret } from '../../../src/core/kube/core.ts';
import { objectPath } from '../../../src/core/kube/paths.ts';
import type { Kube, Resource, Stored } from '../../../src/core/kube/types.ts';
import { streamSecretName } from '../../../src/core/resources/common/names.ts';
import { DESTINATIONS, type Destination } from '../../../src/core/resources/destination/resource.ts';
import { LOOPSTREAMS, type LoopStream } from '../../../src/core/resources/stream/resource.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { until } from '../../kit/wait.ts';
import { sumCpuSeconds } from '../processes.ts';
import type { Row } from '../report.ts';
import type { BenchCluster } from './cluster.ts';
import { readDatabaseBytes } from './etcd.ts';
import { inParallel } from './objects.ts';
import { type OperatorProcess, readMemory, startOperator } from './process.ts';

const CELL = 10_000;
const IDLE_MS = 20_000;
const TELL_MS = 30_000;
/** Less is not enough for the servers while the operator reads its cell again. */
const LEAST_FREE_BYTES = 3 * 2 ** 30;
const SERVICE_ACCOUNTS: Resource = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  namespaced: true,
};
const SERVERS = ['etcd', 'kube-apiserver', 'kube-controller-manager'];

/** A live stream and what exists for it. */
interface Pattern {
  stream: Stored<LoopStream>;
  pod: Pod;
  /** Undefined of a stream that has had one pod alone. */
  secret: Stored<Secret> | undefined;
  destination: Stored<Destination>;
  key: Stored<Secret>;
}

async function readPattern(kube: Kube): Promise<Pattern> {
  const stream = await kube.get(LOOPSTREAMS, NAMESPACE, 'stream-0');
  const [destinationName = ''] = stream.spec.destinationNames ?? [];
  const [pod, secret, destination] = await Promise.all([
    kube.get(PODS, NAMESPACE, stream.status?.podName ?? ''),
    kube.get(SECRETS, NAMESPACE, streamSecretName(stream.metadata.uid)).catch(() => undefined),
    kube.get(DESTINATIONS, NAMESPACE, destinationName),
  ]);
  return { stream, pod, secret, destination, key: await kube.get(SECRETS, NAMESPACE, destination.spec.secretName) };
}

async function putStatus<T extends { metadata: { name: string }; status?: unknown }>(
  kube: Kube,
  resource: typeof LOOPSTREAMS | typeof DESTINATIONS,
  namespace: string,
  created: T,
  status: T['status'],
): Promise<void> {
  const path = objectPath(resource, namespace, created.metadata.name, 'status');
  const answer = await kube.raw('PUT', path, { ...created, status });
  if (answer.status !== 200) throw new Error(`a status was answered with ${answer.status}`);
}

async function copy(kube: Kube, { stream, pod, secret, destination, key }: Pattern, cell: string, n: number) {
  const { apiVersion, kind, spec } = stream;
  const { labels, annotations, finalizers } = pod.metadata;
  const name = `stream-${n}`;
  const made = await kube.create(LOOPSTREAMS, cell, { apiVersion, kind, metadata: { name }, spec } as never);
  const owner = { ...pod.metadata.ownerReferences?.[0], name, uid: made.metadata.uid };
  const metadata = { labels, finalizers, ownerReferences: [owner] };
  const named = { apiVersion, kind: destination.kind, metadata: { name: `tv-${n}` }, spec: destination.spec };
  const to = await kube.create(DESTINATIONS, cell, named as never);
  const secrets = [
    ...(secret ? [{ name: streamSecretName(made.metadata.uid), of: secret }] : []),
    { name: `tv-${n}`, of: key },
  ];
  await Promise.all([
    kube.create(PODS, cell, { ...pod, metadata: { ...metadata, name, annotations }, status: undefined } as never),
    putStatus(kube, LOOPSTREAMS, cell, made, stream.status as never),
    putStatus(kube, DESTINATIONS, cell, to, destination.status as never),
    ...secrets.map(({ name, of: { type, data } }) =>
      kube.create(SECRETS, cell, { metadata: { name }, type, data } as never),
    ),
  ]);
}

interface Sizes {
  streams: number;
  mib: Map<string, number>;
  databaseBytes: number;
}

async function readSizes({ parts, etcd }: BenchCluster, streams: number): Promise<Sizes> {
  const mib = new Map(SERVERS.map((name) => [name, readMemory(parts[name] ?? 0).nowMib]));
  return { streams, mib, databaseBytes: await readDatabaseBytes(etcd) };
}

/** Processor time of the servers while nobody does anything, of one core. */
async function measureIdle({ parts }: BenchCluster): Promise<string> {
  const read = () => SERVERS.map((name) => sumCpuSeconds([parts[name] ?? 0]));
  const before = read();
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  return read()
    .map((cpu, n) => `${SERVERS[n]} ${((100_000 * (cpu - (before[n] ?? 0))) / IDLE_MS).toFixed(1)} %`)
    .join(', ');
}

/** Makes copies until there are `most`, until the time is over or until memory is short. Returns how many, and what ended it. */
async function fillCells(
  kube: Kube,
  pattern: Pattern,
  { most, forMs, say }: { most: number; forMs: number; say: (text: string) => void },
): Promise<{ copies: number; end: string }> {
  const start = performance.now();
  let copies = 0;
  let end: string | undefined;
  const isOver = (): boolean => {
    if (availableMemory() < LEAST_FREE_BYTES) end ??= 'ended by the memory of the machine';
    else if (performance.now() - start >= forMs) end ??= 'ended by the clock';
    return end !== undefined;
  };
  const tell = setInterval(
    () => say(`  ${copies} copies after ${((performance.now() - start) / 1000).toFixed(0)} s`),
    TELL_MS,
  );
  try {
    for (let cell = 2; copies < most && !isOver(); cell++) {
      const namespace = `cell-${cell}`;
      await kube.create(NAMESPACES, '', { metadata: { name: namespace }, spec: {} });
      await until('its service account', () => kube.get(SERVICE_ACCOUNTS, namespace, 'default').catch(() => undefined));
      await inParallel(Math.min(CELL, most - copies), async (n) => {
        if (isOver()) return;
        try {
          await copy(kube, pattern, namespace, n);
          copies++;
        } catch (error) {
          // Says where the machine ends, so it is a result.
          end ??= `ended by ${error instanceof Error ? error.message : error}`;
        }
      });
    }
  } finally {
    clearInterval(tell);
  }
  return { copies, end: `${end ?? 'all made'} in ${((performance.now() - start) / 60_000).toFixed(0)} min` };
}

/** `count` streams are on air. Returns the operator that runs afterwards. */
export async function measureCells(
  cluster: BenchCluster,
  before: OperatorProcess,
  count: number,
  { most, forMs, say }: { most: number; forMs: number; say: (text: string) => void },
): Promise<{ rows: Row[]; operator: OperatorProcess }> {
  const { kube } = cluster;
  const pattern = await readPattern(kube);
  const first = await readSizes(cluster, count);
  const { copies, end } = await fillCells(kube, pattern, { most: most - count, forMs, say });
  const last = await readSizes(cluster, count + copies);
  const idle = await measureIdle(cluster);
  await before.stop();
  const operator = await startOperator(cluster);
  const stated = { peer: '–', beside: '–', result: 'stated', bar: '–' };
  const perStream = (read: (sizes: Sizes) => number) => (read(last) - read(first)) / copies;
  const describe = (name: string) => {
    const read = ({ mib }: Sizes) => mib.get(name) ?? 0;
    return `${name} ${read(last).toFixed(0)} MiB (${(perStream(read) * 1024).toFixed(1)} KiB a stream)`;
  };
  const bytes = perStream(({ databaseBytes }) => databaseBytes);
  return {
    operator,
    rows: [
      {
        what: `resident memory with ${last.streams} live streams, ${end}`,
        ours: SERVERS.map(describe).join(', '),
        ...stated,
      },
      {
        what: `database of etcd with ${last.streams} live streams`,
        ours: `${(last.databaseBytes / 2 ** 20).toFixed(0)} MiB (${(bytes / 1000).toFixed(1)} KB a stream, with old versions)`,
        ...stated,
      },
      { what: `CPU with ${last.streams} live streams, of one core`, ours: idle, ...stated },
      {
        what: `operator of ${count} of ${last.streams} streams: start → caches filled, highest memory`,
        ours: `${(operator.readyMs / 1000).toFixed(2)} s, ${readMemory(operator.pid).peakMib.toFixed(0)} MiB`,
        ...stated,
      },
    ],
  };
}
