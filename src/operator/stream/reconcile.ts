/** One stream: read its world, decide, act, write the status once. */

import { PODS, type Pod } from '../../kube/core.ts';
import {
  DISRUPTION_LABEL,
  FINALIZER,
  ON_AIR_ANNOTATION,
  POD_FINALIZER,
  PROGRAM_ANNOTATION,
  PROGRAM_CHANGED_ANNOTATION,
  podNames,
} from '../../resources/common/names.ts';
import { type Program, programOfPod } from '../../resources/stream/program.ts';
import { LOOPSTREAMS, type LoopStream } from '../../resources/stream/resource.ts';
import { playlistNames, uploadNames } from '../media/items.ts';
import { isOwnedBy } from '../pods/security.ts';
import { isOver } from '../pods/status.ts';
import { isReason, isRefusal, type Reconcile, splitKey, waitUntil, writeStatus } from '../runtime/controller.ts';
import { type Decision, decide, noStandby, notCreated, notPatched } from './decide.ts';
import { type Action, isOutdated, STOP_GRACE_SECONDS } from './handover.ts';
import type { World } from './observe.ts';
import { buildPod, disruptionOf } from './pod.ts';
import { sinceOf, withClock } from './program.ts';
import { bringSecret, letFirstPublish, letPublish, podsNow, prepareSecret, readToken } from './secret.ts';
import { sameSessions, statusOf, streamStory } from './status.ts';
import { bookFor, cachedPods, letGo, overPods } from './timekeeping.ts';
import type { StreamTools } from './tools.ts';

/** What came of an action: the stream's pod as it now is, and the decision as it turned out. */
interface Done {
  decision: Decision;
  pod: Pod | undefined;
  /** As a write of ours has left it, where there was one. */
  stream?: LoopStream;
}
/** What is acted upon. */
interface Scene {
  stream: LoopStream;
  world: World;
  decision: Decision;
}
/** The world is not what the caches said: nothing is concluded from it, and it is looked at again. */
const AGAIN = 'again';
const AGAIN_MS = 500;
/** What is left to do for the stream comes after what others wait for. */
const LATER = 'later';

function existing<T>(names: readonly string[], get: (name: string) => T | undefined): Map<string, T> {
  const found = new Map<string, T>();
  for (const name of names) {
    const object = get(name);
    if (object) found.set(name, object);
  }
  return found;
}

/**
 * The stream's pods: the one that publishes as far as the status knows, or the older one, and the other. Where none is the
 * stream's own, whatever has the first of their names.
 */
function podsOf(stream: LoopStream, named: readonly Pod[]): [main: Pod | undefined, other: Pod | undefined] {
  const since = ({ metadata }: Pod) => metadata.creationTimestamp;
  const own = named.filter((pod) => isOwnedBy(pod, stream)).sort((a, b) => since(a).localeCompare(since(b)));
  const main =
    own.find((pod) => pod.metadata.uid === stream.status?.podUID) ?? own.find((pod) => !isOver(pod)) ?? own[0];
  return [main ?? named[0], own.find((pod) => pod !== main)];
}

export function worldOf(tools: Omit<StreamTools, 'kube'>, stream: LoopStream, now: Date): World {
  const { caches, onAir, settings, rollout } = tools;
  const { namespace = '', name } = stream.metadata;
  const playlists = existing(playlistNames(stream), (of) => caches.playlists.get(namespace, of));
  const named = existing(podNames(name), (of) => caches.pods.get(namespace, of));
  const [pod, other] = podsOf(stream, [...named.values()]);
  const nodeName = pod?.spec.nodeName;
  return {
    playlists,
    uploads: existing(uploadNames(stream, playlists), (of) => caches.uploads.get(namespace, of)),
    destinations: existing(stream.spec.destinationRefs, (of) => caches.destinations.get(namespace, of)),
    pod,
    other,
    freeName: podNames(name).find((of) => !named.has(of)),
    node: nodeName === undefined ? undefined : caches.nodes?.get('', nodeName),
    ...(pod && isOutdated(pod, settings) && { mayRoll: rollout.mayRoll(stream, now) }),
    news: pod && onAir.newsOf(pod.metadata.uid),
    now,
  };
}

/** Sets the finalizers of exactly this version of the stream; a newer version answers Conflict and is looked at anew. */
const setFinalizers = ({ kube }: StreamTools, stream: LoopStream, finalizers: string[]) => {
  const { name, namespace = '', resourceVersion } = stream.metadata;
  return kube.mergePatch(LOOPSTREAMS, namespace, name, { metadata: { resourceVersion, finalizers } });
};

