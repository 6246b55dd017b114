/**
 * Keeps what answers of YouTube have said of one destination, as evidence for the judge and as input for the plan. Pure: no I/O, no clock.
 */
import type { PlatformReason } from '../../lib/codes/platforms.ts';
import type { PlatformTarget } from '../common/observer.ts';
import type { StallReason } from '../common/repair-state.ts';
import {
  joinBroadcasts,
  parseVideoId,
  type Video,
  type YoutubeBroadcast,
  type YoutubeFailure,
  type YoutubeIngest,
} from './answers.ts';
import type { YoutubeAccount } from './client.ts';
import { type Evidence, type TimedAnswer, VIDEO_FRESH_MS } from './judge.ts';
import type { PollTarget } from './plan.ts';

/** While rounds of a repair read the lists this often, nobody else has to. */
const ROUNDS_READ_FOR_MS = 300_000;

export interface RepairProgress {
  /** Undefined until the stored state has been loaded. */
  phase?: 'idle' | 'inserting' | 'inserted' | 'stalled';
  stalled?: StallReason | undefined;
  resume?: string | undefined;
  nextMs: number;
  /** Time of the last change, of the state or of the platform. */
  changedMs: number;
  /** The broadcast that was last stored as seen live. */
  notedId?: string | undefined;
}

export interface WatchedDestination {
  target: PlatformTarget;
  /** The broadcast that viewers should see. */
  videoId?: string | undefined;
  account?: YoutubeAccount | undefined;
  /** Digest of the stream key. */
  keyId?: string | undefined;
  streamId?: string | undefined;
  /** Whether the account had a stream with this key. */
  hadStream?: boolean;
  /** Why no token can be asked with. */
  doubt?: PlatformReason | undefined;
  secretsReadMs?: number;
  streamAskedMs?: number | undefined;
  publicVideo?: TimedAnswer<Video> | undefined;
  ownVideo?: TimedAnswer<Video> | undefined;
  ingest?: TimedAnswer<YoutubeIngest> | undefined;
  broadcasts?: NonNullable<Evidence['broadcasts']> | undefined;
  failure?: { atMs: number; failure: YoutubeFailure };
  lastSeenMs?: number | undefined;
  videoAskedMs?: number | undefined;
  ingestAskedMs?: number | undefined;
  ownAskedMs?: number | undefined;
  /** Since when nothing arrives, as the API says. */
  noDataSinceMs?: number | undefined;
  /** When the last broadcast was first seen to be over. */
  endedSinceMs?: number | undefined;
  endedIds: Set<string>;
  repair: RepairProgress;
}

export function startWatching(target: PlatformTarget, nowMs: number): WatchedDestination {
  const { platform, lastSeenMs } = target;
  return {
    target,
    videoId: platform.videoId === undefined ? undefined : parseVideoId(platform.videoId),
    lastSeenMs,
    endedIds: new Set(),
    repair: { nextMs: nowMs, changedMs: nowMs },
  };
}

/** Another broadcast is watched from now on: what is known of the last one says nothing of it. */
export function setVideo(watched: WatchedDestination, videoId: string | undefined): void {
  if (watched.videoId === videoId) return;
  watched.videoId = videoId;
  watched.publicVideo = undefined;
  watched.ownVideo = undefined;
  watched.videoAskedMs = undefined;
}

function noteEnd(watched: WatchedDestination, id: string, atMs: number): void {
  if (watched.endedIds.has(id)) return;
  watched.endedIds.add(id);
  watched.endedSinceMs = atMs;
}

/** `isOwn`: asked with the token of the channel. `value` is undefined if the answer did not show the video. */
export function noteVideo(watched: WatchedDestination, value: Video | undefined, atMs: number, isOwn: boolean): void {
  const answer = { atMs, ...(value && { value }) };
  if (isOwn) watched.ownVideo = answer;
  else watched.publicVideo = answer;
  if (value?.endedMs !== undefined) noteEnd(watched, value.id, atMs);
}

/** Of an answer about `ids`. Another broadcast may be watched since it was asked for. */
export function noteVideos(
  watched: WatchedDestination,
  ids: readonly string[],
  videos: readonly Video[],
  atMs: number,
  isOwn: boolean,
): void {
  const { videoId } = watched;
  if (videoId === undefined || !ids.includes(videoId)) return;
  const value = videos.find(({ id }) => id === videoId);
  noteVideo(watched, value, atMs, isOwn);
}

export function noteIngest(watched: WatchedDestination, value: YoutubeIngest | undefined, atMs: number): void {
  watched.ingest = { atMs, ...(value && { value }) };
  const isSilent = value?.health === 'noData' || (value?.status !== undefined && value.status !== 'active');
  watched.noDataSinceMs = isSilent ? (watched.noDataSinceMs ?? atMs) : undefined;
}

