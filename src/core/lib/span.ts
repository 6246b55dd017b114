/** Describes spans, as the rest of the product sees them. It imports nothing, so that it costs nothing while tracing is off. Pure. */

/** Values by the semantic conventions of OpenTelemetry. Never a secret, a body, or a URL with its query. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** W3C Trace Context: the headers traceparent and tracestate. */
export type TraceHeaders = Readonly<Record<string, string>>;

export interface SpanOptions {
  /** `server`: a request that came in. `client`: a request to another server. `internal` by default. */
  kind?: 'internal' | 'server' | 'client';
  attributes?: SpanAttributes;
  /** The span above this one. By default the current one; `none` begins a trace. */
  parent?: TraceHeaders | 'none';
  /** The span above is a stranger's: its trace goes on, but its word on sampling does not count. */
  isParentUntrusted?: boolean;
  /** Spans that led to this one, in other traces. */
  links?: readonly TraceHeaders[];
  /** Now by default. */
  startTime?: Date;
}

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** For requests to others on behalf of this span. */
  readonly headers: TraceHeaders;
  set(attributes: SpanAttributes): void;
  /** Marks the span as failed. `type` is a stable code, never a message. */
  fail(type: string): void;
  /** Hands the span to the exporter. A span that is never ended is dropped. */
  end(at?: Date): void;
}

/** Begins a span; `parent` is always said. */
export type StartSpan = (name: string, options: SpanOptions) => Span;
