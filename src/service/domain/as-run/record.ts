/** Defines what was on air, as clients see it. Pure: no I/O, no clock. */
import { type Static, Type } from 'typebox';
import { PROGRAMME_TRACKS } from '../../../core/programme/tracks.ts';
import { nullable, Time } from '../../lib/schemas.ts';

const Word = nullable(Type.String());
/** As they were when the item was on air. Null where it had none. */
const words = { title: Word, artist: Word, isrc: Word, label: Word, license: Word, licenseUrl: Word };

export const StreamAsRunItem = Type.Object(
  {
    startAt: Type.String({ format: 'date-time', description: 'Start on air.' }),
    endAt: Type.String({ format: 'date-time', description: 'End on air. Now, if it plays.' }),
    seconds: Type.Number({
      description: 'Time on air, in seconds: less than from `startAt` to `endAt` if an outage fell into it.',
    }),
    cut: Type.Boolean({ description: 'True if a part of it was not on air.' }),
    id: Type.String({ description: 'Upload that played. It may be deleted by now.' }),
    name: Type.String({ description: 'Name in the list that played.' }),
    ...words,
    playlistID: nullable(Type.String(), 'Playlist of the item. Null for a single upload.'),
    index: nullable(Type.Integer({ minimum: 0 }), 'Position in that playlist, from 0.'),
    rule: nullable(Type.String(), 'Rule that placed the item. Null for an item of the list itself.'),
    exact: Type.Boolean({
      description:
        'False if the times are an estimate: a length was not known, or a move of the list was not recorded.',
    }),
  },
  { title: 'StreamAsRunItem' },
);
export type StreamAsRunItem = Static<typeof StreamAsRunItem>;

export const GAP_REASONS = ['off_air', 'stopped', 'unknown'] as const;

export const StreamAsRunGap = Type.Object(
  {
    startAt: Type.String({ format: 'date-time', description: 'Begin of the time.' }),
    endAt: Type.String({ format: 'date-time', description: 'End of the time.' }),
    reason: Type.Enum(GAP_REASONS, {
      title: 'AsRunGapReason',
      description:
        '`off_air`: no destination took media. `stopped`: the stream was not meant to be on air. `unknown`: nothing is recorded.',
    }),
  },
  { title: 'StreamAsRunGap' },
);
export type StreamAsRunGap = Static<typeof StreamAsRunGap>;

const shared = {
  from: Type.String({ format: 'date-time', description: 'Begin of the span.' }),
  to: Type.String({ format: 'date-time', description: 'End of the span: now at the latest.' }),
  track: Type.Enum(PROGRAMME_TRACKS, { title: 'MediaKind', description: 'The list that is shown.' }),
};

export const StreamAsRun = Type.Object(
  {
    ...shared,
    items: Type.Array(StreamAsRunItem, { description: 'Items in the order in which they were on air.' }),
    gaps: Type.Array(StreamAsRunGap, {
      description: 'Times off air, and times of which nothing is known: to `nextFrom`, or else to `to`.',
    }),
    nextFrom: nullable(
      Time,
      'Start of the next item of the span, if there are more: pass it as `from`. Null otherwise.',
    ),
  },
  { title: 'StreamAsRun' },
);
export type StreamAsRun = Static<typeof StreamAsRun>;

export const StreamAsRunTotal = Type.Object(
  {
    id: Type.String({ description: 'Upload that played. It may be deleted by now.' }),
    name: Type.String({ description: 'Name in the list that played.' }),
    ...words,
    plays: Type.Integer({ minimum: 0, description: 'Number of times that it began in the span.' }),
    seconds: Type.Number({ description: 'Time for which these plays were on air, in seconds.' }),
  },
  { title: 'StreamAsRunTotal' },
);
export type StreamAsRunTotal = Static<typeof StreamAsRunTotal>;

export const StreamAsRunTotals = Type.Object(
  {
    ...shared,
    exact: Type.Boolean({ description: 'False if a time of the span is unknown, or an estimate.' }),
    items: Type.Array(StreamAsRunTotal, { description: 'Items of the span, the one with most seconds first.' }),
  },
  { title: 'StreamAsRunTotals' },
);
export type StreamAsRunTotals = Static<typeof StreamAsRunTotals>;
