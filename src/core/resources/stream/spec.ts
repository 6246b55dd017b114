/**
 * Declares LoopStream: a looping stream to one or more destinations. These TypeBox types are the single source: they
 * check requests, the CRD in crds/ is generated from them, and the operator and the pod read them. Pure: no I/O, no
 * clock.
 */
import { type Static, Type } from 'typebox';
import { Condition } from '../common/conditions.ts';
import { OBSERVED_UID } from '../common/own-status.ts';
import { SongCards } from '../upload/card.ts';
import { LoudnessTarget } from '../upload/loudness.ts';
import { LayersOrScene } from '../upload/overlays.ts';
import { Anchors } from './anchors.ts';
import { DroppedRule, MAX_DROPPED_RULES } from './dropped-rules.ts';
import { Fact, MAX_FACTS } from './facts.ts';
import { Playing } from './playing.ts';
import { FRAMERATES, QUALITIES } from './profile.ts';
import { MAX_SESSIONS, Session } from './sessions.ts';
import { Standings } from './standing.ts';
import { Template } from './template.ts';
import { MAX_TRANSITION_MESSAGE, MAX_TRANSITIONS, Transition } from './transitions.ts';
import { StreamPlatform } from './viewers.ts';

export const MAX_DESTINATIONS = 5;
export const MAX_PLAYLISTS = 20;

const NameRef = (what: string) =>
  Type.String({ minLength: 1, maxLength: 253, description: `Name of ${what} in the same namespace.` });

export const Recurrence = Type.Object(
  {
    cron: Type.String({
      minLength: 1,
      maxLength: 200,
      description:
        'Start of each window, as a cron expression of five fields: minute, hour, day of month, month, day of week.',
    }),
    timeZone: Type.String({
      minLength: 1,
      maxLength: 64,
      default: 'UTC',
      description: 'IANA time zone of the cron expression, e.g. Europe/Berlin. Defaults to UTC.',
    }),
    durationSeconds: Type.Integer({
      minimum: 60,
      maximum: 31 * 86_400,
      description: 'Length of each window, in seconds, from 60 to 2678400 (31 days). Overlapping windows are merged.',
    }),
  },
  { description: 'Recurring windows in which the stream is on air.' },
);
export type Recurrence = Static<typeof Recurrence>;

export const Schedule = Type.Object(
  {
    startAt: Type.Optional(
      Type.String({ format: 'date-time', description: 'Time at which the stream goes on air (RFC 3339).' }),
    ),
    endAt: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'Time at which the stream ends (RFC 3339). If not set, it never ends.',
      }),
    ),
    recurrence: Type.Optional(Recurrence),
    onAirUntil: Type.Optional(
      Type.String({
        format: 'date-time',
        description:
          'Time until which the stream is on air outside its windows, too (RFC 3339). Without it, a stream on air whose ' +
          'schedule has no window now goes off air at once.',
      }),
    ),
    startingDeadlineSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        description:
          'Longest delay after which a missed window still starts, in seconds. If not set, a missed window always starts late.',
      }),
    ),
  },
  { description: 'Times at which the stream is on air. If not set, the stream is on air while replicas is 1.' },
);
export type Schedule = Static<typeof Schedule>;

/**
 * Settings for moving a stream's pod from its node:
 *
 * - Never    nobody: evictions are refused by a PodDisruptionBudget, so a drain waits until the stream is stopped.
 * - OnDrain  a node that is cordoned or tainted is left at once, by a warm replacement on another one. The default.
 * - Always   the pod stays on such a node until it is evicted or deleted; then it is replaced in the same way.
 */
export const DISRUPTIONS = ['Never', 'OnDrain', 'Always'] as const;
export type Disruption = (typeof DISRUPTIONS)[number];

/**
 * Settings for a stream with items that cannot be played:
 *
 * - Skip   they are left out, the others go on air, and each joins when it is ready. The default.
 * - Block  the stream goes on air, and takes up a new list, only when every item can be played.
 */
