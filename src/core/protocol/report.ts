/**
 * Declares what the pod of a stream reports of itself: it pushes StreamerReport to the operator, answers GET /stats with StreamerStats, and
 * leaves TimeOnAir as the termination message of its container. Pure: no I/O, no clock.
 *
 * A field that an earlier release did not send is optional or has a default.
 */
import { type Static, type TSchema, Type } from 'typebox';
import { LIST_MOVES } from '../resources/stream/facts.ts';
import { TrackStanding } from '../resources/stream/standing.ts';
import { type Read, readJson, readMessage } from './read-message.ts';

const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()], { default: null });

/** The rest of a longer list is ignored: a playlist may have 500 items, of which five are named. */
const listOf = <T extends TSchema>(schema: T) => Type.Array(schema, { maxItems: 1000, default: [] });

/** RFC 3339, as Kubernetes wants it in a status: what Date.parse takes besides would be refused there. */
const Time = Type.String({
  format: 'date-time',
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,9})?Z$',
});

const Text = Type.String({ maxLength: 500, default: '' });
const Id = Type.String({ minLength: 1, maxLength: 500 });
const Count = Type.Optional(Type.Number());
/** Null while it cannot be measured. */
const Measured = Type.Optional(Type.Union([Type.Number(), Type.Null()]));
const Seconds = Type.Number({ minimum: 0 });

const TrackClock = Type.Object({
  version: Type.Integer(),
  epoch: Time,
  /** A turn of the list and when it began, as of the last move of the epoch. Pods of an earlier release do not say it. */
  anchor: Type.Optional(
    Type.Object({
      round: Type.Integer({ minimum: 0, maximum: 10_000_000_000 }),
      turn: Type.Integer({ minimum: 0, maximum: 100_000 }),
      startedAt: Time,
      /** Pods of an earlier release do not say these. */
      move: Type.Optional(Type.Enum(LIST_MOVES)),
      from: Type.Optional(Time),
      lagMs: Type.Optional(Type.Integer({ minimum: -60_000, maximum: 60_000 })),
    }),
  ),
  /** Hash of the list that plays (programme/identity.ts). Pods of an earlier release do not say it. */
  programme: Type.Optional(Type.String({ pattern: '^[0-9a-f]{1,64}$' })),
  /** Places of the items that take no time, since they cannot be played. */
  broken: Type.Optional(Type.Array(Type.Integer({ minimum: 0, maximum: 1_000_000 }), { maxItems: 100 })),
  /** Where a list with rules stood at its epoch. */
  standing: Type.Optional(TrackStanding),
});

/** The playhead of each track, as another streamer would need it to stand at the same place. */
export const StreamClock = Type.Object({ video: nullable(TrackClock), audio: nullable(TrackClock) });
export type StreamClock = Static<typeof StreamClock>;

const item = {
  id: Id,
  name: Text,
  /** Null for a single upload. */
  playlistID: nullable(Type.String({ minLength: 1, maxLength: 500 })),
  /** Place in the playlist, from 0. */
  index: nullable(Type.Integer({ minimum: 0 })),
};
const Item = Type.Object(item);
const TrackName = Type.Enum(['video', 'audio'], { default: 'video' });

const UnplayableItem = Type.Object({
  ...item,
  track: TrackName,
  code: Type.String({ pattern: '^[a-z]+(?:_[a-z]+)*$', maxLength: 100, default: 'item_invalid' }),
  message: Text,
});

/** A rule of a playlist that was due and was left out (programme/rules.ts). */
const ReportedDrop = Type.Object({
  track: TrackName,
  rule: Type.String({ minLength: 1, maxLength: 63 }),
  /** The last time. */
  dueAt: Time,
  reason: Type.Enum(['late', 'empty']),
  /** Times in this process, and the first of them. */
  count: Type.Integer({ minimum: 1, maximum: 1_000_000_000 }),
  since: Time,
});
export type ReportedDrop = Static<typeof ReportedDrop>;

/** One process of a pod that was on air. */
export const Run = Type.Object({
  /** Rises from one process of a pod to the next. */
  run: Type.Integer({ minimum: 0 }),
  startedAt: Time,
  /** Time of the last taken media. */
  lastAt: Time,
  /** One digit behind the point. */
  onAirSeconds: Seconds,
});
export type Run = Static<typeof Run>;

export const TimeOnAir = Type.Object({ runs: listOf(Run) });
export type TimeOnAir = Static<typeof TimeOnAir>;

