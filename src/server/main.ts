/** The role `api`: wires everything, and takes it down again in reverse. */

import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { openAuth } from '../auth/open.ts';
import { OUTSIDE_ID } from '../auth/outside.ts';
import type { AuthService } from '../auth/service.ts';
import { createSuspensions } from '../billing/audit/admin/suspensions.ts';
import { openPayments } from '../billing/cards/open.ts';
import { createTopUpService } from '../billing/cards/service.ts';
import { openCrypto } from '../billing/crypto/open.ts';
import { createCryptoService } from '../billing/crypto/service.ts';
import { readInvoiceFont } from '../billing/invoices/font.ts';
import { createInvoiceService } from '../billing/invoices/service.ts';
import { createLedger } from '../billing/ledger/ledger.ts';
import { CHANNEL, createMoneyNews } from '../billing/ledger/news.ts';
import { createBillingService } from '../billing/ledger/service.ts';
import { createEstimates } from '../billing/metering/estimate.ts';
import { listen } from '../db/listen.ts';
import { type Db, pingDb } from '../db/pool.ts';
import { createAccessService } from '../domain/accounts/access.ts';
import { createLetters, type Letters } from '../domain/accounts/letters.ts';
import { createAccountService } from '../domain/accounts/service.ts';
import { createDestinationService } from '../domain/destinations/service.ts';
import { forgetOld } from '../domain/idempotency/store.ts';
import type { Quotas } from '../domain/limits/quotas.ts';
import { createOwned, type OwnedOptions } from '../domain/owned.ts';
import { createHistory } from '../domain/playlists/history.ts';
import { createPlaylistService } from '../domain/playlists/service.ts';
import { createStatsService, podStreamIndex, type StatsService } from '../domain/stats/service.ts';
import { createViewTokens } from '../domain/stats/tokens.ts';
import { createStreamService } from '../domain/streams/service.ts';
import { uploadsOf } from '../domain/uploads/held.ts';
import { createUploadService, type UploadServiceDeps } from '../domain/uploads/service.ts';
import { createKube, isKubeReady } from '../kube/client.ts';
import { PODS, SECRETS } from '../kube/core.ts';
import { createReflector, type Reflector } from '../kube/reflector.ts';
import type { Kube, KubeObject } from '../kube/types.ts';
import { sleep } from '../lib/clock.ts';
import { createHealth } from '../lib/health.ts';
import type { Lifecycle } from '../lib/lifecycle.ts';
import type { Logger } from '../lib/log.ts';
import { createMailer } from '../lib/mail/mailer.ts';
import { startOps } from '../lib/ops.ts';
import { openStorage } from '../media/storage/open.ts';
import { STREAM_LABEL, VIEW_KEY_KEY, VIEW_KEY_SECRET } from '../resources/common/names.ts';
import { DESTINATIONS } from '../resources/destination/resource.ts';
import { PLAYLISTS } from '../resources/playlist/resource.ts';
import { heldUploads } from '../resources/playlist/spec.ts';
import { LOOPSTREAMS } from '../resources/stream/resource.ts';
import { nameOfUpload } from '../resources/upload/name.ts';
import { UPLOADS } from '../resources/upload/resource.ts';
import { clearBelongings } from './account/belongings.ts';
import { createDeletions } from './account/deletion.ts';
import { createExport } from './account/export.ts';
import { buildServer } from './app.ts';
import { createChangeService } from './events/changes.ts';
import { createHttpMetrics } from './http/metrics.ts';
import type { createRedisCounter } from './http/redis.ts';
import { openQuotas } from './quotas.ts';
import type { PersonServices } from './rest/routes.ts';
import type { Services } from './services.ts';
import type { ApiConfig } from './settings.ts';

/** Who waits for a write that Kubernetes does not answer is told so, long before clients and proxies give up. */
const KUBERNETES_TIMEOUT_MS = 10_000;
const HOUR_MS = 3_600_000;
/** Requests at work get this long to finish: deleting a stream takes the longest. */
const DRAIN_MS = 28_000;

export interface RunningApi {
  /** Where it listens, for those who asked for any free port. */
  url: string;
  opsUrl: string;
  /** Resolves when the caches are filled and requests are answered. */
  ready: Promise<void>;
}

