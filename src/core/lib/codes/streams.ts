/**
 * Lists the codes of streams: what keeps one off air, and what is wrong with one on air. REST, GraphQL and the plugin show `code`; the
 * reason of the condition is the same word in CamelCase, as Kubernetes wants it, and its message says the rest.
 * Pure: no I/O, no clock.
 */
import { type CodeText, toPascalCase } from './code-text.ts';
import { PLATFORM_FAULTS, PLATFORM_WARNINGS } from './platforms.ts';

interface StreamCode extends CodeText {
  code: string;
}

/**
 * By the reason of a condition: what keeps a stream off air, or makes it go on air without an item. `field` is the field of a stream, as
 * REST has it, that the code is about; none for one about no field.
 */
export const READINESS_ISSUES = {
  DestinationNotFound: {
    code: 'destination_not_found',
    field: 'destinationIDs',
    meaning: 'The destination that the stream names does not exist.',
    fix: 'Create the destination, or choose another one.',
  },
  DestinationSecretMissing: {
    code: 'destination_secret_missing',
    field: 'destinationIDs',
    meaning: 'The Secret with the URL and the key of the destination does not exist, or lacks one of them.',
    fix: 'Create the Secret with rtmpUrl and rtmpKey, or name another Secret.',
  },
  DestinationInvalid: {
    code: 'destination_invalid',
    field: 'destinationIDs',
    meaning: 'The URL or the key of the destination cannot be used.',
    fix: 'Give the destination a valid rtmp://, rtmps:// or srt:// URL and key.',
  },
  UploadNotFound: {
    code: 'upload_not_found',
    field: 'videoUploadObjectID',
    meaning: 'The upload that the stream or its playlist names does not exist.',
    fix: 'Upload the media again, or choose another upload.',
  },
  MediaImporting: {
    code: 'media_importing',
    field: 'videoUploadObjectID',
    meaning: 'The upload has not arrived yet.',
    fix: 'Wait until the file has been imported.',
  },
  MediaPreparing: {
    code: 'media_preparing',
    field: 'videoUploadObjectID',
    meaning: 'The media is being prepared for the quality and frame rate of the stream.',
    fix: 'Wait until the media is prepared for this quality and frame rate.',
  },
  MediaAwaitsCredit: {
    code: 'media_awaits_credit',
    field: 'videoUploadObjectID',
    meaning: 'The account has no credit, and media is prepared only for streams that may go on air.',
    fix: 'Add credit; the media is then prepared automatically.',
  },
  MediaAwaitsGate: {
    code: 'media_awaits_gate',
    field: 'videoUploadObjectID',
    meaning: 'A readiness gate keeps the stream off air, and its media is prepared when the gate opens.',
    fix: 'Make the condition in the message true; the media is then prepared automatically.',
  },
  MediaFailed: {
    code: 'media_failed',
    field: 'videoUploadObjectID',
    meaning: 'The upload failed, or could not be prepared.',
    fix: 'Read the error of the upload, and upload a file that plays.',
  },
  UploadQuarantined: {
    code: 'upload_quarantined',
    field: 'videoUploadObjectID',
    meaning: 'The upload is in quarantine: somebody has taken it off every list, with a reason.',
    fix: 'End the quarantine of the upload, or give the stream another upload to play.',
  },
  PlaylistNotFound: {
    code: 'playlist_not_found',
    field: 'playlistIDs',
    meaning: 'The playlist that the stream names does not exist.',
    fix: 'Create the playlist, or choose another one.',
  },
  PlaylistEmpty: {
    code: 'playlist_empty',
    field: 'playlistIDs',
    meaning: 'The playlist has no items.',
    fix: 'Add at least one item to the playlist.',
  },
  ScheduleInvalid: {
    code: 'schedule_invalid',
    field: 'scheduleStartAt',
    meaning:
      'The schedule is not valid: its end is not after its start, or its cron expression or time zone cannot be read.',
    fix: 'Give an end after the start, a cron expression of five fields, and the IANA name of a time zone.',
  },
  TooLarge: {
    code: 'template_too_large',
    field: '',
    meaning: 'The settings of the pod (spec.template) are larger than the operator accepts.',
    fix: 'Remove long texts and terms from spec.template of the stream.',
  },
  Unschedulable: {
    code: 'unschedulable',
    field: '',
    meaning: 'No node of the cluster has room for the stream.',
    fix: 'Give the cluster a node with room for the pod, or change the node requirements in spec.template.',
  },
  QuotaExceeded: {
    code: 'quota_exceeded',
    field: '',
    meaning: 'A ResourceQuota of the cluster has no room for the stream.',
    fix: 'Raise the ResourceQuota of the namespace, or free some of it. The operator tries again within a minute, and at once when you start or edit the stream.',
  },
  PodRefused: {
    code: 'pod_refused',
    field: '',
    meaning: 'Kubernetes rejects the pod of the stream.',
    fix: 'Remove the cause that Kubernetes reports. The operator tries again within ten minutes, sooner at first, and at once when you start or edit the stream.',
  },
  PodNameTaken: {
    code: 'pod_name_taken',
    field: '',
    meaning: 'A pod that does not belong to the stream has the name of its pod.',
    fix: 'Delete the pod with that name; the operator retries automatically.',
  },
  InsufficientCredits: {
    code: 'insufficient_credits',
    field: '',
    meaning: 'The account has no credit, so the stream cannot go on air.',
    fix: 'Add credit; the stream then goes on air automatically.',
  },
} as const satisfies Record<string, StreamCode & { field: string }>;
export type ReadinessReason = keyof typeof READINESS_ISSUES;

