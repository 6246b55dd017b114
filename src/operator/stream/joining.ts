/**
 * Decides when items that have become ready join what a pod plays. A list of 500 would otherwise rewrite the program of its pod 500
 * times, each of which is a new version that the pod reads anew. Edits, and all else that changes a program, never wait.
 * Pure: no I/O, no clock.
 */

import type { Pod } from '../../kube/core.ts';
import { PROGRAM_CHANGED_ANNOTATION } from '../../resources/common/names.ts';
import { isLeftOut, type Program, type Track } from '../../resources/stream/program.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import { assessTracks, isOnTheWay } from '../media/items.ts';
import { same } from '../runtime/same.ts';
import type { World } from './observe.ts';

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
  return same({ ...next, version: current.version, video, audio }, current);
}

const playsAll = ({ video, audio }: Program): boolean =>
  [video, audio].every((track) => track === undefined || track.items.some((item) => !isLeftOut(item)));

interface Given {
  stream: LoopStream;
  world: World;
  pod: Pod;
  current: Program;
  next: Program;
}

/**
 * Until when a pod keeps `current`; undefined when it is handed `next` now: because of more than items that join, because no
 * other item is on its way, because nothing plays meanwhile, or because the last rewrite is long ago.
 */
export function joinAt({ stream, world, pod, current, next }: Given): Date | undefined {
  if (!onlyJoins(next, current)) return undefined;
  const isStuck = world.news?.problems.some(({ reason }) => reason === 'NothingPlayable');
  if (isStuck || !playsAll(current)) return undefined;
  const entries = assessTracks(stream, world).flatMap((track) => track.entries);
  if (!entries.some(({ problem }) => problem !== undefined && isOnTheWay(problem.reason))) return undefined;
  const changed = Date.parse(pod.metadata.annotations?.[PROGRAM_CHANGED_ANNOTATION] ?? '');
  const [now, until] = [world.now.getTime(), changed + JOIN_INTERVAL_MS];
  // A time ahead of now is of a clock that has been put right since.
  return changed <= now && now < until ? new Date(until) : undefined;
}
