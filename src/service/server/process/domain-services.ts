/** Opens the services of accounts, streams, destinations, uploads, playlists and scenes. */

import { SECRETS } from '../../../core/kube/core.ts';
import type { Kube } from '../../../core/kube/types.ts';
import { VIEW_KEY_KEY, VIEW_KEY_SECRET } from '../../../core/resources/common/names.ts';
import { createHistory } from '../../../core/resources/playlist/history.ts';
import { createAccountService } from '../../domain/accounts/service.ts';
import { createAsRunService } from '../../domain/as-run/service.ts';
import { createSecretStore } from '../../domain/destinations/secret-store.ts';
import { createDestinationService } from '../../domain/destinations/service.ts';
import { createPreviewPlaces } from '../../domain/limits/preview-places.ts';
import type { WriteLimit } from '../../domain/limits/writes.ts';
import { createPlaylistService } from '../../domain/playlists/service.ts';
import { createSceneService } from '../../domain/scenes/service.ts';
import { createStatsService, type StatsService } from '../../domain/stats/service.ts';
import { createViewTokens, type ViewTokens } from '../../domain/stats/view-tokens.ts';
import { createStreamService } from '../../domain/streams/service.ts';
import { createStorageEstimate } from '../../domain/streams/storage-estimate.ts';
import { createPublicNowService } from '../../domain/timeline/public-now.ts';
import { createTimelineService } from '../../domain/timeline/service.ts';
import { createPosters } from '../../domain/uploads/posters.ts';
import { createUploadService } from '../../domain/uploads/service.ts';
import { createUptimeService } from '../../domain/uptime/service.ts';
import type { Services } from '../setup/services.ts';
import type { AuthParts } from './auth.ts';
import type { ProcessContext } from './context.ts';
import { BY_PUBLIC_HASH, type Resources } from './kubernetes.ts';
import type { openQuotas } from './quotas.ts';
import { openStorages } from './storages.ts';

type DomainServices = Omit<
  Services,
  'billing' | 'topUps' | 'invoices' | 'crypto' | 'streamSessions' | 'events' | 'endpoints' | 'stats'
> & {
  stats: StatsService;
};

interface DomainServicesDeps {
  kube: Kube;
  auth: AuthParts;
  resources: Resources;
  limits: ReturnType<typeof openQuotas>;
  writes: WriteLimit;
}

export async function openDomainServices(context: ProcessContext, deps: DomainServicesDeps): Promise<DomainServices> {
  const { config, lifecycle } = context;
  const { kube, auth, resources, limits, writes } = deps;
  const { pods, destinations, uploads, playlists, scenes, streams } = resources;
  const { leases, quotas, usage, readLimits } = limits;
  const findStorage = await openStorages(config, resources.cells.namespaces);
  const references = {
    destination: (accountId: string, id: string) => destinations.seek(accountId, id)?.spec,
    upload: (accountId: string, id: string) => {
      const upload = uploads.seek(accountId, id);
      return upload && { track: upload.spec.track, media: upload.status?.media };
    },
    playlist: (accountId: string, id: string) => playlists.seek(accountId, id)?.spec,
    scene: (accountId: string, id: string) => scenes.seek(accountId, id)?.spec,
  };
  const { allowPrivateDestinations: allowPrivate, allowPrivateWatch } = config;
  const previewPlaces = createPreviewPlaces(config.previewLimits, quotas);
  const stats = createStatsService({
    streams,
    destinations,
    pods,
    tokens: openViewTokens(kube),
    previewPlaces,
  });
  lifecycle.defer('stats', () => stats.close());
  const posters = createPosters({ uploads, playlists });
  const history = createHistory(kube, writes);
  const estimateStorage = createStorageEstimate({ uploads, playlists, scenes });
  const timeline = createTimelineService({ streams, uploads, pods });
  // Addresses without a credential, which stand for an object of an account.
  const addressed = {
    loadAccount: async (accountId: string) => {
      if (!resources.cells.hasLoaded(accountId)) await resources.cells.load(accountId);
    },
    secret: config.authSecret,
    publicUrl: config.publicUrl,
  };
  return {
    stats,
    account: createAccountService({ auth: auth.service, readLimits }),
    streams: createStreamService({
      streams,
      references,
      posters,
      estimateStorage,
      quotas,
      findConnected: stats.connected,
      paid: config.billing,
      supportUrl: config.supportUrl,
    }),
    destinations: createDestinationService({
      secrets: createSecretStore(kube),
      destinations,
      streams,
      quotas,
      allowPrivate,
      allowPrivateWatch,
      findConnected: stats.connected,
    }),
    uploads: createUploadService({
      uploads,
      streams,
      playlists,
      allScenes: resources.byName.scenes,
      pods,
      findStorage,
      limits: config,
      previewPlaces,
      leases,
      quotas,
      usage,
    }),
    playlists: createPlaylistService({ playlists, uploads, posters, streams, history, quotas }),
    timeline,
    asRun: createAsRunService({ db: auth.db, streams, uploads, pods }),
    publicNow: createPublicNowService({
      streams,
      uploads,
      findByHash: (hash) => resources.byName.streams.byIndex(BY_PUBLIC_HASH, hash),
      timeline,
      ...addressed,
    }),
    scenes: createSceneService({ scenes, streams, references, estimateStorage, quotas }),
    uptime: createUptimeService({
      db: auth.db,
      findStream: streams.get,
      ...addressed,
    }),
  };
}

/** Returns the tokens for the pods of a namespace, each of which has a key of its own. */
function openViewTokens(kube: Kube): (namespace: string) => ViewTokens {
  const readKey = async (namespace: string) => {
    const secret = await kube.get(SECRETS, namespace, VIEW_KEY_SECRET);
    return Buffer.from(secret.data?.[VIEW_KEY_KEY] ?? '', 'base64').toString() || undefined;
  };
  const opened = new Map<string, ViewTokens>();
  return (namespace) => {
    const tokens = opened.get(namespace) ?? createViewTokens(() => readKey(namespace));
    opened.set(namespace, tokens);
    return tokens;
  };
}
