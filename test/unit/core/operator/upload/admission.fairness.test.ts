/**
 * Simulates accounts that prepare at the same time: the real decisions of places and helpers, the requests of the real pods, and nodes
 * that divide their processors as Linux does between busy cgroups. Only the encoding is a model.
 */
import { expect, it } from 'vitest';
import type { Job } from '../../../../../src/core/kube/core.ts';
import { Admission } from '../../../../../src/core/operator/upload/admission.ts';
import { wantRendition } from '../../../../../src/core/operator/upload/job.ts';
import { ACCOUNT_LABEL } from '../../../../../src/core/resources/common/names.ts';
import type { Upload } from '../../../../../src/core/resources/upload/resource.ts';
import { MEDIA, makeHelpersJob, makeJob, NAMESPACE, upload, wantHelpers } from '../../../../kit/make/operator.ts';

const PROFILE = '1080p30';
const CHUNK_SECONDS = 30;
/** Two cores take 17 s to encode a chunk of 1080p30. */
const CHUNK_CPU_SECONDS = 34;
/** The most cores that the decoder of a pod may use. */
const POD_CPUS = 4;
const STEP_SECONDS = 0.25;
const HOUR = 3600;

interface Film {
  upload: Upload;
  account: string;
  seconds: number;
  /** A stream waits for it. */
  urgent: boolean;
  /** When its first chunk was made; undefined until then. */
  playableAt?: number;
}

interface Worker {
  film: Film;
  node: number;
  isLead: boolean;
  weight: number;
  /** Of the present chunk. */
  cpuSecondsLeft: number;
}

/** Sums what a pod of the Job requests, in thousandths of a core. */
function readRequests({ spec }: Job): number {
  const pod = spec.template?.spec;
  const all = [...(pod?.containers ?? []), ...(pod?.initContainers ?? [])];
  return all.reduce((sum, { resources }) => sum + Number.parseInt(resources?.requests?.cpu ?? '', 10), 0);
}

class Cluster {
  now = 0;
  readonly #cpus: readonly number[];
  readonly #films = new Map<string, Film>();
  readonly #jobs = new Map<string, Job>();
  readonly #workers = new Map<string, Worker>();
  readonly #admission: Admission;

  constructor(limit: number, cpus: readonly number[]) {
    this.#cpus = cpus;
    this.#admission = new Admission({
      limits: { import: limit, rendition: limit },
      jobs: () => [...this.#jobs.values()],
      isImported: () => true,
      isSwept: () => false,
      mostHelpers: 1000,
      countWorkers: () => cpus.reduce((sum, count) => sum + Math.max(1, Math.floor(count / POD_CPUS)), 0),
    });
  }

  /** An upload has been imported, and is to be prepared. */
  add(film: Film): void {
    const key = `${NAMESPACE}/${film.upload.metadata.name}`;
    this.#films.set(key, film);
    this.#reconcile(key);
  }

  /** Runs until it is so, or for as long as is allowed. */
  run(isDone: () => boolean, seconds: number): void {
    const end = this.now + seconds;
    while (!isDone() && this.now < end) {
      this.now += STEP_SECONDS;
      this.#compute();
      for (const key of this.#admission.due()) this.#reconcile(key);
    }
  }

  /** Pods that work for an account. */
  count(account: string): number {
    return [...this.#workers.values()].filter(({ film }) => film.account === account).length;
  }

  /** Does what a reconcile does: asks, makes Jobs, and adjusts helpers. */
  #reconcile(key: string): void {
    const film = this.#films.get(key);
    if (!film) return;
    const { account, seconds, urgent } = film;
    const asker = { key, account, since: film.upload.metadata.name };
    const media = { ...MEDIA, sha256: film.upload.metadata.name.padStart(64, '0'), durationSeconds: seconds };
    const wanted = wantRendition(film.upload, media, PROFILE, urgent);
    const { allowed } = this.#admission.ask(asker, this.#jobs.has(wanted.name) ? [] : [wanted]);
    for (const one of allowed) {
      const job = makeJob(film.upload, one);
      this.#jobs.set(one.name, job);
      this.#begin(one.name, film, job, true);
    }
    this.#admission.settle(key);
    const left = Math.floor(seconds / 300) - 1;
    const isHelped = film.playableAt !== undefined && left > 0;
    const helpers = isHelped ? [{ ...wantHelpers(film.upload, media, PROFILE), ranges: left, left, urgent }] : [];
    for (const [name, pods] of this.#admission.lend(asker, helpers)) {
      const [one] = helpers;
      for (let n = 0; one && n < pods; n++)
        if (!this.#workers.has(`${name}-${n}`))
          this.#begin(`${name}-${n}`, film, makeHelpersJob(film.upload, one), false);
      for (let n = pods; this.#workers.delete(`${name}-${n}`); n++);
    }
  }

  /** The scheduler: to the node with the fewest pods for its processors. */
  #begin(name: string, film: Film, job: Job, isLead: boolean): void {
    const load = this.#cpus.map(
      (cpus, node) => [...this.#workers.values()].filter((worker) => worker.node === node).length / cpus,
    );
    const node = load.indexOf(Math.min(...load));
    this.#workers.set(name, { film, node, isLead, weight: readRequests(job), cpuSecondsLeft: CHUNK_CPU_SECONDS });
  }

  #compute(): void {
    for (const [node, cpus] of this.#cpus.entries()) {
      const workers = [...this.#workers.values()].filter((worker) => worker.node === node);
      const total = workers.reduce((sum, { weight }) => sum + weight, 0);
      for (const worker of workers) {
        worker.cpuSecondsLeft -= Math.min(POD_CPUS, (cpus * worker.weight) / total) * STEP_SECONDS;
        if (worker.cpuSecondsLeft <= 0) this.#endChunk(worker);
      }
    }
  }

  #endChunk(worker: Worker): void {
    worker.cpuSecondsLeft += CHUNK_CPU_SECONDS;
    const { film } = worker;
    if (!worker.isLead || film.playableAt !== undefined) return;
    film.playableAt = this.now;
    this.#reconcile(`${NAMESPACE}/${film.upload.metadata.name}`);
  }
}