/** Listens at once; requests that need Kubernetes get 502 until its resources have been read. */
export async function runApi(config: ApiConfig, lifecycle: Lifecycle, log: Logger): Promise<RunningApi> {
  const metrics = createHttpMetrics();
  const kube = createKube({
    kubeconfig: config.kubeconfig,
    timeoutMs: KUBERNETES_TIMEOUT_MS,
    onRequest: metrics.onRequest,
  });
  lifecycle.defer('kubernetes', () => kube.close());
  const mailer = config.mail && createMailer(config.mail, log, { onDone: metrics.mail });
  const { publicUrl, authLimits } = config;
  const {
    service: auth,
    library,
    db,
    pools,
    mails,
    close,
  } = openAuth({
    ...config,
    openMails: mailer && ((db) => createLetters({ mailer, db, publicUrl, perHour: authLimits.mails, log })),
    onOutsideFailure: (reason) => log.warn({ reason }, 'nobody could sign in at the outside provider'),
  });
  metrics.showPools(pools);
  lifecycle.defer('database', close);
  lifecycle.defer('mail', () => mailer?.close());
  lifecycle.defer('letters', () => mails?.close());
  lifecycle.defer('use of keys', auth.usage.start(log));

  const resources = openResources(kube, config.namespace, lifecycle.signal, log);
  metrics.showReflectors(resources.byName);
  const reflectors = Object.values(resources.byName);
  for (const reflector of reflectors) reflector.start(lifecycle.signal);
  let isSynced = false;
  const ready = Promise.all(reflectors.map(({ synced }) => synced)).then(() => {
    isSynced = true;
    log.info('the resources have been read');
  });
  // Stopping before that is no error.
  ready.catch(() => undefined);

  const { storageUrl, storageCredentials: credentials } = config;
  const storage = storageUrl === undefined ? undefined : await openStorage(storageUrl, { credentials });
  const payments = await openPayments(config.cards);
  // Where nothing costs anything, nobody is to pay for it.
  const crypto = config.billing ? await openCrypto(config.crypto) : undefined;
  const topUps = createTopUpService({
    ...{ db, ledger: createLedger(db), payments, publicUrl: config.publicUrl, log },
    ...{ limits: { currency: config.currency, ...config.cards }, enabled: config.billing },
    emailOf: async (userId) => (await auth.user(userId)).email,
  });
  const estimates = createEstimates({ db, prices: config.prices });
  const limiting = openQuotas({ db, config, resources });
  const { quotas } = limiting;
  const { services, stats } = openServices(kube, resources, {
    billing: createBillingService({
      ...{ db, enabled: config.billing, currency: config.currency },
      paymentMethods: [...(payments ? ['card' as const] : []), ...(crypto ? ['crypto' as const] : [])],
      currentRate: (accountId) => estimates.of(accountId, resources.streams.list(accountId)),
    }),
    topUps,
    invoices: createInvoiceService({ db, font: await readInvoiceFont(config.invoiceFont) }),
    crypto: createCryptoService({ db, crypto }),
    auth,
    storage,
    ...limiting,
    limits: config,
    paid: config.billing,
  });
  const money = createMoneyNews();
  // Where nothing costs anything, there is nothing to hear of.
  if (config.billing) void listen(config.databaseUrl, CHANNEL, { ears: money, log, signal: lifecycle.signal });
  const changes = createChangeService({ ...resources.byNoun, ...money.byNoun }, config.feedsPerServer);
  lifecycle.defer('stats', () => stats.close());
  const { people, deletions } = openPeople({ config, kube, resources, services, auth, db, quotas, mails, log });
  lifecycle.defer('deletions', () => deletions.stop());
  const suspensions = createSuspensions({
    ...{ db, log, streams: resources.byName.streams.list, patch: resources.streams.patch },
  });
  lifecycle.defer('suspensions', () => suspensions.stop());
  suspensions.start();
  // Before the caches are filled, nothing of an account would be found.
  void ready.then(
    () => deletions.start(),
    () => undefined,
  );
  const health = createHealth({
    kubernetes: async () => isSynced && (await isKubeReady(kube)),
    database: () => pingDb(db),
  });
  const stopping = lifecycle.signal;
  const leaving = new AbortController();
  lifecycle.linger = async () => {
    leaving.abort();
    await sleep(config.shutdownDelayMs);
  };
  let listens = false;
  const unready = async () => {
    if (leaving.signal.aborted || stopping.aborted) return 'stopping';
    if (!isSynced) return 'Kubernetes has not been read yet';
    if (!listens) return 'it does not listen yet';
    return (await health()).database === 'ok' ? undefined : 'the database does not answer';
  };
  const read = async () => ({ type: metrics.registry.contentType, text: await metrics.registry.metrics() });
  // It outlives the server, so that the cluster sees `stopping` while requests at work finish.
  const ops = await startOps({ host: config.opsHost, port: config.opsPort, unready, metrics: read });
  lifecycle.defer('ops', () => {
    ops.close();
    ops.closeAllConnections();
  });

  const counter = config.redisUrl ? await openCounter(config.redisUrl, { log, ...metrics }) : undefined;
  lifecycle.defer('redis', () => counter?.close());
  const version = await readVersion();
  const ageMs = () => Math.max(...reflectors.map((reflector) => reflector.ageMs()));
  const server = await buildServer({
    authServer: { library, forgetPeople: auth.forgetPeople, wasUsed: auth.wasUsed, programs: auth.programs },
    ...{ config, auth, db, quotas, services, stats, changes, people, health, version, metrics, log },
    isSuspended: suspensions.isSuspended,
    ...{ onWebhook: metrics.webhook, stopping, leaving: leaving.signal, counter, ageMs, learners: resources.learners },
  });
  lifecycle.defer('server', () => server.close(), DRAIN_MS);

  const cleanup = setInterval(() => {
    forgetOld(db).catch((err) => log.warn({ err }, 'old idempotency keys could not be removed'));
    auth
      .forgetOld(config.unusedClientDays)
      .catch((err) => log.warn({ err }, 'sessions and clients that are over could not be removed'));
    mails?.forgetOld().catch((err) => log.warn({ err }, 'counts of old letters could not be removed'));
    services.uploads.incoming
      ?.expire(resources.byName.uploads.list(), new Date())
      .catch((err) => log.warn({ err }, 'uploads that did not come whole could not be cleared away'));
  }, HOUR_MS);
  lifecycle.defer('cleanup', () => clearInterval(cleanup));

  const url = await server.listen({ host: config.host, port: config.port });
  listens = true;
  const { port } = ops.address() as AddressInfo;
  log.info({ url, opsPort: port }, 'the API listens');
  return { url, opsUrl: `http://${config.opsHost}:${port}`, ready };
}

