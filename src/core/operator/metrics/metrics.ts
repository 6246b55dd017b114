/** Collects the operator's metrics for Prometheus, named as in controller-runtime where that has the same. */

import { setImmediate } from 'node:timers/promises';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import {
  eventMetrics,
  namespaceMetrics,
  reflectorMetrics,
  requestMetrics,
  type WorkqueueMetrics,
  workqueueMetrics,
} from '../../kube/metrics.ts';
import type { OnRequest } from '../../kube/transport.ts';
import type { Clock } from '../../lib/clock.ts';
import { DESTINATION_ERRORS } from '../../lib/codes/destinations.ts';
import { UPLOAD_ERRORS } from '../../lib/codes/uploads.ts';
import { findCondition } from '../../resources/common/conditions.ts';
import { STREAM_LABEL } from '../../resources/common/names.ts';
import { NOT_RUN, ON_AIR } from '../../resources/destination/spec.ts';
import { PHASES, type Phase } from '../../resources/stream/spec.ts';
import type { Caches } from '../caches/caches.ts';
import type { Reconcile } from '../runtime/controller.ts';
import type { ReportResult } from '../stream/report-result.ts';
import { DOUBT_CONDITION, DOUBTS } from '../stream/sessions.ts';
import { computeLateness } from './lateness.ts';
import { countObjects } from './objects.ts';
import { buildPlatformSeries } from './platforms.ts';
import { reportMetrics } from './reports.ts';
import { buildObjectSeries } from './series.ts';

const RECONCILE_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const PHASE_BUCKETS = [0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3600, 21_600, 86_400];
/** A start is reconciled within a moment of its time; later ones wait for room, for media or for an operator. */
const LATENESS_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600];
const RESULTS = ['success', 'requeue_after', 'error'] as const;

export interface Metrics {
  registry: Registry;
  /** For `createKube`. */
  onRequest: OnRequest;
  /** For `createEventRecorder`. */
  onEventDrop: ReturnType<typeof eventMetrics>;
  queues: WorkqueueMetrics;
  countReport(result: ReportResult): void;
  showReflectors(caches: Caches): void;
  showLeading(lease: string, namespace: string, isLeading: () => boolean): void;
  /** Shows of each listed namespace whether it can be read. */
  showNamespaces: ReturnType<typeof namespaceMetrics>;
  /** Counts and times each run of a controller. */
  observe(controller: string, reconcile: Reconcile): Reconcile;
  /** Shows the sources that are kept although no Upload has them, by namespace. */
  showSuspicious(read: () => ReadonlyMap<string, number>): void;
  /** From now on each stream is shown, and counted what becomes of streams and uploads: for the operator that leads. */
  showObjects(caches: Pick<Caches, 'streams' | 'uploads' | 'pods' | 'destinations' | 'playlists'>, clock: Clock): void;
  /** In Prometheus' text format, in parts: of thousands of streams it is many megabytes. */
  text(): Promise<string[]>;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const onRequest = requestMetrics(registry);
  const onEventDrop = eventMetrics(registry);
  const queues = workqueueMetrics(registry);
  const showReflectors = reflectorMetrics(registry);
  const observe = reconcileMetrics(registry);
  const history = historyMetrics(registry);
  let objects: () => Iterable<string> = () => [];
  return {
    registry,
    onRequest,
    onEventDrop,
    queues,
    countReport: reportMetrics(registry),
    showReflectors,
    showLeading: leadingMetrics(registry),
    showNamespaces: namespaceMetrics(registry, {
      name: 'loopstream_namespace_watched',
      help: '1 while the operator can watch a listed namespace, 0 while it or the Role in it does not exist.',
    }),
    observe,
    showSuspicious: suspiciousMetrics(registry),
    showObjects(caches, clock) {
      history(caches, clock);
      const { streams, uploads, destinations, playlists } = caches;
      objects = function* () {
        yield* buildObjectSeries(streams.list(), uploads.list());
        yield buildPlatformSeries(destinations.list(), clock.now());
        const lists = { streams: streams.list(), uploads: uploads.list(), destinations: destinations.list() };
        yield countObjects({ ...lists, playlists: playlists.list() });
      };
    },
    async text() {
      const parts = [await registry.metrics()];
      for (const part of objects()) {
        parts.push(part);
        // Yields between the parts of a large answer, so that no stream's start waits for it.
        await setImmediate();
      }
      return parts;
    },
  };
}

function suspiciousMetrics(registry: Registry): Metrics['showSuspicious'] {
  let read: () => ReadonlyMap<string, number> = () => new Map();
  new Gauge({
    name: 'loopstream_suspicious_sources',
    help: 'Sources of uploads in the storage that no upload has although no deletion was seen, as of the last sweep.',
    labelNames: ['namespace'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [namespace, sources] of read()) this.set({ namespace }, sources);
    },
  });
  return (from) => {
    read = from;
  };
}

/** Named as client-go names it; each role has a lease of its own. */
export function leadingMetrics(registry: Registry): Metrics['showLeading'] {
  let read: () => [labels: { name: string; namespace: string }, value: number][] = () => [];
  new Gauge({
    name: 'leader_election_master_status',
    help: '1 while this process leads, 0 while another one does.',
    labelNames: ['name', 'namespace'],
    registers: [registry],
    collect() {
      for (const [labels, value] of read()) this.set(labels, value);
    },
  });
  return (name, namespace, isLeading) => {
    read = () => [[{ name, namespace }, isLeading() ? 1 : 0]];
  };
}

