/**
 * Converts errors to problem documents (RFC 9457). Errors for clients are shown. All others become `internal` or
 * `upstream_unavailable`, with their details only in the log.
 */
import { type Static, Type } from 'typebox';
import { isDatabaseError } from '../../db/pool.ts';
import { ReadinessIssue } from '../../domain/streams/record.ts';
import { KubeError } from '../../kube/types.ts';
import { AppError, ERRORS, type ErrorCode } from '../../lib/errors.ts';
import { ACCOUNT_CLASSES } from '../../settings/limits.ts';

export const PROBLEM_TYPE = 'application/problem+json';

export const Problem = Type.Object(
  {
    type: Type.String({ format: 'uri-reference', description: 'Page that explains the code.' }),
    title: Type.String({ description: 'Short summary of the code.' }),
    status: Type.Integer({ description: 'HTTP status.' }),
    detail: Type.String({ description: 'Explanation of this occurrence.' }),
    code: Type.Enum(Object.keys(ERRORS) as ErrorCode[], { description: 'Stable code. Branch on it.' }),
    errors: Type.Optional(
      Type.Array(Type.Object({ path: Type.String(), message: Type.String() }), {
        description:
          'With validation_failed, link_forbidden and destination_forbidden: each field or parameter that is wrong, by its JSON pointer (RFC 6901).',
      }),
    ),
    issues: Type.Optional(
      Type.Array(ReadinessIssue, { description: 'With stream_not_ready: what keeps the stream from starting.' }),
    ),
    streamIDs: Type.Optional(
      Type.Array(Type.String(), { description: 'With a code that ends in _in_use: the streams that use it.' }),
    ),
    playlistIDs: Type.Optional(
      Type.Array(Type.String(), { description: 'With upload_in_use: the playlists that play it.' }),
    ),
    scope: Type.Optional(Type.String({ description: 'With insufficient_scope: the scope that is missing.' })),
    limit: Type.Optional(
      Type.String({ description: 'With quota_exceeded and other limits of an account: its name in `GET /v1/limits`.' }),
    ),
    used: Type.Optional(Type.Number({ description: 'With `limit`: what the account has of it.' })),
    allowed: Type.Optional(Type.Number({ description: 'With `limit`: what it may have.' })),
    class: Type.Optional(Type.Enum(ACCOUNT_CLASSES, { description: 'With `limit`: the class of the account.' })),
    currentVersion: Type.Optional(
      Type.Integer({ description: 'With playlist_version_conflict: the version that the playlist has by now.' }),
    ),
  },
  { title: 'Problem' },
);
export type Problem = Static<typeof Problem>;

/** Codes for Fastify's own client errors by status; others become `malformed_request`. */
const FROM_FASTIFY: Record<number, ErrorCode> = {
  404: 'route_not_found',
  408: 'request_timeout',
  413: 'payload_too_large',
  // A path parameter longer than any id.
  414: 'route_not_found',
  415: 'unsupported_media_type',
};

/** Errors whose status differs from ours. */
const FROM_FASTIFY_CODE: Record<string, ErrorCode> = { FST_ERR_BAD_URL: 'route_not_found' };

function mapFastifyCode(error: unknown): ErrorCode | undefined {
  const { code, statusCode } = (error ?? {}) as { code?: unknown; statusCode?: unknown };
  const isTheirs = typeof code === 'string' && code.startsWith('FST_') && typeof statusCode === 'number';
  if (!isTheirs || statusCode < 400 || statusCode > 499) return undefined;
  return FROM_FASTIFY_CODE[code] ?? FROM_FASTIFY[statusCode] ?? 'malformed_request';
}

/** Returns the error for clients; `cause` keeps the original. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof KubeError)
    return new AppError('upstream_unavailable', 'Kubernetes failed to handle the request. Try again.', {
      cause: error,
    });
  if (isDatabaseError(error))
    return new AppError('upstream_unavailable', 'The database did not respond. Try again.', { cause: error });
  const known = mapFastifyCode(error);
  if (known) return new AppError(known, ERRORS[known].meaning, { cause: error });
  return new AppError('internal', ERRORS.internal.meaning, { cause: error });
}

/**
 * Returns whether an operator of the service should look at an error. A 5xx without a cause is a state, such as `server_busy` or
 * `crypto_rate_unavailable`. Strangers can cause it at will, so it is not worth a log line.
 */
export const isOurFault = ({ code, status, cause }: AppError): boolean =>
  status >= 500 && (cause !== undefined || code === 'internal' || code === 'upstream_unavailable');

export const toProblem = ({ code, message, extras }: AppError): Problem => ({
  type: `/docs/errors/${code}`,
  title: ERRORS[code].title,
  status: ERRORS[code].status,
  detail: message,
  code,
  ...extras,
});
