/**
 * Declares where a stream on air stands: what its timeline is computed from (programme/timeline.ts). Each move is written once, and an item
 * that follows another one as expected is none. Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';
import { isSameJson } from '../../lib/json-equal.ts';

const trackAnchor = (description: string) =>
  Type.Object(
    {
      version: Type.Integer({ description: 'Version of the program that plays.' }),
      epoch: Type.String({ format: 'date-time', description: 'Time at which the list would have begun.' }),
      round: Type.Integer({ minimum: 0, description: 'Round of the list, from 0.' }),
      turn: Type.Integer({ minimum: 0, description: 'Turn in that round, from 0.' }),
      startedAt: Type.String({ format: 'date-time', description: 'Start of that turn.' }),
      since: Type.String({
        format: 'date-time',
        description: 'Time since which the list has played without a skip, an edit or another move.',
      }),
    },
    { description },
  );

export const Anchors = Type.Object(
  {
    video: Type.Optional(trackAnchor('The video list.')),
    audio: Type.Optional(trackAnchor('The audio list, if the stream has one.')),
  },
  { description: 'Where the stream on air stands: which turn of a list began when. A move writes it anew.' },
);
export type Anchors = Static<typeof Anchors>;
export type TrackAnchor = NonNullable<Anchors['video']>;

/** The part of an anchor that its pod reports. */
interface Reported extends Pick<TrackAnchor, 'version' | 'epoch'> {
  anchor?: Pick<TrackAnchor, 'round' | 'turn' | 'startedAt'>;
}

function follow(before: TrackAnchor | undefined, reported: Reported | undefined): TrackAnchor | undefined {
  if (!reported?.anchor) return before;
  const { version, epoch } = reported;
  const { round, turn, startedAt } = reported.anchor;
  const isSame = before?.version === version && Date.parse(before.epoch) === Date.parse(epoch);
  return { version, epoch, round, turn, startedAt, since: isSame ? before.since : startedAt };
}

/**
 * Returns the anchors of a stream on air after a report of its pod, if there is one. A pod that takes over at the same epoch goes on with what
 * played, so what came before it stays known.
 */
export function followAnchors(
  before: Anchors | undefined,
  reported: { video?: Reported; audio?: Reported } | undefined,
): Anchors | undefined {
  const video = follow(before?.video, reported?.video);
  const audio = follow(before?.audio, reported?.audio);
  const anchors: Anchors = { ...(video && { video }), ...(audio && { audio }) };
  return isSameJson(anchors, before ?? {}) ? before : anchors;
}
