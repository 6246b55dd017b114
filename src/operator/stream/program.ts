/**
 * Builds the Program that a stream's pod plays, and decides when a program on air changes: for an edit at once, for items that
 * have become ready in turns (a list of 500 would rewrite the program 500 times), for a skip when the pod has done it.
 * Pure: no I/O, no clock.
 */

import { createHash } from 'node:crypto';
import type { Pod } from '../../kube/core.ts';
import { isSameJson } from '../../lib/json-equal.ts';
import type { Program } from '../../protocol/program.ts';
import { PROGRAM_CHANGED_ANNOTATION, SKIP_ANNOTATIONS } from '../../resources/common/names.ts';
import { isLeftOut } from '../../resources/stream/item-place.ts';
import type { Playing, Track } from '../../resources/stream/playing.ts';
import type { Profile } from '../../resources/stream/profile.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import { findSeed } from '../../resources/stream/seed.ts';
import { findRendition } from '../../resources/upload/spec.ts';
import { type Assessed, findProfile, isOnTheWay } from '../media/items.ts';
import type { AssessedObjects, AssessedObservation, StreamObjects } from './observation.ts';
import type { PodReport, StreamClock, TrackClock } from './pod-report.ts';

/**
 * The track that the pod is given. An item that cannot be played keeps its place without a rendition, so that the order of a
 * shuffled list stays when it joins, and an index means the same in the pod and in the playlist.
 */
function buildTrack({ mode, entries }: Assessed, objects: StreamObjects, profile: Profile): Track {
  const lists: NonNullable<Track['lists']> = [];
  const items = entries.flatMap(({ upload: id, name = '', playlist, problem }) => {
    if (id === undefined) return [];
    const upload = problem ? undefined : objects.uploads.get(id);
    const last = lists.at(-1);
    if (playlist !== undefined && last?.id === playlist) last.items += 1;
    else if (playlist !== undefined) lists.push({ id: playlist, items: 1 });
    return [{ id, name, rendition: (upload && findRendition(upload, profile)?.key) ?? '' }];
  });
  return { mode, items, ...(lists.length > 0 && { lists }) };
}

/** Where a stream stands: what outlives a pod. */
export type Playhead = Pick<Program, 'epoch' | 'audioEpoch' | 'skipped'>;

export const pickPlayhead = ({ epoch, audioEpoch, skipped }: Playhead): Playhead => ({
  epoch,
  ...(audioEpoch !== undefined && { audioEpoch }),
  ...(skipped && { skipped }),
});

/** Another one when where the stream is sent has changed: a destination, its Secret, or what is in that. */
const hashDestinations = ({ spec }: Pick<LoopStream, 'spec'>, { destinations }: StreamObjects): string => {
  const parts = spec.destinationNames.map((name) => {
    const { metadata, status } = destinations.get(name) ?? {};
    return [name, metadata?.uid, destinations.get(name)?.spec.secretName, status?.secretVersion];
  });
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
};

/** The program without where it is sent. */
const played = ({ destinations: _, destinationsRevision: __, ...rest }: Program) => rest;

/**
 * Builds the program of a stream's pod; only for a stream without `mediaProblem`. A program that says the same as `previous`
 * is `previous`, so that an edit which changes nothing on air (a display name) changes no pod; when it plays something else,
 * its version rises.
 */
export function buildProgram(
  stream: LoopStream,
  objects: AssessedObjects,
  playhead: string | Playhead,
  previous?: Program,
): Program {
  const profile = findProfile(stream);
  const [video, audio] = objects.tracks.map((track) => buildTrack(track, objects, profile));
  const program: Program = {
    version: previous ? previous.version + 1 : (stream.metadata.generation ?? 1),
    ...(typeof playhead === 'string' ? { epoch: playhead } : pickPlayhead(playhead)),
    seed: findSeed(stream),
    profile,
    video: video ?? { mode: 'sequential', items: [] },
    ...(audio && { audio }),
    destinations: [...stream.spec.destinationNames],
    destinationsRevision: hashDestinations(stream, objects),
  };
  if (!previous) return program;
  const unchanged = { ...program, version: previous.version };
  if (isSameJson(unchanged, previous)) return previous;
  return isSameJson(played(unchanged), played(previous)) ? unchanged : program;
}

/** The program of a stream that goes on with what it played, wherever it is sent now. */
export const rebuildProgram = (
  stream: LoopStream,
  objects: StreamObjects,
  playhead: Playhead,
  playing: Playing,
): Program => ({
  ...playing,
  ...pickPlayhead(playhead),
  seed: findSeed(stream),
  destinations: [...stream.spec.destinationNames],
  destinationsRevision: hashDestinations(stream, objects),
});

export interface Skip {
  track: 'video' | 'audio';
  /** The value of the annotation. */
  id: string;
  /** Too old, or of a track that the stream does not have. */
  void: boolean;
}

