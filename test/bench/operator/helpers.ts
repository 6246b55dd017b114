/**
 * Measures the helpers of a film of ten hours on fifty nodes of kwok: where they run, in which order, a lost node, places that are given
 * back, and the end. Pods do nothing here: the real scheduler and Job controller do all of it, and this file ends pods as kubelets do.
 */
import { JOBS, type Job, NODES, PODS, type Pod } from '../../../src/core/kube/core.ts';
import type { Kube, Stored } from '../../../src/core/kube/types.ts';
import { kubeTime } from '../../../src/core/lib/clock.ts';
import type { PrepareResult } from '../../../src/core/protocol/task.ts';
import { helpersJobName, renditionJobName } from '../../../src/core/resources/common/names.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import type { MediaInfo } from '../../../src/core/resources/upload/spec.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { workingPod } from '../../kit/make/progress.ts';
import { until } from '../../kit/wait.ts';
import type { Row } from '../report.ts';
import { sum } from './audit.ts';
import { type BenchCluster, startCluster } from './cluster.ts';
import { createImported, createStream, prepareDestinations, type Watched, watchAll } from './objects.ts';
import { startOperator } from './process.ts';

const NODE_COUNT = 50;
const PLACES = 40;
const FILM = 'long';
const FILM_SECONDS = 36_000;
const RANGES = 112;
const PROFILE = '720p30';
/** Accounts that come later, with a Job each. */
const LATER = 5;
/** Kubernetes removes the pods of a deleted node after at most 20 + 40 s, and a Job's next pod may wait for ten more. */
const LOST_SECONDS = 90;
const PATIENCE_MS = 300_000;
const INDEX = 'batch.kubernetes.io/job-completion-index';
const JOB = 'batch.kubernetes.io/job-name';

const buildMedia = (n: number): MediaInfo => ({
  sha256: String(n).padStart(64, '0'),
  sizeBytes: 10 ** 10,
  durationSeconds: FILM_SECONDS,
  video: { codec: 'h264', width: 1920, height: 1080, framerate: 30 },
  audio: { codec: 'aac', sampleRate: 48_000, channels: 2 },
});

const readIndex = ({ metadata }: Pod): number => Number(metadata.annotations?.[INDEX]);
const isAtWork = ({ metadata, status }: Pod): boolean => !metadata.deletionTimestamp && status?.phase === 'Running';

/** Ends a pod as its kubelet does. */
async function endPod(kube: Kube, { metadata }: Stored<Pod>, result: PrepareResult): Promise<void> {
  const now = kubeTime(new Date());
  const terminated = {
    exitCode: 0,
    reason: 'Completed',
    message: JSON.stringify(result),
    startedAt: now,
    finishedAt: now,
  };
  const container = { name: 'prepare', image: '', imageID: '', ready: false, restartCount: 0, state: { terminated } };
  const status = { phase: 'Succeeded', containerStatuses: [container] };
  await kube.mergePatch(PODS, NAMESPACE, metadata.name, { status }, { subresource: 'status' });
}

class Film {
  readonly #kube: Kube;
  readonly #pods: Watched<Pod>;
  readonly helpers: string;

  constructor(kube: Kube, pods: Watched<Pod>, helpers: string) {
    this.#kube = kube;
    this.#pods = pods;
    this.helpers = helpers;
  }

  listPods(job = this.helpers): Stored<Pod>[] {
    return this.#pods.list().filter((pod) => pod.metadata.labels?.[JOB] === job);
  }

  /** The helpers that run, in the order of their ranges. */
  listWorking(): Stored<Pod>[] {
    return this.listPods()
      .filter(isAtWork)
      .sort((a, b) => readIndex(a) - readIndex(b));
  }

  readJob(): Promise<Job | undefined> {
    return this.#kube.get(JOBS, NAMESPACE, this.helpers).catch(() => undefined) as Promise<Job | undefined>;
  }

  /** Resolves to the seconds until exactly these ranges are worked on. */
  async reach(what: string, indexes: readonly number[]): Promise<number> {
    const from = performance.now();
    await until(what, () => this.listWorking().map(readIndex).join() === indexes.join(), PATIENCE_MS);
    return (performance.now() - from) / 1000;
  }

