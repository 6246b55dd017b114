/**
 * Begins a span for each reconcile while tracing is on. A reconcile that asks nothing of Kubernetes did nothing, so its span is dropped: a
 * steady stream leaves no trace.
 */
import type { KubeObject, Stored } from '../../kube/types.ts';
import type { Clock } from '../../lib/clock.ts';
import type { TraceHeaders } from '../../lib/span.ts';
import { getErrorType, hasChildren, isTracing, startSpan, withinSpan } from '../../lib/tracing/tracing.ts';
import { readTraceparent } from '../../resources/common/trace.ts';
import { type Reconcile, splitKey } from './controller.ts';

type Traced = Stored<KubeObject<unknown, { observedGeneration?: number }>>;

/** So long after a write its reconciles belong to its trace. Later ones begin a trace of their own, with a link to it. */
const FRESH_MS = 600_000;

/** The annotation of an object, and since when it is known. */
export interface SeenTrace {
  traceparent: string;
  /** By the monotonic clock; -Infinity if it was reconciled before this process began. */
  sinceMs: number;
}

/** Remembers when the annotation of an object was first seen. Pure. */
export function seeTrace(
  object: Traced | undefined,
  seen: SeenTrace | undefined,
  nowMs: number,
): SeenTrace | undefined {
  const traceparent = object && readTraceparent(object);
  if (object === undefined || traceparent === undefined) return undefined;
  if (seen) return seen.traceparent === traceparent ? seen : { traceparent, sinceMs: nowMs };
  const isDone = object.status?.observedGeneration === object.metadata.generation;
  return { traceparent, sinceMs: isDone ? Number.NEGATIVE_INFINITY : nowMs };
}

/** Where the span of a reconcile belongs. Pure. */
export function placeSpan(
  seen: SeenTrace | undefined,
  nowMs: number,
): { parent: TraceHeaders | 'none'; links?: readonly TraceHeaders[] } {
  if (!seen) return { parent: 'none' };
  const { traceparent, sinceMs } = seen;
  return nowMs - sinceMs < FRESH_MS ? { parent: { traceparent } } : { parent: 'none', links: [{ traceparent }] };
}

/** `kind` is the controller's name, such as `stream`. */
export function traceReconcile(
  kind: string,
  cache: { get(namespace: string, name: string): Traced | undefined },
  reconcile: Reconcile,
  clock: Clock,
): Reconcile {
  if (!isTracing()) return reconcile;
  const known = new Map<string, SeenTrace>();
  return async (key) => {
    const [namespace, name] = splitKey(key);
    const nowMs = clock.monotonicMs();
    const seen = seeTrace(cache.get(namespace, name), known.get(key), nowMs);
    if (seen) known.set(key, seen);
    else known.delete(key);
    const span = startSpan(`reconcile ${kind}`, {
      ...placeSpan(seen, nowMs),
      attributes: { 'k8s.namespace.name': namespace, [`loopstream.${kind}.name`]: name },
    });
    if (!span) return reconcile(key);
    try {
      return await withinSpan(span, () => reconcile(key));
    } catch (error) {
      span.fail(getErrorType(error));
      throw error;
    } finally {
      if (hasChildren(span)) span.end();
    }
  };
}
