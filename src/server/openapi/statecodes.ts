/**
 * Lists codes inside responses: those of an upload, a stream or a destination that no request fails with. Titles come from the
 * tables of these nouns if they have one; this module adds advice. Pure: no I/O, no clock.
 */
import { FAILURES, type FailureCode } from '../../media/streamer/output/failure.ts';
import { READINESS_ISSUES } from '../../resources/stream/spec.ts';
import { UPLOAD_ERRORS, type UploadErrorCode } from '../../resources/upload/spec.ts';
import { UPLOAD_WARNINGS } from '../../resources/upload/warnings.ts';

export interface StateCode {
  code: string;
  meaning: string;
  fix: string;
  /** E.g. `error.code` of an upload. */
  place: string;
}

const OF_UPLOADS: Record<UploadErrorCode, string> = {
  link_unreachable:
    'Open the link in a browser that is signed in nowhere; when that gives the file, ask for `POST /v1/uploads/{id}/retry`.',
  link_forbidden: 'Put the file where the public internet reaches it by http or https, and import it from there.',
  link_is_a_page:
    'Take the link with which the file itself is downloaded, and share the file with everybody who has the link; or send the file by a resumable upload.',
  link_too_slow: 'Put the file on a faster server, or send it by a resumable upload.',
  media_too_large: 'Upload a smaller file: fewer minutes, or a lower bit rate.',
  media_too_long:
    'Cut the file into parts and play them as a playlist; a short file that claims to be long is exported anew.',
  media_too_many_pixels: 'Export the file in 3840 × 2160 or less, and import that.',
  media_too_complex:
    'Export the file anew, e.g. as MP4 with H.264 at 60 frames a second or fewer and stereo sound, and import that.',
  media_unreadable:
    'Play the file to its end; if it breaks off or shows nothing, export it again, e.g. as MP4 with H.264.',
  media_format_unsupported: 'Export the file in a common format, e.g. MP4, MP3, JPEG or PNG, and import that.',
  media_encrypted: 'Import a copy without copy protection, from where its owner offers one.',
  media_colors_unsupported:
    'Export the file in SDR, HDR10 or HLG (video) or in sRGB (pictures), e.g. as MP4 with H.264 or as PNG, and import that.',
  media_has_no_video: 'Import it as AUDIO, or choose a file with pictures.',
  media_has_no_audio: 'Import it as VIDEO, or choose a file with sound.',
  storage_full: 'Delete uploads that are no longer needed, or have more storage provided, and import it again.',
  prepare_timeout: 'Import it from a faster server, or a shorter file.',
  prepare_failed: 'Import it again; if it fails again, export the file anew and import that.',
};

const OF_READINESS: Record<(typeof READINESS_ISSUES)[keyof typeof READINESS_ISSUES]['code'], string> = {
  destination_not_found: 'The destination that the stream names does not exist.',
  destination_secret_missing:
    'The Secret of the destination, which holds its URL and its key, does not exist or lacks one of them.',
  destination_invalid: 'The URL or the key of the destination cannot be used.',
  upload_not_found: 'The upload that the stream or its playlist names does not exist.',
  media_importing: 'The upload has not arrived yet.',
  media_preparing: 'The media is being prepared for the quality and frame rate of the stream.',
  media_awaits_credit: 'The account has no credit, and media is prepared only for streams that may go on air.',
  media_awaits_gate: 'The stream may not go on air yet, and its media is prepared when it may.',
  media_failed: 'The upload failed, or could not be prepared.',
  playlist_not_found: 'The playlist that the stream names does not exist.',
  playlist_empty: 'The playlist has nothing in it.',
  schedule_invalid:
    'The schedule makes no sense: its end is not after its start, or its cron expression or time zone cannot be read.',
  unschedulable: 'No node of the cluster has room for the stream.',
  quota_exceeded: 'A quota of the cluster has no room for the stream.',
  pod_refused: 'Kubernetes refuses to run the stream as it is.',
  pod_name_taken: 'Something that is not the stream’s own runs under its name.',
  insufficient_credits: 'The balance does not suffice to be on air.',
};

const OF_DESTINATIONS: Record<FailureCode, string> = {
  not_configured: 'Give the destination the URL and the key that the platform shows.',
  dns_failed: 'Compare the host name in the destination’s URL with what the platform shows.',
  connection_refused:
    'Compare host and port in the destination’s URL with what the platform shows; it may be down, too.',
  unreachable:
    'Compare host and port in the destination’s URL with what the platform shows, and see whether a firewall is in the way.',
  connect_timeout: 'See whether the platform is up; the stream goes on trying by itself.',
  tls_failed:
    'Use the host name that the platform’s certificate is for, or `rtmp://` where the platform offers no TLS.',
  key_in_use: 'Stop what else publishes with this key, or take another key.',
  login_required: 'Give the user name and password that the server has for you as rtmpUser and rtmpPassword.',
  login_refused: 'Enter the user name and password again, and ask the owner of the server whether they still hold.',
  publish_rejected: 'Take the key from the platform again, and see whether it expects a stream now.',
  stalled: 'See whether the platform is up, and whether the stream’s quality is one that it takes.',
  reset: 'See what the platform says about the stream: it may be over its limits, or not expect one now.',
  killed: 'Nothing, when it was once: the stream reconnects by itself. If it goes on, the stream may need more memory.',
  hung: 'Nothing: the stream reconnects by itself.',
  exited: 'Nothing, when it was once: the stream reconnects by itself. If it goes on, look at the message.',
};

const entries = <Code extends string, Text>(texts: Record<Code, Text>) => Object.entries(texts) as [Code, Text][];

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
    place: '`code` of an issue in a stream’s readiness',
  })),
  {
    code: 'items_left_out',
    meaning: 'Some items cannot be played now; the stream goes on air with the others.',
    fix: 'Wait for those that are on their way. Upload the others again, or take them out of the playlist.',
    place: '`code` of a warning in a stream’s readiness, and of `degraded` of a stream',
  },
  ...entries(OF_DESTINATIONS).map(([code, fix]) => ({
    code,
    fix,
    meaning: FAILURES[code],
    place: '`lastError.code` of a destination in a stream’s live-stats, and `code` of a test of it',
  })),
];
