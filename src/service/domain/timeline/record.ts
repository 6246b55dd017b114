/** Defines what a stream plays when, as clients see it. Pure: no I/O, no clock. */
import { type Static, type TSchema, Type } from 'typebox';
import { PROGRAMME_TRACKS } from '../../../core/programme/tracks.ts';
import { nullable, Time } from '../../lib/schemas.ts';

export const StreamTimelineItem = Type.Object(
  {
    startAt: Type.String({ format: 'date-time', description: 'Start of the item on air.' }),
    endAt: Type.String({ format: 'date-time', description: 'End of the item, and start of the next one.' }),
    durationSeconds: Type.Number({ description: 'Time from `startAt` to `endAt`, in seconds.' }),
    id: Type.String({ description: 'Upload that plays.' }),
    name: Type.String(),
    playlistID: nullable(Type.String(), 'Playlist that contains the item. Null for a single upload.'),
    index: nullable(Type.Integer({ minimum: 0 }), 'Position of the item in that playlist, from 0.'),
    rule: nullable(Type.String(), 'Rule that placed the item. Null for an item of the list itself.'),
    exact: Type.Boolean({
      description: 'False if the times are an estimate, since a length is not known before an item is prepared.',
    }),
  },
  { title: 'StreamTimelineItem' },
);
export type StreamTimelineItem = Static<typeof StreamTimelineItem>;

export const TimelineTrack = Type.Enum(PROGRAMME_TRACKS, {
  title: 'MediaKind',
  description: '`video`: the pictures with their sound. `audio`: the audio playlists. By default video.',
});

const shared = {
  onAir: Type.Boolean({ description: 'False if the stream is off air. It plays nothing then.' }),
  track: Type.Enum(PROGRAMME_TRACKS, { title: 'MediaKind', description: 'The list that is shown.' }),
  exactUntil: nullable(Time, 'Time until which the times are exact. Null if all are.'),
};

export const StreamTimeline = Type.Object(
  {
    from: Type.String({ format: 'date-time', description: 'Begin of the span.' }),
    to: Type.String({ format: 'date-time', description: 'End of the span.' }),
    ...shared,
    items: Type.Array(StreamTimelineItem, { description: 'Items in the order in which they play.' }),
    nextFrom: nullable(
      Time,
      'Start of the next item of the span, if there are more: pass it as `from`. Null otherwise.',
    ),
  },
  { title: 'StreamTimeline' },
);
export type StreamTimeline = Static<typeof StreamTimeline>;

export const StreamExplanation = Type.Object(
  {
    at: Type.String({ format: 'date-time', description: 'Time that is explained.' }),
    track: shared.track,
    rule: nullable(Type.String(), 'Rule that is explained. Null for an upload.'),
    uploadObjectID: nullable(Type.String(), 'Upload that is explained. Null for a rule.'),
    code: Type.String({ description: '`played`, or why it does not play: a stable code.' }),
    message: Type.String({ description: 'The cause and the fix.' }),
    exact: Type.Boolean({ description: 'False if the time is behind an item whose length is an estimate.' }),
    dueAt: nullable(Time, 'When the rule was due, or its window opened. Null if it is not due, and for an upload.'),
    turn: nullable(StreamTimelineItem, 'What plays of the rule or the upload. Null unless it plays.'),
    by: nullable(StreamTimelineItem, 'What was on air until the decision, or has the time. Null if nothing did.'),
    lastAt: nullable(Time, 'Start of its last turn before. Null if none is known.'),
    nextAt: nullable(Time, 'When it is due or plays next. Null if that is not known.'),
    windowStartAt: nullable(
      Time,
      'Start of the window of the rule that is open, or of the next one. Null without one.',
    ),
    windowEndAt: nullable(Time, 'End of that window.'),
  },
  { title: 'StreamExplanation' },
);
export type StreamExplanation = Static<typeof StreamExplanation>;

const momentOf = <Item extends TSchema>(item: Item) => ({
  ...shared,
  current: nullable(item, 'Item that plays now. Null if none is known.'),
  elapsedSeconds: nullable(Type.Number({ minimum: 0 }), 'Time that the item has played, in seconds.'),
  remainingSeconds: nullable(Type.Number({ minimum: 0 }), 'Time until it ends, in seconds.'),
  next: Type.Array(item, { description: 'The next 3 items.' }),
  last: Type.Array(item, {
    description: 'The last 10 items, latest first, as far back as the last skip, edit or other move of the list.',
  }),
});

export const StreamNow = Type.Object(momentOf(StreamTimelineItem), { title: 'StreamNow' });
export type StreamNow = Static<typeof StreamNow>;

const { startAt, endAt, durationSeconds, exact } = StreamTimelineItem.properties;

/** An item as anyone may see it: without ids, names of files and labels. */
export const PublicNowItem = Type.Object(
  {
    startAt,
    endAt,
    durationSeconds,
    title: nullable(Type.String(), 'Title of the upload. Null if it has none: its name may be that of a file.'),
    artist: nullable(Type.String(), 'Artist of the upload, if it has one.'),
    exact,
  },
  { title: 'PublicNowItem' },
);
export type PublicNowItem = Static<typeof PublicNowItem>;

export const PublicNow = Type.Object(momentOf(PublicNowItem), { title: 'PublicNow' });
export type PublicNow = Static<typeof PublicNow>;

export const StreamPublicNowUpdate = Type.Object(
  { enabled: Type.Boolean({ description: 'Whether anyone who has the address may read what the stream plays now.' }) },
  { title: 'StreamPublicNowUpdate', additionalProperties: false },
);
export type StreamPublicNowUpdate = Static<typeof StreamPublicNowUpdate>;

export const StreamPublicNow = Type.Object(
  {
    enabled: Type.Boolean({ description: 'Whether what the stream plays now is public.' }),
    url: nullable(
      Type.String(),
      'The address, which needs no key. Null if it is off, or was made with an earlier secret of the service: turn it off and on then.',
    ),
    since: nullable(Time, 'Time since which the address works. Null if it is off.'),
  },
  { title: 'StreamPublicNow' },
);
export type StreamPublicNow = Static<typeof StreamPublicNow>;
