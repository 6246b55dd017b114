/**
 * Lists the public errors in one table: code → HTTP status, title, meaning and remedy. The code is the contract. REST's
 * problem+json, GraphQL's `extensions.code`, OpenAPI, docs/errors/ and the pages at /docs/errors are made from it
 * (`make generate`).
 */
import { BILLING_ERRORS } from './billing-errors.ts';

export const ERRORS = {
  unauthenticated: {
    status: 401,
    title: 'Not authenticated',
    meaning: 'The API key or access token is missing, wrong, expired or revoked.',
    fix: 'Send a valid key in `X-API-Key` or in `Authorization: Bearer`, or there a token that has not expired. Keys are made in the dashboard’s account settings.',
  },
  insufficient_scope: {
    status: 403,
    title: 'Insufficient scope',
    meaning: 'The access token lacks the scope that this operation needs.',
    fix: 'Ask for a token with the scope that `scope` names, or use an API key, which has the full access of its owner.',
  },
  person_required: {
    status: 403,
    title: 'Person required',
    meaning: 'Only a person who has signed in may do this: neither an API key nor an access token can.',
    fix: 'Sign in to the dashboard and do it there.',
  },
  cross_site_request: {
    status: 403,
    title: 'Cross-site request',
    meaning: 'The request carries the cookie of a session, and does not come from a page of this service.',
    fix: 'Programs send an API key or an access token instead of a cookie. A browser behind a proxy must reach the service at its public address.',
  },
  route_not_found: {
    status: 404,
    title: 'No such path',
    meaning: 'No operation has this path.',
    fix: 'Compare the path with the description at `/v1/openapi.json`; what comes from elsewhere, such as an id, must be percent-encoded.',
  },
  stream_not_found: {
    status: 404,
    title: 'Stream not found',
    meaning: 'No stream of this account has this id.',
    fix: 'Take the id from `GET /v1/streams`; it may have been deleted, or belong to another account.',
  },
  upload_not_found: {
    status: 404,
    title: 'Upload not found',
    meaning: 'No upload of this account has this id.',
    fix: 'Take the objectID from `GET /v1/uploads`; it may have been deleted, or belong to another account.',
  },
  destination_not_found: {
    status: 404,
    title: 'Destination not found',
    meaning: 'No destination of this account has this id.',
    fix: 'Take the id from `GET /v1/destinations`; it may have been deleted, or belong to another account.',
  },
  playlist_not_found: {
    status: 404,
    title: 'Playlist not found',
    meaning: 'No playlist of this account has this id.',
    fix: 'Take the id from `GET /v1/playlists`; it may have been deleted, or belong to another account.',
  },
  playlist_version_not_found: {
    status: 404,
    title: 'Playlist version not found',
    meaning: 'The playlist never had this version, or it is no longer kept.',
    fix: 'Take one from `GET /v1/playlists/{id}/versions`.',
  },
  api_key_not_found: {
    status: 404,
    title: 'API key not found',
    meaning: 'The account has no API key with this id.',
    fix: 'Take the id from the list of keys in the dashboard; it may have been revoked already.',
  },
  session_not_found: {
    status: 404,
    title: 'Session not found',
    meaning: 'The person has no session with this id.',
    fix: 'Look at the list of sessions again; it may have ended already.',
  },
  connected_app_not_found: {
    status: 404,
    title: 'Connected app not found',
    meaning: 'The person has let in no app with this id.',
    fix: 'Look at the list of connected apps again; it may have been disconnected already.',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    meaning: 'The path exists, but not with this method.',
    fix: 'Use one of the methods that the header `Allow` names.',
  },
  conflict: {
    status: 409,
    title: 'Conflict',
    meaning: 'The resource was changed by someone else at the same moment; read it and try again.',
    fix: 'Read the resource again, and decide on the change anew from what it is now.',
  },
  stream_not_ready: {
    status: 409,
    title: 'Stream not ready',
    meaning: 'Something keeps the stream from starting; `issues` says what.',
    fix: 'Each entry of `issues` has a `fix`; ask `GET /v1/streams/{id}/readiness` until `ready` is true, then start it.',
  },
  stream_not_live: {
    status: 409,
    title: 'Stream not live',
    meaning: 'The stream is not on air, so there is nothing to show or act on.',
    fix: 'Start the stream and wait until its status is `live`.',
  },
  upload_not_prepared: {
    status: 409,
    title: 'Upload not prepared',
    meaning: 'Nothing of the upload has been prepared yet, so there is nothing to show.',
    fix: 'Ask again when `preview` of the upload is `ready`: its first minute is being prepared since this was asked. Where the upload has failed, add it again.',
  },
  upload_not_failed: {
    status: 409,
    title: 'Upload not failed',
    meaning: 'Only an upload that has failed can be tried again.',
    fix: 'Read the upload: while its `state` is `importing` or `preparing` it goes on by itself, also while `waiting` says what for.',
  },
  upload_not_from_link: {
    status: 409,
    title: 'Upload not from a link',
    meaning: 'A client has sent the file of this upload, and only a link can be fetched again.',
    fix: 'Send the file again as a new resumable upload.',
  },
  destination_forbidden: {
    status: 422,
    title: 'Destination forbidden',
    meaning:
      'The destination’s address belongs to a private network: streams are sent to what the public internet knows alone.',
    fix: 'Give the address that the platform or server has on the public internet. Where loopstream runs for people of one network, its operator can allow private ones (`LOOPSTREAM_ALLOW_PRIVATE_DESTINATIONS`).',
  },
  destination_in_use: {
    status: 409,
    title: 'Destination in use',
    meaning: 'A stream sends to this destination.',
    fix: 'Give the streams that `streamIDs` names another destination, or delete them, first.',
  },
  destination_on_air: {
    status: 409,
    title: 'Destination on air',
    meaning:
      'A stream is sent to this destination at the moment: a test would publish with the same key and cut it off.',
    fix: 'Ask `GET /v1/streams/{id}/live-stats` of the streams that `streamIDs` names, which tells whether the destination takes them; or stop them, and test it then.',
  },
  upload_in_use: {
    status: 409,
    title: 'Upload in use',
    meaning: 'A stream or playlist plays this upload.',
    fix: 'Take it out of what `streamIDs` and `playlistIDs` name first; a stream on air needs it until what follows it is prepared.',
  },
  playlist_in_use: {
    status: 409,
    title: 'Playlist in use',
    meaning: 'A stream plays this playlist.',
    fix: 'Take it out of the streams that `streamIDs` names first.',
  },
  playlist_version_conflict: {
    status: 409,
    title: 'Playlist version conflict',
    meaning: 'The playlist has another version by now: someone else has changed it. Nothing of this batch was done.',
    fix: 'Read the playlist, which `currentVersion` is the version of, and send the changes for that one.',
  },
  playlist_not_playable: {
    status: 409,
    title: 'Playlist not playable',
    meaning: 'This version of the playlist has no items, or items whose uploads no longer exist.',
    fix: 'Make a version of the playlist whose items all exist, and publish that one.',
  },
  idempotency_key_reused: {
    status: 409,
    title: 'Idempotency key reused',
    meaning: 'This Idempotency-Key was sent with another request within 24 hours, or that request is still at work.',
    fix: 'Make a new key for each request that is meant to have an effect of its own; repeat a request with the same key and the same body only.',
  },
  payload_too_large: {
    status: 413,
    title: 'Body too large',
    meaning: 'A JSON body may have 1 MiB at most.',
    fix: 'Send less at once. Media is not sent in JSON: import it from a link.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    meaning:
      'Bodies are JSON that is not compressed: send Content-Type: application/json and no Content-Encoding. The bytes of a ' +
      'resumable upload are sent with Content-Type: application/offset+octet-stream.',
    fix: 'Send JSON as it is, and say so in Content-Type.',
  },
  malformed_request: {
    status: 400,
    title: 'Malformed request',
    meaning:
      'What was sent is not HTTP/1.1 as RFC 9112 has it, not GraphQL over HTTP where that is asked for, or was cut off.',
    fix: 'Let a library send the request; where one does, look at what stands between it and this server.',
  },
  request_timeout: {
    status: 408,
    title: 'Request too slow',
    meaning: 'The request did not arrive in the time that it has for it.',
    fix: 'Send the request again, on a connection that is not as slow.',
  },
  headers_too_large: {
    status: 431,
    title: 'Headers too large',
    meaning: 'The path and the headers of a request may have 16 KiB together.',
    fix: 'Send fewer or shorter headers, and a shorter path.',
  },
  malformed_json: {
    status: 400,
    title: 'Malformed JSON',
    meaning: 'The body is not JSON in UTF-8.',
    fix: 'Let a library write the JSON, in UTF-8.',
  },
  validation_failed: {
    status: 422,
    title: 'Validation failed',
    meaning: 'A field or parameter is missing, unknown or not allowed; `errors` names each.',
    fix: 'Each entry of `errors` has the `path` of a field or parameter, as a JSON pointer, and a `message`: mend these.',
  },
  link_forbidden: {
    status: 422,
    title: 'Link forbidden',
    meaning:
      'The link leads to where nothing may be imported from: an address that is not public, a port of a system service, or by another protocol than http and https.',
    fix: 'Put the file where the public internet reaches it by http or https, and link to that.',
  },
  quota_exceeded: {
    status: 403,
    title: 'Quota exceeded',
    meaning:
      'The account has as much of something as it may; `limit` says of what, `used` and `allowed` how much, and `class` which limits it has.',
    fix: 'Free some of it, as `detail` says. Where `class` is `trial`, buying credit once raises the limit for good. `GET /v1/limits` tells all limits.',
  },
  upload_quota_exceeded: {
    status: 403,
    title: 'Upload quota exceeded',
    meaning: 'The account keeps as many uploads, or as many bytes of them, as it may.',
    fix: 'Delete uploads that are no longer needed (`DELETE /v1/uploads/{id}`); `detail` says how much there is. Where `class` is `trial`, buying credit once raises the limit for good.',
  },
  api_key_quota_exceeded: {
    status: 403,
    title: 'API key quota exceeded',
    meaning: 'The account has as many API keys as it may.',
    fix: 'Revoke keys that are no longer used; the list says when each was used last.',
  },
  not_confirmed: {
    status: 403,
    title: 'Not confirmed',
    meaning:
      'What was sent does not show that the account’s owner asks: the address or the password is wrong, or signing in is too long ago.',
    fix: 'Give the account’s e-mail address and password. Where it has no password, sign in again first.',
  },
  media_too_large: {
    status: 413,
    title: 'Media too large',
    meaning: 'The file is larger than the service takes, or more was sent than was announced.',
    fix: 'Upload a smaller file: fewer minutes, or a lower bit rate. `Tus-Max-Size` (OPTIONS) tells the limit.',
  },
  upload_conflict: {
    status: 409,
    title: 'Upload conflict',
    meaning:
      'What is sent does not follow on what has come, another request sends to the same upload, or all of it has come.',
    fix: 'Ask where to go on (HEAD, `Upload-Offset`) and send from there; stock tus clients do so by themselves.',
  },
  upload_is_final: {
    status: 403,
    title: 'Upload is final',
    meaning: 'The upload is put together of parts, so it takes no bytes of its own.',
    fix: 'Send bytes to a part before the parts are put together, or begin another upload.',
  },
  upload_checksum_mismatch: {
    status: 460,
    title: 'Checksum mismatch',
    meaning: 'The bytes that came have another sum than `Upload-Checksum` says; nothing of them is kept.',
    fix: 'Send the same bytes again from `Upload-Offset` on, which has not moved.',
  },
  tus_version_unsupported: {
    status: 412,
    title: 'tus version unsupported',
    meaning: 'Resumable uploads speak version 1.0.0 of the tus protocol.',
    fix: 'Send `Tus-Resumable: 1.0.0`, or let a tus client send the upload.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    meaning: 'The rate limit is used up; wait for Retry-After seconds.',
    fix: 'Wait as long as `Retry-After` says. `RateLimit-Remaining` tells beforehand how much is left.',
  },
  too_many_feeds: {
    status: 429,
    title: 'Too many feeds',
    meaning: 'The account follows its changes over as many connections as one server has for an account.',
    fix: 'End feeds that nobody reads, such as those of pages that are left open; share one among the parts of a program.',
  },
  too_many_uploads_at_once: {
    status: 429,
    title: 'Too many uploads at once',
    meaning: 'The account sends as many uploads at the same time as one server takes of an account.',
    fix: 'Send fewer files at the same time, or try again after `Retry-After` seconds; what was sent is kept.',
  },
  too_many_previews: {
    status: 429,
    title: 'Too many previews',
    meaning: 'The stream, or the account, has as many live previews open as one server shows of it.',
    fix: 'Close previews that nobody looks at, and try again after `Retry-After` seconds. Viewers watch the destination, not the preview.',
  },
  internal: {
    status: 500,
    title: 'Internal error',
    meaning: 'Something went wrong on our side; it was logged.',
    fix: 'Try again, with growing pauses. If it stays, report the answer’s `X-Request-Id`, by which the log is found.',
  },
  upstream_unavailable: {
    status: 502,
    title: 'Upstream unavailable',
    meaning: 'Kubernetes, the database or the media storage did not answer; try again.',
    fix: 'Try again after `Retry-After` seconds, with growing pauses.',
  },
  shutting_down: {
    status: 503,
    title: 'Shutting down',
    meaning: 'This server is stopping; try again.',
    fix: 'Try again after `Retry-After` seconds: another server answers.',
  },
  server_busy: {
    status: 503,
    title: 'Server busy',
    meaning: 'This server does as much of this kind at once as it can.',
    fix: 'Try again after `Retry-After` seconds, with growing pauses. What was sent of an upload is kept.',
  },
  ...BILLING_ERRORS,
} as const;

export type ErrorCode = keyof typeof ERRORS;

/** One field or parameter that is not as it should be. `path` is a JSON pointer (RFC 6901), e.g. `/destinationID`. */
export interface FieldError {
  path: string;
  message: string;
}

/**
 * An error with a public side (code, detail, extras) and an inner one (`cause`), which reaches the log and nothing else.
 * Thrown anywhere, turned into an answer in one place.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  /** Further members of the problem document, e.g. `errors` or `issues`. */
  readonly extras: Record<string, unknown>;

  constructor(code: ErrorCode, detail: string, options: { cause?: unknown; extras?: Record<string, unknown> } = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.extras = options.extras ?? {};
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}

/** 422 that names each field. */
export const validationFailed = (errors: FieldError[]): AppError =>
  new AppError('validation_failed', errors.map((e) => `${e.path || 'body'} ${e.message}`).join('; '), {
    extras: { errors },
  });
