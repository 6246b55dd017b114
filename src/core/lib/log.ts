/**
 * Creates the structured logger of a process: JSON lines on stderr, so that stdout stays free for the output of a
 * command.
 */
import pino, { type DestinationStream, type Logger } from 'pino';
import { currentSpan } from './context.ts';

export type { Logger };

/** Paths that pino redacts in every line. */
export const REDACTED = [
  'rtmpKey',
  '*.rtmpKey',
  // The short name of a request; elsewhere, a key names an object.
  'input.key',
  'body.key',
  'rtmpUser',
  '*.rtmpUser',
  'rtmpPassword',
  '*.rtmpPassword',
  'apiKey',
  '*.apiKey',
  'secretAccessKey',
  '*.secretAccessKey',
  'databaseUrl',
  '*.databaseUrl',
  'redisUrl',
  '*.redisUrl',
  'rpcUrl',
  '*.rpcUrl',
  'esploraUrl',
  '*.esploraUrl',
  'ratesUrl',
  '*.ratesUrl',
  'smtpUrl',
  '*.smtpUrl',
  'authSecret',
  '*.authSecret',
  'clientSecret',
  '*.clientSecret',
  'refreshToken',
  '*.refreshToken',
  'accessToken',
  '*.accessToken',
  'headers.authorization',
  'headers["x-api-key"]',
  'headers.cookie',
];

/** A logger with this mark names its trace itself (server/http/requestlog.ts). */
export const NAMES_TRACE = Symbol('names its trace');

/** Names the span that a line belongs to, as OpenTelemetry asks of logs in JSON. */
const nameSpan = (_line: object, _level: number, logger: object) => {
  const span = NAMES_TRACE in logger ? undefined : currentSpan();
  return span ? { trace_id: span.traceId, span_id: span.spanId } : {};
};

/** `level` is one of pino's; `role` stands in every line. Tests have it written elsewhere. */
export function createLogger(
  role: string,
  level = 'info',
  destination: DestinationStream = pino.destination({ dest: 2, sync: true }),
): Logger {
  return pino(
    {
      level,
      base: { role },
      mixin: nameSpan,
      redact: { paths: REDACTED, censor: '[redacted]' },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    destination,
  );
}