export const ITEM_FAILURES = ['Skip', 'Block'] as const;

/**
 * Settings for when a stream may go on air with media that is still being prepared:
 *
 * - Progressive  when its beginning is prepared, and the rest is expected in time. The default.
 * - Prepared     when all of it is prepared.
 */
export const STARTS = ['Progressive', 'Prepared'] as const;

const ReadinessGate = Type.Object({
  conditionType: Type.String({
    minLength: 1,
    maxLength: 316,
    description: 'Type of the condition, e.g. CreditAvailable.',
  }),
});

/** One output of a stream. */
const StreamDestination = Type.Object({
  name: NameRef('a Destination'),
  enabled: Type.Optional(
    Type.Boolean({ default: true, description: 'False sends nothing to the destination. Defaults to true.' }),
  ),
});

export const LoopStreamSpec = Type.Object({
  displayName: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Name shown to people.' })),
  replicas: Type.Integer({
    minimum: 0,
    maximum: 1,
    default: 1,
    description:
      '1 puts the stream on air, 0 stops it. It cannot be higher, because an RTMP key accepts one publisher. ' +
      'Defaults to 1.',
  }),
  quality: Type.Enum(QUALITIES, { default: '1080p', description: 'Height of the output picture. Defaults to 1080p.' }),
  framerate: Type.Enum(FRAMERATES, {
    default: 30,
    description: 'Frame rate of the output, in frames per second. Defaults to 30.',
  }),
  uploadName: Type.Optional(NameRef('the Upload to loop')),
  playlistNames: Type.Optional(
    Type.Array(NameRef('a video Playlist'), {
      maxItems: MAX_PLAYLISTS,
      description: 'Video Playlists to loop, in order. At most 20.',
    }),
  ),
  audioPlaylistNames: Type.Optional(
    Type.Array(NameRef('an audio Playlist'), {
      maxItems: MAX_PLAYLISTS,
      description: 'Audio Playlists to play instead of the video’s own sound, in order. At most 20.',
    }),
  ),
  itemFailurePolicy: Type.Optional(
    Type.Enum(ITEM_FAILURES, {
      title: 'OnItemFailure',
      default: 'Skip',
      description:
        'Skip (default): items that cannot be played are left out until they can. Block: the stream starts only when ' +
        'every item can be played.',
    }),
  ),
  startPolicy: Type.Optional(
    Type.Enum(STARTS, {
      title: 'StreamStart',
      default: 'Progressive',
      description:
        'Progressive (default): media is played while the rest of it is being prepared. Prepared: media is played only ' +
        'when all of it is prepared.',
    }),
  ),
  loudness: Type.Optional(LoudnessTarget),
  overlays: Type.Optional(LayersOrScene),
  cards: Type.Optional(SongCards),
  slate: Type.Optional(
    Type.Object(
      { uploadName: NameRef('the Upload with a still picture') },
      {
        description:
          'What the stream shows while none of its items can be played: a still picture, scaled to fit. If not set, and until ' +
          'it is prepared, two grey bars on black.',
      },
    ),
  ),
  destinations: Type.Optional(
    Type.Array(StreamDestination, {
      minItems: 1,
      maxItems: MAX_DESTINATIONS,
      description:
        'Destinations that receive the stream at the same time, and how each does. At least 1 is enabled. At most 5.',
    }),
  ),
  destinationNames: Type.Optional(
    Type.Array(NameRef('a Destination'), {
      minItems: 1,
      maxItems: MAX_DESTINATIONS,
      description: 'Short form of destinations: the names alone. At least 1, at most 5.',
    }),
  ),
  schedule: Type.Optional(Schedule),
  suspend: Type.Optional(
    Type.Boolean({
      description: 'True keeps the stream off air regardless of replicas and schedule. The API never changes it.',
    }),
  ),
  disruptionPolicy: Type.Optional(
    Type.Enum(DISRUPTIONS, {
      default: 'OnDrain',
      description:
        'OnDrain (default): a warm replacement takes over from a cordoned node. Always: only after eviction. Never: ' +
        'evictions are refused.',
    }),
  ),
  template: Type.Optional(Template),
  readinessGates: Type.Optional(
    Type.Array(ReadinessGate, {
      maxItems: 8,
      description:
        'Conditions that other controllers set. The stream starts when all are True, and stops while one is False.',
    }),
  ),
  ttlSecondsAfterFinished: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 10 * 366 * 86_400,
      description:
        'Time from the end of the schedule until the stream is deleted, in seconds. If not set, the stream is never deleted.',
    }),
  ),
});
export type LoopStreamSpec = Static<typeof LoopStreamSpec>;

