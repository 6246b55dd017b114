/**
 * Exports spans by OTLP with the packages of OpenTelemetry. Only main.ts loads this file, and only where tracing is on. The
 * exporter reads OTEL_EXPORTER_OTLP_* itself, as in every program with OpenTelemetry (docs/tracing.md).
 */
import {
  type Context,
  createContextKey,
  createTraceState,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  RandomIdGenerator,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Lifecycle } from '../lifecycle.ts';
import type { Logger } from '../log.ts';
import type { SpanAttributes, SpanOptions, StartSpan, TraceHeaders } from '../span.ts';
import type { TracingSettings } from './settings.ts';
import { readTrace } from './trace-context.ts';
import { setTracer } from './tracing.ts';

/** Well within the time that Kubernetes gives a pod to end. */
const FLUSH_MS = 5_000;
/** Spans that wait for the collector; more are dropped. One takes about 1 KiB. */
const QUEUE = 2048;

const KINDS = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;
const UNTRUSTED = createContextKey('The span above is a stranger’s.');

/** Turns tracing on until the lifecycle ends, which waits at most 5 s for the last spans. */
export function openTracing(
  settings: TracingSettings,
  service: { name: string; version: string },
  { lifecycle, log }: { lifecycle: Lifecycle; log: Logger },
): void {
  const exporter = logFailures(new OTLPTraceExporter(), log);
  const named = resourceFromAttributes({ 'service.name': service.name, 'service.version': service.version });
  const given = detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] });
  const provider = new TracerProvider({
    resource: defaultResource().merge(named).merge(given),
    sampler: createSampler(settings),
    spanProcessors: [new BatchSpanProcessor({ exporter, maxQueueSize: QUEUE, exportTimeoutMillis: 2 * FLUSH_MS })],
  });
  const tracer = provider.getTracer('loopstream', service.version);
  const start: StartSpan = (name, { kind = 'internal', attributes = {}, links = [], startTime, ...above }) =>
    wrap(
      tracer.startSpan(
        name,
        {
          kind: KINDS[kind],
          attributes: dropUndefined(attributes),
          links: links.flatMap((link) => toSpanContext(link) ?? []).map((context) => ({ context })),
          ...(startTime && { startTime }),
        },
        buildContext(above),
      ),
    );
  setTracer(start);
  lifecycle.defer(
    'traces',
    async () => {
      setTracer(undefined);
      // A collector that is away has been logged already.
      await provider.shutdown().catch(() => undefined);
    },
    FLUSH_MS,
  );
}

/** Logs the first failure in a row, and the first success after it. */
function logFailures(exporter: SpanExporter, log: Logger): SpanExporter {
  let lost = 0;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.code === 0) {
          if (lost > 0) log.info({ lost }, 'the collector accepts spans again');
          lost = 0;
        } else {
          if (lost === 0)
            log.warn({ reason: result.error?.message }, 'the collector accepts no spans; they are dropped');
          lost += spans.length;
        }
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}

function createSampler({ sampler, ratio }: TracingSettings): Sampler {
  const root = createRoot(sampler, ratio);
  const trusting = sampler === 'always_on' ? root : new ParentBasedSampler({ root });
  const ids = new RandomIdGenerator();
  return {
    shouldSample: (context, traceId, ...rest) =>
      context.getValue(UNTRUSTED) === undefined
        ? trusting.shouldSample(context, traceId, ...rest)
        : // By a trace id of ours: a stranger could choose one that the ratio always takes.
          root.shouldSample(ROOT_CONTEXT, ids.generateTraceId(), ...rest),
    toString: () => `loopstream{${trusting.toString()}}`,
  };
}

function createRoot(sampler: TracingSettings['sampler'], ratio: number): Sampler {
  switch (sampler) {
    case 'always_on':
    case 'parentbased_always_on':
      return new AlwaysOnSampler();
    case 'parentbased_always_off':
      return new AlwaysOffSampler();
    case 'parentbased_traceidratio':
      return new TraceIdRatioBasedSampler(ratio);
  }
}

function buildContext({ parent, isParentUntrusted }: Pick<SpanOptions, 'parent' | 'isParentUntrusted'>): Context {
  const context = parent === undefined || parent === 'none' ? undefined : toSpanContext(parent);
  if (!context) return ROOT_CONTEXT;
  const below = trace.setSpanContext(ROOT_CONTEXT, context);
  return isParentUntrusted ? below.setValue(UNTRUSTED, true) : below;
}

function toSpanContext(headers: TraceHeaders): SpanContext | undefined {
  const read = readTrace(headers);
  if (!read) return undefined;
  const { traceparent = '', tracestate } = read.headers;
  return {
    traceId: read.traceId,
    spanId: traceparent.slice(36, 52),
    traceFlags: Number.parseInt(traceparent.slice(53, 55), 16) & TraceFlags.SAMPLED,
    isRemote: true,
    ...(tracestate !== undefined && { traceState: createTraceState(tracestate) }),
  };
}

/** Shows a span of OpenTelemetry as the rest of the product knows spans. */
function wrap(span: OtelSpan): ReturnType<StartSpan> {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  const tracestate = traceState?.serialize();
  return {
    traceId,
    spanId,
    headers: {
      traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
      ...(tracestate && { tracestate }),
    },
    set: (attributes) => void span.setAttributes(dropUndefined(attributes)),
    fail: (type) => void span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR }),
    end: (at) => span.end(at),
  };
}

const dropUndefined = (attributes: SpanAttributes) =>
  Object.fromEntries(
    Object.entries(attributes).filter((entry): entry is [string, string | number | boolean] => entry[1] !== undefined),
  );
