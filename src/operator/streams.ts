/** One stream: read its world, decide, act, write the status once. */
import { LOOPSTREAMS, type LoopStream, PODS, type Pod } from '../kube/resources.ts';
import { FINALIZER, PROGRAM_ANNOTATION, podName } from '../streams/names.ts';
import type { Program } from '../streams/program.ts';
import { splitKey } from './caches.ts';
import { isReason, isRefusal, type Reconcile, type Tools, waitUntil, writeStatus } from './control.ts';
import { type Action, type Decision, decide, notCreated, notPatched } from './decide.ts';
import { playlistNames, programOfPod, sinceOf, uploadNames } from './media.ts';
import { withClock } from './news.ts';
import { buildPod } from './pod.ts';
import { isOwnedBy } from './restricted.ts';
import { bringSecret, readToken } from './secret.ts';
import { sameSessions, statusOf } from './status.ts';
import { streamStory } from './story.ts';
import { bookFor, letGo } from './timekeeping.ts';
import type { World } from './world.ts';

/** What came of an action: the stream's pod as it now is, and the decision as it turned out. */
interface Done {
  decision: Decision;
  pod: Pod | undefined;
}
/** The world is not what the caches said: nothing is concluded from it, and it is looked at again. */
const AGAIN = 'again';
const AGAIN_MS = 500;

function existing<T>(names: readonly string[], get: (name: string) => T | undefined): Map<string, T> {
  const found = new Map<string, T>();
  for (const name of names) {
    const object = get(name);
    if (object) found.set(name, object);
  }
  return found;
}

export function worldOf({ caches, onAir }: Pick<Tools, 'caches' | 'onAir'>, stream: LoopStream, now: Date): World {
  const { namespace = '', name } = stream.metadata;
  const playlists = existing(playlistNames(stream), (of) => caches.playlists.get(namespace, of));
  const pod = caches.pods.get(namespace, podName(name));
  return {
    playlists,
    uploads: existing(uploadNames(stream, playlists), (of) => caches.uploads.get(namespace, of)),
    destinations: existing(stream.spec.destinationRefs, (of) => caches.destinations.get(namespace, of)),
    pod,
    news: pod && onAir.newsOf(pod.metadata.uid),
    now,
  };
}

/** Sets the finalizers of exactly this version of the stream; a newer version answers Conflict and is looked at anew. */
const setFinalizers = ({ kube }: Tools, stream: LoopStream, finalizers: string[]) => {
  const { name, namespace = '', resourceVersion } = stream.metadata;
  return kube.mergePatch(LOOPSTREAMS, namespace, name, { metadata: { resourceVersion, finalizers } });
};

/** Before there is a pod there is the finalizer: a stream is never gone while something of it may be on air. */
async function hold(tools: Tools, stream: LoopStream): Promise<void> {
  const finalizers = stream.metadata.finalizers ?? [];
  if (finalizers.includes(FINALIZER)) return;
  tools.caches.streams.upsert(await setFinalizers(tools, stream, [...finalizers, FINALIZER]));
}

/** Lets a deleted stream go. The API server is asked, not the cache: a pod whose creation we did not hear of counts too. */
async function release(tools: Tools, stream: LoopStream): Promise<typeof AGAIN | undefined> {
  const { name, namespace = '' } = stream.metadata;
  try {
    const pod = await tools.kube.get(PODS, namespace, podName(name));
    if (isOwnedBy(pod, stream)) {
      tools.caches.pods.upsert(pod);
      return AGAIN;
    }
  } catch (error) {
    if (!isReason(error, 'NotFound')) throw error;
  }
  const left = (stream.metadata.finalizers ?? []).filter((finalizer) => finalizer !== FINALIZER);
  try {
    await setFinalizers(tools, stream, left);
  } catch (error) {
    if (!isReason(error, 'NotFound')) throw error;
  }
  return undefined;
}

/** Deletes a stream whose time is up, as it was decided about: one that has been edited since is looked at anew. */
async function expire({ kube }: Tools, stream: LoopStream): Promise<undefined> {
  const { name, namespace = '', uid, resourceVersion } = stream.metadata;
  await kube.delete(LOOPSTREAMS, namespace, name, { uid, resourceVersion, propagationPolicy: 'Background' });
}

