/** The routes of all nouns, for the server that answers them and for the description that is made from them. */
import type { FastifyInstance } from 'fastify';
import type { StatsService } from '../../domain/stats/service.ts';
import type { ChangeService } from '../events/changes.ts';
import { changeRoutes } from '../events/feed.ts';
import { tellAge } from '../http/age.ts';
import { type StatusDeps, statusRoutes } from '../http/status.ts';
import type { Services } from '../services.ts';
import { tusRoutes } from '../tus/tus.ts';
import { type AccessRoutes, accessRoutes } from './access.ts';
import { accountRoutes, limitRoutes } from './account.ts';
import { billingRoutes } from './billing.ts';
import { cryptoRoutes } from './crypto-deposits.ts';
import { destinationRoutes } from './destinations.ts';
import { invoiceRoutes } from './invoices.ts';
import { type WebhookRoutes, webhookRoutes } from './payment-webhook.ts';
import { playlistRoutes } from './playlists.ts';
import { streamRoutes } from './streams.ts';
import { topUpRoutes } from './top-ups.ts';
import { uploadRoutes } from './uploads.ts';

/** The version is a segment of the path. */
export const V1 = '/v1';

export interface RouteDeps extends StatusDeps {
  services: Services;
  stats: StatsService;
  changes: ChangeService;
  people: AccessRoutes;
  /** What comes of each event of the payment provider. */
  onWebhook?: WebhookRoutes['observe'] | undefined;
  /** Before the colon of a scope's public name. */
  scopePrefix: string;
  /** Aborts when the server stops: previews and feeds end. */
  stopping: AbortSignal;
  /** How old the caches of Kubernetes' resources may be, in milliseconds; 0 while it is heard of. */
  ageMs: () => number;
  /** The document of GET /v1/openapi.json. */
  openApi: () => unknown;
}

export async function nounRoutes(v1: FastifyInstance, deps: RouteDeps): Promise<void> {
  const { account, streams, destinations, uploads, playlists, topUps } = deps.services;
  await v1.register(statusRoutes, { health: deps.health, version: deps.version, openApi: deps.openApi });
  await v1.register(accountRoutes, { account });
  await v1.register(accessRoutes, { people: deps.people });
  await v1.register(billingRoutes, { billing: deps.services.billing });
  await v1.register(topUpRoutes, { topUps });
  await v1.register(invoiceRoutes, { invoices: deps.services.invoices });
  await v1.register(cryptoRoutes, { crypto: deps.services.crypto });
  await v1.register(webhookRoutes, { topUps, observe: deps.onWebhook });
  const { changes, scopePrefix, stopping } = deps;
  await v1.register(changeRoutes, { changes, scopePrefix, stopping });
  await v1.register(async (cached) => {
    tellAge(cached, deps.ageMs);
    await cached.register(limitRoutes, { account });
    await cached.register(streamRoutes, { streams, stats: deps.stats, stopping: deps.stopping });
    await cached.register(destinationRoutes, { destinations });
    await cached.register(uploadRoutes, { uploads });
    if (uploads.incoming) await cached.register(tusRoutes, { incoming: uploads.incoming });
    await cached.register(playlistRoutes, { playlists });
  });
}
