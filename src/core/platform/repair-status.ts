/** Converts the progress of a repair between the status of a destination and the form that decisions are made from. Pure: no I/O, no clock. */
import { exactTime } from '../lib/clock.ts';
import type { RepairStatus } from '../resources/destination/platform.ts';
import type { RepairState } from './common/repair-state.ts';
import { NEW_REPAIR } from './youtube/repair.ts';

const toMs = (time: string): number => Date.parse(time);
const toTime = (ms: number): string => exactTime(new Date(ms));

export function readRepairStatus(status: RepairStatus | undefined): RepairState {
  if (!status) return NEW_REPAIR;
  const { phase, inserts, absentSince, mark, markedAt, broadcastId, boundAt, startedAt, binds, starts } = status;
  const { liveBroadcastId, liveAt, stalled, resume } = status;
  return {
    phase,
    insertsMs: inserts.map(toMs),
    ...(absentSince !== undefined && { absentSinceMs: toMs(absentSince) }),
    ...(mark !== undefined && { mark }),
    ...(markedAt !== undefined && { markedMs: toMs(markedAt) }),
    ...(broadcastId !== undefined && { broadcastId }),
    ...(boundAt !== undefined && { boundMs: toMs(boundAt) }),
    ...(startedAt !== undefined && { startedMs: toMs(startedAt) }),
    ...(binds !== undefined && { binds }),
    ...(starts !== undefined && { starts }),
    ...(liveBroadcastId !== undefined &&
      liveAt !== undefined && { live: { broadcastId: liveBroadcastId, atMs: toMs(liveAt) } }),
    ...(stalled !== undefined && { stalled }),
    ...(resume !== undefined && { resume }),
  };
}

/** With null for each field that the state does not have, as a merge patch removes it. */
export function buildRepairPatch(state: RepairState): { [Field in keyof RepairStatus]-?: RepairStatus[Field] | null } {
  const time = (ms: number | undefined) => (ms === undefined ? null : toTime(ms));
  return {
    phase: state.phase,
    inserts: state.insertsMs.map(toTime),
    absentSince: time(state.absentSinceMs),
    mark: state.mark ?? null,
    markedAt: time(state.markedMs),
    broadcastId: state.broadcastId ?? null,
    boundAt: time(state.boundMs),
    startedAt: time(state.startedMs),
    binds: state.binds ?? null,
    starts: state.starts ?? null,
    liveBroadcastId: state.live?.broadcastId ?? null,
    liveAt: time(state.live?.atMs),
    stalled: state.stalled ?? null,
    resume: state.resume ?? null,
  };
}