type Resources = ReturnType<typeof openResources>;

/** One reflector a kind, with the indexes that services ask for. */
function openResources(kube: Kube, namespace: string, stopping: AbortSignal, log: Logger) {
  const destinations = createReflector(kube, DESTINATIONS, { namespace, log });
  const uploads = createReflector(kube, UPLOADS, { namespace, log });
  const playlists = createReflector(kube, PLAYLISTS, { namespace, log, indexes: { upload: heldUploads } });
  const streams = createReflector(kube, LOOPSTREAMS, {
    namespace,
    log,
    indexes: {
      destination: ({ spec }) => spec.destinationRefs,
      upload: uploadsOf,
      playlist: ({ spec }) => [...(spec.playlistRefs ?? []), ...(spec.audioPlaylistRefs ?? [])],
    },
  });
  const pods = createReflector(kube, PODS, {
    namespace,
    log,
    labelSelector: STREAM_LABEL,
    indexes: { stream: podStreamIndex },
  });
  const own = <T extends KubeObject>(
    reflector: Reflector<T>,
    options: Pick<OwnedOptions<T>, 'resource' | 'prefix' | 'noun' | 'notFound' | 'nameOf'>,
  ) => createOwned({ kube, reflector, namespace, stopping, ...options });
  const owned = {
    destinations: own(destinations, {
      resource: DESTINATIONS,
      prefix: 'dst',
      noun: 'destination',
      notFound: 'destination_not_found',
    }),
    uploads: own(uploads, {
      resource: UPLOADS,
      prefix: 'upl',
      noun: 'upload',
      notFound: 'upload_not_found',
      nameOf: nameOfUpload,
    }),
    playlists: own(playlists, { resource: PLAYLISTS, prefix: 'pls', noun: 'playlist', notFound: 'playlist_not_found' }),
    streams: own(streams, { resource: LOOPSTREAMS, prefix: 'str', noun: 'stream', notFound: 'stream_not_found' }),
  };
  const byNoun = {
    stream: owned.streams,
    destination: owned.destinations,
    upload: owned.uploads,
    playlist: owned.playlists,
  };
  const learners = Object.fromEntries(Object.values(owned).map((of) => [of.prefix, of]));
  return { byName: { destinations, uploads, playlists, streams, pods }, pods, ...owned, byNoun, learners };
}

