/** Carries out the one action that was decided for a stream. */

import { PODS, type Pod } from '../../kube/core.ts';
import { hasReason } from '../../kube/types.ts';
import { currentTraceparent } from '../../lib/tracing/tracing.ts';
import type { Program } from '../../protocol/program.ts';
import { readPodProgram } from '../../protocol/to-streamer.ts';
import {
  DISRUPTION_LABEL,
  ON_AIR_ANNOTATION,
  PROGRAM_ANNOTATION,
  PROGRAM_CHANGED_ANNOTATION,
  RETRY_ANNOTATION,
} from '../../resources/common/names.ts';
import { annotateTrace } from '../../resources/common/trace.ts';
import { LOOPSTREAMS, type LoopStream } from '../../resources/stream/resource.ts';
import { isOver } from '../pods/status.ts';
import { describeRefusal, isOfEndingNamespace, isRefusal, joinKey } from '../runtime/controller.ts';
import type { Attempt, Refusal, Retries } from '../runtime/retries.ts';
import type { StreamControllerDeps } from './controller-deps.ts';
import { type Action, STOP_GRACE_SECONDS } from './course.ts';
import type { Decision } from './decide.ts';
import { fetchPods } from './fetch-pods.ts';
import { addFinalizer, removeFinalizer, restoreFinalizers } from './finalizers.ts';
import { decideRemoval } from './handover.ts';
import type { Observation } from './observation.ts';
import { buildPod, findLabelPatch, readDisruption, readDisruptionLabel, readEvictionAnnotations } from './pod.ts';
import { pickPlayhead, withClock } from './program.ts';
import { findKnownRefusal, withoutPod, withoutProgram, withoutStandby, withoutWrite } from './refusals.ts';
import { acquirePublisher, ensureSecret, readControlToken, updateSecret } from './secret.ts';

/** The stream's pod after the action, and the decision as it turned out. */
export interface AppliedDecision {
  decision: Decision;
  pod: Pod | undefined;
  /** The stream as its status is to be written: of the version that a write of the action left. */
  stream: LoopStream;
}

/** An action leaves a status to write, or nothing but another run. */
export type ActionOutcome = AppliedDecision | { requeueAfterMs?: number };

const RETRY_MS = 500;
/** The caches were out of date: no conclusion is drawn, and the stream is reconciled again. */
const STALE: ActionOutcome = { requeueAfterMs: RETRY_MS };
/** The rest of the work for this stream comes after the streams that wait in the queue. */
const YIELD: ActionOutcome = { requeueAfterMs: 0 };
const FINISHED: ActionOutcome = {};

export interface ActionDeps extends StreamControllerDeps {
  retries: Retries;
}

interface ActionContext {
  deps: ActionDeps;
  observed: Observation;
  decision: Decision;
  /** `pod` after the action; the stream as it was observed. */
  done: (pod: Pod | undefined, decision?: Decision) => AppliedDecision;
}

type Deed = Exclude<Action, { do: 'nothing' }>;

/** `action` is the one of the decision. An action that Kubernetes has refused is tried again in its time. */
export async function applyDecision(
  deps: ActionDeps,
  observed: Observation,
  decision: Decision,
  action: Deed,
): Promise<ActionOutcome> {
  const { stream, now } = observed;
  const done = (pod: Pod | undefined, turnedOut = decision): AppliedDecision => ({ decision: turnedOut, pod, stream });
  const context: ActionContext = { deps, observed, decision, done };
  const attempt = describeAttempt(stream, action);
  if (!attempt) return act(context, action);
  const waiting = deps.retries.find(attempt, now, findKnownRefusal(stream, action));
  if (waiting) return giveWay(context, action, waiting);
  try {
    const outcome = await act(context, action);
    deps.retries.succeed(attempt.namespace, attempt.key, now);
    return outcome;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const message = describeRefusal(error, attempt.namespace);
    return giveWay(context, action, deps.retries.add(attempt, error, message, now));
  }
}

/** The actions whose refusal the status tells; the others fail, and are retried by the queue. */
const ATTEMPTS: Partial<Record<Action['do'], string>> = {
  prepare: 'preparation',
  create: 'pod',
  publish: 'publisher',
  patch: 'program',
  skip: 'program',
  delete: 'deletion',
  expire: 'expiry',
  restoreFinalizers: 'finalizers',
};

function describeAttempt({ metadata }: LoopStream, action: Deed): Attempt | undefined {
  const what = ATTEMPTS[action.do];
  if (what === undefined) return undefined;
  const { namespace = '', name, generation, annotations } = metadata;
  const isStandby = action.do === 'create' && action.standby;
  const version = [isStandby ? 'standby' : what, generation, annotations?.[RETRY_ANNOTATION]].join(' ');
  return { key: joinKey(namespace, name), namespace, version };
}

