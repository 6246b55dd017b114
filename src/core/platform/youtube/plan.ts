/**
 * Plans which calls of the YouTube Data API are due. Public `videos.list` takes 50 ids a unit with an API key alone, so it says whether viewers
 * see a broadcast; `liveStreams.list` cannot be batched over owners, so it says how media arrives, and less often. Two things
 * are for owners alone, and cannot be batched either: the broadcast that is live now, where none is known, and a private video.
 *
 * The units that are left until midnight Pacific decide the pace: calls that say whether a broadcast is live come first, then those about health,
 * which come up to six times less often. Owners are asked as often as the rest pays for, and only what is spare then hurries. Where even that does not last, the budget runs out, and what
 * was not asked is Unknown. Pure: no I/O, no clock.
 */
import {
  DEFAULT_BUDGET_UNITS,
  LIST_UNITS,
  nextReset,
  REPAIR_UNITS,
  spentUnits,
  type UnitCounter,
  usableUnits,
} from './budget.ts';

export const VIDEO_EVERY_MS = 30_000;
export const HEALTH_EVERY_MS = 600_000;
/** Health is asked less often where the budget is short, but not less than this. */
export const HEALTH_AT_LEAST_EVERY_MS = 3_600_000;
/** The pace for what owners alone see, where the budget is not short. */
export const OWN_EVERY_MS = 30_000;
export const HURRY_EVERY_MS = 15_000;
/** After a reconnect, an edit, or an answer that says that nothing arrives. */
export const HURRY_FOR_MS = 300_000;
export const IDS_PER_CALL = 50;
/** Hurrying leaves the units of some repairs. */
const REPAIR_RESERVE_UNITS = 3 * REPAIR_UNITS;
/** A wakeup may come a little late or early; what is due within this time goes along, or batches would split for good. */
const SLACK_MS = 1_000;

export interface PollTarget {
  /** Name of the destination. */
  name: string;
  videoId?: string;
  /** With the channel whose token reads the stream. Missing where nobody has given a token. */
  ingest?: { channelId: string; streamId: string };
  /** The token of the channel is needed to find the broadcast that is live, or to see the video. */
  own?: { channelId: string; kind: 'broadcasts' | 'ownVideos' };
  videoAskedMs?: number;
  ingestAskedMs?: number;
  ownAskedMs?: number;
  /** Time of the last reconnect, edit, or answer without data. */
  disturbedMs?: number;
}

export type PlannedCall =
  | { kind: 'videos'; videoIds: string[]; costUnits: number }
  | { kind: 'liveStreams'; channelId: string; streamIds: string[]; costUnits: number }
  | { kind: 'broadcasts'; channelId: string; costUnits: number }
  | { kind: 'ownVideos'; channelId: string; videoIds: string[]; costUnits: number };

export interface PollPlan {
  /** In the order of their importance: once one cannot be charged, those behind it are not made either. */
  calls: PlannedCall[];
  /** When to plan again, at the latest. */
  nextMs: number;
  /** True if calls are due that the budget does not pay for any more: what they would ask is Unknown until `nextMs`. */
  isExhausted: boolean;
}

const chunk = <T>(values: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(values.length / IDS_PER_CALL) }, (_, n) =>
    values.slice(n * IDS_PER_CALL, (n + 1) * IDS_PER_CALL),
  );

const countChannels = (targets: readonly PollTarget[]): number =>
  new Set(targets.flatMap(({ ingest }) => ingest?.channelId ?? [])).size;
const countVideoCalls = (targets: readonly PollTarget[]): number =>
  Math.ceil(new Set(targets.flatMap(({ videoId }) => videoId ?? [])).size / IDS_PER_CALL);

/** Units that the calls about broadcasts take until the reset. */
const videoNeed = (targets: readonly PollTarget[], leftMs: number): number =>
  countVideoCalls(targets) * Math.ceil(leftMs / VIDEO_EVERY_MS) * LIST_UNITS;

/** How often health is asked so that the rest of the day can be paid. */
export function healthEvery(targets: readonly PollTarget[], unitsLeft: number, leftMs: number): number {
  const channels = countChannels(targets);
  const spare = unitsLeft - videoNeed(targets, leftMs);
  if (channels === 0) return HEALTH_EVERY_MS;
  if (spare <= 0) return HEALTH_AT_LEAST_EVERY_MS;
  const pays = (leftMs * channels * LIST_UNITS) / spare;
  return Math.min(HEALTH_AT_LEAST_EVERY_MS, Math.max(HEALTH_EVERY_MS, Math.ceil(pays)));
}

const groupOwn = (targets: readonly PollTarget[]): Map<string, PollTarget[]> =>
  Map.groupBy(
    targets.filter(({ own }) => own !== undefined),
    ({ own }) => `${own?.kind} ${own?.channelId}`,
  );
const countOwnCalls = (targets: readonly PollTarget[]): number => groupOwn(targets).size;

/** How often owners are asked, so that what the others leave pays for the rest of the day. */
function ownEvery(targets: readonly PollTarget[], unclaimed: number, leftMs: number): number {
  if (unclaimed <= 0) return HEALTH_AT_LEAST_EVERY_MS;
  const pays = Math.ceil((leftMs * countOwnCalls(targets) * LIST_UNITS) / unclaimed);
  return Math.min(HEALTH_AT_LEAST_EVERY_MS, Math.max(OWN_EVERY_MS, pays));
}

const isDue = (askedMs: number | undefined, everyMs: number, nowMs: number): boolean =>
  askedMs === undefined || askedMs + everyMs <= nowMs + SLACK_MS || askedMs > nowMs + SLACK_MS;

