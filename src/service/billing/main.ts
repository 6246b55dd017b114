/**
 * Composes the role `billing`: opens the background jobs of money here and closes them in reverse. Several processes
 * may run; each job is done by one of them at a time.
 */

import { createKube, isKubeReady } from '../../core/kube/client.ts';
import { PODS } from '../../core/kube/core.ts';
import { createEventRecorder } from '../../core/kube/events.ts';
import { readByPatch } from '../../core/kube/namespace.ts';
import { watchNamespaces } from '../../core/kube/namespace-watch.ts';
import type { Kube } from '../../core/kube/types.ts';
import { type Clock, systemClock } from '../../core/lib/clock.ts';
import type { Lifecycle } from '../../core/lib/lifecycle.ts';
import type { Logger } from '../../core/lib/log.ts';
import { keepOwnMetadata } from '../../core/resources/common/kept.ts';
import { STREAM_LABEL } from '../../core/resources/common/names.ts';
import { keepWithoutTemplate } from '../../core/resources/stream/kept.ts';
import { believeStream } from '../../core/resources/stream/own-status.ts';
import { LOOPSTREAMS, type LoopStream } from '../../core/resources/stream/resource.ts';
import { createLeases } from '../db/leases.ts';
import { createDb, createPool, type Db, pingDb } from '../db/pool.ts';
import { createHealth } from '../lib/health.ts';
import { openOps } from '../lib/ops.ts';
import { listNamespaces } from '../settings/settings.ts';
import { createTopUpJob } from './cards/job.ts';
import { openPayments } from './cards/open.ts';
import { createDepositJobs } from './crypto/job.ts';
import { openCrypto } from './crypto/open.ts';
import { createIssuer } from './invoices/issue.ts';
import { createInvoiceJob } from './invoices/job.ts';
import { readSeller } from './invoices/open.ts';
import { type BillingJob, startJobs } from './ledger/jobs.ts';
import { createLedger, type Ledger } from './ledger/ledger.ts';
import { createCreditConditions } from './metering/credit-conditions.ts';
import { createEstimates } from './metering/estimate.ts';
import { createMeter } from './metering/meter.ts';
import { type BillingMetrics, createBillingMetrics } from './metering/metrics.ts';
import { type PodCache, watchProfiles } from './metering/profiles.ts';
import {
  BY_ACCOUNT,
  byAccountIndex,
  creditJob,
  meterJob,
  type StreamCache,
  type WorkDeps,
  watchStreams,
} from './metering/stream-jobs.ts';
import { createStreamMarks } from './metering/stream-marks.ts';
import type { BillingConfig } from './setup/settings.ts';

/** A write that Kubernetes does not answer is retried in the next run. */
const KUBERNETES_TIMEOUT_MS = 10_000;

export interface RunningBilling {
  /** The port of /healthz, /readyz and /metrics, for callers that requested any free port. */
  opsUrl: string;
  /** Resolves when the streams have been read and the jobs have begun. */
  ready: Promise<void>;
}

