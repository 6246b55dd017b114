import { afterEach, expect, test } from 'vitest';
import { currentSpan } from '../../../../../src/core/lib/context.ts';
import type { Span, SpanOptions } from '../../../../../src/core/lib/span.ts';
import { setTracer, startSpan } from '../../../../../src/core/lib/tracing/tracing.ts';
import { placeSpan, seeTrace, traceReconcile } from '../../../../../src/core/operator/runtime/reconcile-span.ts';
import { annotateTrace } from '../../../../../src/core/resources/common/trace.ts';
import { stream } from '../../../../kit/make/operator.ts';

const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const MINUTE = 60_000;
const written = annotateTrace(stream(), TRACEPARENT);
const done = { ...written, status: { observedGeneration: written.metadata.generation } } as typeof written;

afterEach(() => setTracer(undefined));

test('reconciles belong to the trace of a write for ten minutes, and link to it later', () => {
  const seen = seeTrace(written, undefined, 1000);
  expect(placeSpan(seen, 1000)).toEqual({ parent: { traceparent: TRACEPARENT } });
  const later = seeTrace(done, seen, 9 * MINUTE);
  expect(placeSpan(later, 9 * MINUTE)).toEqual({ parent: { traceparent: TRACEPARENT } });
  expect(placeSpan(later, 11 * MINUTE)).toEqual({ parent: 'none', links: [{ traceparent: TRACEPARENT }] });
});

test('a write that was worked on before the operator began is no reason to go on with its trace', () => {
  expect(placeSpan(seeTrace(done, undefined, 0), 0)).toEqual({ parent: 'none', links: [{ traceparent: TRACEPARENT }] });
  expect(seeTrace(stream(), undefined, 0)).toBeUndefined();
  expect(seeTrace(undefined, { traceparent: TRACEPARENT, sinceMs: 0 }, 0)).toBeUndefined();
});

test('another write begins anew', () => {
  const old = seeTrace(done, undefined, 0);
  const traceparent = TRACEPARENT.replace('4bf9', '4bfa');
  expect(placeSpan(seeTrace(annotateTrace(done, traceparent), old, 5), 5)).toEqual({ parent: { traceparent } });
});

/** Records the spans that are ended. */
function recordSpans(): (SpanOptions & { name: string; error?: string })[] {
  const ended: (SpanOptions & { name: string; error?: string })[] = [];
  setTracer((name, options): Span => {
    const one: (typeof ended)[number] = { name, ...options };
    return {
      traceId: 't',
      spanId: name,
      headers: { traceparent: name },
      set: () => undefined,
      fail: (error) => void Object.assign(one, { error }),
      end: () => void ended.push(one),
    };
  });
  return ended;
}

const clock = { now: () => new Date(0), monotonicMs: () => 0 };
const cache = { get: () => written };

test('a reconcile has a span where it asks Kubernetes for something, and none where it does not', async () => {
  const ended = recordSpans();
  let work: () => void = () => undefined;
  const reconcile = traceReconcile(
    'stream',
    cache,
    async () => {
      work();
      return undefined;
    },
    clock,
  );
  await reconcile('tv/bunny');
  expect(ended).toEqual([]);
  work = () => {
    expect(currentSpan()?.spanId).toBe('reconcile stream');
    startSpan('GET pods')?.end();
  };
  await reconcile('tv/bunny');
  expect(ended.map(({ name }) => name)).toEqual(['GET pods', 'reconcile stream']);
  expect(ended[1]).toMatchObject({
    parent: { traceparent: TRACEPARENT },
    attributes: { 'k8s.namespace.name': 'tv', 'loopstream.stream.name': 'bunny' },
  });
  work = () => {
    startSpan('GET pods');
    throw Object.assign(new Error('secret'), { reason: 'Conflict' });
  };
  await expect(reconcile('tv/bunny')).rejects.toThrow('secret');
  expect(ended[2]).toMatchObject({ name: 'reconcile stream', error: 'Conflict' });
  expect(JSON.stringify(ended)).not.toContain('secret');
});

test('while tracing is off, a reconcile is what it was', () => {
  const reconcile = async () => undefined;
  expect(traceReconcile('stream', cache, reconcile, clock)).toBe(reconcile);
});
