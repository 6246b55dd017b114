/** Tests the export of spans by the packages of OpenTelemetry, to a server that answers as a collector does. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { currentTrace } from '../../../../../src/core/lib/context.ts';
import { Lifecycle } from '../../../../../src/core/lib/lifecycle.ts';
import { createLogger } from '../../../../../src/core/lib/log.ts';
import { openTracing } from '../../../../../src/core/lib/tracing/opentelemetry.ts';
import type { TracingSettings } from '../../../../../src/core/lib/tracing/settings.ts';
import { hasChildren, isTracing, startSpan, withinSpan } from '../../../../../src/core/lib/tracing/tracing.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SAMPLED = { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` };
const UNSAMPLED = { traceparent: `00-${TRACE}-00f067aa0ba902b7-00` };

let collector: Server;
let status: number;
let requests: number;
let lifecycle: Lifecycle;
let lines: Record<string, unknown>[];

beforeEach(async () => {
  [status, requests, lines] = [200, 0, []];
  collector = createServer((request, response) => {
    request.resume().on('end', () => {
      requests++;
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', `http://127.0.0.1:${(collector.address() as AddressInfo).port}`);
  lifecycle = new Lifecycle();
});
afterEach(async () => {
  await lifecycle.stop();
  vi.unstubAllEnvs();
  collector.closeAllConnections();
  await new Promise((resolve) => collector.close(resolve));
});

const log = () => createLogger('test', 'info', { write: (line: string) => void lines.push(JSON.parse(line)) });
const open = (settings: Partial<TracingSettings> = {}) =>
  openTracing(
    { sampler: 'parentbased_always_on', ratio: 1, ...settings },
    { name: 'loopstream-test', version: '1' },
    { lifecycle, log: log() },
  );
const isSampled = (options: Parameters<typeof startSpan>[1]): boolean =>
  startSpan('x', options)?.headers.traceparent?.endsWith('-01') === true;

test('while tracing is off there are no spans', () => {
  expect(isTracing()).toBe(false);
  expect(startSpan('x')).toBeUndefined();
});

test('a span goes on with the trace of the one above, and hands itself on to requests and log lines', () => {
  open();
  const above = startSpan('above', { parent: SAMPLED });
  if (!above) throw new Error('tracing is off');
  expect(above.traceId).toBe(TRACE);
  expect(hasChildren(above)).toBe(false);
  withinSpan(above, () => {
    expect(currentTrace()).toEqual({ traceparent: `00-${TRACE}-${above.spanId}-01` });
    log().info('within');
    expect(startSpan('below')?.traceId).toBe(TRACE);
  });
  log().info('outside');
  expect(hasChildren(above)).toBe(true);
  expect(lines[0]).toMatchObject({ trace_id: TRACE, span_id: above.spanId });
  expect(lines[1]).not.toHaveProperty('trace_id');
});

test('the span above decides on sampling, where it is not a stranger’s', () => {
  open();
  expect(isSampled({ parent: SAMPLED })).toBe(true);
  expect(isSampled({ parent: UNSAMPLED })).toBe(false);
  expect(isSampled({ parent: UNSAMPLED, isParentUntrusted: true })).toBe(true);
});

test('a stranger forces no sampling, neither by the flag nor by a trace id that the ratio takes', () => {
  open({ sampler: 'parentbased_traceidratio', ratio: 0.001 });
  const easy = { traceparent: '00-00000000000000000000000000000001-00f067aa0ba902b7-01' };
  const decisions = Array.from({ length: 200 }, () => isSampled({ parent: easy, isParentUntrusted: true }));
  expect(decisions.filter((sampled) => sampled).length).toBeLessThan(20);
  expect(startSpan('x', { parent: easy, isParentUntrusted: true })?.traceId).toMatch(/^0+1$/);
});

test('spans that wait are sent when the process ends', async () => {
  open();
  startSpan('last')?.end();
  await lifecycle.stop();
  expect(requests).toBe(1);
  expect(isTracing()).toBe(false);
});

test('a collector that refuses spans costs one log line, and ends nothing', async () => {
  status = 403;
  open();
  for (let batch = 0; batch < 3; batch++) for (let span = 0; span < 512; span++) startSpan('x')?.end();
  await lifecycle.stop();
  // Each of them was refused.
  expect(requests).toBeGreaterThan(1);
  expect(lines.map(({ msg }) => msg)).toEqual(['the collector accepts no spans; they are dropped']);
});