/** The part that the operator acts on or shows. */
const reported = {
  /** True while a destination takes media. */
  live: Type.Optional(Type.Boolean()),
  /** True while this pod does not hold the publisher lock. */
  held: Type.Boolean({ default: false }),
  /** False while no item can be played. */
  playable: Type.Boolean(),
  clock: Type.Object(StreamClock.properties, { default: { video: null, audio: null } }),
  /** Items that could not be played at their last turn. */
  brokenItems: listOf(UnplayableItem),
  /** Items that ended early because the rest of them was not prepared yet. */
  preparationBehind: Type.Object(
    {
      /** Number of such ends since the start. */
      count: Type.Integer({ default: 0 }),
      /** The item that is still behind, if there is one, and the time of its first such end (RFC 3339). */
      item: nullable(Type.Object({ ...item, track: TrackName })),
      since: nullable(Type.String()),
    },
    { default: { count: 0, item: null, since: null } },
  ),
  /** Rules that were left out since this process began. Pods of an earlier release do not say it. */
  droppedRules: Type.Optional(Type.Array(ReportedDrop, { maxItems: 1000 })),
  runs: TimeOnAir.properties.runs,
  /**
   * The last time in which no destination took media, if it is over and this process was live before. Pods of an earlier release do not say
   * it.
   */
  interruption: Type.Optional(
    Type.Union([
      Type.Object({
        startedAt: Time,
        endedAt: Time,
        /** Without the times in which a destination took media in between: less than from the one to the other. */
        offAirSeconds: Seconds,
      }),
      Type.Null(),
    ]),
  ),
  destinations: listOf(
    Type.Object({
      name: Id,
      connected: Type.Boolean(),
      /** Since when it has been connected without a break; null while it is not. Pods of an earlier release do not say it. */
      connectedSince: Type.Optional(Type.Union([Time, Type.Null()])),
      bytesSent: Count,
      bitrateKbps: Measured,
      pace: Measured,
      leastBitrateKbps: Measured,
      reconnects: Count,
      lastError: nullable(Type.Object({ code: Type.String({ minLength: 1, maxLength: 100 }), message: Text })),
      /** GOPs dropped because the destination was too slow. */
      dropped: Count,
    }),
  ),
};

export const StreamerReport = Type.Object(reported);
export type StreamerReport = Static<typeof StreamerReport>;

const Steps = { maxStepMs: Type.Number(), maxAudioStepMs: Type.Number() };

export const StreamerStats = Type.Object({
  ...reported,
  /** True while the operator accepts the reports that this pod pushes, and so need not ask. */
  pushes: Type.Boolean({ default: false }),
  /** Time when a destination first took media (RFC 3339); null before. */
  startedAt: nullable(Type.String({ maxLength: 100 })),
  uptimeSeconds: Count,
  /** Averages over the last seconds. */
  bitrateKbps: Count,
  fps: Count,
  /** The longest time between two keyframes of the last minute. */
  keyframeIntervalSeconds: Measured,
  /** The profile on air (resources/stream/profile.ts). */
  profile: Type.Optional(Type.String({ maxLength: 20 })),
  framesSent: Count,
  /** Rounds of the video list since the on-air epoch. */
  loopCount: Count,
  seam: Type.Optional(Type.Object({ count: Type.Integer(), ...Steps, hour: Type.Object(Steps) })),
  /** Sound minus picture at the last seam. */
  avSkewMs: Count,
  reconnects: Count,
  currentItem: nullable(
    Type.Object({ ...item, positionSeconds: nullable(Seconds), durationSeconds: nullable(Seconds) }),
  ),
  nextItem: nullable(Item),
  /** Of the audio playlist; null without one. Pods of an earlier release do not say what is next. */
  currentAudioItem: nullable(Item),
  nextAudioItem: Type.Optional(Type.Union([Item, Type.Null()])),
  programVersion: Count,
  skippedItems: Count,
  /** Media sent ahead of time. */
  leadMs: Count,
});
export type StreamerStats = Static<typeof StreamerStats>;

/** Replaces what moves a cursor or turns a line around: pods are not trusted, and people read their words in terminals. */
function withPlainTexts<T>(value: T): T {
  if (typeof value === 'string') return value.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, ' ') as T;
  if (Array.isArray(value)) return value.map(withPlainTexts) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withPlainTexts(one)])) as T;
}

function plain<T>(read: Read<T>): Read<T> {
  return read.ok ? { ok: true, message: withPlainTexts(read.message) } : read;
}

/** Reads a pushed report. */
export const readReport = (value: unknown): Read<StreamerReport> =>
  plain(readMessage(StreamerReport, value, 'lenient'));

/** Reads an answer to GET /stats. */
export const readStats = (value: unknown): Read<StreamerStats> => plain(readMessage(StreamerStats, value, 'lenient'));

/** Reads the termination message of a streamer's container. */
export const readTimeOnAir = (text: string | undefined): Read<TimeOnAir> => readJson(TimeOnAir, text, 'lenient');
