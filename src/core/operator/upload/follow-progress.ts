/**
 * Asks the pods of active Jobs for their progress. The answers are kept here for the next reconcile of their upload; a pod that
 * does not answer changes nothing.
 */
import { Agent, request } from 'undici';
import type { Job } from '../../kube/core.ts';
import { sleep } from '../../lib/clock.ts';
import type { Lifecycle } from '../../lib/lifecycle.ts';
import { readBounded } from '../../lib/read-bounded.ts';
import { PROFILE_PARAMETER, PROGRESS_PATH, type PrepareProgress, readProgress } from '../../protocol/task.ts';
import { importJobName, PREPARE_PORT, renditionJobName, UPLOAD_LABEL } from '../../resources/common/names.ts';
import { BY_OWNER, type Caches, listProfilesAsked, listUploadsOfContent } from '../caches/caches.ts';
import { findAddressToAsk } from '../pods/status.ts';
import { joinKey, splitKey } from '../runtime/controller.ts';
import { isHelpersJob } from './job.ts';
import { hasPartMoved, mayPlay } from './playable.ts';
import { hasMoved, isActive } from './progress.ts';

const INTERVAL_MS = 2_000;
/**
 * Between two questions to a Job whose rendition a stream waits for, until it can be played: the stream is on air so much
 * later at most. A question takes 0.3 ms of the operator's processor, and as many Jobs run at once as the settings allow.
 */
const URGENT_INTERVAL_MS = 250;
const TIMEOUT_MS = 1_000;
/** The result of an import has up to 4096 bytes, and may be part of its progress. */
const MAX_BYTES = 8192;

/** The last answer of each Job, by its UID. */
export type JobProgress = Map<string, PrepareProgress>;

/** Whether an answer says enough that is new for another look at the upload. */
const isNews = (before: PrepareProgress | undefined, now: PrepareProgress): boolean =>
  hasMoved(before?.progress, now.progress) ||
  hasPartMoved(before?.prepared, now.prepared) ||
  before?.profile !== now.profile ||
  before?.ranges !== now.ranges ||
  (now.imported !== undefined && before?.imported === undefined);

interface FollowOptions {
  /** Called with an upload's key when one of its Jobs has moved on. */
  enqueue: (uploadKey: string) => void;
  /** Whether the account of an upload may have more prepared media than it has. */
  hasPreparedRoom: (uploadKey: string) => boolean;
}

/**
 * Follows until the lifecycle stops. Sends an import the profile that a stream waits for: streams come while it runs.
 */
export function followProgress(
  caches: Pick<Caches, 'jobs' | 'pods' | 'streams' | 'playlists' | 'uploads'>,
  progress: JobProgress,
  { enqueue, hasPreparedRoom }: FollowOptions,
  lifecycle: Lifecycle,
): void {
  const agent = new Agent({ connect: { timeout: TIMEOUT_MS }, keepAliveTimeout: 2 * INTERVAL_MS });
  /** The answer with which the upload was enqueued last. */
  const enqueued: JobProgress = new Map();
  /** When a Job is asked next. */
  const nextMs = new Map<string, number>();
  const asking = new Map<string, Promise<void>>();

  const follow = async (job: Job, address: string, uploadKey: string) => {
    const { uid } = job.metadata;
    const answer = await ask(address, agent, lifecycle.signal, findProfile(job, uploadKey));
    if (answer === undefined) return;
    progress.set(uid, answer);
    if (!isNews(enqueued.get(uid), answer)) return;
    enqueued.set(uid, answer);
    enqueue(uploadKey);
    // One Job makes a rendition for all uploads of an account that have the same content.
    const upload = caches.uploads.get(...splitKey(uploadKey));
    const { media } = upload?.status ?? {};
    if (!upload || !media || !answer.prepared) return;
    for (const { metadata } of listUploadsOfContent(caches, upload, media.sha256))
      enqueue(joinKey(metadata.namespace, metadata.name));
  };

  /** The profile that an import is to make too, unless it makes one already. */
  const findProfile = ({ metadata }: Job, uploadKey: string): string | undefined => {
    const isImport = metadata.name === importJobName(splitKey(uploadKey)[1]);
    if (!isImport || progress.get(metadata.uid)?.profile !== undefined) return undefined;
    const [profile] = [...listProfilesAsked(caches, uploadKey).urgent].sort();
    return profile !== undefined && hasPreparedRoom(uploadKey) ? profile : undefined;
  };

  /** Whether a stream waits until the rendition of a Job can be played. An import makes one for it, or another Job does after it. */
  const isUrgent = ({ metadata }: Job, upload: string, uploadKey: string): boolean => {
    const prepared = progress.get(metadata.uid)?.prepared;
    if (prepared && mayPlay(prepared)) return false;
    const { urgent } = listProfilesAsked(caches, uploadKey);
    if (metadata.name === importJobName(upload)) return urgent.size > 0;
    return [...urgent].some((profile) => renditionJobName(upload, profile) === metadata.name);
  };

  const visit = (job: Job) => {
    const { uid, namespace, labels } = job.metadata;
    const upload = labels?.[UPLOAD_LABEL];
    // Helpers report nothing: the Job that they help counts what they make.
    if (upload === undefined || isHelpersJob(job) || asking.has(uid) || (nextMs.get(uid) ?? 0) > performance.now())
      return;
    const address = findAddressToAsk(caches.pods.byIndex(BY_OWNER, uid));
    if (address === undefined) return;
    const uploadKey = joinKey(namespace, upload);
    // An urgent one is asked in each round.
    nextMs.set(uid, isUrgent(job, upload, uploadKey) ? 0 : performance.now() + INTERVAL_MS);
    asking.set(
      uid,
      follow(job, address, uploadKey).finally(() => asking.delete(uid)),
    );
  };

  const run = async () => {
    while (!lifecycle.signal.aborted) {
      await sleep(URGENT_INTERVAL_MS, lifecycle.signal);
      const active = caches.jobs.list().filter(isActive);
      const known = new Set(active.map(({ metadata }) => metadata.uid));
      for (const map of [progress, enqueued, nextMs])
        for (const uid of map.keys()) if (!known.has(uid)) map.delete(uid);
      active.forEach(visit);
    }
  };
  // It ends only by the signal: ask() rejects for nothing else.
  const running = run().catch(() => undefined);
  lifecycle.defer('progress of Jobs', async () => {
    await agent.destroy();
    await running;
    await Promise.all(asking.values());
  });
}

async function ask(
  address: string,
  dispatcher: Agent,
  stop: AbortSignal,
  profile: string | undefined,
): Promise<PrepareProgress | undefined> {
  const signal = AbortSignal.any([stop, AbortSignal.timeout(TIMEOUT_MS)]);
  try {
    const { statusCode, headers, body } = await request(`http://${address}:${PREPARE_PORT}${PROGRESS_PATH}`, {
      dispatcher,
      signal,
      ...(profile !== undefined && { query: { [PROFILE_PARAMETER]: profile } }),
    });
    if (statusCode !== 200 || !(Number(headers['content-length'] ?? MAX_BYTES) <= MAX_BYTES)) {
      body.on('error', () => undefined).destroy();
      return undefined;
    }
    const read = readProgress(await readBounded(body, MAX_BYTES));
    return read.ok ? read.message : undefined;
  } catch {
    return undefined;
  }
}