/** Listens at once; the jobs begin when Kubernetes has been read. `clock` decides which price holds. */
export async function runBilling(
  config: BillingConfig,
  lifecycle: Lifecycle,
  log: Logger,
  { clock = systemClock }: { clock?: Clock } = {},
): Promise<RunningBilling> {
  const metrics = createBillingMetrics();
  const { kubeconfig } = config;
  const namespaces = listNamespaces(config);
  const kube = createKube({
    kubeconfig,
    timeoutMs: KUBERNETES_TIMEOUT_MS,
    onRequest: metrics.onRequest,
    role: 'billing',
  });
  lifecycle.defer('kubernetes', () => kube.close());
  const pool = createPool(config.databaseUrl, { searchPath: 'loopstream' });
  const db = createDb(pool);
  lifecycle.defer('database', () => db.destroy());
  // Under a name of its own: alerts know the API server by that of its pool.
  metrics.showPools({ billing: pool });

  const watch = watchNamespaces(kube, namespaces, log);
  metrics.showNamespaces(watch.states);
  const streams = watch.createCache(LOOPSTREAMS, {
    keep: (stream) => believeStream(keepWithoutTemplate(stream)),
    readEnding: readByPatch,
    indexes: byAccountIndex,
  });
  const pods = watch.createCache(PODS, { labelSelector: STREAM_LABEL, keep: keepOwnMetadata });
  metrics.showReflectors({ streams, pods });
  for (const reflector of [streams, pods]) reflector.start(lifecycle.signal);

  let isSynced = false;
  const health = createHealth({
    kubernetes: async () => isSynced && (await isKubeReady(kube)),
    database: () => pingDb(db),
  });
  const unready = async () => {
    if (lifecycle.signal.aborted) return 'stopping';
    if (!isSynced) return 'the caches are not filled from Kubernetes yet';
    return (await health()).database === 'ok' ? undefined : 'the database does not respond';
  };
  const { registry } = metrics;
  const ops = await openOps({ host: config.opsHost, port: config.opsPort, unready, registry }, lifecycle);

  const ledger = createLedger(db);
  const work = openWork({ config, kube, db, ledger, streams, pods, lifecycle, log, metrics, clock });
  metrics.showMeter(() => work.meter.uncountedSeconds(streams.list()));
  // One line for each job.
  const jobs: BillingJob[] = [
    meterJob(work),
    creditJob(work),
    ...(await moneyJobs({ config, db, ledger, log })),
    ...createDepositJobs(await openCrypto(config.crypto), { db, ledger, metrics: metrics.scans, log }),
  ];
  const ready = Promise.all([streams.synced, pods.synced]).then(() => {
    isSynced = true;
    const queue = watchStreams(work, lifecycle.signal);
    lifecycle.defer('streams', () => queue.stop());
    startJobs(jobs, { leases: createLeases(db), metrics: metrics.jobs, log }, lifecycle);
    log.info({ watched: namespaces, jobs: jobs.map(({ name }) => name) }, 'billing has started');
  });
  // Stopping before that is no error.
  ready.catch(() => undefined);
  log.info({ opsPort: ops.port }, 'billing listens');
  return { opsUrl: ops.url, ready };
}

/** Jobs for cards if they are configured, and for invoices if there is a seller. */
async function moneyJobs({
  config,
  db,
  ledger,
  log,
}: Pick<BillingParts, 'config' | 'db' | 'ledger' | 'log'>): Promise<BillingJob[]> {
  const { cards, currency } = config;
  const [payments, seller] = [await openPayments(cards), await readSeller(config.seller)];
  return [
    ...(payments ? [createTopUpJob({ db, ledger, log, payments })] : []),
    ...(seller ? [createInvoiceJob({ issuer: createIssuer({ db, ledger, seller, currency }), log })] : []),
  ];
}

interface BillingParts {
  config: BillingConfig;
  kube: Kube;
  db: Db;
  ledger: Ledger;
  streams: StreamCache;
  pods: PodCache;
  lifecycle: Lifecycle;
  log: Logger;
  metrics: Pick<BillingMetrics, 'counted' | 'onEventDrop'>;
  clock: Clock;
}

/** Opens the work on streams: counting, acknowledging, and the condition of credit. */
function openWork(given: BillingParts): WorkDeps {
  const { config, kube, db, ledger, streams, pods, lifecycle, log, metrics, clock } = given;
  const { prices, creditGraceSeconds: graceSeconds, meterIntervalMs: everyMs } = config;
  const events = createEventRecorder(kube, { component: 'loopstream-billing', log, onDrop: metrics.onEventDrop });
  lifecycle.defer('events', () => events.flush());
  const { settled } = watchProfiles({ pods, db, log, clock }, lifecycle.signal);
  const seen = (stream: LoopStream) => streams.upsert(stream);
  const ofAccount = (accountId: string) => streams.byIndex(BY_ACCOUNT, accountId);
  const estimates = createEstimates({ db, prices, clock });
  return {
    streams,
    settled,
    everyMs,
    log,
    meter: createMeter({
      db,
      ledger,
      prices,
      onCounted: metrics.counted,
      grace: { seconds: graceSeconds, ofAccount },
      clock,
    }),
    books: createStreamMarks(kube, seen),
    credits: createCreditConditions({ db, kube, events, estimates, graceSeconds, seen, clock }),
  };
}
