/**
 * Judges whether a playlist can be played, as streams play it: the published version, without the items that cannot be played.
 * Pure: no I/O, no clock.
 */

import { READINESS_ISSUES } from '../../lib/codes/streams.ts';
import { findCondition } from '../../resources/common/conditions.ts';
import { buildHealth, findNextStall, type Health, judgeProblem, readSince } from '../../resources/common/health.ts';
import type { Playlist } from '../../resources/playlist/resource.ts';
import { listPlayedParts, type PlaylistStatus, readPlayedPart } from '../../resources/playlist/spec.ts';
import { readVersion } from '../../resources/playlist/version.ts';
import { findRecurrenceProblem } from '../../resources/stream/recurrence.ts';
import type { Upload } from '../../resources/upload/resource.ts';
import { findItemProblem, type ItemProblem } from '../media/item-problem.ts';
import { buildConditions, type Verdict } from '../runtime/controller.ts';

/** Items that one sentence names; more are counted. */
const MAX_NAMED = 3;

/** Problems that pass by themselves come first: the playlist can play once the first has passed. */
const ORDER: Record<ItemProblem['outlook'], number> = { passes: 0, appears: 1, stays: 2 };

/** The items of a list that cannot be played, and why; several places of one upload count each. */
export interface AssessedItems {
  total: number;
  problems: ItemProblem[];
}

/** The items of a playlist, and with those that its rules play. */
export interface AssessedPlaylist {
  own: AssessedItems;
  all: AssessedItems;
}

function describeLeftOut({ total, problems }: AssessedItems): string {
  const messages = [...new Set(problems.map(({ message }) => message))];
  const more = messages.length - MAX_NAMED;
  return [
    `${problems.length} of ${total} items cannot be played.`,
    ...messages.slice(0, MAX_NAMED),
    ...(more > 0 ? [`${more} more uploads cannot be played.`] : []),
  ].join(' ');
}

/** An upload is judged once, however often the playlist has it. */
export function assessItems(
  playlist: Playlist,
  findUpload: (name: string) => Upload | undefined,
  findPlaylist: (name: string) => Playlist | undefined,
): AssessedPlaylist {
  const known = new Map<string, ItemProblem | undefined>();
  const assess = (names: readonly string[]): AssessedItems => {
    const problems = names.flatMap((name) => {
      if (!known.has(name)) known.set(name, findItemProblem(name, findUpload(name), playlist.spec.track));
      return known.get(name) ?? [];
    });
    return { total: names.length, problems };
  };
  const { items } = readPlayedPart(playlist);
  const played = listPlayedParts(playlist, findPlaylist).flatMap(({ uploadNames }) => uploadNames);
  return { own: assess(items.map(({ uploadName }) => uploadName)), all: assess(played) };
}

const ALL_PLAYABLE = 'Every item can be played.';
const EMPTY: ItemProblem = {
  reason: 'PlaylistEmpty',
  outlook: 'stays',
  message: `${READINESS_ISSUES.PlaylistEmpty.meaning} ${READINESS_ISSUES.PlaylistEmpty.fix}`,
};

/** The problem that passes first; undefined if any item can be played. */
function findProblem({ status }: Playlist, { total, problems }: AssessedItems, now: Date) {
  if (total > 0 && problems.length < total) return undefined;
  const [first = EMPTY] = problems.toSorted((a, b) => ORDER[a.outlook] - ORDER[b.outlook]);
  return { ...first, since: readSince(findCondition(status?.conditions, 'Ready'), now) };
}

/** Names the rules whose time never comes: the API refuses them, and kubectl does not. */
function describeNeverDue(playlist: Playlist, now: Date): string | undefined {
  const sentences = (readPlayedPart(playlist).rules ?? []).flatMap(({ name, when }) => {
    const times = when.at ?? when.window;
    const problem = times && findRecurrenceProblem({ durationSeconds: 60, ...times }, now);
    const value = problem && times[problem.field];
    return problem
      ? [`The rule "${name}" never plays: "${value}" ${problem.message}. Change its ${problem.field}.`]
      : [];
  });
  return sentences.length === 0 ? undefined : sentences.slice(0, MAX_NAMED).join(' ');
}

/** Rules play between the items of the list: without one of these, nothing plays. */
function judgePlaylist(playlist: Playlist, { own, all }: AssessedPlaylist, now: Date): Health {
  const problem = findProblem(playlist, own, now);
  if (!problem) {
    const never = all.problems.length === 0 ? describeNeverDue(playlist, now) : undefined;
    if (never !== undefined) return { state: 'ready', reason: 'RuleNeverDue', message: never };
    if (all.problems.length === 0) return { state: 'ready', reason: 'Playable', message: ALL_PLAYABLE };
    return { state: 'ready', reason: 'ItemsLeftOut', message: `${describeLeftOut(all)} Streams leave them out.` };
  }
  const health = judgeProblem(problem, now);
  return own.problems.length > 1 ? { ...health, message: describeLeftOut(own) } : health;
}

function judgePrepared({ own, all }: AssessedPlaylist, { reason, message }: Health): Verdict {
  const isPrepared = own.total > 0 && all.problems.length === 0;
  return isPrepared
    ? { type: 'Prepared', status: 'True', reason: 'Prepared', message: ALL_PLAYABLE }
    : { type: 'Prepared', status: 'False', reason, message };
}

/** The status of a playlist, and when it changes although no upload does. */
export function buildPlaylistStatus(
  playlist: Playlist,
  items: AssessedPlaylist,
  now: Date,
): { status: PlaylistStatus; requeueAt?: Date | undefined } {
  const { generation } = playlist.metadata;
  const health = judgePlaylist(playlist, items, now);
  const verdicts = [...buildHealth(health), judgePrepared(items, health)];
  const problem = findProblem(playlist, items.own, now);
  return {
    status: {
      observedUID: playlist.metadata.uid,
      ...(generation !== undefined && { observedGeneration: generation }),
      version: readVersion(playlist),
      conditions: buildConditions(verdicts, playlist.status?.conditions, generation, now),
    },
    requeueAt: problem && findNextStall([problem], now),
  };
}