/** Reports whether a stream should be on air, as far as its schedule lets it. */
export const isWanted = ({ replicas, suspend }: Pick<LoopStreamSpec, 'replicas' | 'suspend'>): boolean =>
  replicas > 0 && suspend !== true;

/**
 * The state machine of a stream. The operator decides the phase anew from what it sees and remembers nothing; what each
 * one means:
 *
 * - idle          replicas is 0, or it is suspended, and it has never been on air.
 * - scheduled     it is wanted (replicas is 1, not suspended, not deleted) and its next window has not begun.
 * - waiting       it is wanted now and has no pod: a readiness condition, a gate or a quota is against it. Media that is not
 *                 prepared is not, while it is known what was on air before: that goes on.
 * - starting      its pod exists and no destination has accepted media yet.
 * - live          a destination is accepting media.
 * - reconnecting  it was live, and no destination accepts media now: it is sought again, or the pod is being replaced.
 * - stopping      it is not meant to be on air, or a gate has closed; its pod is not gone yet.
 * - stopped       replicas is 0, or it is suspended, it has been on air, and nothing of it is left.
 * - ended         its schedule is over and nothing of it is left.
 * - failed        something only a person can mend (for example a pod that Kubernetes refuses); the conditions say what.
 *
 * Every transition and its cause, by where it leads to; a test walks each of them and finds no other. In brackets: where
 * the operator did not look in between, because it was away or because much happened at once.
 *
 * to idle from new, scheduled, waiting, ended, failed []: it is wanted no more, before it was ever on air.
 * to scheduled from new, idle, stopping, stopped, ended [waiting, starting, live, reconnecting, failed]: it is wanted, its
 *   next window is to come, and nothing of it is left.
 * to waiting from new, idle, scheduled, stopping, stopped, ended, failed [starting, live, reconnecting]: it is wanted now, has
 *   no pod, and something is against it; or Kubernetes refuses its pod.
 * to starting from new, idle, scheduled, waiting, stopped, failed [stopping, ended]: all is ready, and its pod is made.
 * to live from starting, reconnecting [new, idle, scheduled, waiting, stopping, stopped, ended, failed]: a destination
 *   accepts media.
 * to reconnecting from live []: no destination accepts media any more, or its pod is lost or replaced.
 * to stopping from starting, live, reconnecting [new, idle, scheduled, waiting, stopped, ended, failed]: it is wanted no
 *   more, its window is over or a gate has closed, and there is a pod.
 * to stopped from stopping [scheduled, waiting, starting, live, reconnecting, ended, failed]: it is wanted no more, and
 *   nothing of it is left.
 * to ended from new, idle, scheduled, stopping [waiting, starting, live, reconnecting, stopped, failed]: its last window is
 *   over, and nothing of it is left.
 * to failed from waiting, starting, reconnecting [new, idle, scheduled, live, stopping, stopped, ended]: a pod that is
 *   not its own has the name of its pod.
 */
export const PHASES = [
  'idle',
  'scheduled',
  'waiting',
  'starting',
  'live',
  'reconnecting',
  'stopping',
  'stopped',
  'ended',
  'failed',
] as const;
export type Phase = (typeof PHASES)[number];

