/**
 * Sends requests to the API of a platform. An answer has a longest time and a largest size, redirects are not followed, and an error
 * never has the text of a request or of an answer: both may hold secrets.
 */
import { Agent, request } from 'undici';
import { readBounded } from '../../lib/read-bounded.ts';

const CONNECT_TIMEOUT_MS = 5_000;
/** With name and TLS. Shorter than the time after which an insert counts as settled (youtube/repair.ts). */
const ANSWER_TIMEOUT_MS = 15_000;
/** An answer with fifty videos, the most in one call, has a tenth of it. */
const MAX_BYTES = 2 * 1024 * 1024;

export interface ApiRequest {
  url: URL;
  method?: 'GET' | 'POST';
  headers?: Readonly<Record<string, string>>;
  /** Sent as application/x-www-form-urlencoded. */
  form?: Readonly<Record<string, string>>;
  /** Sent as application/json. */
  json?: unknown;
}

export interface ApiAnswer {
  status: number;
  /** Undefined if it is no JSON. */
  body: unknown;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Resolves to undefined if no whole answer came in time. Whether the request took effect is not known then. */
export type SendApiRequest = (request: ApiRequest) => Promise<ApiAnswer | undefined>;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The connections end with the signal. */
export function createSender(signal: AbortSignal): SendApiRequest {
  const agent = new Agent({ connect: { timeout: CONNECT_TIMEOUT_MS }, connections: 16 });
  signal.addEventListener('abort', () => void agent.destroy(), { once: true });
  return async ({ url, method = 'GET', headers = {}, form, json }) => {
    const type = form ? 'application/x-www-form-urlencoded' : 'application/json';
    const content = form ? new URLSearchParams(form).toString() : JSON.stringify(json);
    try {
      const answer = await request(url, {
        dispatcher: agent,
        method,
        headers: { accept: 'application/json', ...(content !== undefined && { 'content-type': type }), ...headers },
        body: content ?? null,
        signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_TIMEOUT_MS)]),
      });
      const body = parseJson(await readBounded(answer.body, MAX_BYTES));
      return { status: answer.statusCode, body, headers: answer.headers };
    } catch {
      return undefined;
    }
  };
}
