/** The routes of all nouns, for the server that answers them and for the description that is made from them. */
import type { FastifyInstance, RouteHandlerMethod } from 'fastify';
import { destinationOperations } from '../../domain/destinations/operations.ts';
import { playlistOperations } from '../../domain/playlists/operations.ts';
import { playlistVersionOperations } from '../../domain/playlists/version-operations.ts';
import type { StatsService } from '../../domain/stats/service.ts';
import { streamOperations } from '../../domain/streams/operations.ts';
import { uploadOperations } from '../../domain/uploads/operations.ts';
import { resumableOperations } from '../../domain/uploads/resumable.ts';
import type { ChangeService } from '../events/changes.ts';
import { changeRoutes } from '../events/feed.ts';
import { tellAge } from '../http/age.ts';
import { type StatusDeps, statusRoutes } from '../http/status.ts';
import type { Services } from '../services.ts';
import { tusRoutes } from '../tus/tus.ts';
import { type AccessRoutes, accessRoutes } from './access.ts';
import { accountRoutes, limitRoutes } from './account.ts';
import { serveOperations } from './adapter.ts';
import { billingRoutes } from './billing.ts';
import { cryptoRoutes } from './crypto-deposits.ts';
import { invoiceRoutes } from './invoices.ts';
import { type WebhookRoutes, webhookRoutes } from './payment-webhook.ts';
import { previewHandlers } from './previews.ts';
import { topUpRoutes } from './top-ups.ts';

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

/** The library of the protocol answers all of them. */
const serveResumable = (app: FastifyInstance, handler: RouteHandlerMethod): void =>
  serveOperations(app, resumableOperations, {
    services: {},
    handlers: Object.fromEntries(resumableOperations.map(({ id }) => [id, handler])),
  });

export async function nounRoutes(v1: FastifyInstance, deps: RouteDeps): Promise<void> {
  const { services } = deps;
  const { account, uploads, topUps } = services;
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
    const handlers = previewHandlers({ stats: deps.stats, uploads, stopping });
    serveOperations(cached, [...streamOperations, ...destinationOperations, ...uploadOperations], {
      services,
      handlers,
    });
    if (uploads.incoming) await cached.register(tusRoutes, { incoming: uploads.incoming, serve: serveResumable });
    serveOperations(cached, [...playlistVersionOperations, ...playlistOperations], { services });
  });
}
