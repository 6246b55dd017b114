/** Tests the operator's metrics without a cluster: the state of each stream, its cost, and the counters. */
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { workqueueMetrics } from '../../../../../src/core/kube/metrics.ts';
import { createQueue } from '../../../../../src/core/kube/queue.ts';
import { systemClock } from '../../../../../src/core/lib/clock.ts';
import { Lifecycle } from '../../../../../src/core/lib/lifecycle.ts';
import { createMetrics } from '../../../../../src/core/operator/metrics/metrics.ts';
import { buildObjectSeries } from '../../../../../src/core/operator/metrics/series.ts';
import { serveOps } from '../../../../../src/core/operator/runtime/ops.ts';
import { ACCOUNT_LABEL } from '../../../../../src/core/resources/common/names.ts';
import type { LoopStream } from '../../../../../src/core/resources/stream/resource.ts';
import {
  at,
  destination,
  makePod,
  NOW,
  rendition,
  step,
  stream,
  upload,
  world,
} from '../../../../kit/make/operator.ts';
import { silent } from '../../../../kit/real/kube.ts';
import { until } from '../../../../kit/wait.ts';

const renderText = (...args: Parameters<typeof buildObjectSeries>) => [...buildObjectSeries(...args)].join('');

const live = () => {
  const loopStream = stream({ displayName: 'Ann’s channel' });
  const labeled: LoopStream = {
    ...loopStream,
    metadata: { ...loopStream.metadata, labels: { [ACCOUNT_LABEL]: 'ann-1' } },
  };
  return step(labeled, world({ pod: makePod(labeled, { ready: true }) })).stream;
};

test('a stream is reported with its phase and conditions, and without its account or names', () => {
  const text = renderText([live(), { ...stream(), metadata: { ...stream().metadata, name: 'a"\\\n' } }], []);
  for (const wanted of [
    'loopstream_info{namespace="tv",loopstream="bunny",quality="720p",framerate="30",pod="bunny-onair"} 1',
    'loopstream_created{namespace="tv",loopstream="bunny"} 1780315200',
    'loopstream_spec_replicas{namespace="tv",loopstream="bunny"} 1',
    'loopstream_status_phase{namespace="tv",loopstream="bunny",phase="live"} 1',
    'loopstream_status_condition{namespace="tv",loopstream="bunny",condition="Live",status="true"} 1',
    'loopstream_status_live_since{namespace="tv",loopstream="bunny"} 1780315200',
    'loopstream_status_restarts{namespace="tv",loopstream="bunny"} 2',
    'loopstream_info{namespace="tv",loopstream="a\\"\\\\\\n",quality="720p",framerate="30",pod=""} 1',
  ])
    expect(text.split('\n')).toContain(wanted);
  expect(text).not.toMatch(/ann/i);
});

test('a stream that is not as viewers should see it is reported with the cause, and any other without one', () => {
  const withStatus = (status: Partial<NonNullable<LoopStream['status']>>): LoopStream => ({
    ...stream(),
    status: { ...live().status, ...status } as NonNullable<LoopStream['status']>,
  });
  const condition = (type: string, status: 'True' | 'False', reason: string) => ({
    type,
    status,
    reason,
    message: '',
    lastTransitionTime: NOW.toISOString(),
  });
  const findReasons = (one: LoopStream) =>
    [...renderText([one], []).matchAll(/loopstream_status_problem\{.*reason="(\w+)"\} 1/g)].map(([, reason]) => reason);
  const degraded = condition('Degraded', 'True', 'PublishRejected');
  const conditions = [condition('Live', 'False', 'Reconnecting'), condition('Ready', 'False', 'MediaFailed')];
  expect(findReasons(live())).toEqual([]);
  expect(findReasons(withStatus({ phase: 'live', conditions: [degraded] }))).toEqual(['PublishRejected']);
  expect(findReasons(withStatus({ phase: 'reconnecting', conditions: [...conditions, degraded] }))).toEqual([
    'PublishRejected',
  ]);
  expect(findReasons(withStatus({ phase: 'reconnecting', conditions }))).toEqual(['Reconnecting']);
  expect(findReasons(withStatus({ phase: 'waiting', conditions }))).toEqual(['MediaFailed']);
  expect(findReasons(withStatus({ phase: 'stopped', conditions }))).toEqual([]);
});