const UNSEEN_FIX =
  'Wait a moment and read it again. If this persists, check whether the operator runs and watches this namespace.';

/** By the reason of a condition: matters that nobody has judged yet. */
export const UNKNOWN_ISSUES = {
  NotChecked: {
    code: 'not_checked',
    meaning: 'The operator has not checked this stream yet.',
    fix: UNSEEN_FIX,
  },
  DestinationChecking: {
    code: 'destination_checking',
    meaning: 'The operator has not checked the destination of the stream yet.',
    fix: UNSEEN_FIX,
  },
  NotReported: {
    code: 'not_reported',
    meaning: 'Nobody has reported the condition yet that the stream names as a readiness gate.',
    fix: 'Wait a moment and read it again. If this persists, check the controller that sets the condition.',
  },
} as const satisfies Record<string, StreamCode>;

const REFUSED_FIX =
  'Remove the cause that Kubernetes reports. The operator tries again within ten minutes, sooner at first, and at once when you start, stop or edit the stream.';

/** By the reason of Progressing: what Kubernetes refuses beside a pod of a stream that is off air. */
export const REFUSED_CHANGES = {
  StandbyRefused: {
    code: 'standby_refused',
    meaning: 'Kubernetes rejects the pod that is to take over from the one on air.',
    fix: REFUSED_FIX,
  },
  ProgramRefused: {
    code: 'program_refused',
    meaning: 'Kubernetes rejects the change of the program, so the stream stays on air as it was.',
    fix: REFUSED_FIX,
  },
  WriteRefused: {
    code: 'write_refused',
    meaning: 'Kubernetes rejects what the operator writes or deletes for the stream.',
    fix: REFUSED_FIX,
  },
} as const satisfies Record<string, StreamCode>;