/** The outcome of an action that Kubernetes refuses, or has refused a moment ago. */
async function giveWay(context: ActionContext, action: Deed, refusal: Refusal): Promise<ActionOutcome> {
  const { observed, decision, done } = context;
  const { pod: main, now } = observed;
  if (refusal.passesSoon) return { requeueAfterMs: Math.max(0, refusal.retryAt.getTime() - now.getTime()) };
  switch (action.do) {
    case 'create':
      if (!action.standby) return done(undefined, withoutPod(observed, decision, refusal));
      // No pod will follow this one, so it need not linger.
      if (main?.metadata.deletionTimestamp && isOfEndingNamespace(refusal.message)) await stop(context, main);
      return done(main, withoutStandby(decision, refusal));
    case 'patch':
    case 'skip':
      return done(main, withoutProgram(decision, refusal));
    case 'publish':
      return done(findNamedPod(observed), withoutWrite(decision, refusal));
    default:
      return done(main, withoutWrite(decision, refusal));
  }
}

/** The status names the pod that has the publisher lock. One that it named without might never get the lock. */
const findNamedPod = ({ stream, pod }: Observation): Pod | undefined =>
  stream.status?.podUID === pod?.metadata.uid ? pod : undefined;

async function act(context: ActionContext, action: Deed): Promise<ActionOutcome> {
  const { deps, observed, done } = context;
  const { stream, pod: main, other } = observed;
  const pod = 'podUid' in action ? [main, other].find((one) => one?.metadata.uid === action.podUid) : main;
  switch (action.do) {
    case 'prepare':
      return prepareStart(context, pod);
    case 'create':
      return createPod(context, action);
    case 'restoreFinalizers':
      await restoreFinalizers(deps, observed);
      return YIELD;
    case 'removeFinalizer':
      return (await removeFinalizer(deps, stream)) ? FINISHED : STALE;
    case 'expire':
      return deleteStream(context);
  }
  if (!pod) return STALE;
  switch (action.do) {
    case 'publish':
      return publish(context, pod);
    case 'stop':
      // One that has answered ends soon: nothing is read for it with each event until then.
      if (deps.streamers.hasStopped(pod)) return done(pod);
      return (await isFollowed(context, pod)) ? stop(context, pod) : STALE;
    case 'delete':
      return deletePod(context, pod, action.retire);
    case 'patch':
      return patchProgram(context, pod, action.program);
    case 'skip':
      return skip(context, pod, action);
  }
}

/** Makes ahead of a pod what it needs. */
async function prepareStart({ deps, observed, done }: ActionContext, pod: Pod | undefined): Promise<AppliedDecision> {
  await ensureSecret(deps, observed);
  return { ...done(pod), stream: await addFinalizer(deps, observed.stream) };
}

/** Deletes a stream whose time is up, in the version that was observed: one that has been edited since fails with Conflict. */
async function deleteStream({ deps, observed }: ActionContext): Promise<ActionOutcome> {
  const { name, namespace = '', uid, resourceVersion } = observed.stream.metadata;
  const options = { uid, resourceVersion, propagationPolicy: 'Background' } as const;
  await deps.kube.delete(LOOPSTREAMS, namespace, name, options);
  return FINISHED;
}

/**
 * Creates the pod and acquires its publisher lock, unless it is a standby. Many streams may start at once when a window
 * begins, so all get their pods before anything else. Until the next run acquires its lock, the pod is held. The status
 * is written later, too: most pods are live by then, and one write replaces two.
 */
async function createPod(context: ActionContext, action: Extract<Action, { do: 'create' }>): Promise<ActionOutcome> {
  const { deps, observed, done } = context;
  const { stream, freeName: name } = observed;
  if (name === undefined) return STALE;
  await addFinalizer(deps, stream);
  // A standby reads it before it has the lock.
  if (action.standby) await updateSecret(deps, observed);
  const built = annotateTrace(buildPod(stream, action.program, deps.settings, name), currentTraceparent());
  try {
    const pod = await deps.kube.create(PODS, stream.metadata.namespace ?? '', built);
    deps.caches.pods.upsert(pod);
    if (action.standby) return done(observed.pod);
    if (stream.status?.phase !== 'scheduled') await acquirePublisher(deps, observed, pod.metadata.uid);
    return YIELD;
  } catch (error) {
    if (!hasReason(error, 'AlreadyExists') || isRefusal(error)) throw error;
    return findTaken(context, action, name);
  }
}

/** The outcome where the name of a pod, or of the Secret, was taken in the meantime. A pod is ours only if our UID owns it. */
async function findTaken(
  { deps, observed, decision, done }: ActionContext,
  { standby }: Extract<Action, { do: 'create' }>,
  name: string,
): Promise<ActionOutcome> {
  const own = await fetchPods(deps, observed.stream);
  for (const pod of own) deps.caches.pods.upsert(pod);
  if (own.some((pod) => pod.metadata.name === name) || standby) return STALE;
  return done(undefined, withoutPod(observed, decision));
}

/**
 * Acquires the publisher lock for a pod once its predecessor is over, and commands it to publish before its files do.
 */
