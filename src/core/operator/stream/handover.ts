/**
 * Decides how one pod of a stream takes over from another with next to no dead air. Two pods may be there at once, only one of them
 * may publish (secret.ts, pods/streamer/control/publisher-lock.ts):
 *
 *   1. There is a reason to leave: the pod is going (deleted, evicted, preempted), its template or the operator's image is
 *      another, its node is cordoned. Another pod is made under the other name. It is held: it reads ahead, opens nothing.
 *   2. It is warm. The old one is deleted, unless it is going already; it lingers, so it still publishes.
 *   3. The operator stops the old one.
 *   4. Nothing of it runs any more: the new one gets the publisher lock and publishes.
 *
 * "Nothing runs" is what kubelet says of it (pods/status.ts, isOver), never that the API server knows of no such pod: a finalizer
 * keeps the object until then. A pod on a node that does not answer may still publish, so nothing takes over until the node
 * answers, or is deleted, upon which Kubernetes itself calls the pod failed, or is tainted out-of-service (lost-pods.ts).
 * Every step is decided anew from what is there, so that a handover goes on after any restart. Pure: no I/O, no clock.
 */

import type { Node, Pod } from '../../kube/core.ts';
import type { SessionEnd } from '../../lib/codes/streams.ts';
import { isSameJson } from '../../lib/json-equal.ts';
import type { Program } from '../../protocol/program.ts';
import { readPodProgram } from '../../protocol/to-streamer.ts';
import { TEMPLATE_HASH_ANNOTATION } from '../../resources/common/names.ts';
import { readTooLarge } from '../../resources/stream/kept.ts';
import { type PodSettings, settingsIn } from '../pods/security.ts';
import { findDisruption, findPodTrouble, isOver, isWarm } from '../pods/status.ts';
import { findRepulsion } from '../pods/taints.ts';
import { yes } from '../runtime/controller.ts';
import { type Action, type Course, NO_ACTION, STOP_GRACE_SECONDS } from './course.ts';
import type { Observation } from './observation.ts';
import { hashSettings, hashTemplate, readDisruption } from './pod.ts';
import { followOn } from './program.ts';
import type { Situation } from './situation.ts';

/** How soon a stream is reconciled after a command to a pod, or while it awaits one, if no event comes first. */
const REQUEUE_MS = 1000;

/** Why a pod has to leave its node; undefined when it may stay, or nobody knows. */
export function findReasonToDrain(node: Node | undefined, pod: Pod): string | undefined {
  const repulsion = node && findRepulsion(node, pod.spec.tolerations ?? []);
  return repulsion && `Node "${node.metadata.name}" ${repulsion}.`;
}

/** The parts of the hash: the stream's for its pod, and the operator's for all pods. */
const readTemplateHash = (pod: Pod): [own: string | undefined, shared: string | undefined] => {
  const [own, shared] = (pod.metadata.annotations?.[TEMPLATE_HASH_ANNOTATION] ?? '').split('.');
  return [own, shared];
};

/** Why a pod has to go: what its session is said to have ended by, unless Kubernetes knows better, and the sentence. */
interface Leave {
  ends?: SessionEnd;
  why: string;
}

/** Why the pod that is on air has to go; undefined when it may stay. */
function findReasonToLeave(observed: Observation, pod: Pod, settings: PodSettings): Leave | undefined {
  const { stream, node, mayRoll } = observed;
  if (isOver(pod)) {
    const { phase, reason, message } = pod.status ?? {};
    return { why: `The pod ended (${[reason ?? phase, message].filter(Boolean).join(': ')}).` };
  }
  if (pod.metadata.deletionTimestamp) {
    const reason = findDisruption(pod);
    return { why: reason ? `The pod is being removed (${reason}).` : 'The pod is being removed.' };
  }
  const [own, shared] = hashTemplate(stream, settings).split('.');
  const [madeOf, madeBy] = readTemplateHash(pod);
  // A pod that an operator without such parts has made is exchanged in its turn. A template that was not kept makes no pod.
  if (madeBy !== undefined && own !== madeOf && !readTooLarge(stream))
    return { ends: 'Edited', why: 'The spec of the stream needs another pod.' };
  const left = readDisruption(stream) === 'OnDrain' ? findReasonToDrain(node, pod) : undefined;
  if (left !== undefined) return { ends: 'NodeDrained', why: left };
  return shared !== madeBy && mayRoll
    ? { ends: 'Updated', why: 'The settings of the operator need another pod.' }
    : undefined;
}

