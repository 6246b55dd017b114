import { afterEach, expect, test } from 'vitest';
import type { Pod } from '../../../../../src/core/kube/core.ts';
import type { ChangeHandler } from '../../../../../src/core/kube/reflector.ts';
import { setTracer } from '../../../../../src/core/lib/tracing/tracing.ts';
import { refineTime, tracePods } from '../../../../../src/core/operator/stream/pod-spans.ts';
import { TRACEPARENT_ANNOTATION } from '../../../../../src/core/resources/common/names.ts';

const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

afterEach(() => setTracer(undefined));

test('a time in whole seconds is the last moment that it can have been', () => {
  const refine = (seen: string) => refineTime('2026-01-01T00:00:10Z', new Date(seen)).toISOString();
  expect(refine('2026-01-01T00:00:10.250Z')).toBe('2026-01-01T00:00:10.250Z');
  expect(refine('2026-01-01T00:00:20.000Z')).toBe('2026-01-01T00:00:10.999Z');
  // The clock of the node is ahead.
  expect(refine('2026-01-01T00:00:09.000Z')).toBe('2026-01-01T00:00:10.000Z');
});

const buildPod = (traceparent: string | undefined, { started = false, ready = false } = {}): Pod =>
  ({
    metadata: {
      name: 'bunny-onair',
      namespace: 'tv',
      uid: 'pod-1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...(traceparent && { annotations: { [TRACEPARENT_ANNOTATION]: traceparent } }),
    },
    spec: { nodeName: 'node-1' },
    status: {
      ...(started && {
        containerStatuses: [
          { name: 'streamer', ready, restartCount: 0, state: { running: { startedAt: '2026-01-01T00:00:02Z' } } },
        ],
      }),
      ...(ready && {
        conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:03Z' }],
      }),
    },
  }) as unknown as Pod;

/** `previous` is a pod that was there before. */
function follow(previous?: Pod) {
  const spans: { name: string; parent: unknown; startTime: Date | undefined; endTime: Date | undefined }[] = [];
  setTracer((name, { parent, startTime }) => ({
    traceId: '',
    spanId: '',
    headers: {},
    set: () => undefined,
    fail: () => undefined,
    end: (endTime) => void spans.push({ name, parent, startTime, endTime }),
  }));
  let now = '';
  let handler: ChangeHandler<Pod> = () => undefined;
  const onChange = (given: typeof handler) => {
    handler = given;
    return () => undefined;
  };
  tracePods({ onChange }, { now: () => new Date(now), monotonicMs: () => 0 });
  let last = previous;
  const see = (at: string, current: Pod | undefined) => {
    now = at;
    handler('tv/bunny-onair', current as never, last as never);
    last = current;
  };
  return { spans, see };
}

test('the start of a pod is two spans with the times of Kubernetes, once', () => {
  const { spans, see } = follow();
  see('2026-01-01T00:00:00.100Z', buildPod(TRACEPARENT));
  see('2026-01-01T00:00:02.400Z', buildPod(TRACEPARENT, { started: true }));
  see('2026-01-01T00:00:03.900Z', buildPod(TRACEPARENT, { started: true, ready: true }));
  see('2026-01-01T00:00:30.000Z', buildPod(TRACEPARENT, { started: true }));
  see('2026-01-01T00:00:40.000Z', buildPod(TRACEPARENT, { started: true, ready: true }));
  see('2026-01-01T00:00:50.000Z', undefined);
  const parent = { traceparent: TRACEPARENT };
  const at = (text: string) => new Date(`2026-01-01T00:00:${text}Z`);
  expect(spans).toEqual([
    { name: 'pod start', parent, startTime: at('00.100'), endTime: at('02.400') },
    { name: 'go live', parent, startTime: at('02.400'), endTime: at('03.900') },
  ]);
});

test('a pod that was made while tracing was off has none, nor has one that was live before', () => {
  const { spans, see } = follow();
  see('2026-01-01T00:00:00.100Z', buildPod(undefined));
  see('2026-01-01T00:00:02.400Z', buildPod(undefined, { started: true, ready: true }));
  see('2026-01-01T00:00:02.500Z', undefined);
  expect(spans).toEqual([]);
  const late = follow(buildPod(TRACEPARENT, { started: true, ready: true }));
  late.see('2026-01-01T01:00:01.000Z', buildPod(TRACEPARENT, { started: true }));
  late.see('2026-01-01T01:00:02.000Z', buildPod(TRACEPARENT, { started: true, ready: true }));
  expect(late.spans.map(({ name }) => name)).toEqual([]);
});