/**
 * Before there is a pod there is the finalizer: a stream is never gone while something of it may be on air. Answers the stream
 * as it is then, which differs in nothing else: what is written next is of that version.
 */
async function hold(tools: StreamTools, stream: LoopStream): Promise<LoopStream> {
  const finalizers = stream.metadata.finalizers ?? [];
  if (finalizers.includes(FINALIZER)) return stream;
  const held = await setFinalizers(tools, stream, [...finalizers, FINALIZER]);
  tools.caches.streams.upsert(held);
  return held;
}

/** What a first pod needs, ahead of it. Who has the finalizer has the Secret too, or had it. */
async function prepare(tools: StreamTools, { stream, world, decision }: Scene, pod: Pod | undefined): Promise<Done> {
  await prepareSecret(tools, stream, world);
  return { decision, pod, stream: await hold(tools, stream) };
}

/**
 * The pods that hold back a deleted stream. The API server is asked, not the cache: a pod whose creation we did not hear of
 * counts too. Where our Role was deleted before the stream, as happens to all that a namespace holds when it is deleted, no pod
 * can be made any more, and the cache knows all that are left.
 */
async function podsLeft(tools: StreamTools, stream: LoopStream): Promise<Pod[]> {
  try {
    return await podsNow(tools, stream);
  } catch (error) {
    if (!isReason(error, 'Forbidden')) throw error;
    return cachedPods(tools, stream);
  }
}

/** Removes the finalizer of a deleted stream once it has no pods. */
async function release(tools: StreamTools, stream: LoopStream): Promise<typeof AGAIN | undefined> {
  const pods = await podsLeft(tools, stream);
  for (const pod of pods) tools.caches.pods.upsert(pod);
  if (pods.length > 0) return AGAIN;
  const left = (stream.metadata.finalizers ?? []).filter((finalizer) => finalizer !== FINALIZER);
  try {
    await setFinalizers(tools, stream, left);
  } catch (error) {
    if (!isReason(error, 'NotFound')) throw error;
  }
  return undefined;
}

/** Deletes a stream whose time is up, as it was decided about: one that has been edited since is looked at anew. */
async function expire({ kube }: StreamTools, stream: LoopStream): Promise<undefined> {
  const { name, namespace = '', uid, resourceVersion } = stream.metadata;
  await kube.delete(LOOPSTREAMS, namespace, name, { uid, resourceVersion, propagationPolicy: 'Background' });
}

/**
 * Makes the pod, and lets it publish unless it is to wait. One of its name that exists is ours only if our UID owns it.
 * Where a window begins, others may begin as well: all have their pods before anything else is done for one of them. Until
 * then the pod, which is on its way to a node, is held; the next look finds a pod that has not been let publish. The status of
 * a first pod comes after those who wait for theirs, too: of many, most are live by then, and one write says it instead of two.
 */
async function create(
  tools: StreamTools,
  of: Scene,
  action: Extract<Action, { do: 'create' }>,
): Promise<Done | typeof AGAIN | typeof LATER> {
  const { stream, world, decision } = of;
  const { namespace = '' } = stream.metadata;
  const name = world.freeName;
  if (name === undefined) return AGAIN;
  const held = await hold(tools, stream);
  // Nobody makes a pod before there is the finalizer, so that this is the first one of all.
  const isFirst = held !== stream;
  try {
    // It reads its files before it is let publish; those of an older operator lack the view token.
    if (action.standby) await bringSecret(tools, stream, world);
    const pod = await tools.kube.create(PODS, namespace, buildPod(stream, action.program, tools.settings, name));
    tools.caches.pods.upsert(pod);
    if (action.standby) return { decision, pod: world.pod };
    if (stream.status?.phase === 'scheduled') return LATER;
    const { uid } = pod.metadata;
    if (isFirst) {
      await letFirstPublish(tools, stream, world, uid);
      return LATER;
    }
    const { named } = await letPublish(tools, stream, world, uid);
    return named === uid ? { decision, pod } : AGAIN;
  } catch (error) {
    if (isRefusal(error)) {
      const { message } = error;
      if (action.standby) return { decision: noStandby(decision, message, world.now), pod: world.pod };
      return { decision: notCreated(stream, decision, world, message), pod: undefined };
    }
    if (!isReason(error, 'AlreadyExists')) throw error;
  }
  const own = await podsNow(tools, stream);
  for (const pod of own) tools.caches.pods.upsert(pod);
  if (own.some((pod) => pod.metadata.name === name) || action.standby) return AGAIN;
  return { decision: notCreated(stream, decision, world), pod: undefined };
}