const makeFilm = (name: string, account: string, seconds: number, urgent: boolean): Film => {
  const made = upload(name, {});
  return {
    upload: { ...made, metadata: { ...made.metadata, labels: { [ACCOUNT_LABEL]: account } } },
    account,
    seconds,
    urgent,
  };
};

/** Returns the seconds until the minute of account B can be played, and how many pods A has when B comes and when it can be played. */
function simulate(limit: number, cpus: readonly number[], othersFilms: number, areUrgent = false) {
  const cluster = new Cluster(limit, cpus);
  for (let n = 0; n < othersFilms; n++) cluster.add(makeFilm(`a${n}`, 'A', HOUR, areUrgent));
  cluster.run(() => false, 600);
  const before = cluster.count('A');
  const from = cluster.now;
  const minute = makeFilm('b', 'B', 2 * CHUNK_SECONDS, true);
  cluster.add(minute);
  const atOnce = cluster.count('B');
  cluster.run(() => minute.playableAt !== undefined, HOUR);
  return { before, atOnce, after: cluster.count('A'), seconds: (minute.playableAt ?? Number.POSITIVE_INFINITY) - from };
}

const CLUSTERS: [what: string, limit: number, cpus: number[]][] = [
  ['one node with two cores', 4, [2]],
  ['one node with eight cores', 4, [8]],
  ['twenty nodes with four cores', 20, Array.from({ length: 20 }, () => 4)],
];

it.each(CLUSTERS)(
  'a minute of media can be played within 15 s of what it takes alone, beside 50 hours of another account, on %s',
  (_, limit, cpus) => {
    const alone = simulate(limit, cpus, 0);
    const beside = simulate(limit, cpus, 50);
    expect(beside.atOnce).toBe(1);
    expect(beside.seconds - alone.seconds).toBeLessThanOrEqual(15);
  },
);

it('on twenty nodes, also where streams wait for all of the 50 hours, whose helpers had all places and give back one', () => {
  const cpus = Array.from({ length: 20 }, () => 4);
  const alone = simulate(20, cpus, 0);
  const beside = simulate(20, cpus, 5, true);
  expect(beside).toMatchObject({ before: 20, atOnce: 1, after: 19 });
  expect(beside.seconds - alone.seconds).toBeLessThanOrEqual(15);
});

it('on one small node nobody has helpers, and streams that wait share the processors evenly', () => {
  const alone = simulate(4, [2], 0);
  const beside = simulate(4, [2], 50, true);
  expect(beside).toMatchObject({ before: 2, atOnce: 1 });
  expect(beside.seconds / alone.seconds).toBeLessThanOrEqual(3.1);
});
