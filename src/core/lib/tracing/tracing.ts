/**
 * Creates spans while tracing is on, and does nothing while it is off: the packages of OpenTelemetry are behind `setTracer`
 * (opentelemetry.ts), which main.ts loads only where an endpoint is configured.
 */
import { currentSpan, within } from '../context.ts';
import type { Span, SpanOptions, StartSpan } from '../span.ts';

let tracer: StartSpan | undefined;
const parents = new WeakSet<Span>();

/** Turns tracing on for this process, or off again. */
export const setTracer = (start: StartSpan | undefined): void => {
  tracer = start;
};

export const isTracing = (): boolean => tracer !== undefined;

/** Begins a span, by default below the current one; undefined while tracing is off. The caller ends it. */
export function startSpan(name: string, options: SpanOptions = {}): Span | undefined {
  if (!tracer) return undefined;
  const above = options.parent === undefined ? currentSpan() : undefined;
  if (above) parents.add(above);
  return tracer(name, { ...options, parent: options.parent ?? above?.headers ?? 'none' });
}

/** Whether spans were begun below this one. */
export const hasChildren = (span: Span): boolean => parents.has(span);

/** Calls `work` so that spans, requests to others and log lines that it begins belong to the span. */
export const withinSpan = <T>(span: Span, work: () => T): T => within({ trace: span.headers, span }, work);

/** The header traceparent of the current span; undefined while tracing is off, or outside of any span. */
export const currentTraceparent = (): string | undefined => currentSpan()?.headers.traceparent;

/** The stable code of an error: its reason, code or class. Its message may contain what a trace must not. */
export function getErrorType(error: unknown): string {
  const { reason, code, name } = (error ?? {}) as { reason?: unknown; code?: unknown; name?: unknown };
  return [reason, code, name].find((one): one is string => typeof one === 'string' && one !== '') ?? '_OTHER';
}
