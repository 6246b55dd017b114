/** Carries values of a request to code far from it, so that the functions between need not pass them on. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Span, TraceHeaders } from './span.ts';

/** The intent of a request with an Idempotency-Key: the same for every try of it. */
export interface Intent {
  /** When it was first tried. */
  since: Date;
  /** The next of the ids, in the order in which a try asks for them: each try is given the same ones. */
  newId(prefix: string): string;
  /** The id that the next `newId` returns. */
  nextId(prefix: string): string;
}

interface RequestContext {
  /** For requests to others: of the span, or as they came while tracing is off. */
  trace?: TraceHeaders;
  /** The span that the work belongs to, while tracing is on. */
  span?: Span;
  intent?: Intent;
}

const storage = new AsyncLocalStorage<RequestContext>();

/** Runs `work`, and all that it starts, with `more` added to the context. */
export const within = <T>(more: RequestContext, work: () => T): T =>
  storage.run({ ...storage.getStore(), ...more }, work);

/** Runs `work` without a request context: it serves no single request. */
export const outside = <T>(work: () => T): T => storage.exit(work);

export const currentTrace = (): TraceHeaders | undefined => storage.getStore()?.trace;
export const currentSpan = (): Span | undefined => storage.getStore()?.span;
export const currentIntent = (): Intent | undefined => storage.getStore()?.intent;