/** The phases of a stream whose pod plays, or is about to. */
export const ON_AIR_PHASES: readonly Phase[] = ['starting', 'live', 'reconnecting'];

/** Fields of the spec that name media → the same in REST and GraphQL. */
export const MEDIA_FIELDS = {
  uploadName: 'videoUploadObjectID',
  playlistNames: 'playlistIDs',
  audioPlaylistNames: 'audioPlaylistIDs',
} as const;
export type MediaField = keyof typeof MEDIA_FIELDS;

/** Items that a status names; the others are counted. */
export const MAX_UNPLAYABLE = 20;

const UnplayableItem = Type.Object({
  field: Type.Enum(Object.keys(MEDIA_FIELDS) as MediaField[], {
    description: 'Field of the spec that refers to the item.',
  }),
  playlist: Type.Optional(
    Type.String({ description: 'Name of the Playlist that contains the item. Not set for a single Upload.' }),
  ),
  index: Type.Optional(Type.Integer({ minimum: 0, description: 'Position of the item in the playlist, from 0.' })),
  upload: Type.Optional(Type.String({ description: 'Name of the Upload.' })),
  name: Type.Optional(Type.String({ description: 'Display name of the item.' })),
  reason: Type.String({ description: 'Stable code of the cause, the same as the reason of a condition.' }),
  message: Type.String({ description: 'The cause, as a sentence.' }),
  since: Type.String({ format: 'date-time', description: 'Time since which the item cannot be played.' }),
});
export type LeftOutItem = Static<typeof UnplayableItem>;

export const Unplayable = Type.Object(
  {
    total: Type.Integer({ minimum: 0, description: 'Number of all items.' }),
    count: Type.Integer({ minimum: 0, description: 'Number of items that cannot be played.' }),
    items: Type.Array(UnplayableItem, {
      maxItems: MAX_UNPLAYABLE,
      description: 'The first items that cannot be played, at most 20. Items that need a person’s action come first.',
    }),
  },
  { description: 'Items that cannot be played. The stream plays without them, or stays off air because of them.' },
);
export type Unplayable = Static<typeof Unplayable>;

export const Preparation = Type.Object(
  {
    prepared: Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'Part of the media that is prepared, from 0 to 1, by length.',
    }),
    estimatedReadyAt: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'Time at which all of it is expected to be prepared. Not set while that is unknown.',
      }),
    ),
  },
  { description: 'Preparation of the media of the stream. Not set once all of it is prepared.' },
);
export type Preparation = Static<typeof Preparation>;

export const Rejection = Type.Object({
  destination: Type.String({ maxLength: 253, description: 'Name of the destination.' }),
  reason: Type.String({ maxLength: 64, description: 'Stable code of the refusal.' }),
  message: Type.String({ maxLength: MAX_TRANSITION_MESSAGE, description: 'The refusal, as a sentence.' }),
  since: Type.String({ format: 'date-time', description: 'Time at which the refusal was first seen.' }),
});
export type Rejection = Static<typeof Rejection>;