test('uploads and renditions are counted by their state, also those that there are none of', () => {
  const failed = upload('other', { phase: 'failed', renditions: [rendition('720p30', { state: 'failed' })] });
  const lines = renderText([], [upload(), upload('more'), failed]).split('\n');
  for (const [state, uploads, renditions] of [
    ['ready', 2, 2],
    ['failed', 1, 1],
    ['preparing', 0, undefined],
    ['pending', undefined, 0],
  ]) {
    if (uploads !== undefined)
      expect(lines).toContain(`loopstream_uploads{namespace="tv",state="${state}"} ${uploads}`);
    if (renditions !== undefined)
      expect(lines).toContain(`loopstream_renditions{namespace="tv",state="${state}"} ${renditions}`);
  }
});

test('a scrape of 10,000 streams is 14 MB, less than 1 MB on the wire, and lets other work in between', async () => {
  const one = live();
  const streams = Array.from({ length: 10_000 }, (_, n) => ({
    ...one,
    metadata: { ...one.metadata, name: `str-${n.toString(36).padStart(26, '0')}` },
  }));
  const reflector = { list: () => streams, onChange: () => () => undefined };
  const none = { list: () => [], onChange: () => () => undefined };
  const metrics = createMetrics();
  metrics.showObjects(
    { streams: reflector, uploads: none, pods: none, destinations: none, playlists: none } as never,
    systemClock,
  );
  const lifecycle = new Lifecycle();
  const port = await serveOps({ host: '127.0.0.1', port: 0, ready: () => true, metrics: metrics.text }, lifecycle);
  const scrape = async () => {
    const since = performance.now();
    const response = await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { 'accept-encoding': 'gzip' } });
    const text = await response.text();
    return { ms: performance.now() - since, text, headers: response.headers };
  };
  await scrape();
  const { ms, text, headers } = await scrape();
  const times: number[] = [];
  for (
    let since = performance.now(), parts = buildObjectSeries(streams, []);
    !parts.next().done;
    since = performance.now()
  )
    times.push(performance.now() - since);
  const held = Math.max(...times);
  const series = text.split('\n').filter((line) => line.startsWith('loopstream_')).length;
  const sent = Number(headers.get('content-length'));
  process.stdout.write(
    `10,000 streams: ${series} series, ${(text.length / 1e6).toFixed(1)} MB, ${(sent / 1e6).toFixed(2)} MB packed, ` +
      `${ms.toFixed(0)} ms a scrape, others wait ${held.toFixed(0)} ms at most\n`,
  );
  expect(series).toBeLessThan(160_000);
  expect(text.length).toBeLessThan(20_000_000);
  expect(sent).toBeLessThan(1_000_000);
  expect(held).toBeLessThan(2_000);
  await lifecycle.stop();
});

