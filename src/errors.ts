/**
 * The one table of public errors: code → HTTP status, title and what the code means. The code is the contract; REST's
 * problem+json, GraphQL's `extensions.code`, OpenAPI and docs/errors/ are made from it.
 */

export const ERRORS = {
  unauthenticated: {
    status: 401,
    title: 'Not authenticated',
    meaning: 'The API key or access token is missing, wrong, expired or revoked.',
  },
  insufficient_scope: {
    status: 403,
    title: 'Insufficient scope',
    meaning: 'The access token lacks the scope that this operation needs.',
  },
  route_not_found: { status: 404, title: 'No such path', meaning: 'No operation has this path.' },
  stream_not_found: { status: 404, title: 'Stream not found', meaning: 'No stream of this account has this id.' },
  upload_not_found: { status: 404, title: 'Upload not found', meaning: 'No upload of this account has this id.' },
  destination_not_found: {
    status: 404,
    title: 'Destination not found',
    meaning: 'No destination of this account has this id.',
  },
  playlist_not_found: { status: 404, title: 'Playlist not found', meaning: 'No playlist of this account has this id.' },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    meaning: 'The path exists, but not with this method.',
  },
  conflict: {
    status: 409,
    title: 'Conflict',
    meaning: 'The resource was changed by someone else at the same moment; read it and try again.',
  },
  stream_not_ready: {
    status: 409,
    title: 'Stream not ready',
    meaning: 'Something keeps the stream from starting; `issues` says what.',
  },
  stream_not_live: {
    status: 409,
    title: 'Stream not live',
    meaning: 'The stream is not on air, so there is nothing to show or act on.',
  },
  destination_in_use: { status: 409, title: 'Destination in use', meaning: 'A stream sends to this destination.' },
  upload_in_use: { status: 409, title: 'Upload in use', meaning: 'A stream or playlist plays this upload.' },
  playlist_in_use: { status: 409, title: 'Playlist in use', meaning: 'A stream plays this playlist.' },
  idempotency_key_reused: {
    status: 409,
    title: 'Idempotency key reused',
    meaning: 'This Idempotency-Key was sent with another request within 24 hours, or that request is still at work.',
  },
  payload_too_large: { status: 413, title: 'Body too large', meaning: 'A JSON body may have 1 MiB at most.' },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    meaning: 'Bodies are JSON: send Content-Type: application/json.',
  },
  malformed_json: { status: 400, title: 'Malformed JSON', meaning: 'The body is not JSON.' },
  validation_failed: {
    status: 422,
    title: 'Validation failed',
    meaning: 'A field or parameter is missing, unknown or not allowed; `errors` names each.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    meaning: 'The rate limit is used up; wait for Retry-After seconds.',
  },
  internal: { status: 500, title: 'Internal error', meaning: 'Something went wrong on our side; it was logged.' },
  upstream_unavailable: {
    status: 502,
    title: 'Upstream unavailable',
    meaning: 'Kubernetes, the database or the media storage did not answer; try again.',
  },
  shutting_down: { status: 503, title: 'Shutting down', meaning: 'This server is stopping; try again.' },
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
