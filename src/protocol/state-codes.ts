/**
 * Lists codes inside responses: those of an upload, a stream or a destination that no request fails with. Titles come from the
 * tables of these nouns if they have one; this module adds advice. Pure: no I/O, no clock.
 */

import { READINESS_ISSUES, REFUSED_CHANGES } from '../resources/stream/spec.ts';
import { UPLOAD_ERRORS, type UploadErrorCode } from '../resources/upload/spec.ts';
import { UPLOAD_WARNINGS } from '../resources/upload/warnings.ts';
import { FAILURES, type FailureCode } from './codes.ts';

export interface StateCode {
  code: string;
  meaning: string;
  fix: string;
  /** E.g. `error.code` of an upload. */
  place: string;
}

const OF_UPLOADS: Record<UploadErrorCode, string> = {
  link_unreachable:
    'Open the link in a private browser window. If the file downloads there, retry the import (`POST /v1/uploads/{id}/retry`, `kubectl loop retry`).',
  link_forbidden: 'Put the file at a public http or https address, and import it from there.',
  link_is_a_page:
    'Share the file with everybody who has the link, and use the link that downloads the file itself; or send the file by a resumable upload.',
  link_too_slow: 'Put the file on a faster server, or send it by a resumable upload.',
  media_too_large: 'Upload a smaller file: fewer minutes, or a lower bit rate.',
  media_too_long:
    'Cut the file into parts and play them as a playlist. If a short file claims to be long, export it again.',
  media_too_many_pixels: 'Export the file in 3840 × 2160 or less, and import that.',
  media_too_complex:
    'Export the file again, e.g. as MP4 with H.264 at 60 frames a second or fewer and stereo sound, and import that.',
  media_empty: 'Choose the file again, or record or export it again, and import that.',
  media_unfinished:
    'Finish the file with the recorder or program that made it, or repair it with a tool for that (e.g. untrunc), and import the result.',
  media_unreadable:
    'Play the file to its end. If it breaks off or shows nothing, export it again, e.g. as MP4 with H.264.',
  media_format_unsupported: 'Export the file in a common format, e.g. MP4, MP3, JPEG or PNG, and import that.',
  media_track_not_found:
    'Choose one of the tracks that `declaredTracks` of the upload lists (`PATCH /v1/uploads/{id}` or `spec.tracks`), or remove the choice.',
  media_encrypted: 'Import a copy without copy protection.',
  media_colors_unsupported:
    'Export the file in SDR, HDR10 or HLG (video) or in sRGB (pictures), e.g. as MP4 with H.264 or as PNG, and import that.',
  media_has_no_video: 'Import the file as AUDIO, or choose a file with pictures.',
  media_has_no_audio: 'Import the file as VIDEO, or choose a file with sound.',
  storage_taken:
    'Give each installation a prefix of its own in `LOOPSTREAM_STORAGE_URL`. If the other one is gone for good, take the storage over by `loopstream adopt` (docs/backup.md).',
  storage_full:
    'Delete uploads that are no longer needed, or ask the administrator for more storage, and import the file again.',
  prepare_timeout: 'Import the file from a faster server, or import a shorter file.',
  prepare_failed: 'Import the file again. If that fails too, export the file again and import the new one.',
};

const OF_READINESS: Record<(typeof READINESS_ISSUES)[keyof typeof READINESS_ISSUES]['code'], string> = {
  destination_not_found: 'The destination that the stream names does not exist.',
  destination_secret_missing:
    'The Secret with the URL and the key of the destination does not exist, or lacks one of them.',
  destination_invalid: 'The URL or the key of the destination cannot be used.',
  upload_not_found: 'The upload that the stream or its playlist names does not exist.',
  media_importing: 'The upload has not arrived yet.',
  media_preparing: 'The media is being prepared for the quality and frame rate of the stream.',
  media_awaits_credit: 'The account has no credit, and media is prepared only for streams that may go on air.',
  media_awaits_gate: 'A readiness gate keeps the stream off air, and its media is prepared when the gate opens.',
  media_failed: 'The upload failed, or could not be prepared.',
  playlist_not_found: 'The playlist that the stream names does not exist.',
  playlist_empty: 'The playlist has no items.',
  schedule_invalid:
    'The schedule is not valid: its end is not after its start, or its cron expression or time zone cannot be read.',
  template_too_large: 'The settings of the pod (spec.template) are larger than the operator accepts.',
  unschedulable: 'No node of the cluster has room for the stream.',
  quota_exceeded: 'A ResourceQuota of the cluster has no room for the stream.',
  pod_refused: 'Kubernetes rejects the pod of the stream.',
  pod_name_taken: 'A pod that does not belong to the stream has the name of its pod.',
  insufficient_credits: 'The account has no credit, so the stream cannot go on air.',
};

