/**
 * Records the profile in which each pod plays, and since when, from the operator's program. An edit changes it on air.
 */

import type { Pod, PodSpec, PodStatus } from '../../../core/kube/core.ts';
import type { Reflector } from '../../../core/kube/reflector.ts';
import type { KubeObject } from '../../../core/kube/types.ts';
import { type Clock, sleep, systemClock } from '../../../core/lib/clock.ts';
import type { Logger } from '../../../core/lib/log.ts';
import { readPodProgram } from '../../../core/protocol/to-streamer.ts';
import { type Profile, parseProfile } from '../../../core/resources/stream/profile.ts';
import type { Db } from '../../db/pool.ts';
import * as store from './store.ts';

const RETRY_MS = 1_000;

const readProfile = (pod: Pod): Profile | undefined => {
  const profile = readPodProgram(pod)?.profile ?? '';
  return parseProfile(profile) && (profile as Profile);
};

/** The stream that a pod is of, by its owner. */
const findStream = ({ metadata }: Pod): string | undefined =>
  metadata.ownerReferences?.find(({ kind, controller }) => kind === 'LoopStream' && controller)?.uid;

export type PodCache = Reflector<KubeObject<PodSpec, PodStatus>>;

/** Writes down each pod's profile when it is first seen, and each change of it. Nothing is lost while the database is away. */
export function watchProfiles(
  { pods, db, log, clock = systemClock }: { pods: PodCache; db: Db; log: Logger; clock?: Clock },
  signal: AbortSignal,
): { settled(): Promise<void> } {
  let waiting: store.SeenProfile[] = [];
  let writing: Promise<void> | undefined;
  const write = async (): Promise<void> => {
    // Changes of the same event-loop turn are written together.
    await Promise.resolve();
    for (let failures = 0; waiting.length > 0 && !signal.aborted; ) {
      const seen = waiting;
      waiting = [];
      try {
        await store.writePlayed(db, seen);
        failures = 0;
      } catch (err) {
        waiting = [...seen, ...waiting];
        if (failures++ === 0) log.warn({ err }, 'the profiles of pods could not be stored; it is retried');
        await sleep(RETRY_MS);
      }
    }
    writing = undefined;
  };
  pods.onChange(
    (_key, pod, before) => {
      const [profile, streamUID] = pod ? [readProfile(pod), findStream(pod)] : [];
      if (!pod || profile === undefined || streamUID === undefined) return;
      if (before && before.metadata.uid === pod.metadata.uid && readProfile(before) === profile) return;
      waiting.push({ streamUID, podUID: pod.metadata.uid, since: clock.now(), profile });
      writing ??= write();
    },
    { replay: true },
  );
  return { settled: async () => writing };
}
