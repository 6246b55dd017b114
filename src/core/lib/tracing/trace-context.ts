/** Reads W3C Trace Context (https://www.w3.org/TR/trace-context/). Pure: no I/O, no clock. */
import type { IncomingHttpHeaders } from 'node:http';
import type { TraceHeaders } from '../span.ts';

const TRACEPARENT =
  /^(?:00-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}|(?!ff|00)[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?)$/;
/** Everybody must propagate this length (section 3.3.1.5); longer values are dropped. */
const MAX_TRACESTATE = 512;

export interface Trace {
  traceId: string;
  /** Headers for requests to others on behalf of this one. */
  headers: TraceHeaders;
}

/** Returns undefined without a valid trace. */
export function readTrace({ traceparent, tracestate }: IncomingHttpHeaders): Trace | undefined {
  if (typeof traceparent !== 'string') return undefined;
  const [, first, later] = TRACEPARENT.exec(traceparent) ?? [];
  const traceId = first ?? later;
  if (traceId === undefined || /^0+$/.test(traceId) || traceparent.slice(36, 52) === '0'.repeat(16)) return undefined;
  const state = typeof tracestate === 'string' && tracestate.length <= MAX_TRACESTATE ? { tracestate } : {};
  return { traceId, headers: { traceparent, ...state } };
}
