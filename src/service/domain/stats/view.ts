/** Converts the statistics of a streamer's pod to the public shape, in which a missing number is null. Pure: no I/O, no clock. */
import { readStats, type StreamerStats } from '../../../core/protocol/report.ts';
import { parseProfile } from '../../../core/resources/stream/profile.ts';
import { getReasonCode } from '../../../core/resources/stream/readiness.ts';
import type { LoopStreamStatus } from '../../../core/resources/stream/spec.ts';
import { toPublicFramerate, toPublicQuality } from '../../lib/public-profile.ts';
import type { LiveStats } from './record.ts';

export const NOT_LIVE: LiveStats = Object.freeze({
  live: false,
  quality: null,
  framerate: null,
  startedAt: null,
  uptimeSeconds: null,
  bitrateKbps: null,
  fps: null,
  keyframeIntervalSeconds: null,
  framesSent: null,
  loopCount: null,
  seam: null,
  avSkewMs: null,
  reconnects: null,
  viewers: null,
  current: null,
  positionSeconds: null,
  durationSeconds: null,
  next: null,
  currentAudio: null,
  nextAudio: null,
  playable: null,
  brokenItems: [],
  destinations: [],
});

type Item = Exclude<StreamerStats['nextItem'], null>;

const toItem = ({ id, name, playlistID, index }: Item): Exclude<LiveStats['next'], null> => ({
  id,
  name: name || id,
  playlistID,
  index,
});

type Broken = LiveStats['brokenItems'][number];

/** Items that the operator leaves out, from the stream's status: the pod does not receive them. */
export const listLeftOut = ({ unplayable }: Pick<LoopStreamStatus, 'unplayable'>): Broken[] =>
  (unplayable?.items ?? []).map(({ field, playlist = null, index = null, upload, name, reason, message }): Broken => {
    const id = upload ?? playlist ?? '';
    const track = field === 'audioPlaylistNames' ? 'audio' : 'video';
    return { id, name: name ?? id, playlistID: playlist, index, track, code: getReasonCode(reason), message };
  });

const isSame = (a: Broken, b: Broken): boolean => a.id === b.id && a.track === b.track;

/** A destination as it is known beside the answer of the pod. */
export interface KnownDestination {
  name: string;
  viewers: number | null;
}

/** The sum of what is known; null where nothing is. */
const sumViewers = (known: readonly KnownDestination[]): number | null =>
  known.reduce<number | null>((sum, { viewers }) => (viewers === null ? sum : (sum ?? 0) + viewers), null);

/**
 * Converts an answer to GET /stats. Destinations are keyed by resource name, which is their public id; `find` returns what is known of one.
 * `leftOut` lists items missing from the pod's program.
 */
export function toLiveStats(
  answer: unknown,
  find: (id: string) => KnownDestination,
  leftOut: readonly Broken[] = [],
): LiveStats {
  const read = readStats(answer);
  if (!read.ok) return NOT_LIVE;
  const stats = read.message;
  const profile = parseProfile(stats.profile ?? '');
  const { seam, currentItem, currentAudioItem, nextAudioItem } = stats;
  const reported = stats.brokenItems.map(({ track, code, message, ...one }) => ({
    ...toItem(one),
    track,
    code,
    message,
  }));
  return {
    live: stats.live === true,
    quality: profile ? toPublicQuality(profile.quality) : null,
    framerate: profile ? toPublicFramerate(profile.framerate) : null,
    startedAt: stats.startedAt,
    uptimeSeconds: stats.uptimeSeconds ?? null,
    bitrateKbps: stats.bitrateKbps ?? null,
    fps: stats.fps ?? null,
    keyframeIntervalSeconds: stats.keyframeIntervalSeconds ?? null,
    framesSent: stats.framesSent ?? null,
    loopCount: stats.loopCount ?? null,
    seam: seam ? { count: seam.count, maxStepMs: seam.maxStepMs } : null,
    avSkewMs: stats.avSkewMs ?? null,
    reconnects: stats.reconnects ?? null,
    viewers: sumViewers(stats.destinations.map(({ name }) => find(name))),
    current: currentItem && toItem(currentItem),
    positionSeconds: currentItem?.positionSeconds ?? null,
    durationSeconds: currentItem?.durationSeconds ?? null,
    next: stats.nextItem && toItem(stats.nextItem),
    currentAudio: currentAudioItem && toItem(currentAudioItem),
    nextAudio: nextAudioItem ? toItem(nextAudioItem) : null,
    playable: stats.playable,
    brokenItems: [...reported, ...leftOut.filter((one) => !reported.some((other) => isSame(one, other)))],
    destinations: stats.destinations.map(({ name: id, connected, lastError, ...sent }) => ({
      id,
      ...find(id),
      connected,
      bytesSent: sent.bytesSent ?? null,
      bitrateKbps: sent.bitrateKbps ?? null,
      leastBitrateKbps: sent.leastBitrateKbps ?? null,
      pace: sent.pace ?? null,
      reconnects: sent.reconnects ?? null,
      lastError: lastError && { code: lastError.code, message: lastError.message || lastError.code },
    })),
  };
}