/** Makes the pod. Its name is the lock: one that exists is ours only if our UID owns it. */
async function create(tools: Tools, stream: LoopStream, world: World, decision: Decision, program: Program) {
  const { name, namespace = '' } = stream.metadata;
  await hold(tools, stream);
  const wanted = buildPod(stream, program, tools.settings);
  try {
    await bringSecret(tools, stream, world);
    const pod = await tools.kube.create(PODS, namespace, wanted);
    tools.caches.pods.upsert(pod);
    return { decision, pod };
  } catch (error) {
    if (isRefusal(error)) return { decision: notCreated(stream, decision, world, error.message), pod: undefined };
    if (!isReason(error, 'AlreadyExists')) throw error;
  }
  const pod = await tools.kube.get(PODS, namespace, podName(name));
  if (isOwnedBy(pod, stream)) {
    tools.caches.pods.upsert(pod);
    return AGAIN;
  }
  return { decision: notCreated(stream, decision, world), pod: undefined };
}

/** Hands the pod another program; it takes it up without a restart. What it needs to send it is in the Secret before. */
async function patch(
  tools: Tools,
  of: { stream: LoopStream; world: World; pod: Pod },
  decision: Decision,
  program: Program,
): Promise<Done> {
  const { stream, world, pod } = of;
  const { name, namespace = '', uid } = pod.metadata;
  const annotations = { [PROGRAM_ANNOTATION]: JSON.stringify(program) };
  try {
    if (programOfPod(pod)?.destinationsRevision !== program.destinationsRevision)
      await bringSecret(tools, stream, world);
    const patched = await tools.kube.mergePatch(PODS, namespace, name, { metadata: { uid, annotations } });
    tools.caches.pods.upsert(patched);
    return { decision, pod: patched };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    // What is on air stays on air with the program it has.
    return { decision: notPatched(decision, error.message), pod };
  }
}

/** Passes a skip on; the program says afterwards that it is done, and where the stream stands now. */
async function skip(
  tools: Tools,
  of: { stream: LoopStream; world: World; pod: Pod },
  decision: Decision,
  action: Extract<Action, { do: 'skip' }>,
): Promise<Done> {
  const { stream, pod } = of;
  const token = await readToken(tools, stream);
  const clock = token && (await tools.onAir.skip(pod.metadata.uid, action.address, token, action.skip));
  if (!clock) return { decision, pod };
  const program = withClock(action.program, clock);
  const { lookAgainAt: _, ...rest } = decision;
  const message = `Went on to the next ${action.skip.track} item, as was asked.`;
  const events = [{ type: 'Normal' as const, reason: 'Skipped', message }];
  return patch(tools, of, { ...rest, ...sinceOf(program), events }, program);
}

async function act(tools: Tools, stream: LoopStream, world: World, decision: Decision): Promise<Done | typeof AGAIN> {
  const { action } = decision;
  const pod = world.pod && isOwnedBy(world.pod, stream) ? world.pod : undefined;
  switch (action.do) {
    case 'create':
      return create(tools, stream, world, decision, action.program);
    case 'patch':
      return pod ? patch(tools, { stream, world, pod }, decision, action.program) : AGAIN;
    case 'skip':
      return pod ? skip(tools, { stream, world, pod }, decision, action) : AGAIN;
    case 'delete': {
      const { namespace = '', name } = stream.metadata;
      await tools.kube.delete(PODS, namespace, podName(name), { uid: action.podUid });
      return { decision, pod };
    }
    default:
      return { decision, pod };
  }
}

export const reconcileStream =
  (tools: Tools): Reconcile =>
  async (key) => {
    const { caches, settings, events, clock } = tools;
    const stream = caches.streams.get(...splitKey(key));
    if (!stream) return letGo(tools, key);
    const now = clock.now();
    const world = worldOf(tools, stream, now);
    const decision = decide(stream, world, settings);
    if (decision.action.do === 'release') {
      return (await release(tools, stream)) === AGAIN ? { requeueAfterMs: AGAIN_MS } : undefined;
    }
    if (decision.action.do === 'expire') return expire(tools, stream);
    const done = await act(tools, stream, world, decision);
    if (done === AGAIN) return { requeueAfterMs: AGAIN_MS };
    const status = statusOf(stream, done.decision, done.pod, world, bookFor(tools, stream, now));
    const exact = !sameSessions(stream.status, status);
    if (await writeStatus(tools, LOOPSTREAMS, caches.streams, stream, status, { exact })) {
      const told = [...streamStory(stream, status), ...(done.decision.events ?? [])];
      for (const event of told) events.event(stream, event);
    }
    await letGo(tools, key);
    return waitUntil(done.decision.lookAgainAt, now);
  };