async function publish(context: ActionContext, pod: Pod): Promise<ActionOutcome> {
  const { deps, observed, decision, done } = context;
  const { stream, report, now } = observed;
  const { name, namespace = '', uid } = pod.metadata;
  const { publisherUid, isNew, isGuess } = await acquirePublisher(deps, observed, uid);
  if (publisherUid !== uid) {
    const holder = [observed.pod, observed.other].find((one) => one?.metadata.uid === publisherUid);
    if (!holder) return STALE;
    const later: Decision = { ...decision, requeueAt: new Date(now.getTime() + RETRY_MS) };
    if (!isGuess) return done(holder, later);
    // Neither would ever get the lock while both may be the publisher.
    if (decideRemoval(holder).do === 'delete') await deletePod(context, holder, false);
    return done(findNamedPod(observed), later);
  }
  // A pod without a node reads its files later. A pod that already had the lock reports `held` if it did not notice.
  if (pod.spec.nodeName === undefined || !(isNew || report?.held)) return done(pod);
  const token = await readControlToken(deps, stream, pod);
  if (token !== undefined) await deps.streamers.release(pod, token);
  const annotations = { [ON_AIR_ANNOTATION]: now.toISOString() };
  const patched = await deps.kube.mergePatch(PODS, namespace, name, { metadata: { uid, annotations } });
  deps.caches.pods.upsert(patched);
  return done(patched);
}

/** Commands a pod to stop publishing. A lost command is harmless: its deletion ends the pod soon. */
async function stop({ deps, observed, done }: ActionContext, pod: Pod): Promise<AppliedDecision> {
  const token = await readControlToken(deps, observed.stream, pod);
  if (token !== undefined) await deps.streamers.stop(pod, token);
  return done(pod);
}

/**
 * Whether another pod is there to take over, by the API server: a pod that was removed a moment ago may still be in the cache, and
 * the one that publishes is not stopped for its sake.
 */
async function isFollowed({ deps, observed }: ActionContext, pod: Pod): Promise<boolean> {
  const others = (await fetchPods(deps, observed.stream)).filter(({ metadata }) => metadata.uid !== pod.metadata.uid);
  for (const other of others) deps.caches.pods.upsert(other);
  return others.some((other) => !isOver(other) && other.metadata.deletionTimestamp === undefined);
}

/** Deletes a pod: at once, or so that it publishes until another one is ready. */
async function deletePod(context: ActionContext, pod: Pod, retire: boolean): Promise<ActionOutcome> {
  const { deps, observed, done } = context;
  const { name, namespace = '', uid } = pod.metadata;
  if (retire && !(await isFollowed(context, pod))) return STALE;
  if (!retire) await stop(context, pod);
  await deps.kube.delete(PODS, namespace, name, { uid, ...(!retire && { gracePeriodSeconds: STOP_GRACE_SECONDS }) });
  // The other one is ready already.
  if (retire) await stop(context, pod);
  // The next run must see that the pod is going, however late the watch is.
  for (const fetched of await fetchPods(deps, observed.stream)) deps.caches.pods.upsert(fetched);
  return done(observed.pod);
}

/** Hands the pod another program, which it takes up without a restart. The destinations of that are in the Secret before. */
async function patchProgram(
  context: ActionContext,
  pod: Pod,
  program: Program,
  decision = context.decision,
): Promise<AppliedDecision> {
  const { deps, observed, done } = context;
  const { name, namespace = '', uid } = pod.metadata;
  const before = readPodProgram(pod);
  const isChanged = program.version !== before?.version;
  const annotations = {
    [PROGRAM_ANNOTATION]: JSON.stringify(program),
    ...(isChanged && { [PROGRAM_CHANGED_ANNOTATION]: observed.now.toISOString() }),
    ...(readDisruptionLabel(pod) !== readDisruption(observed.stream) && readEvictionAnnotations(observed.stream)),
  };
  const labels = { ...findLabelPatch(observed.stream, pod), [DISRUPTION_LABEL]: readDisruption(observed.stream) };
  if (before?.destinationsRevision !== program.destinationsRevision) await updateSecret(deps, observed);
  const patched = await deps.kube.mergePatch(PODS, namespace, name, { metadata: { uid, annotations, labels } });
  deps.caches.pods.upsert(patched);
  return done(pod === observed.other ? observed.pod : patched, decision);
}

/** Passes a skip on to the pod. The program says afterwards that it is done, and where the stream stands now. */
async function skip(
  context: ActionContext,
  pod: Pod,
  action: Extract<Action, { do: 'skip' }>,
): Promise<AppliedDecision> {
  const { deps, observed, decision, done } = context;
  const token = await readControlToken(deps, observed.stream, pod);
  const clock = token && (await deps.streamers.skip(pod.metadata.uid, action.address, token, action.skip));
  if (!clock) return done(pod);
  const program = withClock(action.program, clock);
  const { requeueAt: _, ...rest } = decision;
  const message = `The stream skipped to the next ${action.skip.track} item, as requested.`;
  const events: Decision['events'] = [{ type: 'Normal', reason: 'Skipped', message }];
  return patchProgram(context, pod, program, { ...rest, ...pickPlayhead(program), events });
}
