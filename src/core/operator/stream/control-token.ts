/**
 * Checks the control token with which a stream's pods report. The Secret with it is read once for each pod. Only a digest of the token is
 * kept. A token that does not fit is compared with the Secret again, since that may have been made anew, but not for each guess.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Pod } from '../../kube/core.ts';
import type { Kube } from '../../kube/types.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import { readControlToken } from './secret.ts';

/** Between two reads of one Secret. */
const REREAD_MS = 10_000;

export interface ControlTokens {
  /** Whether this is the control token of the stream's pod. Rejects when the API server does not answer. */
  check(stream: LoopStream, pod: Pod, token: string): Promise<boolean>;
  /** Forgets the token of a pod that is gone. */
  forget(podUid: string): void;
}

const digestToken = (token: string): Buffer => createHash('sha256').update(token).digest();

interface Known {
  digest: Promise<Buffer | undefined>;
  readMs: number;
}

export function createControlTokens(kube: Kube, clock: Clock = systemClock): ControlTokens {
  const known = new Map<string, Known>();
  const read = async (stream: LoopStream, pod: Pod): Promise<Buffer | undefined> => {
    const token = await readControlToken({ kube }, stream, pod);
    return token === undefined ? undefined : digestToken(token);
  };
  const find = async (stream: LoopStream, pod: Pod, olderThanMs: number): Promise<Buffer | undefined> => {
    const { uid } = pod.metadata;
    const nowMs = clock.monotonicMs();
    const found = known.get(uid);
    if (found && nowMs - found.readMs < olderThanMs) return found.digest;
    const fresh: Known = { digest: read(stream, pod), readMs: nowMs };
    known.set(uid, fresh);
    // A failed read is no knowledge.
    fresh.digest.catch(() => known.get(uid) === fresh && known.delete(uid));
    return fresh.digest;
  };
  return {
    async check(stream, pod, token) {
      const fits = (expected: Buffer | undefined) =>
        expected !== undefined && token !== '' && timingSafeEqual(expected, digestToken(token));
      return fits(await find(stream, pod, Number.POSITIVE_INFINITY)) || fits(await find(stream, pod, REREAD_MS));
    },
    forget: (podUid) => void known.delete(podUid),
  };
}