export const LoopStreamStatus = Type.Object({
  ...OBSERVED_UID,
  observedGeneration: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Generation of the spec that this status describes.' }),
  ),
  phase: Type.Optional(
    Type.Enum(PHASES, { description: 'State of the stream, in one word, derived from the conditions.' }),
  ),
  replicas: Type.Optional(
    Type.Integer({ minimum: 0, description: '1 while a pod of the stream exists, otherwise 0.' }),
  ),
  canStart: Type.Optional(Type.Boolean({ description: 'False if something prevents the stream from starting.' })),
  epoch: Type.Optional(
    Type.String({
      format: 'date-time',
      description:
        'Time at which the loop began. The playhead is computed from it. A skip, or an edit on air, moves it.',
    }),
  ),
  audioEpoch: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'Time at which the loop of the audio list began. Set only if the audio list has moved on its own.',
    }),
  ),
  standings: Type.Optional(Standings),
  skipped: Type.Optional(
    Type.Object(
      {
        video: Type.Optional(Type.String({ description: 'Last handled value of the annotation loopstream.dev/skip.' })),
        audio: Type.Optional(
          Type.String({ description: 'Last handled value of the annotation loopstream.dev/skip-audio.' }),
        ),
      },
      { description: 'The last handled skip request of each track.' },
    ),
  ),
  seed: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 4_294_967_295,
      description: 'Seed of shuffled lists. Set only if the stream was restored from a backup of another UID.',
    }),
  ),
  anchors: Type.Optional(Anchors),
  facts: Type.Optional(
    Type.Array(Fact, {
      maxItems: MAX_FACTS,
      description:
        'The last moves of what plays, in the order of their numbers. What was on air is computed from them.',
    }),
  ),
  playing: Type.Optional(Playing),
  unplayable: Type.Optional(Unplayable),
  preparation: Type.Optional(Preparation),
  liveSince: Type.Optional(
    Type.String({ format: 'date-time', description: 'Time since which a destination has been accepting media.' }),
  ),
  lastScheduleTime: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'Start of the schedule window for which the stream last went on air.',
    }),
  ),
  podName: Type.Optional(Type.String({ description: 'Name of the pod that sends the stream.' })),
  podUID: Type.Optional(Type.String({ description: 'UID of that pod.' })),
  restarts: Type.Optional(Type.Integer({ minimum: 0, description: 'Restarts of the streamer container.' })),
  destinationSummary: Type.Optional(Type.String({ description: 'Names of the destinations, for the printer column.' })),
  sessions: Type.Optional(
    Type.Array(Session, {
      maxItems: 2 * MAX_SESSIONS,
      description:
        'Intervals in which the stream was on air, in the order of their numbers. The oldest ones are merged.',
    }),
  ),
  acknowledgedSession: Type.Optional(
    Type.Integer({
      minimum: 0,
      description:
        'Set by the controller that meters the stream. Every session up to this number is closed and counted.',
    }),
  ),
  rejections: Type.Optional(
    Type.Array(Rejection, {
      maxItems: MAX_DESTINATIONS,
      description:
        'Destinations that refuse the stream. Each is in the list until it takes media, or the stream leaves the air.',
    }),
  ),
  platforms: Type.Optional(
    Type.Array(StreamPlatform, {
      maxItems: MAX_DESTINATIONS,
      description: 'What was told of the viewers of each destination with spec.platform since the stream went on air.',
    }),
  ),
  droppedRules: Type.Optional(
    Type.Array(DroppedRule, {
      maxItems: MAX_DROPPED_RULES,
      description:
        'Rules of playlists that were due and were left out: the last time of each, written at most once in ten minutes.',
    }),
  ),
  transitions: Type.Optional(
    Type.Array(Transition, {
      maxItems: MAX_TRANSITIONS,
      description: 'What last happened to the stream, in the order of the numbers. The API makes its events from them.',
    }),
  ),
  conditions: Type.Optional(
    Type.Array(Condition, {
      maxItems: 32,
      description:
        'Conditions: Ready, Reconciling, Stalled, DestinationReady, MediaReady, ScheduleValid, PodScheduled, Live, ' +
        'Progressing and Degraded. OnAirForViewers is there in the phase live, where a destination has spec.platform.',
    }),
  ),
});
export type LoopStreamStatus = Static<typeof LoopStreamStatus>;

/** Conditions that readiness is made of: a stream starts when none of them is False. */
export const READINESS_CONDITIONS = ['DestinationReady', 'MediaReady', 'ScheduleValid', 'TemplateAccepted'] as const;
/** Of these, a missing one says that the operator has not checked the stream; the others are there only while they are False. */
export const ALWAYS_REPORTED: readonly string[] = ['DestinationReady', 'MediaReady', 'ScheduleValid'];
