/**
 * Finds out why a Job of an upload has no pod. The Job controller makes the pods, and tells a refusal only by an Event of the Job. So the
 * operator asks kube-apiserver itself, in a dry run, which writes nothing.
 */

import { JOBS, type Job, PODS, type Pod, type PodSpec } from '../../kube/core.ts';
import type { Kube, KubeObject, OwnerReference } from '../../kube/types.ts';
import { KubeError } from '../../kube/types.ts';
import { earliest } from '../../resources/stream/schedule.ts';
import { isOver, listTerminations } from '../pods/status.ts';
import { isActive } from './progress.ts';

/** A Job has its pod within this time, unless Kubernetes refuses it. */
const POD_MS = 5_000;
/** The time until the next look at a Job whose pod would be accepted. */
const NEXT_LOOK_MS = 30_000;
/** A change of a Job makes the Job controller try at once, which else waits for up to a minute. */
const ACCEPTED_ANNOTATION = 'loopstream.dev/pod-accepted-at';
/** A webhook that has effects elsewhere is no part of a dry run, and says nothing about the pod. */
const NO_DRY_RUN = /does not support dry run|dryRun is not supported/i;

/** Since when a Job lacks a pod that it is to have, in ms; undefined where it has one, or where somebody has suspended it. */
export function findLackMs(job: Job, pods: readonly Pod[]): number | undefined {
  const { suspend, parallelism } = job.spec;
  if (!isActive(job) || suspend || parallelism === 0 || pods.some((pod) => !isOver(pod))) return undefined;
  const ends = pods.flatMap(listTerminations).map(({ finishedAt }) => Date.parse(finishedAt ?? '') || 0);
  return Math.max(Date.parse(job.metadata.creationTimestamp), ...ends);
}

/** Builds the pod as the Job controller makes it, but for its name. */
export function buildPodOfJob({ metadata, spec }: Job): KubeObject<PodSpec> {
  const { template } = spec;
  const { name, uid } = metadata;
  const owner: OwnerReference = { apiVersion: 'batch/v1', kind: 'Job', name, uid, controller: true };
  return {
    metadata: { ...template?.metadata, name: `${name}-pod`, ownerReferences: [owner] },
    spec: template?.spec ?? {},
  };
}

interface Look {
  jobs: readonly Job[];
  listPods: (job: Job) => readonly Pod[];
  /** The status says that a Job or its pod is refused. */
  wasRefused: boolean;
  /** Does a write in its time. It takes the refusals of Kubernetes. */
  try: (write: () => Promise<undefined>) => Promise<void>;
  now: Date;
}

export function createPodLooks({ kube, upsert }: { kube: Kube; upsert: (job: Job) => void }) {
  /** A Job → when it is looked at again. A change of the Job makes it another object here. */
  const nextLooks = new WeakMap<Job, number>();

  /** Asks whether the pod of a Job would be accepted, and fails with the refusal where it would not. */
  async function look(job: Job, wasRefused: boolean, now: Date): Promise<undefined> {
    const { namespace = '', name, uid } = job.metadata;
    try {
      await kube.create(PODS, namespace, buildPodOfJob(job), { dryRun: true });
    } catch (error) {
      if (!(error instanceof KubeError && NO_DRY_RUN.test(error.message))) throw error;
    }
    let current = job;
    if (wasRefused) {
      const annotations = { [ACCEPTED_ANNOTATION]: now.toISOString() };
      current = await kube.mergePatch(JOBS, namespace, name, { metadata: { uid, annotations } });
      upsert(current);
    }
    nextLooks.set(current, now.getTime() + NEXT_LOOK_MS);
  }

  /** Looks at the Jobs without a pod. Returns when one of them is to be looked at again. */
  return async ({ jobs, listPods, wasRefused, now, ...writer }: Look): Promise<Date | undefined> => {
    let again: Date | undefined;
    for (const job of jobs) {
      const sinceMs = findLackMs(job, listPods(job));
      if (sinceMs === undefined) continue;
      const nextMs = nextLooks.get(job) ?? sinceMs + POD_MS;
      if (nextMs <= now.getTime()) {
        await writer.try(() => look(job, wasRefused, now));
        again = earliest(again, new Date(now.getTime() + NEXT_LOOK_MS));
      } else again = earliest(again, new Date(nextMs));
    }
    return again;
  };
}
