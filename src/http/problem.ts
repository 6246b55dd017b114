/**
 * Errors as problem documents (RFC 9457). Whatever was thrown ends here: what is meant for clients is shown, all else
 * becomes `internal` or `upstream_unavailable` with nothing of its inside, which goes to the log.
 */
import { type Static, Type } from 'typebox';
import { isDatabaseError } from '../db/pool.ts';
import { AppError, ERRORS, type ErrorCode } from '../errors.ts';
import { KubeError } from '../kube/types.ts';
import { ReadinessIssue } from '../streams/record.ts';

export const PROBLEM_TYPE = 'application/problem+json';

export const Problem = Type.Object(
  {
    type: Type.String({ format: 'uri-reference', description: 'A page that explains the code.' }),
    title: Type.String({ description: 'Short summary of the code.' }),
    status: Type.Integer({ description: 'The HTTP status.' }),
    detail: Type.String({ description: 'What happened this time.' }),
    code: Type.Enum(Object.keys(ERRORS) as ErrorCode[], { description: 'Stable; branch on this.' }),
    errors: Type.Optional(
      Type.Array(Type.Object({ path: Type.String(), message: Type.String() }), {
        description: 'With validation_failed: each field or parameter that is wrong, by its JSON pointer (RFC 6901).',
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
    currentVersion: Type.Optional(
      Type.Integer({ description: 'With playlist_version_conflict: the version that the playlist has by now.' }),
    ),
  },
  { title: 'Problem' },
);
export type Problem = Static<typeof Problem>;

/** Fastify's own errors that clients cause. */
const FROM_FASTIFY: Record<string, ErrorCode> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  // QUERY (RFC 10008, section 2) to a path that does not exist.
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'malformed_json',
  FST_ERR_CTP_INVALID_JSON_BODY: 'malformed_json',
  FST_ERR_BAD_URL: 'route_not_found',
  FST_ERR_MAX_PARAM_LENGTH: 'route_not_found',
};

/** The error that clients may see; `cause` keeps the one that was thrown. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof KubeError)
    return new AppError('upstream_unavailable', 'Kubernetes did not do what was asked; try again.', { cause: error });
  if (isDatabaseError(error))
    return new AppError('upstream_unavailable', 'The database did not answer; try again.', { cause: error });
  const known = FROM_FASTIFY[(error as { code?: string } | null)?.code ?? ''];
  if (known) return new AppError(known, ERRORS[known].meaning, { cause: error });
  return new AppError('internal', ERRORS.internal.meaning, { cause: error });
}

export const toProblem = ({ code, message, extras }: AppError): Problem => ({
  type: `/docs/errors/${code}`,
  title: ERRORS[code].title,
  status: ERRORS[code].status,
  detail: message,
  code,
  ...extras,
});
