/**
 * Asks the pods of active Jobs for their progress. The answers are kept here for the next reconcile of their upload; a pod that
 * does not answer changes nothing.
 */
import { Value } from 'typebox/value';
import { Agent, request } from 'undici';
import type { Job, Pod } from '../../kube/core.ts';
import { sleep } from '../../lib/clock.ts';
import type { Lifecycle } from '../../lib/lifecycle.ts';
import { PROGRESS_PATH, PrepareProgress } from '../../media/prepare/job/task.ts';
import { PREPARE_PORT, UPLOAD_LABEL } from '../../resources/common/names.ts';
import { BY_OWNER, type Caches } from '../caches/caches.ts';
import { findAddressToAsk } from '../pods/status.ts';
import { joinKey } from '../runtime/controller.ts';
import { hasMoved, isActive } from './progress.ts';

const INTERVAL_MS = 2_000;
const TIMEOUT_MS = 1_000;
const MAX_BYTES = 1024;

/** Fraction done, 0 to 1, by the UID of the Job. */
export type Fractions = Map<string, number>;

/** Follows until the lifecycle stops. `enqueue` is called with an upload's key when one of its Jobs has moved on. */
export function followProgress(
  caches: Pick<Caches, 'jobs' | 'pods'>,
  fractions: Fractions,
  enqueue: (uploadKey: string) => void,
  lifecycle: Lifecycle,
): void {
  const agent = new Agent({ connect: { timeout: TIMEOUT_MS }, keepAliveTimeout: 2 * INTERVAL_MS });
  /** The fraction with which the upload was enqueued last. */
  const enqueued = new Map<string, number>();

  const follow = async (job: Job, pods: readonly Pod[]) => {
    const { uid, namespace, labels } = job.metadata;
    const upload = labels?.[UPLOAD_LABEL];
    const address = findAddressToAsk(pods);
    if (upload === undefined || address === undefined) return;
    const fraction = await ask(address, agent, lifecycle.signal);
    if (fraction === undefined) return;
    fractions.set(uid, fraction);
    if (!hasMoved(enqueued.get(uid), fraction)) return;
    enqueued.set(uid, fraction);
    enqueue(joinKey(namespace, upload));
  };

  const run = async () => {
    while (!lifecycle.signal.aborted) {
      await sleep(INTERVAL_MS, lifecycle.signal);
      const active = caches.jobs.list().filter(isActive);
      const known = new Set(active.map(({ metadata }) => metadata.uid));
      for (const map of [fractions, enqueued]) for (const uid of map.keys()) if (!known.has(uid)) map.delete(uid);
      await Promise.all(active.map((job) => follow(job, caches.pods.byIndex(BY_OWNER, job.metadata.uid))));
    }
  };
  // It ends only by the signal: ask() rejects for nothing else.
  const running = run().catch(() => undefined);
  lifecycle.defer('progress of Jobs', async () => {
    await agent.destroy();
    await running;
  });
}

async function ask(address: string, dispatcher: Agent, stop: AbortSignal): Promise<number | undefined> {
  const signal = AbortSignal.any([stop, AbortSignal.timeout(TIMEOUT_MS)]);
  try {
    const { statusCode, headers, body } = await request(`http://${address}:${PREPARE_PORT}${PROGRESS_PATH}`, {
      dispatcher,
      signal,
    });
    if (statusCode !== 200 || !(Number(headers['content-length'] ?? MAX_BYTES) <= MAX_BYTES)) {
      body.on('error', () => undefined).destroy();
      return undefined;
    }
    let text = '';
    for await (const chunk of body) {
      text += chunk;
      if (text.length > MAX_BYTES) return undefined;
    }
    const answer: unknown = JSON.parse(text);
    return Value.Check(PrepareProgress, answer) ? answer.progress : undefined;
  } catch {
    return undefined;
  }
}