/** Of broadcasts on our key. A broadcast that is over stays so, although a list that lags may still show it as live. */
export function noteBroadcasts(watched: WatchedDestination, seen: readonly YoutubeBroadcast[], atMs: number): void {
  const { streamId, endedIds } = watched;
  const own = seen.filter((one) => one.streamId === streamId);
  for (const { id, lifeCycle } of own)
    if (lifeCycle === 'complete' || lifeCycle === 'revoked') noteEnd(watched, id, atMs);
  const markOver = (one: YoutubeBroadcast): YoutubeBroadcast =>
    endedIds.has(one.id) && one.lifeCycle !== 'revoked' ? { ...one, lifeCycle: 'complete' } : one;
  const over = (watched.broadcasts?.value ?? []).filter(({ id }) => endedIds.has(id));
  const value = joinBroadcasts(over.map(markOver), own.map(markOver));
  const live = value.filter(({ lifeCycle }) => lifeCycle === 'live');
  const absentSinceMs = live.length > 0 ? undefined : (watched.broadcasts?.absentSinceMs ?? atMs);
  watched.broadcasts = { atMs, value, ...(absentSinceMs !== undefined && { absentSinceMs }) };
  const next = live.find(({ id }) => id === watched.videoId) ?? live[0];
  if (next) setVideo(watched, next.id);
}

const isFresh = (answer: { atMs: number } | undefined, nowMs: number): boolean =>
  answer !== undefined && nowMs - answer.atMs <= VIDEO_FRESH_MS;

/** The newer answer. A private video is one that its owner sees and others do not. */
function pickVideo({ publicVideo, ownVideo }: WatchedDestination): TimedAnswer<Video> | undefined {
  if (!ownVideo?.value) return publicVideo;
  return publicVideo?.value && publicVideo.atMs > ownVideo.atMs ? publicVideo : ownVideo;
}

const isRunning = (video: TimedAnswer<Video> | undefined): boolean =>
  video?.value?.startedMs !== undefined && video.value.endedMs === undefined;

/** Whether a broadcast was live in the last answers, with media or without. */
export function isBroadcastLive(watched: WatchedDestination, nowMs: number): boolean {
  const video = pickVideo(watched);
  if (isFresh(video, nowMs) && video?.value) return isRunning(video);
  const { broadcasts } = watched;
  return isFresh(broadcasts, nowMs) && broadcasts?.value?.some(({ lifeCycle }) => lifeCycle === 'live') === true;
}

export function toEvidence(watched: WatchedDestination): Evidence {
  const { ingest, broadcasts, failure, lastSeenMs } = watched;
  const video = pickVideo(watched);
  return {
    ...(video && { video }),
    ...(ingest && { ingest }),
    ...(broadcasts && { broadcasts }),
    ...(failure && { failure }),
    ...(lastSeenMs !== undefined && { lastSeenMs }),
  };
}

function pickOwnKind(
  watched: WatchedDestination,
  isRepairer: boolean,
  nowMs: number,
): 'broadcasts' | 'ownVideos' | undefined {
  if (watched.streamId === undefined) return undefined;
  const { publicVideo, videoId, repair, broadcasts } = watched;
  if (isBroadcastLive(watched, nowMs))
    return videoId !== undefined && publicVideo && !publicVideo.value ? 'ownVideos' : undefined;
  // The first look does not wait for a round: the video that a person has named may have been followed by others.
  const hasLooked = broadcasts !== undefined;
  const isRepairing = isRepairer && repair.phase !== 'stalled' && nowMs - repair.changedMs < ROUNDS_READ_FOR_MS;
  const roundsRead = hasLooked && isRepairing;
  return roundsRead ? undefined : 'broadcasts';
}

/** Undefined while nothing is sent: then nothing is asked. */
export function toPlanTarget(watched: WatchedDestination, isRepairer: boolean, nowMs: number): PollTarget | undefined {
  const { target, account, streamId, videoId, videoAskedMs, ingestAskedMs, ownAskedMs } = watched;
  if (!target.publishing) return undefined;
  const disturbances = [target.publishing.sinceMs, target.editedMs, watched.noDataSinceMs, watched.endedSinceMs];
  const ownKind = account && pickOwnKind(watched, isRepairer, nowMs);
  return {
    name: target.key,
    ...(videoId !== undefined && { videoId }),
    ...(account && streamId !== undefined && { ingest: { channelId: account.id, streamId } }),
    ...(account && ownKind && { own: { channelId: account.id, kind: ownKind } }),
    ...(videoAskedMs !== undefined && { videoAskedMs }),
    ...(ingestAskedMs !== undefined && { ingestAskedMs }),
    ...(ownAskedMs !== undefined && { ownAskedMs }),
    disturbedMs: Math.max(...disturbances.map((ms) => ms ?? 0)),
  };
}