export function reconcileMetrics(registry: Registry): Metrics['observe'] {
  const common = { registers: [registry] };
  const total = new Counter({
    ...common,
    name: 'controller_runtime_reconcile_total',
    help: 'Reconciles of a controller, by result.',
    labelNames: ['controller', 'result'],
  });
  const errors = new Counter({
    ...common,
    name: 'controller_runtime_reconcile_errors_total',
    help: 'Reconciles of a controller that failed and are retried.',
    labelNames: ['controller'],
  });
  const seconds = new Histogram({
    ...common,
    name: 'controller_runtime_reconcile_time_seconds',
    help: 'Duration of a reconcile of a controller.',
    labelNames: ['controller'],
    buckets: RECONCILE_BUCKETS,
  });
  return (controller, reconcile) => {
    // From the start, so that the first error is seen as a rise.
    for (const result of RESULTS) total.inc({ controller, result }, 0);
    errors.inc({ controller }, 0);
    return async (key) => {
      const end = seconds.startTimer({ controller });
      try {
        const outcome = await reconcile(key);
        total.inc({ controller, result: outcome?.requeueAfterMs === undefined ? 'success' : 'requeue_after' });
        return outcome;
      } catch (error) {
        total.inc({ controller, result: 'error' });
        errors.inc({ controller });
        throw error;
      } finally {
        end();
      }
    };
  };
}

/** Counts what becomes of streams and uploads while this operator leads. */
function historyMetrics(registry: Registry): Metrics['showObjects'] {
  const phases = new Histogram({
    name: 'loopstream_phase_duration_seconds',
    help: 'Time that streams spent in a phase, if this operator saw them enter and leave it.',
    labelNames: ['phase'],
    buckets: PHASE_BUCKETS,
    registers: [registry],
  });
  for (const phase of PHASES) phases.zero({ phase });
  const failures = new Counter({
    name: 'loopstream_upload_failures_total',
    help: 'Imports and preparations that failed, by reason.',
    labelNames: ['task', 'code'],
    registers: [registry],
  });
  for (const code of Object.keys(UPLOAD_ERRORS))
    for (const task of ['import', 'rendition']) failures.inc({ task, code }, 0);
  const implausible = new Counter({
    name: 'loopstream_implausible_reports_total',
    help: 'Pods of streams that began to report an implausible time on air, by reason.',
    labelNames: ['reason'],
    registers: [registry],
  });
  for (const reason of DOUBTS) implausible.inc({ reason }, 0);
  const lateness = new Histogram({
    name: 'loopstream_schedule_lateness_seconds',
    help: 'Time from the start of a schedule window until the stream had a pod.',
    buckets: LATENESS_BUCKETS,
    registers: [registry],
  });
  const tests = new Counter({
    name: 'loopstream_destination_tests_total',
    help: 'Tests of destinations, by result.',
    labelNames: ['code'],
    registers: [registry],
  });
  for (const code of ['ok', ...Object.keys(DESTINATION_ERRORS), ON_AIR, NOT_RUN]) tests.inc({ code }, 0);
  return ({ streams, uploads, pods, destinations }, clock) => {
    destinations.onChange((_key, current, previous) => {
      const test = current?.status?.test;
      if (test && previous && test.id !== previous.status?.test?.id) tests.inc({ code: test.code ?? 'ok' });
    });
    pods.onChange((_key, current, previous) => {
      const name = current?.metadata.labels?.[STREAM_LABEL];
      const stream = previous || name === undefined ? undefined : streams.get(current?.metadata.namespace ?? '', name);
      const seconds = stream && computeLateness(stream, clock.now());
      if (seconds !== undefined) lateness.observe(seconds);
    });
    const since = new Map<string, { phase: Phase; atMs: number }>();
    streams.onChange((_key, current, previous) => {
      const doubt = findCondition(current?.status?.conditions, DOUBT_CONDITION)?.reason;
      if (doubt !== undefined && doubt !== findCondition(previous?.status?.conditions, DOUBT_CONDITION)?.reason)
        implausible.inc({ reason: doubt });
      const uid = (current ?? previous)?.metadata.uid ?? '';
      const [phase, before] = [current?.status?.phase, previous?.status?.phase];
      if (phase === before) return;
      const entered = since.get(uid);
      const now = clock.monotonicMs();
      if (entered && entered.phase === before) phases.observe({ phase: before }, (now - entered.atMs) / 1000);
      if (phase === undefined) since.delete(uid);
      else since.set(uid, { phase, atMs: now });
    });
    uploads.onChange((_key, current, previous) => {
      const code = current?.status?.error?.code;
      if (code !== undefined && code !== previous?.status?.error?.code) failures.inc({ task: 'import', code });
      const before = new Map(previous?.status?.renditions?.map((one) => [one.profile, one.error?.code]));
      for (const { profile, error } of current?.status?.renditions ?? []) {
        if (error && error.code !== before.get(profile)) failures.inc({ task: 'rendition', code: error.code });
      }
    });
  };
}