type Given = Parameters<typeof createAccountService>[0] & {
  limits: Pick<ApiConfig, 'previewLimits' | 'allowPrivateDestinations'>;
} & Pick<UploadServiceDeps, 'storage' | 'limits' | 'leases' | 'quotas' | 'usage'> &
  Pick<Services, 'billing' | 'topUps' | 'invoices' | 'crypto'> & { paid: boolean };

function openServices(
  kube: Kube,
  { pods, destinations, uploads, playlists, streams }: Resources,
  { auth, limitsOf, storage, limits, leases, quotas, usage, paid, billing, topUps, invoices, crypto }: Given,
): { services: Services; stats: StatsService } {
  const references = {
    destination: (accountId: string, id: string) => destinations.find(accountId, id) !== undefined,
    upload: (accountId: string, id: string) => uploads.find(accountId, id)?.spec,
    playlist: (accountId: string, id: string) => playlists.find(accountId, id)?.spec,
  };
  const tokens = createViewTokens(async () => {
    const secret = await kube.get(SECRETS, streams.namespace, VIEW_KEY_SECRET);
    return Buffer.from(secret.data?.[VIEW_KEY_KEY] ?? '', 'base64').toString() || undefined;
  });
  const stats = createStatsService({
    ...{ streams, destinations, pods, tokens, quotas },
    previewLimits: limits.previewLimits,
  });
  return {
    services: {
      ...{ stats, billing, topUps, invoices, crypto },
      account: createAccountService({ auth, limitsOf }),
      streams: createStreamService({ kube, streams, references, quotas, paid }),
      destinations: createDestinationService({
        kube,
        destinations,
        streams,
        quotas,
        allowPrivate: limits.allowPrivateDestinations,
      }),
      uploads: createUploadService({ uploads, streams, playlists, pods, storage, limits, leases, quotas, usage }),
      playlists: createPlaylistService({
        playlists,
        uploads,
        streams,
        history: createHistory(kube, playlists.namespace),
        quotas,
      }),
    },
    stats,
  };
}

interface PeopleGiven {
  config: ApiConfig;
  kube: Kube;
  resources: Resources;
  services: Services;
  auth: AuthService;
  db: Db;
  quotas: Quotas;
  mails: Letters | undefined;
  log: Logger;
}

/** What the person whose account it is can see and do of it. */
function openPeople({ config, kube, resources, services, auth, db, quotas, mails, log }: PeopleGiven) {
  const access = createAccessService({
    ...{ db, auth, quotas },
    tell: async (userId, notice) => mails?.notice((await auth.user(userId)).email, notice),
  });
  const deletions = createDeletions({
    ...{ db, auth, log },
    clear: (accountId) => clearBelongings(kube, resources, accountId),
    tell: (email) => mails?.accountDeleted(email),
  });
  const people: PersonServices = {
    ...{ access, deletions },
    exportAccount: createExport({ ...services, access }),
    signInOptions: {
      signUp: mails !== undefined && config.signUp,
      passwordReset: mails !== undefined,
      providers: config.outside ? [{ id: OUTSIDE_ID, name: config.outside.name }] : [],
    },
  };
  return { people, deletions };
}

/** The driver of Redis is loaded where there is one. */
const openCounter = async (...given: Parameters<typeof createRedisCounter>) =>
  (await import('./http/redis.ts')).createRedisCounter(...given);

/** The package's version, from package.json beside src/ (the image has it there too). */
async function readVersion(): Promise<string> {
  const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8').catch(() => '{}');
  return (JSON.parse(text) as { version?: string }).version ?? '0.0.0';
}
