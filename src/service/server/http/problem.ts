/**
 * Converts errors to problem documents (RFC 9457). Errors for clients are shown. All others become `internal` or
 * `upstream_unavailable`, with their details only in the log.
 */

import { KubeError } from '../../../core/kube/types.ts';
import type { Logger } from '../../../core/lib/log.ts';
import { isDatabaseError, isDataException } from '../../db/pool.ts';
import type { Problem } from '../../domain/problem/record.ts';
import { AppError, ERRORS, type ErrorCode } from '../../lib/errors.ts';

export const PROBLEM_TYPE = 'application/problem+json';

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
  if (isDataException(error))
    return new AppError(
      'validation_failed',
      'A text or number of the request cannot be stored or compared. Correct it.',
      { cause: error },
    );
  if (isDatabaseError(error))
    return new AppError('upstream_unavailable', 'The database did not respond. Try again.', { cause: error });
  const known = mapFastifyCode(error);
  if (known) return new AppError(known, undefined, { cause: error });
  return new AppError('internal', ERRORS.internal.meaning, { cause: error });
}

/**
 * Returns whether an operator of the service should look at an error. A 5xx without a cause is a state, such as `server_busy` or
 * `crypto_rate_unavailable`. Strangers can cause it at will, so it is not worth a log line.
 */
const isOurFault = ({ code, status, cause }: AppError): boolean =>
  status >= 500 && (cause !== undefined || code === 'internal' || code === 'upstream_unavailable');

export type ProblemLog = Pick<Logger, 'error' | 'info' | 'debug'>;

/**
 * Logs an error that an operator of the service should look at. A value that the database refuses is the caller's mistake, which a
 * check of ours should have found: it is logged at level info, without the value.
 * `tool`: the tool of agents that failed.
 */
export function logProblem(log: ProblemLog, error: AppError, message: string, tool?: string): void {
  const { cause, code, status } = error;
  if (isOurFault(error)) log.error({ err: cause ?? error, code, tool }, message);
  else if (status >= 500) log.debug({ err: cause ?? error, code, tool }, message);
  else if (isDataException(cause))
    log.info({ code, sqlState: cause.code, tool }, 'the database refused a value of a request');
}

export const toProblem = ({ code, message, extras }: AppError): Problem => ({
  type: `/docs/errors/${code}`,
  title: ERRORS[code].title,
  status: ERRORS[code].status,
  detail: message,
  code,
  ...extras,
});
