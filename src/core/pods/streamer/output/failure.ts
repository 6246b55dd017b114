/**
 * Classifies failures of a destination: ffmpeg's and the system's messages become stable codes, with the wait before
 * the next attempt.
 * Pure: no I/O, no clock.
 */

import { exponentialMs } from '../../../lib/backoff.ts';
import { DESTINATION_ERRORS, type FailureCode } from '../../../lib/codes/destinations.ts';
import type { Failure } from '../../../protocol/codes.ts';

export function redact(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of [...secrets].sort((a, b) => b.length - a.length)) clean = clean.replaceAll(secret, '[redacted]');
  return clean;
}

export const failure = (code: FailureCode, detail = ''): Failure => ({
  code,
  message:
    detail === '' ? DESTINATION_ERRORS[code].meaning : `${DESTINATION_ERRORS[code].meaning} (${detail.slice(0, 300)})`,
});

/**
 * The first match is the code. The words are those of ffmpeg 5.1 to 8 with GnuTLS or OpenSSL, of libsrt and of the C
 * library. A server's own words stand behind `Server error: `.
 */
const SIGNS: [FailureCode, RegExp][] = [
  ['dns_failed', /failed to resolve|name or service not known|name resolution|no address associated/i],
  ['connection_refused', /connection refused|connection setup failure: connection refused/i],
  ['tls_failed', /\[tls\b|certificate|gnutls|ssl routines/i],
  // ffmpeg has no password, so every answer about a login comes with "No credentials set".
  ['login_refused', /reason=(authfailed|nosuchuser)|incorrect username/i],
  ['login_required', /need ?auth|no credentials set|authmod=/i],
  ['key_in_use', /server error: .{0,200}(already|in use|badname|busy)/i],
  ['publish_rejected', /server error|unauthorized|rejected|reject reported/i],
  ['unreachable', /no route to host|network is unreachable|host is unreachable|connection timed out/i],
  // SRT runs over UDP, where a missing server and a silent one look the same.
  ['unreachable', /connection to srt:/i],
  // A server that does not complete RTMP's handshake has not seen the key yet.
  ['reset', /rtmp handshake/i],
  // Most servers do not answer a wrong key: they close the connection before they accept the publish.
  [
    'publish_rejected',
    /\[(error|fatal)\] (error opening output (file )?)?rtmps?:\/\/\S+: (input\/output error|end of file|broken pipe)/i,
  ],
  [
    'reset',
    /connection reset|broken pipe|end of file|input\/output error|i\/o error|connection was broken|connection does not exist/i,
  ],
];

/** Classifies the transport's last error lines, which are already redacted. */
export function classify(stderr: readonly string[]): Failure {
  for (const [code, sign] of SIGNS) {
    const line = stderr.find((l) => sign.test(l));
    // A server's words about a login are meant for programs.
    if (line !== undefined && code.startsWith('login_')) return failure(code);
    // Memory addresses help nobody, and make the same failure look like another one.
    if (line !== undefined) return failure(code, line.replace(/^\[(\S+) @ 0x[0-9a-f]+\] (\[error\] )?/, '$1: '));
  }
  return failure('exited', stderr.at(-1) ?? '');
}

/** ffmpeg's status after a signal that asked it to end, e.g. SIGTERM. */
const ENDED_BY_SIGNAL = 255;

/**
 * Classifies the end of a transport without error lines; `signal` ended it from outside, e.g. SIGKILL when memory ran
 * out.
 */
export function classifyEnd(status: number | null, signal: string | null): Failure {
  if (signal) return failure('killed', `signal ${signal}`);
  return failure(status === ENDED_BY_SIGNAL ? 'killed' : 'exited', `status ${status}`);
}

/** Classifies the system error code of a connection attempt. */
export function classifySystem(code: string | undefined): Failure {
  if (code === 'ECONNREFUSED') return failure('connection_refused');
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return failure('dns_failed');
  return failure('unreachable', code ?? '');
}

/**
 * The longest wait between attempts. Where no server listens, an attempt is one packet, so attempts are frequent enough
 * for media to flow within 2 s of the port listening again. A server that refuses is asked less often.
 */
const LONGEST_MS: Record<FailureCode, number> = {
  not_configured: 2000,
  dns_failed: 1000,
  connection_refused: 600,
  unreachable: 1000,
  connect_timeout: 5000,
  tls_failed: 15_000,
  key_in_use: 10_000,
  // It asks nobody.
  key_twice: 2000,
  login_required: 15_000,
  login_refused: 15_000,
  publish_rejected: 10_000,
  stalled: 2000,
  reset: 5000,
  killed: 5000,
  hung: 5000,
  exited: 5000,
};

/** Returns the milliseconds before attempt `attempt` (1 is the first after a failure); `random` is in [0, 1). */
export function backoffMs(code: FailureCode, attempt: number, random: number): number {
  const base = attempt <= 1 ? 150 : exponentialMs({ baseMs: 250, maxMs: LONGEST_MS[code] }, attempt - 2);
  return Math.round(base * (0.75 + 0.25 * random));
}

/** Reads the output bytes from one report of ffmpeg's `-progress`. */
export function progressBytes(report: string): number | undefined {
  const match = /^total_size=(\d+)$/m.exec(report);
  return match ? Number(match[1]) : undefined;
}
