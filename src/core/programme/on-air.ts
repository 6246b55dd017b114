/**
 * Reads what a stream on air plays from its resources: the program that its pod has, where its status says that it stands, and the lengths
 * of its uploads' renditions. Pure: no I/O, no clock.
 */
import type { TrackAnchor } from '../resources/stream/anchors.ts';
import type { Playing, ProgramItem, Track } from '../resources/stream/playing.ts';
import type { LoopStream } from '../resources/stream/resource.ts';
import { computeScheduleState } from '../resources/stream/schedule.ts';
import type { Standings } from '../resources/stream/standing.ts';
import type { Upload } from '../resources/upload/resource.ts';
import { findMoment } from './moments.ts';
import { countTicksBefore } from './playhead.ts';
import { compileRule, GRID_TICKS, readStanding } from './program-rules.ts';
import { hasRules } from './rules.ts';
import { AUDIO_FRAME_TICKS, TICKS_PER_SECOND } from './ticks.ts';
import { anchorAt, findExactUntil, type Programme, type ProgrammeAnchor } from './timeline.ts';
import type { ProgrammeTrack } from './tracks.ts';

/** The program of a pod, as far as it says what plays when. */
export interface GivenProgram extends Pick<Playing, 'version' | 'video' | 'audio'> {
  epoch: string;
  audioEpoch?: string | undefined;
  standings?: Standings | undefined;
  seed: number;
}

/** A list on air. */
export interface OnAirList {
  track: Track;
  programme: Programme;
  anchor: ProgrammeAnchor;
  /** Nothing is known of what played before. */
  sinceMs: number;
  /** Later times are estimates; undefined where all are exact. */
  exactUntilMs: number | undefined;
  /** The stream leaves the air then; undefined without an end. */
  untilMs: number | undefined;
}

interface OnAirContext {
  findUpload: (name: string) => Pick<Upload, 'status'> | undefined;
  now: Date;
}

/** In place of a length of which nothing at all is known. */
const UNKNOWN_TICKS = 60 * TICKS_PER_SECOND;

/** Rounds to whole AAC frames, as prepare does. Pictures are as long as their frames, to a tick. */
const toTicks = (kind: ProgrammeTrack, seconds: number): number =>
  kind === 'video'
    ? Math.round(seconds * TICKS_PER_SECOND)
    : Math.max(1, Math.round((seconds * TICKS_PER_SECOND) / AUDIO_FRAME_TICKS)) * AUDIO_FRAME_TICKS;

/** The length of an item. It is exact once the rendition is complete. */
export interface ItemLength {
  seconds: number;
  isExact: boolean;
}

/** Undefined while nothing is known of the length. */
function readLength(item: ProgramItem, upload: Pick<Upload, 'status'> | undefined): ItemLength | undefined {
  const rendition = upload?.status?.renditions?.find(({ key }) => key === item.rendition);
  const seconds = rendition?.durationSeconds ?? upload?.status?.media?.durationSeconds;
  return seconds === undefined ? undefined : { seconds, isExact: rendition?.state === 'ready' };
}

/** Names of the uploads that the pod could not play at their last turn: they take no time. */
function listBroken({ status }: Pick<LoopStream, 'status'>, kind: ProgrammeTrack): Set<string | undefined> {
  const items = status?.unplayable?.items ?? [];
  return new Set(
    items.filter(({ field }) => (field === 'audioPlaylistNames') === (kind === 'audio')).map((one) => one.upload),
  );
}

interface ProgrammeContext {
  kind: ProgrammeTrack;
  seed: number;
  /** Whether an item cannot be played. Items of rules have their places behind those of the list. */
  isBroken: (item: ProgramItem, place: number) => boolean;
  findLength: (item: ProgramItem) => ItemLength | undefined;
}

