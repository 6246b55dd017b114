/**
 * Creates the structured logger of a process: JSON lines on stderr, so that stdout stays free for the output of a
 * command.
 */
import pino, { type DestinationStream, type Logger } from 'pino';

export type { Logger };

/** Paths that pino redacts in every line. */
export const REDACTED = [
  'rtmpKey',
  '*.rtmpKey',
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
  'headers.authorization',
  'headers["x-api-key"]',
  'headers.cookie',
];

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
      redact: { paths: REDACTED, censor: '[redacted]' },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    destination,
  );
}