  async end(pods: readonly Stored<Pod>[]): Promise<void> {
    for (const pod of pods) await endPod(this.#kube, pod, { action: 'range', chunks: 10 });
  }
}

const count = (from: number, length: number) => Array.from({ length }, (_, n) => from + n);
const row = (what: string, ours: string, holds: boolean, bar: string): Row => ({
  what,
  ours,
  peer: '–',
  beside: '–',
  result: holds ? 'holds' : 'missed',
  bar,
});

/** Waits for the helpers, and says how they are spread. */
async function measureSpread(film: Film, lead: Stored<Pod>): Promise<Row[]> {
  const seconds = await film.reach('all helpers run', count(0, PLACES - 1));
  const perNode = new Map<string | undefined, number>();
  for (const { spec } of [lead, ...film.listWorking()])
    perNode.set(spec.nodeName, (perNode.get(spec.nodeName) ?? 0) + 1);
  const most = Math.max(...perNode.values());
  return [
    row(
      `first chunk reported → ${PLACES - 1} helpers run, ranges 0 to ${PLACES - 2} of ${RANGES}`,
      `${seconds.toFixed(1)} s`,
      seconds <= 30,
      '≤ 30 s',
    ),
    row(
      `pods of the film on ${NODE_COUNT} nodes`,
      `${perNode.size} nodes, at most ${most} on one`,
      most === 1,
      'one on each',
    ),
  ];
}

/** Ends the first ranges, and says whether the next ones begin in their order. */
async function measureOrder(film: Film): Promise<Row> {
  const done = 10;
  await film.end(film.listWorking().slice(0, done));
  const seconds = await film.reach('the next ranges begin', count(done, PLACES - 1));
  return row(
    `${done} ranges made → the next ${done} begin, in their order`,
    `${seconds.toFixed(1)} s`,
    seconds <= 30,
    '≤ 30 s',
  );
}

/** Deletes a node, as a cloud does with a lost machine, and waits for its range elsewhere. */
async function measureLostNode(kube: Kube, film: Film, lead: Stored<Pod>): Promise<Row> {
  const victim = film.listWorking().find(({ spec }) => spec.nodeName !== lead.spec.nodeName);
  if (!victim) throw new Error('no helper runs');
  const from = performance.now();
  await kube.delete(NODES, '', victim.spec.nodeName ?? '');
  await until(
    'the range of the lost node is made again',
    () =>
      film
        .listWorking()
        .some((pod) => readIndex(pod) === readIndex(victim) && pod.spec.nodeName !== victim.spec.nodeName),
    PATIENCE_MS,
  );
  const seconds = (performance.now() - from) / 1000;
  const { failed = 0 } = (await film.readJob())?.status ?? {};
  return row(
    `a node lost → its range runs on another (failures counted: ${failed})`,
    `${seconds.toFixed(0)} s`,
    seconds <= LOST_SECONDS,
    `≤ ${LOST_SECONDS} s`,
  );
}

/** Lets other accounts come, and says how soon they have their places. */
async function measureGivenBack(kube: Kube, film: Film): Promise<Row[]> {
  const from = performance.now();
  for (const n of count(1, LATER))
    await createStream(kube, n, { uploadName: `later-${n}`, replicas: 0 }, `account-${n}`);
  const jobs = count(1, LATER).map((n) => renditionJobName(`later-${n}`, PROFILE));
  await until('their Jobs run', () => jobs.every((job) => film.listPods(job).some(isAtWork)), PATIENCE_MS);
  const begun = (performance.now() - from) / 1000;
  const left = PLACES - 1 - LATER;
  await until(
    'the helpers are fewer',
    () => film.listPods().filter(({ status }) => status?.phase === 'Running').length === left,
    PATIENCE_MS,
  );
  const given = (performance.now() - from) / 1000;
  const { failed = 0 } = (await film.readJob())?.status ?? {};
  return [
    row(`${LATER} other accounts want a Job each → all run`, `${begun.toFixed(1)} s`, begun <= 10, '≤ 10 s'),
    row(`… → ${left} helpers are left (failures counted: ${failed})`, `${given.toFixed(1)} s`, given <= 30, '≤ 30 s'),
  ];
}

/** Ends all ranges and then the film, and says how often each range ran. */
async function measureEnd(
  kube: Kube,
  film: Film,
  lead: Stored<Pod>,
  begun: ReadonlyMap<number, number>,
): Promise<Row[]> {
  const from = performance.now();
  await until(
    'all ranges are made',
    async () => {
      await film.end(film.listWorking());
      return ((await film.readJob())?.status?.succeeded ?? 0) === RANGES;
    },
    PATIENCE_MS,
  );
  const seconds = (performance.now() - from) / 1000;
  const rendition = { profile: PROFILE, state: 'ready' as const, durationSeconds: FILM_SECONDS, bitrateKbps: 4000 };
  const ended = performance.now();
  await endPod(kube, lead, { action: 'rendition', rendition });
  await until(
    'the helpers are gone',
    async () => (await film.readJob()) === undefined && film.listPods().length === 0,
    PATIENCE_MS,
  );
  const gone = (performance.now() - ended) / 1000;
  const pods = [...begun.values()].reduce((total, times) => total + times, 0);
  const again = pods - begun.size;
  return [
    row(
      `all ${RANGES} ranges made; ranges that ran twice: one of a lost node, ${LATER} that were given back`,
      `${seconds.toFixed(0)} s, ${again} twice`,
      begun.size === RANGES && again <= LATER + 1,
      `≤ ${LATER + 1} twice`,
    ),
    row('film complete → no Job and no pod of helpers is left', `${gone.toFixed(1)} s`, gone <= 30, '≤ 30 s'),
  ];
}

async function measure(cluster: BenchCluster): Promise<Row[]> {
  const { kube, audit } = cluster;
  await createImported(kube, FILM, { media: buildMedia(0) }, 'account-0');
  for (const n of count(1, LATER)) await createImported(kube, `later-${n}`, { media: buildMedia(n) }, `account-${n}`);
  const { uid } = (await kube.get(UPLOADS, NAMESPACE, FILM)).metadata;
  await startOperator(cluster, {
    env: { LOOPSTREAM_PREPARE_CONCURRENCY: String(PLACES), LOOPSTREAM_PREPARE_PODS: String(PLACES) },
  });
  await prepareDestinations(kube, 1 + LATER);
  const pods = (await watchAll(kube, PODS, NAMESPACE)) as Watched<Pod>;
  const film = new Film(kube, pods, helpersJobName(uid, PROFILE));
  /** How many pods each range had. */
  const begun = new Map<number, number>();
  pods.onChange((_key, current, previous) => {
    if (!current || previous || current.metadata.labels?.[JOB] !== film.helpers) return;
    begun.set(readIndex(current), (begun.get(readIndex(current)) ?? 0) + 1);
  });
  await createStream(kube, 0, { uploadName: FILM, replicas: 0 }, 'account-0');
  const lead = await until(
    'the Job of the film runs',
    () => film.listPods(renditionJobName(FILM, PROFILE)).find(({ status }) => status?.podIP !== undefined),
    60_000,
  );
  await using working = await workingPod(lead.status?.podIP);
  audit.takeWrites();
  const prepared = { seconds: 30, totalSeconds: FILM_SECONDS, speed: 2 };
  working.at(30 / FILM_SECONDS, { prepared, ranges: RANGES });
  const rows = [
    ...(await measureSpread(film, lead)),
    await measureOrder(film),
    await measureLostNode(kube, film, lead),
    ...(await measureGivenBack(kube, film)),
    ...(await measureEnd(kube, film, lead, begun)),
  ];
  pods.stop();
  const writes = audit.takeWrites();
  const kinds = [...writes].map(([what, times]) => `${what} ${times}`).join(', ');
  return [
    ...rows,
    { ...row(`writes of the operator in all of this`, `${sum(writes)} (${kinds})`, true, '–'), result: 'stated' },
  ];
}

/** Measures on a cluster of its own. */
export async function measureHelpers(say: (text: string) => void): Promise<Row[]> {
  const cluster = await startCluster(say, { count: NODE_COUNT, cpu: '4' });
  try {
    return await measure(cluster);
  } finally {
    await cluster.stop();
  }
}