/** Lets a pod publish when nothing of the one before is left; what it reads in its files, it is told at once as well. */
async function publish(tools: StreamTools, { stream, world, decision }: Scene, pod: Pod): Promise<Done | typeof AGAIN> {
  const { name, namespace = '', uid } = pod.metadata;
  const { named, isNew } = await letPublish(tools, stream, world, uid);
  if (named !== uid) {
    const still = [world.pod, world.other].find((of) => of?.metadata.uid === named);
    return still
      ? { decision: { ...decision, lookAgainAt: new Date(world.now.getTime() + AGAIN_MS) }, pod: still }
      : AGAIN;
  }
  // One that has no node yet reads its files later, and one that was named before may have read so; it says if it has not.
  if (pod.spec.nodeName === undefined || !(isNew || world.news?.held)) return { decision, pod };
  const token = await readToken(tools, stream);
  if (token !== undefined) await tools.onAir.release(pod, token);
  const annotations = { [ON_AIR_ANNOTATION]: world.now.toISOString() };
  const told = await tools.kube.mergePatch(PODS, namespace, name, { metadata: { uid, annotations } });
  tools.caches.pods.upsert(told);
  return { decision, pod: told };
}

/** Tells a pod to publish no more. That it hears it is not counted on: it is going, or is deleted with little time. */
async function stop(tools: StreamTools, { stream, decision }: Scene, pod: Pod): Promise<Done> {
  const token = await readToken(tools, stream);
  if (token !== undefined) await tools.onAir.stop(pod, token);
  return { decision, pod };
}

/**
 * Whether another pod is there to take over, as the API server has it: one that was taken away a moment ago may still stand in
 * the cache, and the one that publishes is not to be stopped for its sake.
 */
async function isFollowed(tools: StreamTools, { stream }: Scene, pod: Pod): Promise<boolean> {
  const others = (await podsNow(tools, stream)).filter(({ metadata }) => metadata.uid !== pod.metadata.uid);
  for (const other of others) tools.caches.pods.upsert(other);
  return others.some((other) => !isOver(other) && other.metadata.deletionTimestamp === undefined);
}

/** Takes a pod away: at once, or so that it publishes until another one is ready. */
async function remove(tools: StreamTools, of: Scene, pod: Pod, retire: boolean): Promise<Done | typeof AGAIN> {
  const { name, namespace = '', uid } = pod.metadata;
  if (retire && !(await isFollowed(tools, of, pod))) return AGAIN;
  if (!retire) await stop(tools, of, pod);
  await tools.kube.delete(PODS, namespace, name, { uid, ...(!retire && { gracePeriodSeconds: STOP_GRACE_SECONDS }) });
  // It is ready already.
  if (retire) await stop(tools, of, pod);
  // The next look must not take for staying what has been told to go, however late the watch is.
  for (const now of await podsNow(tools, of.stream)) tools.caches.pods.upsert(now);
  return { decision: of.decision, pod: of.world.pod };
}

/** Hands the pod another program; it takes it up without a restart. What it needs to send it is in the Secret before. */
async function patch(
  tools: StreamTools,
  { stream, world, decision }: Scene,
  pod: Pod,
  program: Program,
): Promise<Done> {
  const main = (of: Pod) => (pod === world.other ? world.pod : of);
  const { name, namespace = '', uid } = pod.metadata;
  const before = programOfPod(pod);
  const annotations = {
    [PROGRAM_ANNOTATION]: JSON.stringify(program),
    ...(program.version !== before?.version && { [PROGRAM_CHANGED_ANNOTATION]: world.now.toISOString() }),
  };
  const labels = { [DISRUPTION_LABEL]: disruptionOf(stream) };
  try {
    if (before?.destinationsRevision !== program.destinationsRevision) await bringSecret(tools, stream, world);
    const patched = await tools.kube.mergePatch(PODS, namespace, name, { metadata: { uid, annotations, labels } });
    tools.caches.pods.upsert(patched);
    return { decision, pod: main(patched) };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    // What is on air stays on air with the program it has.
    return { decision: notPatched(decision, error.message), pod: main(pod) };
  }
}

