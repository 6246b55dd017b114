/**
 * Builds the numbers of a stream as one JSON document, which /stats returns and the metrics use.
 * Pure: no I/O, no clock.
 */
import type { Run, StreamerReport, StreamerStats as Wire } from '../../../protocol/report.ts';
import type { CacheStats } from '../../storage/cache.ts';
import type { BroadcastStats } from '../output/broadcaster.ts';
import type { OutputStats } from '../output/output.ts';
import type { SpliceStats } from '../timeline/splicer.ts';
import type { PreparationBehind, TrackStats } from '../tracks/track.ts';

/** As a pod of this release writes it: with every field, and with the numbers of its cache. */
export type ShownStats = Required<Omit<Wire, 'destinations'>> & {
  /** Cache statistics since the start; null without a cache. */
  cache: CacheStats | null;
  destinations: Omit<OutputStats, 'reconnectsByCode' | 'failuresByCode'>[];
};

export interface StatsParts {
  splice: SpliceStats;
  broadcaster: BroadcastStats;
  video: TrackStats;
  audio: TrackStats | undefined;
  outputs: readonly OutputStats[];
  startedAt: Date | undefined;
  now: Date;
  programVersion: number;
  profile: string;
  held?: boolean;
  pushes?: boolean;
  cache?: CacheStats | undefined;
  runs?: Run[];
  interruption?: StreamerReport['interruption'];
}

const sum = (numbers: Iterable<number>): number => {
  let total = 0;
  for (const n of numbers) total += n;
  return total;
};
const tenth = (n: number): number => Math.round(n * 10) / 10;

export function streamerStats(parts: StatsParts): ShownStats {
  const { splice, broadcaster, video, audio, outputs, startedAt, now } = parts;
  return {
    live: outputs.some((t) => t.connected),
    held: parts.held ?? false,
    pushes: parts.pushes ?? false,
    startedAt: startedAt?.toISOString() ?? null,
    uptimeSeconds: startedAt ? Math.max(0, Math.floor((now.getTime() - startedAt.getTime()) / 1000)) : 0,
    bitrateKbps: broadcaster.bitrateKbps,
    fps: broadcaster.fps,
    keyframeIntervalSeconds: broadcaster.keyframeIntervalMs > 0 ? broadcaster.keyframeIntervalMs / 1000 : null,
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
    nextAudioItem: audio?.next ?? null,
    programVersion: parts.programVersion,
    profile: parts.profile,
    clock: { video: video.clock, audio: audio?.clock ?? null },
    playable: video.playable,
    skippedItems: sum([...Object.values(video.skipped), ...Object.values(audio?.skipped ?? {})]),
    brokenItems: [
      ...video.broken.map((item) => ({ ...item, track: 'video' as const })),
      ...(audio?.broken ?? []).map((item) => ({ ...item, track: 'audio' as const })),
    ],
    preparationBehind: joinBehind(video.preparationBehind, audio?.preparationBehind),
    droppedRules: [
      ...video.droppedRules.map((dropped) => ({ ...dropped, track: 'video' as const })),
      ...(audio?.droppedRules ?? []).map((dropped) => ({ ...dropped, track: 'audio' as const })),
    ],
    leadMs: broadcaster.leadMs,
    runs: parts.runs ?? [],
    interruption: parts.interruption ?? null,
    cache: parts.cache ?? null,
    destinations: outputs.map(({ reconnectsByCode: _, failuresByCode: __, ...shown }) => shown),
  };
}

export function pickReport(stats: ShownStats): StreamerReport {
  const { live, held, playable, clock, brokenItems, preparationBehind, droppedRules } = stats;
  const { runs, interruption, destinations } = stats;
  return {
    live,
    held,
    playable,
    clock,
    brokenItems,
    preparationBehind,
    droppedRules,
    runs,
    interruption,
    destinations,
  };
}

/** The pictures come first: they are what is on air. */
function joinBehind(video: PreparationBehind, audio: PreparationBehind | undefined): ShownStats['preparationBehind'] {
  const track = video.item || !audio?.item ? 'video' : 'audio';
  const { item, since } = (track === 'audio' && audio) || video;
  return { count: video.count + (audio?.count ?? 0), item: item && { ...item, track }, since };
}
