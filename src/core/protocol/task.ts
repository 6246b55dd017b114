/**
 * Declares the task that the operator gives a prepare Job (environment LOOPSTREAM_TASK, JSON), the Job's progress (its answer to
 * GET /progress), and its result (its termination message, JSON, at most 4096 bytes: Kubernetes cuts there). Pure: no I/O, no clock.
 */

import { type Static, Type } from 'typebox';
import { UPLOAD_ERRORS, type UploadErrorCode } from '../lib/codes/uploads.ts';
import { Card } from '../resources/upload/card.ts';
import { MAX_LAYERS } from '../resources/upload/overlay-defaults.ts';
import { ResolvedLayer } from '../resources/upload/overlays.ts';
import { MediaInfo, RenditionStatus, TRACK_KINDS, TrackChoice, UPLOAD_TYPES } from '../resources/upload/spec.ts';
import { UploadWarnings } from '../resources/upload/warnings.ts';
import { type Read, readJson, readMessage } from './read-message.ts';

/**
 * An import also makes the rendition that a stream waits for: one, since a Job makes one at a time. The operator names its profile, in the
 * task or when it asks for the progress.
 */
const Renditions = {
  /** The parts of their keys (renditionKey): by the upload, since the content is not known yet (importContent). */
  renditions: Type.Optional(Type.Object({ content: Type.String(), scope: Type.Optional(Type.String()) })),
  profile: Type.Optional(Type.String()),
};

/** The owner's choice of tracks. */
const Tracks = { tracks: Type.Optional(TrackChoice) };

/** The longest source, if that is less than the service's limit. */
const MaxDurationSeconds = Type.Optional(Type.Integer({ minimum: 1 }));

const Sent = Type.Object({
  key: Type.String(),
  sizeBytes: Type.Integer({ minimum: 1 }),
  /** Keys of the parts that the Upload names. Only a proof below `key` makes them its own. */
  keys: Type.Optional(Type.Array(Type.String())),
  /** The client may still be sending: the Job follows the pieces as they come, and fails when none come. */
  isArriving: Type.Optional(Type.Boolean()),
});
/** Place of the pieces that a client has sent, and their total bytes. */
export type Sent = Static<typeof Sent>;

/** All keys that an import may read or delete. */
export const listKeys = ({ key, keys = [] }: Sent): readonly string[] => [...keys, key];

export const PrepareTask = Type.Union([
  Type.Object({
    action: Type.Literal('import'),
    url: Type.String(),
    /** The largest source, if that is less than the service's limit. */
    maxBytes: Type.Optional(Type.Integer({ minimum: 1 })),
    maxDurationSeconds: MaxDurationSeconds,
    type: Type.Enum(UPLOAD_TYPES),
    /** Storage key for the source. */
    sourceKey: Type.String(),
    ...Renditions,
    ...Tracks,
  }),
  Type.Object({
    action: Type.Literal('import'),
    /** Pieces that a client has sent, below this storage key; or below `keys`, one after the other, where a proof below `key` names them. */
    sent: Sent,
    maxDurationSeconds: MaxDurationSeconds,
    type: Type.Enum(UPLOAD_TYPES),
    sourceKey: Type.String(),
    ...Renditions,
    ...Tracks,
  }),
  Type.Object({
    action: Type.Literal('rendition'),
    type: Type.Enum(TRACK_KINDS),
    sourceKey: Type.String(),
    /** Size of the source, as it was imported. */
    sizeBytes: Type.Optional(Type.Integer({ minimum: 0 })),
    profile: Type.String(),
    /** Storage key for the rendition; its index goes to indexKey() of it. */
    renditionKey: Type.String(),
    /** Storage key for the poster, where the Upload has none. An import makes one always. */
    posterKey: Type.Optional(Type.String()),
    /** Layers over the pictures. */
    look: Type.Optional(Type.Object({ layers: Type.Array(ResolvedLayer, { minItems: 1, maxItems: MAX_LAYERS }) })),
    /** The words and the background of a card, where the profile is that of one. */
    card: Type.Optional(Card),
    ...Tracks,
  }),
  /** Makes what is missing of one range of the rendition that another Job makes: range 1 + the pod's completion index. */
  Type.Object({
    action: Type.Literal('range'),
    type: Type.Enum(TRACK_KINDS),
    sourceKey: Type.String(),
    profile: Type.String(),
    renditionKey: Type.String(),
  }),
  Type.Object({
    action: Type.Literal('sweep'),
    /** The objects to keep (keep-list.ts), of the part `shard` of `shards`. */
    keep: Type.String(),
    shard: Type.Integer({ minimum: 0 }),
    shards: Type.Integer({ minimum: 1 }),
    /** Time without references after which an object is deleted. */
    graceSeconds: Type.Number({ minimum: 0 }),
  }),
]);
export type PrepareTask = Static<typeof PrepareTask>;