/** By the reason of Degraded: what is wrong with a stream on air, beside media that has failed. */
export const DEGRADATIONS = {
  NothingPlayable: {
    code: 'nothing_playable',
    meaning: 'No item can be played, so the stream shows a slate, two bars on black, until one can.',
    fix: 'Give the stream a file that plays, and check whether the media storage is complete.',
  },
  PreparationBehind: {
    code: 'preparation_behind',
    meaning: 'Preparing an item is slower than playing it, so the stream repeats the part that is prepared.',
    fix: 'Wait until more of it is prepared, give the preparation a faster node, or choose a lower quality. To put a stream on air only when all is prepared, set `start` to `Prepared`.',
  },
  ItemsLeftOut: {
    code: 'items_left_out',
    meaning: 'Some items cannot be played now, and the stream goes on air without them.',
    fix: 'Wait for items that are being prepared. Upload the others again, or remove them from the playlist.',
  },
  OverlaysMissing: {
    code: 'overlays_missing',
    meaning:
      'A picture of the overlays, or their scene, cannot be had, so items play without the overlays that they do not have yet.',
    fix: 'Import the picture again, as PNG, JPEG, WebP, GIF or BMP, or remove it from the overlays. Make the scene again, or choose another one.',
  },
  CardsMissing: {
    code: 'cards_missing',
    meaning: 'The picture behind the cards cannot be shown, so songs play without the cards that they do not have yet.',
    fix: 'Import the picture again, as PNG, JPEG, WebP, GIF or BMP, or choose another one for the cards of the stream.',
  },
  SlateMissing: {
    code: 'slate_missing',
    meaning:
      'The picture of the slate cannot be shown, so two grey bars on black are shown while no item can be played.',
    fix: 'Import the picture again, as PNG, JPEG, WebP, GIF or BMP, or choose another one for the slate of the stream.',
  },
  DestinationReconnecting: {
    code: 'destination_reconnecting',
    meaning: 'A destination does not accept the stream, which connects to it again and again.',
    fix: 'Read the error of the destination in the live-stats of the stream, and test the destination while no stream uses it.',
  },
} as const satisfies Record<string, StreamCode>;

/** By the reason of a rule of a playlist that was due and was left out. */
export const DROPPED_RULES = {
  RuleLate: {
    code: 'rule_late',
    meaning: 'The turn of the rule came too late.',
    fix: 'Give the rule a larger lateSeconds, have it cut what plays, or plan shorter items before it.',
  },
  RuleEmpty: {
    code: 'rule_empty',
    meaning: 'Nothing in the list of the rule could be played.',
    fix: 'Look at the readiness of the stream, and mend or replace the items of the rule.',
  },
} as const satisfies Record<string, StreamCode>;

const FOLLOWED = 'Nothing is to be done: the next session begins by itself.';

/** By the reason in `endReason` of a session: why it ended. */
export const SESSION_ENDS = {
  Stopped: {
    code: 'stream_stopped',
    meaning: 'Somebody stopped the stream.',
    fix: 'Start the stream to put it on air again.',
  },
  Suspended: {
    code: 'stream_suspended',
    meaning: 'The stream was suspended.',
    fix: 'Ask the operators of the service, who resume it by removing `spec.suspend`.',
  },
  Deleted: {
    code: 'stream_deleted',
    meaning: 'Somebody deleted the stream.',
    fix: 'Create another stream with the same media and destinations.',
  },
  ScheduleEnded: {
    code: 'schedule_ended',
    meaning: 'The time on air that the schedule gives was over.',
    fix: 'Nothing is to be done. To stay on air longer, change the schedule.',
  },
  CreditUsedUp: {
    code: 'credit_used_up',
    meaning: 'The credit of the account was used up.',
    fix: 'Add credit; the stream then goes on air automatically.',
  },
  GateClosed: {
    code: 'gate_closed',
    meaning: 'A condition that the stream depends on was no longer met.',
    fix: 'Read which condition it is in the readiness of the stream. Make it true; the stream then goes on air automatically.',
  },
  Edited: {
    code: 'stream_edited',
    meaning: 'A change of the stream’s settings made it begin anew.',
    fix: FOLLOWED,
  },
  Updated: {
    code: 'service_updated',
    meaning: 'An update of the service made the stream begin anew.',
    fix: FOLLOWED,
  },
  NodeDrained: {
    code: 'node_drained',
    meaning: 'The machine was taken out of use, and another one took over.',
    fix: FOLLOWED,
  },
  PodEvicted: {
    code: 'pod_evicted',
    meaning: 'The machine had no more room for the stream, or was shut down.',
    fix: 'Nothing is to be done: another machine takes over. If it recurs, give the cluster more room, or the stream a higher priority.',
  },
  PodDeleted: {
    code: 'pod_deleted',
    meaning: 'Somebody removed the process that sent the stream, and another one took over.',
    fix: FOLLOWED,
  },
  NodeLost: {
    code: 'node_lost',
    meaning: 'The machine that sent the stream was lost.',
    fix: 'Nothing is to be done: another machine takes over. Time on air that was not reported before is not charged.',
  },
  OutOfMemory: {
    code: 'out_of_memory',
    meaning: 'The process that sent the stream used more memory than its limit.',
    fix: 'Nothing is to be done: it starts again by itself. If it recurs, raise the memory limit in `spec.template`.',
  },
  ProcessEnded: {
    code: 'process_ended',
    meaning: 'The process that sent the stream ended unexpectedly.',
    fix: 'Nothing is to be done: it starts again by itself. If it recurs, read the log of the pod.',
  },
} as const satisfies Record<string, StreamCode>;
export type SessionEnd = keyof typeof SESSION_ENDS;

