/**
 * Builds the numbers of a stream as one JSON document, which /stats returns and the metrics use.
 * Pure: no I/O, no clock.
 */
import type { CacheStats } from '../../storage/cache.ts';
import type { BroadcastStats } from '../output/broadcaster.ts';
import type { OutputStats } from '../output/output.ts';
import type { SpliceStats } from '../timeline/splicer.ts';
import type { PreparationBehind, ShownItem, TrackEpoch, TrackStats, UnplayableItem } from '../tracks/track.ts';
import type { StreamerRun } from './airtime.ts';

export interface StreamerStats {
  /** True while a destination takes media. */
  live: boolean;
  /** True while this pod does not hold the publisher lock. */
  held: boolean;
  /** True while the operator accepts the reports that this pod pushes, and so need not ask. */
  pushes: boolean;
  /** Time when a destination first took media (RFC 3339); null before. */
  startedAt: string | null;
  uptimeSeconds: number;
  /** Averages over the last seconds. */
  bitrateKbps: number;
  fps: number;
  framesSent: number;
  /** Rounds of the video list since the on-air epoch. */
  loopCount: number;
  seam: {
    count: number;
    maxStepMs: number;
    maxAudioStepMs: number;
    hour: { maxStepMs: number; maxAudioStepMs: number };
  };
  /** Sound minus picture at the last seam. */
  avSkewMs: number;
  reconnects: number;
  currentItem: TrackStats['current'];
  nextItem: ShownItem | null;
  currentAudioItem: ShownItem | null;
  programVersion: number;
  /** The playhead of each track, as another streamer would need it to stand at the same place. */
  clock: { video: TrackEpoch | null; audio: TrackEpoch | null };
  /** False while no item can be played. */
  playable: boolean;
  skippedItems: number;
  /** Items that could not be played at their last turn. */
  brokenItems: (UnplayableItem & { track: 'video' | 'audio' })[];
  /** Items that ended early because the rest of them was not prepared yet. */
  preparationBehind: {
    /** Number of such ends since the start. */
    count: number;
    /** The item that is still behind, if there is one, and the time of its first such end (RFC 3339). */
    item: (ShownItem & { track: 'video' | 'audio' }) | null;
    since: string | null;
  };
  /** Media sent ahead of time. */
  leadMs: number;
  /** The processes of this pod that were on air, in order; the last one is this process if it was. */
  runs: readonly StreamerRun[];
  /** Cache statistics since the start; null without a cache. */
  cache: CacheStats | null;
  destinations: Omit<OutputStats, 'reconnectsByCode' | 'failuresByCode'>[];
}

/** The part of the numbers that the operator acts on or shows (operator/stream/pod-report.ts). */
export type StreamerReport = Pick<
  StreamerStats,
  'live' | 'held' | 'playable' | 'clock' | 'brokenItems' | 'preparationBehind' | 'runs' | 'destinations'
>;

export interface StatsParts {
  splice: SpliceStats;
  broadcaster: BroadcastStats;
  video: TrackStats;
  audio: TrackStats | undefined;
  outputs: readonly OutputStats[];
  startedAt: Date | undefined;
  now: Date;
  programVersion: number;
  held?: boolean;
  pushes?: boolean;
  cache?: CacheStats | undefined;
  runs?: readonly StreamerRun[];
}

const sum = (numbers: Iterable<number>): number => {
  let total = 0;
  for (const n of numbers) total += n;
  return total;
};
const tenth = (n: number): number => Math.round(n * 10) / 10;

export function streamerStats(parts: StatsParts): StreamerStats {
  const { splice, broadcaster, video, audio, outputs, startedAt, now } = parts;
  return {
    live: outputs.some((t) => t.connected),
    held: parts.held ?? false,
    pushes: parts.pushes ?? false,
    startedAt: startedAt?.toISOString() ?? null,
    uptimeSeconds: startedAt ? Math.max(0, Math.floor((now.getTime() - startedAt.getTime()) / 1000)) : 0,
    bitrateKbps: broadcaster.bitrateKbps,
    fps: broadcaster.fps,
    framesSent: splice.videoFrames,
    loopCount: video.loopCount,
    seam: {
      count: splice.seams,
      maxStepMs: splice.maxVideoStepMs,
      maxAudioStepMs: splice.maxAudioStepMs,
      hour: { maxStepMs: broadcaster.hour.videoStepMs, maxAudioStepMs: broadcaster.hour.audioStepMs },
    },
    avSkewMs: tenth(splice.avSkewMs),
    reconnects: sum(outputs.map((t) => t.reconnects)),
    currentItem: video.current,
    nextItem: video.next,
    currentAudioItem: audio?.current ?? null,
    programVersion: parts.programVersion,
    clock: { video: video.clock, audio: audio?.clock ?? null },
    playable: video.playable,
    skippedItems: sum([...Object.values(video.skipped), ...Object.values(audio?.skipped ?? {})]),
    brokenItems: [
      ...video.broken.map((item) => ({ ...item, track: 'video' as const })),
      ...(audio?.broken ?? []).map((item) => ({ ...item, track: 'audio' as const })),
    ],
    preparationBehind: joinBehind(video.preparationBehind, audio?.preparationBehind),
    leadMs: broadcaster.leadMs,
    runs: parts.runs ?? [],
    cache: parts.cache ?? null,
    destinations: outputs.map(({ reconnectsByCode: _, failuresByCode: __, ...shown }) => shown),
  };
}

export function pickReport(stats: StreamerStats): StreamerReport {
  const { live, held, playable, clock, brokenItems, preparationBehind, runs, destinations } = stats;
  return { live, held, playable, clock, brokenItems, preparationBehind, runs, destinations };
}

/** The pictures come first: they are what is on air. */
function joinBehind(
  video: PreparationBehind,
  audio: PreparationBehind | undefined,
): StreamerStats['preparationBehind'] {
  const track = video.item || !audio?.item ? 'video' : 'audio';
  const { item, since } = (track === 'audio' && audio) || video;
  return { count: video.count + (audio?.count ?? 0), item: item && { ...item, track }, since };
}
