/**
 * Sends one request to an address that a user named. It follows no redirect, reaches no private address, and reads no more of the answer
 * than is kept.
 */
import { request } from 'undici';
import type { DeliveryCode } from '../../../core/lib/codes/deliveries.ts';
import { type AddressLookup, guardedAgent } from '../../../core/lib/guarded-agent.ts';
import type { DeliveryAttempt } from './outcome.ts';

/** Receivers should answer at once and work later; the slow ones get the longest time that is customary. */
export const TIMEOUT_MS = 30_000;
const KEPT_BYTES = 1_000;
const MAX_RETRY_AFTER_SECONDS = 86_400;

export interface Outgoing {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string | undefined;
}

/** Never rejects. */
export type Post = (outgoing: Outgoing, signal?: AbortSignal) => Promise<DeliveryAttempt>;

class ForbiddenAddress extends Error {}

const CODES: Record<string, DeliveryCode> = {
  ENOTFOUND: 'dns_failed',
  EAI_AGAIN: 'dns_failed',
  ECONNREFUSED: 'connection_refused',
  CERT_HAS_EXPIRED: 'certificate_expired',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  ETIMEDOUT: 'timeout',
};
const CERTIFICATE = /^(CERT_|ERR_TLS_CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|HOSTNAME_MISMATCH)/;

function classify(error: unknown): DeliveryCode {
  if (error instanceof ForbiddenAddress) return 'address_forbidden';
  if (error instanceof DOMException && error.name === 'TimeoutError') return 'timeout';
  // Each of several addresses failed.
  if (error instanceof AggregateError && error.errors.length > 0) return classify(error.errors[0]);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return CODES[code] ?? (CERTIFICATE.test(code) ? 'certificate_invalid' : 'unreachable');
}

/** The beginning of a body, as text that a database takes. The rest is not read. */
async function readBeginning(body: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of body) {
    parts.push(part);
    size += part.length;
    if (size >= KEPT_BYTES) break;
  }
  const text = Buffer.concat(parts).subarray(0, KEPT_BYTES).toString('utf8');
  return text.replaceAll('\0', '');
}

const readRetryAfter = (header: unknown): number | undefined => {
  const text = String(header ?? '');
  if (/^\d{1,9}$/.test(text)) return Math.min(MAX_RETRY_AFTER_SECONDS, Number(text)) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
};

export interface PostOptions {
  allowPrivate: boolean;
  lookup?: AddressLookup;
  timeoutMs?: number;
}

/** `close` ends the connections that are kept open. */
export function createPost({ allowPrivate, lookup, timeoutMs = TIMEOUT_MS }: PostOptions): {
  post: Post;
  close(): Promise<void>;
} {
  const agent = guardedAgent({ allowPrivate, lookup, forbid: (detail) => new ForbiddenAddress(detail) });
  const post: Post = async ({ url, method, headers, body }, signal) => {
    const since = performance.now();
    const took = () => ({ tookMs: performance.now() - since });
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const response = await request(url, {
        dispatcher: agent,
        method: method as 'POST',
        headers,
        body: body ?? null,
        signal: signal ? AbortSignal.any([timeout, signal]) : timeout,
      });
      const text = await readBeginning(response.body).catch(() => '');
      const retryAfterMs = readRetryAfter(response.headers['retry-after']);
      return { status: response.statusCode, body: text, retryAfterMs, ...took() };
    } catch (error) {
      return { failure: timeout.aborted ? 'timeout' : classify(error), ...took() };
    }
  };
  return { post, close: () => agent.destroy() };
}