test('time in a phase, lateness, failures of uploads and results of runs are counted as they come', async () => {
  const metrics = createMetrics();
  type Handler = (key: string, current: unknown, previous: unknown) => void;
  const handlers: Record<string, Handler[]> = {};
  const clock = { now: () => NOW, monotonicMs: () => performance.now() };
  const reflector = (name: string, found?: unknown) => ({
    list: () => [],
    get: () => found,
    onChange: (handler: Handler) => {
      handlers[name] = [...(handlers[name] ?? []), handler];
      return () => undefined;
    },
  });
  // The window has begun two seconds ago; the stream is older than that.
  const scheduled = stream({ schedule: { startAt: at(-2).toISOString() } });
  scheduled.metadata.creationTimestamp = at(-60).toISOString();
  scheduled.status = { observedGeneration: 1, phase: 'scheduled', replicas: 0 };
  const [uploads, pods, destinations, playlists] = ['uploads', 'pods', 'destinations', 'playlists'].map((name) =>
    reflector(name),
  );
  const caches = { streams: reflector('streams', scheduled), uploads, pods, destinations, playlists };
  metrics.showObjects(caches as never, clock);
  const starting = { ...live(), status: { phase: 'starting' } };
  for (const handler of handlers.streams ?? []) {
    handler('tv/bunny', starting, stream());
    handler('tv/bunny', live(), starting);
    handler('tv/bunny', live(), live());
  }
  for (const handler of handlers.pods ?? []) {
    handler('tv/bunny-onair', makePod(scheduled), undefined);
    handler('tv/bunny-onair', makePod(scheduled), makePod(scheduled));
  }
  const error = { code: 'prepare_failed' as const, message: '' };
  const failed = upload('film', {
    phase: 'ready',
    renditions: [rendition('720p30', { state: 'failed', error })],
  } as never);
  for (const handler of handlers.uploads ?? []) {
    handler('tv/film', failed, upload());
    handler('tv/film', failed, failed);
  }
  const tested = (id: string, code?: string) => ({ ...destination(), status: { test: { id, code } } });
  for (const handler of handlers.destinations ?? []) {
    handler('tv/tv', tested('2', 'dns_failed'), tested('1'));
    handler('tv/tv', tested('2', 'dns_failed'), tested('2', 'dns_failed'));
    // Objects that existed before are no change.
    handler('tv/old', tested('1'), undefined);
  }
  const run = metrics.observe('stream', async (key) => {
    if (key === 'bad') throw new Error('no');
    return key === 'later' ? { requeueAfterMs: 1 } : undefined;
  });
  await run('good');
  await run('later');
  await expect(run('bad')).rejects.toThrow('no');
  const lines = (await metrics.text()).join('').split('\n');
  for (const wanted of [
    'loopstream_phase_duration_seconds_count{phase="starting"} 1',
    'loopstream_phase_duration_seconds_count{phase="live"} 0',
    'loopstream_schedule_lateness_seconds_count 1',
    'loopstream_schedule_lateness_seconds_sum 2',
    'loopstream_upload_failures_total{task="rendition",code="prepare_failed"} 1',
    'loopstream_upload_failures_total{task="import",code="storage_full"} 0',
    'loopstream_destination_tests_total{code="ok"} 0',
    'loopstream_destination_tests_total{code="dns_failed"} 1',
    'controller_runtime_reconcile_total{controller="stream",result="success"} 1',
    'controller_runtime_reconcile_total{controller="stream",result="requeue_after"} 1',
    'controller_runtime_reconcile_total{controller="stream",result="error"} 1',
    'controller_runtime_reconcile_errors_total{controller="stream"} 1',
    'controller_runtime_reconcile_time_seconds_count{controller="stream"} 3',
  ])
    expect(lines).toContain(wanted);
});

test('a queue reports waiting, active and retried keys', async () => {
  const own = new Registry();
  const queues = workqueueMetrics(own);
  const open = Promise.withResolvers<void>();
  let runs = 0;
  const queue = createQueue({
    workers: 1,
    log: silent,
    backoff: { baseMs: 1, maxMs: 1 },
    observer: queues.observer('stream'),
    process: async () => {
      runs++;
      if (runs === 1) throw new Error('once');
      if (runs === 2) await open.promise;
    },
  });
  queues.watch('stream', queue, 1);
  queue.add('a');
  await until('it is tried again', () => queue.running === 1 && runs === 2);
  queue.add('b');
  queue.add('b');
  const readMetric = async (name: string) => {
    const line = (await own.metrics()).split('\n').find((one) => one.startsWith(`${name}{`));
    return Number(line?.split(' ').at(-1));
  };
  expect(await readMetric('workqueue_depth')).toBe(1);
  expect(await readMetric('workqueue_adds_total')).toBe(3);
  expect(await readMetric('workqueue_retries_total')).toBe(1);
  expect(await readMetric('controller_runtime_active_workers')).toBe(1);
  expect(await readMetric('controller_runtime_max_concurrent_reconciles')).toBe(1);
  expect(await readMetric('workqueue_longest_running_processor_seconds')).toBeGreaterThan(0);
  open.resolve();
  await until('all is done', () => runs === 3 && queue.running === 0);
  expect(await readMetric('workqueue_work_duration_seconds_count')).toBe(3);
  expect(await readMetric('workqueue_queue_duration_seconds_count')).toBe(3);
  expect(await readMetric('workqueue_unfinished_work_seconds')).toBe(0);
  await queue.stop();
});