/** Keys of all sources that a task reads, each once: that of the item, and those of the pictures over it or behind it. */
export function listSourceKeys(task: Exclude<PrepareTask, { action: 'sweep' }>): string[] {
  const { look, card } = task.action === 'rendition' ? task : { look: undefined, card: undefined };
  const layers = (look?.layers ?? []).flatMap((layer) => ('imageKey' in layer ? [layer.imageKey] : []));
  return [...new Set([task.sourceKey, ...layers, ...(card?.background ? [card.background.imageKey] : [])])];
}

export const SweepResult = Type.Object({
  action: Type.Literal('swept'),
  /** Renditions and sources. */
  deleted: Type.Integer({ minimum: 0 }),
  /** Objects that are deleted when the grace time is over. */
  marked: Type.Integer({ minimum: 0 }),
  /** Sources that are kept although no Upload has them, since no deletion of one was seen. */
  suspicious: Type.Optional(Type.Integer({ minimum: 0 })),
});
export type SweepResult = Static<typeof SweepResult>;

/** Findings of an import. */
const Found = { media: MediaInfo, warnings: Type.Optional(UploadWarnings) };

/** True where the Job has stored a poster under the key of its task. */
const Poster = { poster: Type.Optional(Type.Boolean()) };

/** A code of a later release becomes the one that says least; its message says the rest. */
const ErrorCode = Type.Enum(Object.keys(UPLOAD_ERRORS) as UploadErrorCode[], {
  default: 'prepare_failed',
  policy: 'lenient',
});

export const PrepareResult = Type.Union([
  SweepResult,
  /** `rendition`: only one that is ready. Where it could not be made, a Job of its own says why. */
  Type.Object({
    action: Type.Literal('import'),
    ...Found,
    rendition: Type.Optional(RenditionStatus),
    ...Poster,
    /** The source that the Upload had before it was restored, where that is there. */
    sourceKey: Type.Optional(Type.String({ pattern: '^sources/[A-Za-z0-9][A-Za-z0-9-]{0,62}$' })),
  }),
  Type.Object({
    action: Type.Literal('rendition'),
    rendition: RenditionStatus,
    warnings: Type.Optional(UploadWarnings),
    ...Poster,
  }),
  /** `chunks`: how many of its range the pod has made. */
  Type.Object({ action: Type.Literal('range'), chunks: Type.Integer({ minimum: 0 }) }),
  /** Failure that a retry would not change: the Job exits 0. It exits non-zero when a retry might help. */
  Type.Object({
    action: Type.Literal('failed'),
    error: Type.Object({ code: ErrorCode, message: Type.String() }),
    /** Seconds that the link's server asks to be left alone, when it may be back later; 0 where it names no time. */
    retryAfterSeconds: Type.Optional(Type.Number({ minimum: 0 })),
    /** The watchdog ended the process in a step without an end. Another try may tell whether the file was the cause. */
    isEndless: Type.Optional(Type.Boolean()),
  }),
]);
export type PrepareResult = Static<typeof PrepareResult>;

/** Part of a rendition that can be played already: its first `seconds`. */
export const PreparedPart = Type.Object({
  seconds: Type.Number({ minimum: 0 }),
  /** Expected length of the whole. */
  totalSeconds: Type.Number({ exclusiveMinimum: 0 }),
  /** Seconds of media that are prepared in one second, measured over the last seconds. */
  speed: Type.Number({ minimum: 0 }),
  /** Bytes of the part. Jobs of an earlier release do not say it. */
  bytes: Type.Optional(Type.Integer({ minimum: 0 })),
});
export type PreparedPart = Static<typeof PreparedPart>;

/** The progress that a working Job reports: 0 to 1, and the part of its rendition in storage. */
export const PROGRESS_PATH = '/progress';
/** Query parameter of it: the profile that a stream waits for, for an import. */
export const PROFILE_PARAMETER = 'profile';
export const PrepareProgress = Type.Object({
  progress: Type.Number({ minimum: 0, maximum: 1 }),
  prepared: Type.Optional(PreparedPart),
  /** Ranges of the rendition beyond the first, which other pods may make, while there is more than one range's work left. */
  ranges: Type.Optional(Type.Integer({ minimum: 1 })),
  /** The profile of the rendition that an import makes. */
  profile: Type.Optional(Type.String()),
  /** Set once an import has stored its source and still makes its rendition or its poster. */
  imported: Type.Optional(Type.Object(Found)),
  /** True while it makes the poster: it ends soon, and is not to be ended before. */
  makesPoster: Type.Optional(Type.Boolean()),
});
export type PrepareProgress = Static<typeof PrepareProgress>;

export const readTask = (value: unknown): Read<PrepareTask> => readMessage(PrepareTask, value, 'strict');

/** Strict: a pod that opened a stranger's file may have been taken over (operator/upload/result-bounds.ts). */
export const readResult = (text: string | undefined): Read<PrepareResult> => readJson(PrepareResult, text, 'strict');

export const readProgress = (text: string): Read<PrepareProgress> => readJson(PrepareProgress, text, 'strict');