/** A person who asks for the next item does not want it minutes later. */
const VALID_MS = 120_000;
const TRACKS = ['video', 'audio'] as const;

const asked = ({ metadata }: LoopStream, track: Skip['track']): string | undefined =>
  metadata.annotations?.[SKIP_ANNOTATIONS[track]] || undefined;

const isOld = (id: string, now: Date): boolean => now.getTime() - Date.parse(id.split(' ', 1)[0] ?? '') > VALID_MS;

export function findPendingSkip(stream: LoopStream, { skipped, audio }: Program, now: Date): Skip | undefined {
  for (const track of TRACKS) {
    const id = asked(stream, track);
    if (id === undefined || id === skipped?.[track]) continue;
    return { track, id, void: isOld(id, now) || (track === 'audio' && !audio) };
  }
  return undefined;
}

/** Everything that was asked for until now, as done: a stream that goes on air anew begins at the beginning. */
export function readSkipped(stream: LoopStream): Pick<Program, 'skipped'> {
  const video = asked(stream, 'video');
  const audio = asked(stream, 'audio');
  if (video === undefined && audio === undefined) return {};
  return { skipped: { ...(video !== undefined && { video }), ...(audio !== undefined && { audio }) } };
}

export const withSkipped = (program: Program, { track, id }: Skip): Program => ({
  ...program,
  skipped: { ...program.skipped, [track]: id },
});

/** Between two rewrites of a program that only let items join, while more of them are on their way. */
export const JOIN_INTERVAL_MS = 30_000;

/** The track as it was before items joined it: what `before` leaves out is left out. */
function withoutJoined(track: Track | undefined, before: Track | undefined): Track | undefined {
  return track && { ...track, items: track.items.map((item, i) => joins(item, before?.items[i]) ?? item) };
}

const joins = (item: Track['items'][number], before: Track['items'][number] | undefined) =>
  before && isLeftOut(before) && item.id === before.id ? { ...item, rendition: '' } : undefined;

/** Whether `next` differs from `current` only in items that play now and were left out. */
function onlyJoins(next: Program, current: Program): boolean {
  const video = withoutJoined(next.video, current.video) ?? next.video;
  const audio = withoutJoined(next.audio, current.audio);
  return isSameJson({ ...next, version: current.version, video, audio }, current);
}

const playsAll = ({ video, audio }: Program): boolean =>
  [video, audio].every((track) => track === undefined || track.items.some((item) => !isLeftOut(item)));

interface Given {
  observed: AssessedObservation;
  pod: Pod;
  current: Program;
  next: Program;
}

/**
 * Until when a pod keeps `current`; undefined when it is handed `next` now: because of more than items that join, because no
 * other item is on its way, because nothing plays meanwhile, or because the last rewrite is long ago.
 */
export function computeJoinTime({ observed, pod, current, next }: Given): Date | undefined {
  if (!onlyJoins(next, current)) return undefined;
  const isStuck = observed.report?.problems.some(({ reason }) => reason === 'NothingPlayable');
  if (isStuck || !playsAll(current)) return undefined;
  const entries = observed.tracks.flatMap((track) => track.entries);
  if (!entries.some(({ problem }) => problem !== undefined && isOnTheWay(problem.reason))) return undefined;
  const changed = Date.parse(pod.metadata.annotations?.[PROGRAM_CHANGED_ANNOTATION] ?? '');
  const [now, until] = [observed.now.getTime(), changed + JOIN_INTERVAL_MS];
  // A time ahead of now is of a clock that has been put right since.
  return changed <= now && now < until ? new Date(until) : undefined;
}

/** `reported` when it is another moment than `known`: the two may be written differently. */
const updateEpoch = (known: string, reported: string | undefined): string =>
  reported !== undefined && Date.parse(reported) !== Date.parse(known) ? reported : known;

/**
 * The program with the epochs that its pod now has, where they are of this version of it; the same object when they are
 * what it says. The pod knows what it has been given from then on; the one after it does not.
 */
export function withClock(program: Program, { video, audio }: StreamClock): Program {
  const read = (clock: TrackClock | undefined) => (clock?.version === program.version ? clock.epoch : undefined);
  const { audioEpoch: audioBefore = program.epoch, ...rest } = program;
  const epoch = updateEpoch(program.epoch, read(video));
  const audioEpoch = updateEpoch(audioBefore, read(audio));
  if (epoch === program.epoch && audioEpoch === audioBefore) return program;
  return { ...rest, epoch, ...(program.audio && audioEpoch !== epoch && { audioEpoch }) };
}

/** True while a pod has not yet taken up the version that it was given. */
export const isBehind = (program: Program, { clock }: PodReport): boolean =>
  (clock.video !== undefined && clock.video.version !== program.version) ||
  (clock.audio !== undefined && clock.audio.version !== program.version);