export function planCalls(
  targets: readonly PollTarget[],
  counter: UnitCounter | undefined,
  nowMs: number,
  budgetUnits = DEFAULT_BUDGET_UNITS,
): PollPlan {
  const resetMs = nextReset(nowMs);
  const leftMs = resetMs - nowMs;
  const unitsLeft = usableUnits(budgetUnits) - spentUnits(counter, nowMs);
  const healthMs = healthEvery(targets, unitsLeft, leftMs);
  const healthNeed = countChannels(targets) * Math.ceil(leftMs / healthMs) * LIST_UNITS;
  const unclaimed = unitsLeft - videoNeed(targets, leftMs) - healthNeed - REPAIR_RESERVE_UNITS;
  const ownMs = ownEvery(targets, unclaimed, leftMs);
  let spare = unclaimed - countOwnCalls(targets) * Math.ceil(leftMs / ownMs) * LIST_UNITS;
  const hurries = (target: PollTarget): boolean =>
    target.disturbedMs !== undefined &&
    nowMs - target.disturbedMs < HURRY_FOR_MS &&
    target.disturbedMs <= nowMs + SLACK_MS;
  const affords = (units: number): boolean => {
    if (spare < units) return false;
    spare -= units;
    return true;
  };

  const calls: PlannedCall[] = [];
  const videos = targets.filter(({ videoId }) => videoId !== undefined);
  const isVideoDue = (target: PollTarget, everyMs: number) => isDue(target.videoAskedMs, everyMs, nowMs);
  const videosDue =
    videos.some((target) => isVideoDue(target, VIDEO_EVERY_MS)) ||
    (videos.some((target) => hurries(target) && isVideoDue(target, HURRY_EVERY_MS)) &&
      affords(countVideoCalls(videos)));
  if (videosDue) {
    // All go along with one that is due: a call costs the same with one id and with fifty.
    const ids = [...new Set(videos.flatMap(({ videoId }) => videoId ?? []))];
    for (const videoIds of chunk(ids)) calls.push({ kind: 'videos', videoIds, costUnits: LIST_UNITS });
  }

  for (const own of groupOwn(targets).values()) {
    const isOwnDue = (target: PollTarget, everyMs: number) => isDue(target.ownAskedMs, everyMs, nowMs);
    const due =
      own.some((target) => isOwnDue(target, ownMs)) ||
      (own.some((target) => hurries(target) && isOwnDue(target, HURRY_EVERY_MS)) && affords(LIST_UNITS));
    const [first] = own;
    if (!due || !first?.own) continue;
    const { kind, channelId } = first.own;
    if (kind === 'broadcasts') calls.push({ kind, channelId, costUnits: LIST_UNITS });
    else
      for (const videoIds of chunk([...new Set(own.flatMap(({ videoId }) => videoId ?? []))]))
        calls.push({ kind, channelId, videoIds, costUnits: LIST_UNITS });
  }

  const byChannel = Map.groupBy(
    targets.filter(({ ingest }) => ingest !== undefined),
    ({ ingest }) => ingest?.channelId ?? '',
  );
  for (const [channelId, own] of byChannel) {
    const isHealthDue = (target: PollTarget, everyMs: number) => isDue(target.ingestAskedMs, everyMs, nowMs);
    const due =
      own.some((target) => isHealthDue(target, healthMs)) ||
      (own.some((target) => hurries(target) && isHealthDue(target, HURRY_EVERY_MS)) && affords(LIST_UNITS));
    if (!due) continue;
    const ids = [...new Set(own.flatMap(({ ingest }) => ingest?.streamId ?? []))];
    for (const streamIds of chunk(ids))
      calls.push({ kind: 'liveStreams', channelId, streamIds, costUnits: LIST_UNITS });
  }

  let left = unitsLeft;
  const paid = calls.filter(({ costUnits }) => {
    left -= costUnits;
    return left >= 0;
  });
  const isExhausted = paid.length < calls.length;
  if (isExhausted && paid.length === 0) return { calls: [], nextMs: resetMs, isExhausted };
  const videoIds = new Set(paid.flatMap((call) => (call.kind === 'videos' ? call.videoIds : [])));
  const streamIds = new Set(paid.flatMap((call) => (call.kind === 'liveStreams' ? call.streamIds : [])));
  const isOwnCalled = ({ kind, channelId }: NonNullable<PollTarget['own']>): boolean =>
    paid.some((call) => call.kind === kind && call.channelId === channelId);
  const dueMs = targets.flatMap((target) => {
    const { videoId, ingest, own, videoAskedMs = nowMs, ingestAskedMs = nowMs, ownAskedMs = nowMs } = target;
    const soonMs = hurries(target) && spare > 0 ? HURRY_EVERY_MS : Number.POSITIVE_INFINITY;
    const video = videoId === undefined || videoIds.has(videoId) ? nowMs : videoAskedMs;
    const health = ingest === undefined || streamIds.has(ingest.streamId) ? nowMs : ingestAskedMs;
    const ownCall = own === undefined || isOwnCalled(own) ? nowMs : ownAskedMs;
    const due = [video + Math.min(VIDEO_EVERY_MS, soonMs), health + Math.min(healthMs, soonMs)];
    return own ? [...due, ownCall + Math.min(ownMs, soonMs)] : due;
  });
  return { calls: paid, nextMs: Math.max(nowMs + SLACK_MS, Math.min(resetMs, ...dueMs)), isExhausted };
}
