/**
 * Tells passing failures of a server from lasting ones, and reads how long the server asks to be left alone. Pure: no
 * I/O, no clock.
 */
import { PrepareError } from '../failure/failure.ts';
import { isUnreadable } from './unreadable.ts';

interface PassingOptions {
  cause?: unknown;
  /** Milliseconds that the server asks to be left alone. */
  retryAfterMs?: number | undefined;
  /** True where minutes may mend the failure; otherwise only a few immediate retries are worth it. */
  isOutage?: boolean;
}

/** A failure that a retry may mend. */
export class PassingError extends Error {
  readonly retryAfterMs: number | undefined;
  readonly isOutage: boolean;

  constructor(message: string, { cause, retryAfterMs, isOutage = true }: PassingOptions = {}) {
    super(message, { cause });
    this.retryAfterMs = retryAfterMs;
    this.isOutage = isOutage;
  }
}

/** The bytes so far are worthless, because the rest cannot be had. */
export class BrokenOffError extends Error {}

/**
 * Statuses of a server that may be well in minutes: RFC 9110 15, RFC 6585, RFC 8470, and those that web hosts (509,
 * 529) and Cloudflare (520 to 524, 530) add. 202: the file is still being made.
 */
const OUTAGES = new Set([202, 408, 425, 429, 502, 503, 504, 509, 520, 521, 522, 523, 524, 529, 530]);
/** Most often a fault of the server's program, which minutes do not mend. */
const FAULT = 500;

/** Explains an answer without the file; undefined where it may be the file. */
export function explainStatus(status: number, retryAfterMs: number | undefined): PassingError | undefined {
  const message = `The server returned status ${status}.`;
  if (OUTAGES.has(status)) return new PassingError(message, { retryAfterMs });
  // A server that names a time to come back means it, whatever its status.
  if (status >= 400 && retryAfterMs !== undefined) return new PassingError(message, { retryAfterMs });
  return status === FAULT ? new PassingError(message, { isOutage: false }) : undefined;
}

const all = (header: string | string[] | undefined): string[] => [header ?? []].flat();

/**
 * Reads Retry-After (RFC 9110 10.2.3): seconds, or a date, which counts from the server's own Date if it sends one.
 * Returns milliseconds from now; undefined for an unreadable value.
 */
export function readRetryAfter(headers: Record<string, string | string[] | undefined>, now: Date): number | undefined {
  const sent = Date.parse(all(headers.date)[0] ?? '');
  for (const text of all(headers['retry-after']).map((value) => value.trim())) {
    if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
    // Date.parse takes bare numbers for years.
    const at = /[a-z]/i.test(text) || /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
    if (!Number.isNaN(at)) return Math.max(0, at - (Number.isNaN(sent) ? now.getTime() : sent));
  }
  return undefined;
}

const LATE = 'The server did not respond in time.';
const OUTAGE_REASONS: Record<string, string> = {
  EAI_AGAIN: 'The host name could not be resolved at the moment.',
  ECONNREFUSED: 'The server refused the connection.',
  ECONNRESET: 'The server closed the connection.',
  ECONNABORTED: 'The server closed the connection.',
  EPIPE: 'The server closed the connection.',
  UND_ERR_SOCKET: 'The server closed the connection.',
  EHOSTUNREACH: 'The server cannot be reached at the moment.',
  EHOSTDOWN: 'The server cannot be reached at the moment.',
  ENETUNREACH: 'The server cannot be reached at the moment.',
  ENETDOWN: 'The server cannot be reached at the moment.',
  UND_ERR_CONNECT_TIMEOUT: LATE,
  UND_ERR_HEADERS_TIMEOUT: LATE,
  UND_ERR_BODY_TIMEOUT: 'The server stopped sending data.',
  ETIMEDOUT: LATE,
};

/** Codes of OpenSSL and Node for a certificate that cannot be trusted. */
const CERTIFICATE = /^(CERT_|ERR_TLS_CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|HOSTNAME_MISMATCH)/;
const CERTIFICATE_REASONS: Record<string, string> = {
  CERT_HAS_EXPIRED: 'it has expired',
  CERT_NOT_YET_VALID: 'it is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'it is for another host name',
  HOSTNAME_MISMATCH: 'it is for another host name',
  CERT_REVOKED: 'it was revoked',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the server has signed it itself',
};
const UNKNOWN_ISSUER = 'its issuer is not known, or the server does not send all certificates of the chain';
/** Codes of OpenSSL and Node for a server with which no encrypted connection can be agreed on. */
const TLS = /^(ERR_SSL_|EPROTO$|ERR_TLS_)/;

function findCode(error: unknown): string {
  // An AggregateError: each of several addresses failed.
  if (error instanceof AggregateError && !('code' in error && error.code)) return findCode(error.errors[0]);
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}

/** Classifies a network error: final (PrepareError) or worth a retry. Codes of libraries stay in the cause. */
export function explainError(error: unknown): PrepareError | PassingError | BrokenOffError {
  if (error instanceof PrepareError || error instanceof PassingError || error instanceof BrokenOffError) return error;
  const code = findCode(error);
  const final = (detail: string) => new PrepareError('link_unreachable', detail, { cause: error });
  if (code === 'ENOTFOUND') return final('The host name does not exist, or has no public address.');
  if (CERTIFICATE.test(code))
    return final(`The certificate of the server is not valid: ${CERTIFICATE_REASONS[code] ?? UNKNOWN_ISSUER}.`);
  const reason = OUTAGE_REASONS[code];
  if (reason !== undefined) return new PassingError(reason, { cause: error });
  const brief = { cause: error, isOutage: false };
  if (TLS.test(code))
    return new PassingError(
      'The server accepts no encrypted connection. Check whether its link begins with http:// or https://.',
      brief,
    );
  if (isUnreadable(error)) return new PassingError('The answer of the server is not valid HTTP.', brief);
  return new PassingError('The connection to the server failed.', brief);
}