const OF_DESTINATIONS: Record<FailureCode, string> = {
  not_configured: 'Give the destination the URL and the key that the platform shows.',
  dns_failed: 'Compare the host name in the URL of the destination with the one that the platform shows.',
  connection_refused:
    'Compare host and port in the URL of the destination with those that the platform shows. The platform may also be down.',
  unreachable:
    'Compare host and port in the URL of the destination with those that the platform shows, and check for a firewall in between.',
  connect_timeout: 'Check whether the platform is up; the stream retries automatically.',
  tls_failed: 'Use the host name in the certificate of the platform, or `rtmp://` if the platform offers no TLS.',
  key_in_use: 'Stop the other publisher with this key, or use another key.',
  login_required: 'Set rtmpUser and rtmpPassword to the user name and password of the server.',
  login_refused:
    'Enter the user name and password again, and ask the owner of the server whether they are still valid.',
  publish_rejected: 'Copy the key from the platform again, and check whether the platform expects a stream now.',
  stalled: 'Check whether the platform is up, and whether it accepts the quality of the stream.',
  reset:
    'Check the status page of the platform: the stream may exceed its limits, or the platform may expect no stream now.',
  killed:
    'Do nothing if it happened once: the stream reconnects automatically. If it happens again, the stream may need more memory.',
  hung: 'Do nothing: the stream reconnects automatically.',
  exited: 'Do nothing if it happened once: the stream reconnects automatically. If it happens again, read the message.',
};

const entries = <Code extends string, Text>(texts: Record<Code, Text>) => Object.entries(texts) as [Code, Text][];

/** Kubernetes refuses the pod of a stream that is to be on air. */
const REFUSED_PODS: ReadonlySet<string> = new Set(['pod_refused', 'quota_exceeded']);

/** A code of several tables appears several times. */
export const STATE_CODES: readonly StateCode[] = [
  ...entries(OF_UPLOADS).map(([code, fix]) => ({
    code,
    fix,
    meaning: UPLOAD_ERRORS[code],
    place: '`error.code` of an upload',
  })),
  ...entries(UPLOAD_WARNINGS).map(([code, texts]) => ({ code, ...texts, place: '`code` in `warnings` of an upload' })),
  ...Object.values(READINESS_ISSUES).map(({ code, fix }) => ({
    code,
    fix,
    meaning: OF_READINESS[code],
    place: `\`code\` of an issue in a stream’s readiness${REFUSED_PODS.has(code) ? ', and of `degraded` of a stream' : ''}`,
  })),
  ...Object.values(REFUSED_CHANGES).map((texts) => ({ ...texts, place: '`code` of `degraded` of a stream' })),
  {
    code: 'items_left_out',
    meaning: 'Some items cannot be played now, and the stream goes on air without them.',
    fix: 'Wait for items that are being prepared. Upload the others again, or remove them from the playlist.',
    place: '`code` of a warning in a stream’s readiness, and of `degraded` of a stream',
  },
  {
    code: 'preparation_behind',
    meaning: 'Preparing an item is slower than playing it, so the stream repeats the part that is prepared.',
    fix: 'Wait until more of it is prepared, give the preparation a faster node, or choose a lower quality. To put a stream on air only when all is prepared, set `start` to `Prepared`.',
    place: '`code` of `degraded` of a stream',
  },
  ...entries(OF_DESTINATIONS).map(([code, fix]) => ({
    code,
    fix,
    meaning: FAILURES[code],
    place: '`lastError.code` of a destination in a stream’s live-stats, and `code` of a test of it',
  })),
];
