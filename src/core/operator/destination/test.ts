/**
 * Decides the next step of a destination's test, which an annotation asks for. The annotation's value is the test's id; the test
 * is over when the status has a result of that id. Pure: no I/O, no clock.
 */

import type { Pod } from '../../kube/core.ts';
import { kubeTime } from '../../lib/clock.ts';
import { readTestResult } from '../../protocol/test-result.ts';
import { SECRET_VERSION_ANNOTATION, TEST_ANNOTATION } from '../../resources/common/names.ts';
import type { Destination } from '../../resources/destination/resource.ts';
import { NOT_RUN, ON_AIR, type ProbeResult, type TestStatus } from '../../resources/destination/spec.ts';
import { isOwnedBy } from '../pods/security.ts';
import { findPodTrouble, isOver, listTerminations } from '../pods/status.ts';
import type { Verdict } from '../runtime/controller.ts';

export interface TestObservation {
  /** The destination's own condition, as of its Secret now. */
  ready: Pick<Verdict, 'status' | 'message'> | undefined;
  /** resourceVersion of its Secret. */
  secretVersion: string | undefined;
  /** The pod with the name of the destination's test, also where it belongs to somebody else. */
  pod: Pod | undefined;
  /** Streams that publish there, or try to, as people call them. */
  onAir: readonly string[];
  now: Date;
}

export interface TestStep {
  /** The result of the test. It is written before `remove` is done: a pod that is removed cannot be read again. */
  result?: TestStatus;
  /** Make the pod. */
  make?: boolean;
  remove?: Pod;
  requeueAfterMs?: number;
}

/** A request expires after this time: its author no longer waits. */
const VALID_MS = 120_000;
/** How long a pod may take to start. The requester waits a little longer, and then gets the reason. */
const START_MS = 25_000;
/** How long it may exist at all; it has a deadline of its own, which counts from when it runs. */
const EXIST_MS = 90_000;
const REQUEUE_MS = 1000;

const no = (code: string, message: string): ProbeResult => ({ ok: false, stage: 'resolve', code, message, tookMs: 0 });

/** A test that could not be made, as its result. */
export const notRun = (id: string, message: string, now: Date): TestStatus => ({
  id,
  ...no(NOT_RUN, message.slice(0, 1000)),
  finishedAt: kubeTime(now),
});

/** The test that is asked for and not over. */
export function findAskedTest({ metadata, status }: Destination): string | undefined {
  const id = metadata.annotations?.[TEST_ANNOTATION] || undefined;
  return id === status?.test?.id ? undefined : id;
}

const isOld = (id: string, now: Date): boolean => now.getTime() - Date.parse(id.split(' ', 1)[0] ?? '') > VALID_MS;

/** Whether a test's pod should run by now, so that its requester gets the reason. True for an id without a time. */
export const isTooLate = (id: string, now: Date): boolean => {
  const ageMs = now.getTime() - Date.parse(id.split(' ', 1)[0] ?? '');
  return !(ageMs <= START_MS);
};

/** The pod's result, or why it has none; undefined before. */
function outcome(pod: Pod): ProbeResult | undefined {
  const [end] = listTerminations(pod);
  const read = readTestResult(end?.message);
  if (read.ok) return read.message;
  if (!end && !isOver(pod)) return undefined;
  const why = pod.status?.reason ?? end?.reason ?? 'the reason is unknown';
  return no(NOT_RUN, `The test pod ended without a result: ${why}.`);
}

/** The result of a test whose pod exists; undefined while it runs. */
function follow(pod: Pod, { secretVersion, now }: TestObservation): ProbeResult | 'outdated' | undefined {
  // A deleted pod proves nothing, and the next one has to wait for its name.
  if (pod.metadata.deletionTimestamp) return undefined;
  if (pod.metadata.annotations?.[SECRET_VERSION_ANNOTATION] !== secretVersion) return 'outdated';
  const result = outcome(pod);
  if (result) return result;
  const ageMs = now.getTime() - Date.parse(pod.metadata.creationTimestamp);
  if (ageMs <= (pod.status?.phase === 'Running' ? EXIST_MS : START_MS)) return undefined;
  return no(NOT_RUN, findPodTrouble(pod)?.message ?? 'The test pod did not end in time.');
}

/** Why a test cannot be made at all, in the order in which it can be mended. */
function findObstacle(
  destination: Destination,
  id: string,
  { ready, pod, onAir, now }: TestObservation,
): ProbeResult | undefined {
  if (ready?.status !== 'True')
    return no('not_configured', ready?.message ?? 'The destination has not been checked yet.');
  if (onAir.length > 0)
    return no(
      ON_AIR,
      `A test would interrupt streams that are on air to this destination: ${onAir.slice(0, 5).join(', ')}.`,
    );
  if (pod && !isOwnedBy(pod, destination)) {
    return no(NOT_RUN, `Pod "${pod.metadata.name}" exists but does not belong to the destination. Delete it.`);
  }
  return !pod && isOld(id, now)
    ? no(NOT_RUN, 'The request for the test is too old. Request the test again.')
    : undefined;
}

export function decideTest(destination: Destination, observed: TestObservation): TestStep {
  const id = findAskedTest(destination);
  const pod = observed.pod && isOwnedBy(observed.pod, destination) ? observed.pod : undefined;
  const remove = pod && !pod.metadata.deletionTimestamp ? { remove: pod } : {};
  if (id === undefined) return remove;
  const over = (result: ProbeResult): TestStep => ({
    result: {
      id,
      ...result,
      finishedAt: kubeTime(observed.now),
      ...(observed.secretVersion !== undefined && { secretVersion: observed.secretVersion }),
    },
    ...remove,
  });
  const result = pod && follow(pod, observed);
  if (result && result !== 'outdated') return over(result);
  const against = findObstacle(destination, id, observed);
  if (against) return over(against);
  if (!pod) return { make: true, requeueAfterMs: REQUEUE_MS };
  return { ...(result === 'outdated' && remove), requeueAfterMs: REQUEUE_MS };
}