/** An operator before this table recorded no reason, and a newer one may know others. */
export const UNKNOWN_END = {
  code: 'end_unknown',
  meaning: 'Nobody recorded why the session ended.',
  fix: 'Read the events of the stream, which Kubernetes keeps for about an hour.',
} as const satisfies StreamCode;

/** Why a session ended, by its `endReason`. */
export const findSessionEnd = (reason: string | undefined): StreamCode =>
  reason !== undefined && Object.hasOwn(SESSION_ENDS, reason) ? SESSION_ENDS[reason as SessionEnd] : UNKNOWN_END;

/** Degraded takes over why viewers do not see a stream, or will not for long. */
const OF_PLATFORMS: readonly (readonly [string, StreamCode])[] = Object.entries({
  ...PLATFORM_FAULTS,
  ...PLATFORM_WARNINGS,
}).map(([code, text]) => [toPascalCase(code), { code, ...text }]);

const BY_REASON: Readonly<Record<string, StreamCode>> = {
  ...Object.fromEntries(OF_PLATFORMS),
  ...READINESS_ISSUES,
  ...UNKNOWN_ISSUES,
  ...REFUSED_CHANGES,
  ...DEGRADATIONS,
};

/** The code for the reason of a condition; undefined for a reason that needs nobody, or that another controller gave. */
export const findStreamCode = (reason: string): StreamCode | undefined =>
  Object.hasOwn(BY_REASON, reason) ? BY_REASON[reason] : undefined;

/** Findings of a diagnosis of a stream, beside the codes above. */
export const DIAGNOSES = {
  failed: {
    meaning: 'The stream has failed, and does not restart automatically.',
    fix: 'Read the events, fix the cause that they name, and start the stream again.',
  },
  no_numbers: {
    meaning: 'The stream is on air, but its live numbers cannot be read at the moment.',
    fix: 'Read the stream again in a few seconds.',
  },
} as const satisfies Record<string, CodeText>;

const BROKEN_FIX =
  'Upload the file again and replace the item with it, or check whether the media storage is complete.';

/** Why a pod cannot play an item that was prepared. */
export const ITEM_ERRORS = {
  item_missing: { meaning: 'The prepared file of the item is not in the media storage.', fix: BROKEN_FIX },
  item_invalid: { meaning: 'The prepared file of the item is damaged.', fix: BROKEN_FIX },
  storage_unavailable: {
    meaning: 'The media storage did not return the prepared file of the item.',
    fix: 'Check whether the media storage is up. The item joins automatically when it can be read.',
  },
} as const satisfies Record<string, CodeText>;
export type ItemErrorCode = keyof typeof ITEM_ERRORS;
