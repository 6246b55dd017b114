/** Tests the event recorder where thousands of events come at once: what is kept, what is dropped, and that a drop is counted. */
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createEventRecorder, type EventInput } from '../../../../src/core/kube/events.ts';
import { eventMetrics } from '../../../../src/core/kube/metrics.ts';
import { type Kube, KubeError } from '../../../../src/core/kube/types.ts';

const STREAMS = 10_000;

/** A recorder whose API server answers when `open` is called. */
function stage(create: () => Promise<object> = async () => ({})) {
  const written: string[] = [];
  const gate = Promise.withResolvers<void>();
  const kube = {
    create: async (_resource: unknown, _namespace: string, { type }: EventInput) => {
      await gate.promise;
      const made = await create();
      written.push(type);
      return made;
    },
  } as unknown as Kube;
  const registry = new Registry();
  const recorder = createEventRecorder(kube, { component: 'test', onDrop: eventMetrics(registry) });
  const record = (type: EventInput['type'], count: number) => {
    for (let n = 0; n < count; n++) {
      const metadata = { name: `stream-${n}`, namespace: 'tv', uid: `uid-${n}` };
      recorder.event({ kind: 'LoopStream', metadata, spec: {} }, { type, reason: 'Live', message: `${n}` });
    }
  };
  const drops = async () => {
    const { values } = (await registry.getSingleMetric('loopstream_events_dropped_total')?.get()) ?? { values: [] };
    return Object.fromEntries(values.map(({ labels, value }) => [labels.type, value]));
  };
  return { recorder, record, written, open: () => gate.resolve(), drops };
}

test('of ten thousand streams that start and fail at once, no event is dropped, and warnings are sent first', async () => {
  const { recorder, record, written, open, drops } = stage();
  record('Normal', STREAMS);
  record('Warning', STREAMS);
  open();
  await recorder.flush();
  expect(written).toHaveLength(2 * STREAMS);
  expect(written.slice(0, STREAMS).every((type) => type === 'Warning')).toBe(true);
  expect(await drops()).toEqual({ Warning: 0, Normal: 0 });
});

test('surplus events are counted by their type, and take no room from the other type', async () => {
  const { recorder, record, written, open, drops } = stage();
  record('Normal', 3 * STREAMS);
  record('Warning', STREAMS);
  open();
  await recorder.flush();
  const { Normal = 0, Warning } = await drops();
  expect(Warning).toBe(0);
  expect(Normal).toBeGreaterThan(0);
  expect(recorder.dropped).toBe(Normal);
  expect(written).toHaveLength(4 * STREAMS - Normal);
});

test('an event that the API server refuses is counted', async () => {
  const { recorder, record, open, drops } = stage(() => Promise.reject(new KubeError(403, 'Forbidden', 'no')));
  record('Warning', 2);
  open();
  await recorder.flush();
  expect(await drops()).toEqual({ Warning: 2, Normal: 0 });
});
