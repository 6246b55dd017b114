/** Runs the repairs of all destinations: which of them has one, and when its next round is due. */

import { HEALTH_EVERY_MS, HURRY_EVERY_MS, HURRY_FOR_MS } from './plan.ts';
import { noteLive } from './repair.ts';
import { type RoundDeps, type RoundResult, runRound } from './round.ts';
import { isBroadcastLive, noteBroadcasts, noteIngest, noteVideo, type WatchedDestination } from './watched.ts';

/** A round that brings nothing new is repeated less and less often. */
const QUIET_ROUND_MS = 60_000;
const LONG_QUIET_MS = 3_600_000;

/** One destination for each key of the platform: two would make two broadcasts. */
export function pickRepairers(all: readonly WatchedDestination[]): Set<WatchedDestination> {
  const candidates = all.filter(
    ({ target, account, streamId }) =>
      target.platform.policy === 'Repair' && target.publishing && account && streamId !== undefined,
  );
  const byStream = Map.groupBy(candidates, ({ account, streamId }) => `${account?.id} ${streamId}`);
  return new Set(
    [...byStream.values()].flatMap(
      (group) => group.toSorted((a, b) => (a.target.key < b.target.key ? -1 : 1))[0] ?? [],
    ),
  );
}

export interface Repairs {
  /** Runs a round if one is due. */
  run: (watched: WatchedDestination) => Promise<void>;
  /** Milliseconds since 1970 of the next round; infinite where none is needed. */
  findNextMs: (watched: WatchedDestination) => number;
}

export function createRepairs(deps: RoundDeps): Repairs {
  const { clock, loadRepair, saveRepair } = deps;
  const now = () => clock.now().getTime();

  const loadProgress = async ({ target, repair }: WatchedDestination): Promise<void> => {
    const { state } = await loadRepair(target.key);
    Object.assign(repair, { phase: state.phase, stalled: state.stalled, resume: state.resume });
    repair.notedId = state.live?.broadcastId;
  };

  /** A later repair has to know which broadcast viewers saw last. */
  const storeLive = async (watched: WatchedDestination): Promise<void> => {
    const { target, videoId, repair, lastSeenMs, broadcasts } = watched;
    const isOurs = broadcasts?.value?.some(({ id }) => id === videoId);
    if (videoId === undefined || videoId === repair.notedId || lastSeenMs === undefined || !isOurs) return;
    const { state, version } = await loadRepair(target.key);
    const next = noteLive(state, videoId, lastSeenMs);
    if (next === state || (await saveRepair(target.key, next, version)) !== undefined) repair.notedId = videoId;
  };

  /** A round that brings nothing new is repeated less often the longer nothing happens. */
  const paceQuietRound = ({ repair, target }: WatchedDestination): number => {
    const quietMs = now() - Math.max(repair.changedMs, target.publishing?.sinceMs ?? 0, target.editedMs ?? 0);
    if (quietMs < HURRY_FOR_MS) return HURRY_EVERY_MS;
    return quietMs < LONG_QUIET_MS ? QUIET_ROUND_MS : HEALTH_EVERY_MS;
  };

  const paceRound = ({ nextMs, isChanged, step }: RoundResult, watched: WatchedDestination): number => {
    if (isChanged || nextMs === Number.POSITIVE_INFINITY) return nextMs;
    const paceMs = paceQuietRound(watched);
    // A confirmation is waited for exactly.
    return step.kind === 'wait' && paceMs === HURRY_EVERY_MS ? nextMs : Math.max(nextMs, now() + paceMs);
  };

  const run = async (watched: WatchedDestination): Promise<void> => {
    const { target, account, streamId, videoId, endedIds, repair } = watched;
    const nowMs = now();
    if (!account || streamId === undefined) return;
    if (repair.phase === undefined) {
      // Where the store fails, it is asked again after this time.
      repair.nextMs = nowMs + HURRY_EVERY_MS;
      await loadProgress(watched);
      repair.nextMs = nowMs;
    }
    const isLive = isBroadcastLive(watched, nowMs);
    if (isLive) repair.changedMs = nowMs;
    if (isLive && repair.phase === 'idle') return storeLive(watched);
    const isStalled = repair.phase === 'stalled';
    const goesOn = isLive || repair.resume !== target.resume;
    if (isStalled) repair.nextMs = goesOn ? Math.min(repair.nextMs, nowMs) : Number.POSITIVE_INFINITY;
    if (nowMs < repair.nextMs) return;
    // A failed round is repeated after this time.
    repair.nextMs = nowMs + paceQuietRound(watched);
    const input = { key: target.key, account, streamId, watchedId: videoId, endedIds, resume: target.resume };
    const result = await runRound(input, deps);
    const { state, atMs, ingest, broadcasts, videos } = result;
    if (result.isChanged) repair.changedMs = nowMs;
    repair.nextMs = paceRound(result, watched);
    Object.assign(repair, { phase: state.phase, stalled: state.stalled, resume: state.resume });
    noteIngest(watched, ingest, atMs);
    watched.ingestAskedMs = atMs;
    if (ingest?.status === 'active') noteBroadcasts(watched, broadcasts, atMs);
    const seen = videos.find(({ id }) => id === watched.videoId);
    if (seen) noteVideo(watched, seen, atMs, true);
    repair.notedId = state.live?.broadcastId;
  };

  return {
    run,
    findNextMs: (watched) =>
      isBroadcastLive(watched, now()) && watched.repair.phase === 'idle'
        ? Number.POSITIVE_INFINITY
        : watched.repair.nextMs,
  };
}