/** Passes a skip on; the program says afterwards that it is done, and where the stream stands now. */
async function skip(tools: StreamTools, of: Scene, pod: Pod, action: Extract<Action, { do: 'skip' }>): Promise<Done> {
  const { stream, decision } = of;
  const token = await readToken(tools, stream);
  const clock = token && (await tools.onAir.skip(pod.metadata.uid, action.address, token, action.skip));
  if (!clock) return { decision, pod };
  const program = withClock(action.program, clock);
  const { lookAgainAt: _, ...rest } = decision;
  const message = `Went on to the next ${action.skip.track} item, as was asked.`;
  const events = [{ type: 'Normal' as const, reason: 'Skipped', message }];
  return patch(tools, { ...of, decision: { ...rest, ...sinceOf(program), events } }, pod, program);
}

async function act(tools: StreamTools, of: Scene): Promise<Done | typeof AGAIN | typeof LATER> {
  const { stream, world, decision } = of;
  const { action } = decision;
  const own = [world.pod, world.other].filter((pod) => pod !== undefined && isOwnedBy(pod, stream)) as Pod[];
  const [main] = own;
  if (action.do === 'hold') return prepare(tools, of, main);
  if (action.do === 'create') return create(tools, of, action);
  if (action.do === 'skip') return main ? skip(tools, of, main, action) : AGAIN;
  if (!('podUid' in action)) return { decision, pod: main };
  const pod = own.find(({ metadata }) => metadata.uid === action.podUid);
  if (!pod) return AGAIN;
  switch (action.do) {
    case 'publish':
      return publish(tools, of, pod);
    case 'stop':
      return (await isFollowed(tools, of, pod)) ? stop(tools, of, pod) : AGAIN;
    case 'delete':
      return remove(tools, of, pod, action.retire);
    case 'patch':
      return patch(tools, of, pod, action.program);
  }
}

/**
 * Holds a stream on air and its pods again, where an operator before this one has let go of them for good. Answers whether any
 * of them was not held.
 */
async function holdAgain(tools: StreamTools, stream: LoopStream, { pod, other }: World): Promise<boolean> {
  const own = [pod, other].filter((of) => of !== undefined && isOwnedBy(of, stream) && !isOver(of)) as Pod[];
  if (own.length === 0 || stream.metadata.deletionTimestamp !== undefined) return false;
  const loose = own.filter(
    ({ metadata: { finalizers, deletionTimestamp } }) =>
      deletionTimestamp === undefined && !finalizers?.includes(POD_FINALIZER),
  );
  for (const { metadata } of loose) {
    const { name, namespace = '', uid, resourceVersion, finalizers = [] } = metadata;
    const patch = { metadata: { uid, resourceVersion, finalizers: [...finalizers, POD_FINALIZER] } };
    tools.caches.pods.upsert(await tools.kube.mergePatch(PODS, namespace, name, patch));
  }
  return (await hold(tools, stream)) !== stream || loose.length > 0;
}

const soonest = (wait: { requeueAfterMs?: number } | undefined, ms: number | undefined) =>
  ms === undefined ? wait : { requeueAfterMs: Math.min(wait?.requeueAfterMs ?? ms, ms) };

export const reconcileStream =
  (tools: StreamTools): Reconcile =>
  async (key) => {
    const { caches, settings, events, clock } = tools;
    const stream = caches.streams.get(...splitKey(key));
    const over = overPods(tools, key);
    if (!stream) return letGo(tools, key, over);
    const now = clock.now();
    const world = worldOf(tools, stream, now);
    // The caches have been told of it, and so the next look, at once, is at what there is now.
    if (await holdAgain(tools, stream, world)) return { requeueAfterMs: 0 };
    const decision = decide(stream, world, settings);
    if (decision.action.do === 'release') {
      return (await release(tools, stream)) === AGAIN ? { requeueAfterMs: AGAIN_MS } : undefined;
    }
    if (decision.action.do === 'expire') return expire(tools, stream);
    const done = await act(tools, { stream, world, decision });
    if (done === AGAIN) return { requeueAfterMs: AGAIN_MS };
    if (done === LATER) return { requeueAfterMs: 0 };
    const of = done.stream ?? stream;
    const status = statusOf(of, done.decision, done.pod, world, bookFor(tools, of, now));
    const exact = !sameSessions(of.status, status);
    if (await writeStatus(tools, LOOPSTREAMS, caches.streams, of, status, { exact })) {
      const told = [...streamStory(of, status), ...(done.decision.events ?? [])];
      for (const event of told) events.event(of, event);
    }
    await letGo(tools, key, over);
    return soonest(
      waitUntil(done.decision.lookAgainAt, now),
      world.mayRoll === false ? tools.rollout.againMs(stream, now) : undefined,
    );
  };
