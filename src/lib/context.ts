/** Carries values of a request to code far from it, so that the functions between need not pass them on. */
import { AsyncLocalStorage } from 'node:async_hooks';

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
  /** W3C Trace Context: the headers traceparent and tracestate as they came. */
  trace?: Record<string, string>;
  intent?: Intent;
}

const storage = new AsyncLocalStorage<RequestContext>();

/** Calls `work` so that all that it begins finds this, besides what there is already. */
export const within = <T>(more: RequestContext, work: () => T): T =>
  storage.run({ ...storage.getStore(), ...more }, work);

export const currentTrace = (): Record<string, string> | undefined => storage.getStore()?.trace;
export const currentIntent = (): Intent | undefined => storage.getStore()?.intent;
