/**
 * Lists the errors of requests: code → HTTP status, title, meaning and fix. The code is the contract. REST's problem+json, GraphQL's
 * `extensions.code`, OpenAPI, docs/errors/ and the pages at /docs/errors are made from it (`make generate`). Codes inside responses are in
 * codes/, and so are the words of those that are both.
 */

import { DESTINATION_ON_AIR, LINK_FORBIDDEN, MEDIA_TOO_LARGE } from '../../core/lib/codes/shared.ts';
import { BILLING_ERRORS } from './billing-errors.ts';

export const ERRORS = {
  unauthenticated: {
    status: 401,
    title: 'Not authenticated',
    meaning: 'The API key or access token is missing, wrong, expired or revoked.',
    fix: 'Send a valid key in `X-API-Key`, or a valid key or token in `Authorization: Bearer`. Create keys in the account settings of the dashboard.',
  },
  api_key_expired: {
    status: 401,
    title: 'API key expired',
    meaning:
      'The API key was valid once, and has expired: by its own expiry, or by the longest life that its account allows.',
    fix: 'Create a new key in the account settings of the dashboard, and give it to the program.',
  },
  insufficient_scope: {
    status: 403,
    title: 'Insufficient scope',
    meaning: 'The access token or API key lacks the scope that this operation needs.',
    fix: 'With a token, connect the client again and allow the scope that `scope` names. With an API key, use one that has this scope.',
  },
  key_limited: {
    status: 403,
    title: 'Key limited to labels',
    meaning: 'The API key is limited to objects with certain labels, and this is about the whole account.',
    fix: 'Use an API key without a label selector.',
  },
  person_required: {
    status: 403,
    title: 'Signed-in user required',
    meaning: 'Only a user who has signed in may do this; API keys and access tokens may not.',
    fix: 'Sign in to the dashboard and do it there.',
  },
  cross_site_request: {
    status: 403,
    title: 'Cross-site request',
    meaning: 'The request carries a session cookie, but does not come from a page of this service.',
    fix: 'In a program, send an API key or an access token instead of a cookie. In a browser, open the service at its public address.',
  },
  route_not_found: {
    status: 404,
    title: 'No such path',
    meaning: 'No operation has this path.',
    fix: 'Compare the path with the description at `/v1/openapi.json`. Percent-encode ids and other values in the path.',
  },
  stream_not_found: {
    status: 404,
    title: 'Stream not found',
    meaning: 'No stream of this account has this id.',
    fix: 'Take the id from `GET /v1/streams`. The stream may have been deleted, or belong to another account.',
  },
  upload_not_found: {
    status: 404,
    title: 'Upload not found',
    meaning: 'No upload of this account has this id.',
    fix: 'Take the objectID from `GET /v1/uploads`. The upload may have been deleted, or belong to another account.',
  },
  upload_has_no_poster: {
    status: 404,
    title: 'Upload has no poster',
    meaning: 'The upload has no picture, or none could be made of it.',
    fix: 'Show a placeholder. `posterUrl` of the upload is null until there is a poster; the next preparation of the upload makes one.',
  },
  destination_not_found: {
    status: 404,
    title: 'Destination not found',
    meaning: 'No destination of this account has this id.',
    fix: 'Take the id from `GET /v1/destinations`. The destination may have been deleted, or belong to another account.',
  },
  playlist_not_found: {
    status: 404,
    title: 'Playlist not found',
    meaning: 'No playlist of this account has this id.',
    fix: 'Take the id from `GET /v1/playlists`. The playlist may have been deleted, or belong to another account.',
  },
  playlist_version_not_found: {
    status: 404,
    title: 'Playlist version not found',
    meaning: 'The playlist never had this version, or no longer keeps it.',
    fix: 'Take a version from `GET /v1/playlists/{id}/versions`.',
  },
  scene_not_found: {
    status: 404,
    title: 'Scene not found',
    meaning: 'No scene of this account has this id.',
    fix: 'Take the id from `GET /v1/scenes`. The scene may have been deleted, or belong to another account.',
  },
  event_not_found: {
    status: 404,
    title: 'Event not found',
    meaning: 'No event of this account has this id, or it is older than the seven days for which events are kept.',
    fix: 'Read your objects as they are now, and then the events without `after`.',
  },
  endpoint_not_found: {
    status: 404,
    title: 'Endpoint not found',
    meaning: 'No endpoint of this account has this id.',
    fix: 'Take the id from `GET /v1/endpoints`. The endpoint may have been deleted, or belong to another account.',
  },
  endpoint_has_no_secret: {
    status: 404,
    title: 'Endpoint has no secret',
    meaning: 'Messages to people are not signed: only endpoints of the kind `webhook` have a secret.',
    fix: 'Create an endpoint of the kind `webhook` for a program that checks signatures.',
  },
  delivery_not_found: {
    status: 404,
    title: 'Delivery not found',
    meaning: 'The endpoint has no delivery with this id, or it is older than seven days.',
    fix: 'Take the id from `GET /v1/endpoints/{id}/deliveries`.',
  },
  api_key_not_found: {
    status: 404,
    title: 'API key not found',
    meaning: 'No API key of this account has this id.',
    fix: 'Take the id from the list of keys in the dashboard. The key may have been revoked already.',
  },
  session_not_found: {
    status: 404,
    title: 'Session not found',
    meaning: 'No session of this user has this id.',
    fix: 'Reload the list of sessions. The session may have ended already.',
  },
  connected_app_not_found: {
    status: 404,
    title: 'Connected app not found',
    meaning: 'No connected app of this user has this id.',
    fix: 'Reload the list of connected apps. The app may have been disconnected already.',
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
    meaning: 'Another request changed the resource at the same moment.',
    fix: 'Read the resource again, apply the change to its current state, and send it.',
  },
  stream_not_ready: {
    status: 409,
    title: 'Stream not ready',
    meaning: 'The stream cannot start; `issues` lists the reasons.',
    fix: 'Follow the `fix` of each entry of `issues`. Poll `GET /v1/streams/{id}/readiness` until `ready` is true, then start the stream (`POST /v1/streams/{id}/start`).',
  },
  stream_not_live: {
    status: 409,
    title: 'Stream not live',
    meaning: 'The stream is not on air, so it has no live data and takes no live commands.',
    fix: 'Start the stream (`POST /v1/streams/{id}/start`), and wait until its status is `live`.',
  },
  upload_not_prepared: {
    status: 409,
    title: 'Upload not prepared',
    meaning: 'No part of the upload has been prepared yet, so it has no preview.',
    fix: 'This request starts the preparation of the preview. Send it again when `preview` of the upload is `ready`. If the upload has failed, add it again.',
  },
  upload_not_failed: {
    status: 409,
    title: 'Upload not failed',
    meaning: 'The upload has not failed; only a failed upload can be retried.',
    fix: 'Read the upload: in the states `importing` and `preparing` it continues automatically, even while `waiting` names a delay.',
  },
  upload_is_image: {
    status: 409,
    title: 'Upload is an image',
    meaning:
      'The upload is an image, which is drawn over what plays. No list plays it, so it cannot be taken off lists.',
    fix: 'Remove the image from the overlays, the cards or the slate of the streams that show it.',
  },
  upload_not_from_link: {
    status: 409,
    title: 'Upload not from a link',
    meaning: 'A client sent the file of this upload; only an upload from a link can be fetched again.',
    fix: 'Send the file again as a new resumable upload.',
  },
  destination_forbidden: {
    status: 422,
    title: 'Destination forbidden',
    meaning:
      'The address of the destination, or the one that viewers open, belongs to a private network; only public addresses are used.',
    fix: 'Give the public address of the platform or server. The administrator of a private installation can allow private addresses with `LOOPSTREAM_ALLOW_PRIVATE_DESTINATIONS`, and private watch addresses with `LOOPSTREAM_ALLOW_PRIVATE_WATCH`.',
  },
  repair_not_stalled: {
    status: 409,
    title: 'Repair not stalled',
    meaning: 'No repair of a broadcast has stalled at this destination, so there is none to go on with.',
    fix: 'Read the destination: `platformLive.repairStalled` is true while a repair waits for somebody.',
  },
  endpoint_forbidden: {
    status: 422,
    title: 'Endpoint forbidden',
    meaning:
      'The address of the endpoint belongs to a private network, or has a port that is not for HTTP; events are sent to public addresses only.',
    fix: 'Give a public address. The administrator of a private installation can allow private addresses with `LOOPSTREAM_ALLOW_PRIVATE_LINKS`.',
  },
  endpoint_code_wrong: {
    status: 409,
    title: 'Wrong code',
    meaning: 'The code is not the one that was sent to the endpoint last, or codes were tried too often.',
    fix: 'Look up the code where the endpoint leads to, or have another one sent: `POST /v1/endpoints/{id}/verify` without a code.',
  },
  endpoint_not_active: {
    status: 409,
    title: 'Endpoint not active',
    meaning: 'Nothing is sent to the endpoint: its code is not confirmed yet, or it is disabled.',
    fix: 'Confirm the code with `POST /v1/endpoints/{id}/verify`, or set `enabled` to true.',
  },
  destination_in_use: {
    status: 409,
    title: 'Destination in use',
    meaning: 'A stream sends to this destination.',
    fix: 'Give the streams in `streamIDs` another destination (`PATCH /v1/streams/{id}`), or delete them, and try again.',
  },
  destination_on_air: {
    status: 409,
    title: 'Destination on air',
    ...DESTINATION_ON_AIR,
  },
  upload_in_use: {
    status: 409,
    title: 'Upload in use',
    meaning: 'A stream or playlist plays this upload, or a scene shows it.',
    fix: 'Remove the upload from the streams in `streamIDs` (`PATCH /v1/streams/{id}`) and the playlists in `playlistIDs` (`POST /v1/playlists/{id}/changes`), and from the layers of the scenes in `sceneIDs` (`PATCH /v1/scenes/{id}`). A stream on air needs it until its replacement is prepared.',
  },
  scene_in_use: {
    status: 409,
    title: 'Scene in use',
    meaning: 'A stream shows this scene.',
    fix: 'Choose other `overlays` for the streams in `streamIDs` (`PATCH /v1/streams/{id}`), and try again.',
  },
  scene_version_conflict: {
    status: 409,
    title: 'Scene version conflict',
    meaning: 'The scene has another version by now, because another request changed it. Nothing was changed.',
    fix: 'Read the scene (`GET /v1/scenes/{id}`), whose version is `currentVersion`, and send the change for that version.',
  },
  playlist_in_use: {
    status: 409,
    title: 'Playlist in use',
    meaning: 'A stream plays this playlist, or a rule of another playlist does.',
    fix: 'Remove the playlist from the streams in `streamIDs` (`PATCH /v1/streams/{id}`) and from the rules of the playlists in `playlistIDs` (`PATCH /v1/playlists/{id}`), publish these, and try again.',
  },
  playlist_version_conflict: {
    status: 409,
    title: 'Playlist version conflict',
    meaning:
      'The playlist has another version by now, because another request changed it. No change of this batch was made.',
    fix: 'Read the playlist (`GET /v1/playlists/{id}`), whose version is `currentVersion`, and send the changes for that version.',
  },
  playlist_not_playable: {
    status: 409,
    title: 'Playlist not playable',
    meaning: 'This version of the playlist has no items, or items whose uploads no longer exist.',
    fix: 'Create a version of the playlist whose items all exist (`POST /v1/playlists/{id}/changes`), and publish it.',
  },
  idempotency_key_reused: {
    status: 409,
    title: 'Idempotency key reused',
    meaning:
      'This Idempotency-Key was sent with another request within 24 hours, or the first request with it is still running.',
    fix: 'Use a new `Idempotency-Key` for each new request. Repeat a key only with the same request and the same body.',
  },
  payload_too_large: {
    status: 413,
    title: 'Body too large',
    meaning: 'The JSON body is larger than 1 MiB.',
    fix: 'Send less in one request. To add media, import it from a link or use a resumable upload.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    meaning:
      'The server does not support the Content-Type or Content-Encoding of the body. JSON needs Content-Type: ' +
      'application/json, and a resumable upload needs Content-Type: application/offset+octet-stream.',
    fix: 'Send the body without compression, with the Content-Type that matches it.',
  },
  malformed_request: {
    status: 400,
    title: 'Malformed request',
    meaning: 'The request is not valid HTTP/1.1 (RFC 9112), is not valid GraphQL over HTTP, or was cut off.',
    fix: 'Send the request with an HTTP library. If you do already, check the proxies between it and this server.',
  },
  request_timeout: {
    status: 408,
    title: 'Request too slow',
    meaning: 'The request did not arrive in time.',
    fix: 'Send the request again on a faster connection.',
  },
  headers_too_large: {
    status: 431,
    title: 'Headers too large',
    meaning: 'The path and the headers of the request are larger than 16 KiB together.',
    fix: 'Send fewer or shorter headers, and a shorter path.',
  },
  malformed_json: {
    status: 400,
    title: 'Malformed JSON',
    meaning: 'The body is not JSON in UTF-8.',
    fix: 'Encode the body with a JSON library, in UTF-8.',
  },
  validation_failed: {
    status: 422,
    title: 'Validation failed',
    meaning: 'A field or parameter is missing, unknown or not allowed; `errors` names each.',
    fix: 'Correct each entry of `errors`: `path` is the JSON pointer of the field or parameter, and `message` states the problem.',
  },
  link_forbidden: {
    status: 422,
    title: 'Link forbidden',
    meaning: LINK_FORBIDDEN.meaning,
    fix: `${LINK_FORBIDDEN.fix} A new upload takes it (\`POST /v1/uploads/from-link\`).`,
  },
  quota_exceeded: {
    status: 403,
    title: 'Quota exceeded',
    meaning:
      'The account has reached a limit: `limit` names it, `used` and `allowed` give the numbers, and `class` is the class of the account.',
    fix: 'Free some of it, as `detail` says. If `class` is `trial`, buying credit once raises the limit permanently. `GET /v1/limits` lists all limits.',
  },
  upload_quota_exceeded: {
    status: 403,
    title: 'Upload quota exceeded',
    meaning: 'The account has reached its limit of uploads, or of their bytes.',
    fix: 'Delete uploads that are no longer needed (`DELETE /v1/uploads/{id}`); `detail` gives the current use. If `class` is `trial`, buying credit once raises the limit permanently.',
  },
  api_key_quota_exceeded: {
    status: 403,
    title: 'API key quota exceeded',
    meaning: 'The account has reached its limit of API keys.',
    fix: 'Revoke keys that are no longer used; the list shows when each was last used.',
  },
  not_confirmed: {
    status: 403,
    title: 'Not confirmed',
    meaning:
      'The request does not prove that the owner of the account sent it: the address or password is wrong, or the sign-in is too old.',
    fix: 'Give the e-mail address and the password of the account. If it has no password, sign in again first.',
  },
  media_too_large: {
    status: 413,
    title: 'Media too large',
    ...MEDIA_TOO_LARGE,
  },
  upload_conflict: {
    status: 409,
    title: 'Upload conflict',
    meaning:
      'The bytes do not continue at `Upload-Offset`, another request sends to the same upload, or the upload is complete.',
    fix: 'Read `Upload-Offset` with HEAD, and send from there; standard tus clients do so automatically.',
  },
  upload_is_final: {
    status: 403,
    title: 'Upload is final',
    meaning: 'The upload is a concatenation of parts, so it takes no bytes of its own.',
    fix: 'Send bytes to a part before concatenating the parts, or begin another upload.',
  },
  upload_checksum_mismatch: {
    status: 460,
    title: 'Checksum mismatch',
    meaning: 'The checksum of the bytes differs from `Upload-Checksum`; none of them is kept.',
    fix: 'Send the same bytes again from the same `Upload-Offset`.',
  },
  tus_version_unsupported: {
    status: 412,
    title: 'tus version unsupported',
    meaning: 'Resumable uploads use version 1.0.0 of the tus protocol.',
    fix: 'Send `Tus-Resumable: 1.0.0`, or upload with a tus client.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    meaning: 'The rate limit is used up.',
    fix: 'Wait for `Retry-After` seconds. `RateLimit-Remaining` shows beforehand how many requests are left.',
  },
  too_many_writes: {
    status: 429,
    title: 'Too many writes',
    meaning:
      'The account has changed its streams, destinations, uploads and playlists as much as it may in a minute, counted in bytes that Kubernetes stores.',
    fix: 'Wait for `Retry-After` seconds; `retryAfterSeconds` is the same number. Put all changes of a playlist into one request (`POST /v1/playlists/{id}/changes`). Deletions are always possible.',
  },
  too_many_feeds: {
    status: 429,
    title: 'Too many feeds',
    meaning: 'The account has as many change feeds open on this server as it may.',
    fix: 'Close feeds that are not read, such as those of open pages. Share one feed among the parts of a program.',
  },
  too_many_uploads_at_once: {
    status: 429,
    title: 'Too many uploads at once',
    meaning: 'The account sends as many uploads to this server at the same time as it may.',
    fix: 'Send fewer files at the same time, or try again after `Retry-After` seconds. The server keeps the bytes it has received.',
  },
  too_many_previews: {
    status: 429,
    title: 'Too many previews',
    meaning: 'The stream, the upload or the account has as many previews open on this server as it may.',
    fix: 'Close previews that are not watched, and try again after `Retry-After` seconds. Send viewers to the destination, not to the preview.',
  },
  internal: {
    status: 500,
    title: 'Internal error',
    meaning: 'The server failed to handle the request, and logged the error.',
    fix: 'Try again, with growing pauses. If the error persists, report the id of the request (header `X-Request-Id`), which identifies the log entry.',
  },
  upstream_unavailable: {
    status: 502,
    title: 'Upstream unavailable',
    meaning: 'Kubernetes, the database or the media storage did not respond.',
    fix: 'Try again after `Retry-After` seconds, with growing pauses.',
  },
  shutting_down: {
    status: 503,
    title: 'Shutting down',
    meaning: 'This server is stopping.',
    fix: 'Try again after `Retry-After` seconds; another server takes the request.',
  },
  server_busy: {
    status: 503,
    title: 'Server busy',
    meaning: 'This server has reached its limit of concurrent requests of this kind.',
    fix: 'Try again after `Retry-After` seconds, with growing pauses. The server keeps the bytes of an upload that it has received.',
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

  /** `detail` explains this occurrence; where there is no more to say, it is the meaning of the code. */
  constructor(
    code: ErrorCode,
    detail: string = ERRORS[code].meaning,
    options: { cause?: unknown; extras?: Record<string, unknown> } = {},
  ) {
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
