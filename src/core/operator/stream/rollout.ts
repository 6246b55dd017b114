/**
 * Decides when a stream gets pods of a new operator (another image, another storage): each stream at a moment of its own
 * within `seconds` from when this operator began to lead, and no more than a tenth of the streams on air at a time,
 * so that never all of them depend on an image that may not be good.
 */

import { createHash } from 'node:crypto';
import type { Pod } from '../../kube/core.ts';
import { COMPONENT_LABEL } from '../../resources/common/names.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import type { PodSettings } from '../pods/security.ts';
import { findReadySince } from '../pods/status.ts';
import { isOutdated } from './handover.ts';

export interface RolloutOptions {
  /** Over how many seconds the streams are spread. */
  seconds: number;
  /** The pods of all streams. */
  pods: () => readonly Pod[];
  /** Whether a pod is as this operator would make it. */
  isCurrent: (pod: Pod) => boolean;
}

const AT_A_TIME = 0.1;
/** A stream that takes longer makes room for another: it may never get ready, and is not in anybody's way. */
const TURN_MS = 60_000;
/** Mean pause between the checks of all waiting streams: a few soon notice a free turn, and thousands cost little. */
const ASKED_EVERY_MS = 10;
const AGAIN_MS = { least: 1_000, most: 15_000 };
/** A stream checks at its own moment, or after this time at most: the wall clock may jump. */
const LONGEST_WAIT_MS = 60_000;
/** A timer may come a little before the wall clock's moment. */
const MARGIN_MS = 100;

/** The rollout of what the operator's settings say of pods. `listPods` lists the pods that the operator has made. */
export const createRollout = (seconds: number, settings: PodSettings, listPods: () => readonly Pod[]): Rollout =>
  new Rollout({
    seconds,
    pods: () => listPods().filter(({ metadata }) => metadata.labels?.[COMPONENT_LABEL] === 'streamer'),
    isCurrent: (pod) => !isOutdated(pod, settings),
  });

export class Rollout {
  readonly #options: RolloutOptions;
  #since: Date | undefined;
  /** Streams whose turn it is, by UID → since when. */
  readonly #turns = new Map<string, number>();
  #limit = 1;
  #waiting = 0;
  #countedMs = Number.NEGATIVE_INFINITY;

  constructor(options: RolloutOptions) {
    this.#options = options;
  }

  mayRoll({ metadata }: Pick<LoopStream, 'metadata'>, now: Date): boolean {
    this.#since ??= now;
    if (this.#turns.has(metadata.uid)) return true;
    if (this.#untilOwnMs(metadata.uid, now) > 0) return false;
    this.#count(now);
    if (this.#turns.size >= this.#limit) return false;
    this.#turns.set(metadata.uid, now.getTime());
    return true;
  }

  /** Milliseconds until a stream without a turn is reconciled again. */
  requeueAfterMs({ metadata }: Pick<LoopStream, 'metadata'>, now: Date): number {
    const ownMs = this.#untilOwnMs(metadata.uid, now);
    if (ownMs > 0) return Math.min(ownMs + MARGIN_MS, LONGEST_WAIT_MS);
    return Math.min(Math.max(this.#waiting * ASKED_EVERY_MS, AGAIN_MS.least), AGAIN_MS.most);
  }

  /** Ends finished turns and computes how many streams may have one, once a second. */
  #count(now: Date): void {
    if (now.getTime() - this.#countedMs < 1000) return;
    this.#countedMs = now.getTime();
    const pods = this.#options.pods();
    const done = new Set(
      pods
        .filter((pod) => this.#options.isCurrent(pod) && findReadySince(pod) !== undefined)
        .map((pod) => findOwnerUid(pod)),
    );
    for (const [uid, sinceMs] of this.#turns) {
      if (done.has(uid) || now.getTime() - sinceMs > TURN_MS) this.#turns.delete(uid);
    }
    this.#waiting = new Set(pods.filter((pod) => !this.#options.isCurrent(pod)).map(findOwnerUid)).size;
    this.#limit = Math.max(1, Math.floor(new Set(pods.map(findOwnerUid)).size * AT_A_TIME));
  }

  /** The stream's own moment is as long after the first look for every operator. */
  #untilOwnMs(uid: string, now: Date): number {
    const fraction = createHash('sha256').update(uid).digest().readUInt32BE(0) / 2 ** 32;
    return (this.#since ?? now).getTime() + fraction * this.#options.seconds * 1000 - now.getTime();
  }
}

const findOwnerUid = ({ metadata }: Pod): string => metadata.ownerReferences?.[0]?.uid ?? '';
