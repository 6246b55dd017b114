/**
 * W3C Trace Context (https://www.w3.org/TR/trace-context/). We make no spans of our own, so what came is logged and passed
 * on as it is. Pure: no I/O, no clock.
 */
import type { IncomingHttpHeaders } from 'node:http';

const TRACEPARENT =
  /^(?:00-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}|(?!ff|00)[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?)$/;
/** What everybody must be able to pass on (section 3.3.1.5); more of it is left behind. */
const MAX_TRACESTATE = 512;

export interface Trace {
  traceId: string;
  /** To be sent with what is asked of others on behalf of the request. */
  headers: Record<string, string>;
}

/** Undefined where there is no trace, or none that can be read. */
export function readTrace({ traceparent, tracestate }: IncomingHttpHeaders): Trace | undefined {
  if (typeof traceparent !== 'string') return undefined;
  const [, first, later] = TRACEPARENT.exec(traceparent) ?? [];
  const traceId = first ?? later;
  if (traceId === undefined || /^0+$/.test(traceId) || traceparent.slice(36, 52) === '0'.repeat(16)) return undefined;
  const state = typeof tracestate === 'string' && tracestate.length <= MAX_TRACESTATE ? { tracestate } : {};
  return { traceId, headers: { traceparent, ...state } };
}
