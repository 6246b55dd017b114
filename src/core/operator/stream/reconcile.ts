/** Reconciles one stream: observes it, decides, acts, and writes its status once. */

import { currentSpan } from '../../lib/context.ts';
import { LOOPSTREAMS } from '../../resources/stream/resource.ts';
import { earliest } from '../../resources/stream/schedule.ts';
import type { LoopStreamStatus } from '../../resources/stream/spec.ts';
import { type Reconcile, requeueAt, splitKey, writeStatus } from '../runtime/controller.ts';
import { createRetries } from '../runtime/retries.ts';
import { type AppliedDecision, applyDecision } from './apply.ts';
import type { StreamControllerDeps } from './controller-deps.ts';
import { decide } from './decide.ts';
import { findTellTime } from './dropped-rules.ts';
import { removePodFinalizers } from './finalizers.ts';
import { failLostPods } from './lost-pods.ts';
import type { Observation } from './observation.ts';
import { findEndedPods, findLostPods, observePodTimes, observeStream } from './observe.ts';
import { computeSessions } from './sessions.ts';
import { buildEvents, buildStatus } from './status.ts';
import { removeStrayPods } from './stray-pods.ts';
import { findOffAirTime } from './transitions.ts';

/** `enqueueAfter` is called with the key of each stream whose pod may be accepted sooner than was thought. */
export function reconcileStream(
  tools: StreamControllerDeps,
  enqueueAfter: (key: string, ms: number) => void = () => undefined,
): Reconcile {
  const deps = { ...tools, retries: createRetries(enqueueAfter) };
  return async (key) => {
    const stream = deps.caches.streams.get(...splitKey(key));
    const lostPods = findLostPods(deps, key);
    if (lostPods.length > 0) await failLostPods(deps, lostPods);
    const endedPods = findEndedPods(deps, key);
    if (!stream) {
      deps.retries.forget(splitKey(key)[0], key);
      return removePodFinalizers(deps, key, endedPods);
    }

    const observed = observeStream(deps, stream, deps.clock.now());
    if (observed.strays?.length) await removeStrayPods(deps, observed.strays);
    const decision = decide(observed, deps.settings);
    const { action } = decision;
    currentSpan()?.set({ 'loopstream.action': action.do, 'loopstream.phase': decision.phase });
    const outcome =
      action.do === 'nothing'
        ? { decision, pod: observed.pod, stream }
        : await applyDecision(deps, observed, decision, action);
    if (!('decision' in outcome)) return outcome;

    const { transitions, droppedRules } = await writeStreamStatus(deps, observed, outcome);
    if (endedPods.size > 0) await removePodFinalizers(deps, key, endedPods);
    const dropped = observed.report?.droppedRules;
    const tellAt = dropped && findTellTime(droppedRules, dropped, observed.now);
    return requeue(deps, observed, earliest(outcome.decision.requeueAt, findOffAirTime(transitions), tellAt));
  };
}

/** Writes the status, with the sessions of the pods as they are after the action, and the Events for what changed in it. */
async function writeStreamStatus(
  deps: StreamControllerDeps,
  observed: Observation,
  done: AppliedDecision,
): Promise<LoopStreamStatus> {
  const { stream, pod, decision } = done;
  const isMetered = deps.isMetered(stream.metadata.namespace ?? '');
  const sessions = computeSessions(stream, observePodTimes(deps, stream), isMetered, observed.now, decision.ends);
  const status = buildStatus(stream, decision, pod, observed, sessions);
  if (await writeStatus(deps, LOOPSTREAMS, deps.caches.streams, stream, status))
    for (const event of [...buildEvents(stream, status), ...(decision.events ?? [])]) deps.events.event(stream, event);
  return status;
}

/** Waits for the time of the decision, or for the stream's turn in a rollout where that comes first. */
function requeue({ rollout }: StreamControllerDeps, { stream, mayRoll, now }: Observation, at: Date | undefined) {
  const wait = requeueAt(at, now);
  if (mayRoll !== false) return wait;
  const turnMs = rollout.requeueAfterMs(stream, now);
  return { requeueAfterMs: Math.min(wait?.requeueAfterMs ?? turnMs, turnMs) };
}