/** Makes a list of a program ready to be folded, with the lengths of its items. */
export function buildProgramme(
  { mode, items, rules = [], apart }: Track,
  { kind, seed, isBroken, findLength }: ProgrammeContext,
): Programme {
  let first = 0;
  const measure = (list: readonly ProgramItem[]) => {
    const from = first;
    first += list.length;
    const estimated = new Set<number>();
    const lengths = list.map((item, index) => {
      if (item.rendition === '' || isBroken(item, from + index)) return 0;
      const length = findLength(item);
      if (!length?.isExact) estimated.add(index);
      return length && toTicks(kind, length.seconds);
    });
    const known = lengths.filter((ticks) => ticks !== undefined && ticks > 0) as number[];
    const sum = known.reduce((total, one) => total + one, 0);
    const mean = known.length === 0 ? UNKNOWN_TICKS : Math.round(sum / known.length);
    return { durations: lengths.map((ticks) => ticks ?? mean), estimated };
  };
  const own = { mode, seed, apart, ...measure(items), gridTicks: GRID_TICKS[kind] };
  return { ...own, rules: rules.map((rule) => compileRule(rule, measure(rule.items), seed, findMoment)) };
}

/** The anchor of a list with rules. Nobody can count back by rules, so it begins where it stood. */
export function anchorByRules(
  programme: Programme,
  written: Standings[ProgrammeTrack] | undefined,
  atMs: number,
): ProgrammeAnchor {
  const standing = readStanding(programme, written, atMs);
  return { round: standing.round, turn: standing.turn, atMs, standing };
}

/** The anchor of a list without rules; undefined where it has no such turn. */
export function anchorByPlace(
  programme: Programme,
  { round, turn }: Pick<TrackAnchor, 'round' | 'turn'>,
  atMs: number,
): ProgrammeAnchor | undefined {
  const anchor = { round, turn, atMs };
  const isPossible = turn < programme.durations.length && Number.isSafeInteger(countTicksBefore(programme, anchor));
  return isPossible ? anchor : undefined;
}

interface Stood {
  anchor: ProgrammeAnchor;
  sinceMs: number;
  /** The place is that of this version of the program, by the pod's own word. */
  isKnown: boolean;
}

/**
 * Where a list stands. Its pod says so once the first item of a version plays. Until then, and of a pod of an earlier release, the epoch
 * gives an estimate, and nothing is known of what played.
 */
function findPlace(
  programme: Programme,
  told: TrackAnchor | undefined,
  given: { version: number; epoch: string; standing: Standings[ProgrammeTrack] | undefined },
  now: Date,
): Stood {
  const epochMs = Date.parse(given.epoch);
  if (hasRules(programme)) {
    const anchor = anchorByRules(programme, given.standing, epochMs);
    const isKnown =
      told?.version === given.version && Date.parse(told.epoch) === epochMs && given.standing !== undefined;
    return { anchor, sinceMs: isKnown ? epochMs : now.getTime(), isKnown };
  }
  if (told?.version === given.version) {
    const anchor = anchorByPlace(programme, told, Date.parse(told.startedAt));
    if (anchor) return { anchor, sinceMs: Date.parse(told.since), isKnown: true };
  }
  return { anchor: anchorAt(epochMs), sinceMs: now.getTime(), isKnown: false };
}

/** End of the time on air by the schedule. */
function findEnd({ spec, status }: Pick<LoopStream, 'spec' | 'status'>, now: Date): number | undefined {
  const lastStart = status?.lastScheduleTime === undefined ? undefined : new Date(status.lastScheduleTime);
  const schedule = computeScheduleState(spec.schedule, now, lastStart);
  if (schedule.kind === 'on') return schedule.until?.getTime();
  return schedule.kind === 'invalid' ? undefined : now.getTime();
}

/** Reads a list of the program that the pod of a stream has; undefined where the program has no such list. */
export function readOnAir(
  stream: Pick<LoopStream, 'spec' | 'status'>,
  given: GivenProgram,
  kind: ProgrammeTrack,
  { findUpload, now }: OnAirContext,
): OnAirList | undefined {
  const track = given[kind];
  if (!track) return undefined;
  const epoch = (kind === 'audio' ? given.audioEpoch : undefined) ?? given.epoch;
  const broken = listBroken(stream, kind);
  const programme = buildProgramme(track, {
    kind,
    seed: given.seed,
    isBroken: ({ id }) => broken.has(id),
    findLength: (item) => readLength(item, findUpload(item.id)),
  });
  const told = stream.status?.anchors?.[kind];
  const { anchor, sinceMs, isKnown } = findPlace(
    programme,
    told,
    { version: given.version, epoch, standing: given.standings?.[kind] },
    now,
  );
  return {
    track,
    programme,
    anchor,
    sinceMs,
    exactUntilMs: isKnown ? findExactUntil(programme, anchor) : sinceMs,
    untilMs: findEnd(stream, now),
  };
}
