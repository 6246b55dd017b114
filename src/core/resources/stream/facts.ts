/**
 * Declares the facts from which the past of a stream on air is computed: each move of a list, with where the list stood then. An item that
 * follows another one as expected is none. Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';
import { isSameJson } from '../../lib/json-equal.ts';
import type { TrackAnchor } from './anchors.ts';
import { TrackStanding } from './standing.ts';

/**
 * - Start       a pod began to play, or took over from another one.
 * - Skip        somebody asked for the next item.
 * - Quarantine  the item on air was put in quarantine, and ended at once.
 * - RunOut      the item ended before its time, since the rest of it was not prepared yet.
 * - Edit        the list is another one from here on.
 * - Length      an item turned out to have another length, or could not be played.
 * - Rejoin      nothing of the list could be played until then.
 * - Clock       the list went off its time: an item broke off, or a clock was set.
 * - Renewal     nothing moved. Rules are counted from here on.
 */
export const LIST_MOVES = [
  'Start',
  'Skip',
  'Quarantine',
  'RunOut',
  'Edit',
  'Length',
  'Rejoin',
  'Clock',
  'Renewal',
] as const;
export type ListMove = (typeof LIST_MOVES)[number];

export const MAX_FACTS = 100;
/** Where a list with many rules stands is long. All watchers of streams keep this in memory. */
const MAX_FACTS_BYTES = 48 * 1024;
const MAX_BROKEN = 100;

export const Fact = Type.Object({
  number: Type.Integer({
    minimum: 1,
    description: 'Number of the fact. Each fact of a stream is one higher than the last.',
  }),
  track: Type.Enum(['video', 'audio'], { description: 'The list that moved.' }),
  move: Type.Enum(LIST_MOVES, { title: 'ListMove', description: 'What moved it.' }),
  version: Type.Integer({ description: 'Version of the program that plays from then on.' }),
  programme: Type.String({ maxLength: 64, description: 'Hash of the list that plays from then on.' }),
  epoch: Type.String({ format: 'date-time', description: 'Time at which the list would have begun.' }),
  round: Type.Integer({ minimum: 0, description: 'Round of the list, from 0.' }),
  turn: Type.Integer({ minimum: 0, description: 'Turn in that round, from 0.' }),
  startedAt: Type.String({ format: 'date-time', description: 'Start of that turn.' }),
  from: Type.String({
    format: 'date-time',
    description: 'Time from which it holds: the item began then, or a pod joined it.',
  }),
  lagMs: Type.Optional(
    Type.Integer({ description: 'How far the pod is behind the times of the list, in ms. Not set for 0.' }),
  ),
  broken: Type.Optional(
    Type.Array(Type.Integer({ minimum: 0 }), {
      maxItems: MAX_BROKEN,
      description:
        'Places in the list of items that could not be played, those of rules behind its own. They take no time.',
    }),
  ),
  standing: Type.Optional(TrackStanding),
});
export type Fact = Static<typeof Fact>;

/** An anchor with what moved it. Pods of an earlier release do not say that. */
export interface MovedAnchor extends Pick<TrackAnchor, 'round' | 'turn' | 'startedAt'> {
  move?: ListMove;
  /** RFC 3339. */
  from?: string;
  lagMs?: number;
}

/** The part of a fact that its pod reports. */
interface ReportedClock extends Pick<Fact, 'version' | 'epoch'> {
  programme?: string;
  broken?: readonly number[];
  anchor?: MovedAnchor;
  standing?: TrackStanding;
}

/** The part of a pod's report that facts are made of. */
export interface ReportedMoves {
  clock: { video?: ReportedClock; audio?: ReportedClock };
}

type NewFact = Omit<Fact, 'number'>;

function readFact({ clock }: ReportedMoves, track: Fact['track']): NewFact | undefined {
  const { version, epoch, programme, anchor, standing, broken = [] } = clock[track] ?? {};
  if (version === undefined || epoch === undefined || programme === undefined || !anchor?.move) return undefined;
  const { move, round, turn, startedAt, from = startedAt, lagMs = 0 } = anchor;
  return {
    ...{ track, move, version, programme, epoch, round, turn, startedAt, from },
    ...(lagMs !== 0 && { lagMs }),
    ...(broken.length > 0 && { broken: broken.slice(0, MAX_BROKEN) }),
    ...(standing && { standing }),
  };
}

/** Whether nothing has moved. The cause of the last move may be told anew, as by a pod that takes over. */
function isKnown(last: Fact | undefined, { move: _, ...told }: NewFact): boolean {
  if (!last) return false;
  const { number: __, move: ___, ...known } = last;
  return isSameJson(known, told);
}

/** Items that became playable, or broke, since the list moved are no other move. */
function toNext(last: Fact | undefined, told: NewFact): NewFact {
  const { move: _, broken: __, ...place } = told;
  const { number: ___, move: ____, broken: _____, ...known } = last ?? {};
  return isSameJson(place, known) ? { ...told, move: 'Length' } : told;
}

function limitFacts(facts: Fact[]): Fact[] {
  const newest = facts.slice(-MAX_FACTS);
  let bytes = 0;
  const first = newest.findLastIndex((fact) => {
    bytes += JSON.stringify(fact).length;
    return bytes > MAX_FACTS_BYTES;
  });
  return newest.slice(Math.min(first + 1, newest.length - 1));
}

/** Returns the facts of a stream after a report of its pod, if there is one. Pods of an earlier release report none. */
export function recordFacts(
  before: readonly Fact[] | undefined,
  reported: ReportedMoves | undefined,
): readonly Fact[] | undefined {
  const known = before ?? [];
  const told = (['video', 'audio'] as const).flatMap((track): NewFact[] => {
    const fact = reported && readFact(reported, track);
    const last = known.findLast((one) => one.track === track);
    return fact && !isKnown(last, fact) ? [toNext(last, fact)] : [];
  });
  if (told.length === 0) return before;
  const first = (known.at(-1)?.number ?? 0) + 1;
  return limitFacts([...known, ...told.map((fact, i) => ({ number: first + i, ...fact }))]);
}