/** Whether the operator would make this pod otherwise, whatever its stream says. */
export const isOutdated = (pod: Pod, settings: PodSettings): boolean =>
  hashSettings(settingsIn(settings, pod.metadata.namespace)) !== readTemplateHash(pod)[1];

export const decideRemoval = (pod: Pod): Action => {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, uid } = pod.metadata;
  const going = deletionTimestamp !== undefined && (isOver(pod) || deletionGracePeriodSeconds <= STOP_GRACE_SECONDS);
  return going ? NO_ACTION : { do: 'delete', podUid: uid, retire: false };
};

/** Removes the first pod that is not going yet. */
export const removeFirst = (pods: readonly Pod[]): Action =>
  pods.map(decideRemoval).find((action) => action.do !== 'nothing') ?? NO_ACTION;

/** The part of a course that an exchange of pods decides. */
type Exchange = Pick<Course, 'action'> & Partial<Pick<Course, 'progressing' | 'ends' | 'requeueAt'>>;

/**
 * Decides the next step of a handover from `main`, the pod that publishes, or did; undefined when it may stay and is alone. `built` is
 * the program that the stream is to have now; without one each pod keeps its own.
 */
export function decideExchange(situation: Situation, main: Pod, built: Program | undefined): Exchange | undefined {
  const { other, freeName, settings, now } = situation;
  const leave = findReasonToLeave(situation, main, settings);
  // A standby that is not needed any more is removed.
  if (!leave) return removeStandby(other);
  const { ends, why } = leave;
  const because: Exchange = { action: NO_ACTION, ends, progressing: yes('Replacing', why) };
  const soon: Exchange = { ...because, requeueAt: new Date(now.getTime() + REQUEUE_MS) };
  const wait = (waitsFor: string): Exchange => ({ ...soon, progressing: yes('Replacing', `${why} ${waitsFor}`) });
  const ended = isOver(main);
  if (!other) {
    const program = built ?? situation.program;
    if (!program) return wait('The next pod cannot be created yet.');
    if (freeName === undefined)
      return wait('A pod that does not belong to this stream has the name of the next pod. Delete it.');
    return { ...because, action: { do: 'create', program, standby: !ended } };
  }
  if (isOver(other) || other.metadata.deletionTimestamp) {
    // A pod that is being deleted keeps its time: it may publish, though the status does not name it yet.
    const action = isOver(other) ? decideRemoval(other) : NO_ACTION;
    return { ...wait('The next pod is created when an earlier one is gone.'), action };
  }
  if (ended) return { ...soon, action: { do: 'publish', podUid: other.metadata.uid } };
  const trouble = findPodTrouble(other);
  if (trouble) return wait(`The next pod does not run: ${trouble.message}`);
  if (!isWarm(other)) return wait('The next pod is starting; this pod stays on air until it is ready.');
  const playing = readPodProgram(other);
  const program = built && playing ? followOn(built, playing) : (playing ?? built ?? situation.program);
  if (program && !isSameJson(program, playing)) {
    return { ...because, action: { do: 'patch', podUid: other.metadata.uid, program } };
  }
  const podUid = main.metadata.uid;
  if (main.metadata.deletionTimestamp) return { ...soon, action: { do: 'stop', podUid } };
  if (findReasonToLeave({ ...situation, node: undefined }, other, settings) !== undefined) {
    return { ...soon, action: decideRemoval(other) };
  }
  return { ...soon, action: { do: 'delete', podUid, retire: true } };
}

function removeStandby(other: Pod | undefined): Exchange | undefined {
  const action = other ? decideRemoval(other) : NO_ACTION;
  return action.do === 'nothing' ? undefined : { action };
}
