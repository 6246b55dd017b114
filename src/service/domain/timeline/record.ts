/** Defines what a stream plays when, as clients see it. Pure: no I/O, no clock. */
import { type Static, Type } from 'typebox';
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

export const StreamNow = Type.Object(
  {
    ...shared,
    current: nullable(StreamTimelineItem, 'Item that plays now. Null if none is known.'),
    elapsedSeconds: nullable(Type.Number({ minimum: 0 }), 'Time that the item has played, in seconds.'),
    remainingSeconds: nullable(Type.Number({ minimum: 0 }), 'Time until it ends, in seconds.'),
    next: Type.Array(StreamTimelineItem, { description: 'The next 3 items.' }),
    last: Type.Array(StreamTimelineItem, {
      description: 'The last 10 items, latest first, as far back as the last skip, edit or other move of the list.',
    }),
  },
  { title: 'StreamNow' },
);
export type StreamNow = Static<typeof StreamNow>;
