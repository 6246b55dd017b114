/** Registers the routes of all operations, for the server and for the description. */
import type { FastifyInstance, RouteHandlerMethod } from 'fastify';
import { receiveStripeEvent, topUpOperations } from '../../billing/cards/operations.ts';
import { cryptoOperations } from '../../billing/crypto/operations.ts';
import { invoiceOperations } from '../../billing/invoices/operations.ts';
import { billingOperations } from '../../billing/ledger/operations.ts';
import { sessionOperations } from '../../billing/metering/operations.ts';
import type { AccessService } from '../../domain/accounts/access.ts';
import { accessOperations } from '../../domain/accounts/access-operations.ts';
import { getLimits, getMe } from '../../domain/accounts/operations.ts';
import type { SignInOptions } from '../../domain/accounts/record.ts';
import { asRunOperations } from '../../domain/as-run/operations.ts';
import { destinationOperations } from '../../domain/destinations/operations.ts';
import { endpointOperations } from '../../domain/endpoints/operations.ts';
import { eventOperations } from '../../domain/events/operations.ts';
import { playlistOperations } from '../../domain/playlists/operations.ts';
import { playlistVersionOperations } from '../../domain/playlists/version-operations.ts';
import { sceneOperations } from '../../domain/scenes/operations.ts';
import type { StatsService } from '../../domain/stats/service.ts';
import { streamOperations } from '../../domain/streams/operations.ts';
import { timelineOperations } from '../../domain/timeline/operations.ts';
import { publicNowOperations, publicOperations } from '../../domain/timeline/public-operations.ts';
import { uploadOperations } from '../../domain/uploads/operations.ts';
import { resumableOperations } from '../../domain/uploads/resumable.ts';
import { badgeOperations, uptimeOperations } from '../../domain/uptime/operations.ts';
import type { FairSlots } from '../../lib/fair-slots.ts';
import type { Deletions } from '../account/deletion.ts';
import type { ChangeService } from '../events/changes.ts';
import { eventHandlers } from '../events/event-stream.ts';
import { changeHandlers } from '../events/feed.ts';
import { setAgeHeader } from '../http/age-header.ts';
import { accountOwnerOperations } from '../operations/account-owner.ts';
import type { AnyOperation } from '../operations/list.ts';
import { type MetaServices, metaOperations, watchChanges } from '../operations/meta.ts';
import type { Services } from '../setup/services.ts';
import { tusRoutes } from '../tus/tus.ts';
import { serveOperations } from './adapter.ts';
import { badgeHandlers } from './badges.ts';
import { deletionHandlers } from './deletion.ts';
import { asRunHandlers, documentHandlers, sessionHandlers, uptimeHandlers } from './documents.ts';
import { type ExportHandlerDeps, exportHandlers } from './export.ts';
import { type WebhookDeps, webhookRoutes } from './payment-webhook.ts';
import { previewHandlers } from './previews.ts';
import { publicNowHandlers, timelineHandlers } from './timeline.ts';

/** Services of the account's owner. */
export interface AccountOwnerServices {
  access: AccessService;
  deletions: Pick<Deletions, 'begin'>;
  exportAccount: ExportHandlerDeps['exportAccount'];
  signInOptions: SignInOptions;
}

export interface RouteDeps extends MetaServices {
  services: Services;
  stats: StatsService;
  changes: ChangeService;
  /** For feeds of events. */
  feedPlaces: FairSlots;
  accountOwner: AccountOwnerServices;
  /** Receives the result of each payment event. */
  onWebhook?: WebhookDeps['observe'] | undefined;
  /** First part of a scope's public name, before the colon. */
  scopePrefix: string;
  /** Aborts when the server stops: previews and feeds end. */
  stopping: AbortSignal;
  /** Age of the caches of an account's resources in milliseconds; 0 while Kubernetes responds. */
  ageMs: (accountId: string) => number;
}

export async function nounRoutes(v1: FastifyInstance, deps: RouteDeps): Promise<void> {
  const { services, accountOwner, stats } = deps;
  serveOperations(v1, metaOperations, deps);
  serveOperations(v1, [getMe], services);
  serveOperations(v1, [...accessOperations, ...accountOwnerOperations], accountOwner, {
    ...deletionHandlers(v1, accountOwner.deletions),
    ...exportHandlers(accountOwner),
  });
  serveOperations(v1, [...billingOperations, ...topUpOperations], services, documentHandlers(services));
  serveOperations(v1, [...invoiceOperations, ...cryptoOperations], services, documentHandlers(services));
  await v1.register(webhookRoutes, {
    topUps: services.topUps,
    observe: deps.onWebhook,
    serve: serveBy([receiveStripeEvent]),
  });
  serveOperations(v1, [watchChanges], {}, changeHandlers(deps));
  const { scopePrefix, stopping, feedPlaces: places } = deps;
  serveOperations(v1, endpointOperations, services);
  serveOperations(v1, eventOperations, services, eventHandlers({ ...services, places, scopePrefix, stopping }));
  serveOperations(v1, badgeOperations, services, badgeHandlers(services));
  serveOperations(v1, publicOperations, services, publicNowHandlers(services));
  await v1.register(async (cached) => {
    setAgeHeader(cached, deps.ageMs);
    const previews = previewHandlers({ stats, uploads: services.uploads, stopping: deps.stopping });
    serveOperations(cached, [getLimits], services);
    serveOperations(cached, sessionOperations, services, sessionHandlers(services));
    serveOperations(cached, timelineOperations, services, timelineHandlers(services));
    serveOperations(cached, asRunOperations, services, asRunHandlers(services));
    serveOperations(cached, publicNowOperations, services);
    serveOperations(cached, uptimeOperations, services, uptimeHandlers(services));
    serveOperations(cached, [...streamOperations, ...destinationOperations, ...uploadOperations], services, previews);
    const { incoming } = services.uploads;
    if (incoming) await cached.register(tusRoutes, { incoming, serve: serveBy(resumableOperations) });
    serveOperations(cached, [...playlistVersionOperations, ...playlistOperations, ...sceneOperations], services);
  });
}

/** Serves operations by one handler, in a plugin with its own body parser: they call no service. */
const serveBy =
  (operations: readonly AnyOperation[]) =>
  (app: FastifyInstance, handler: RouteHandlerMethod): void =>
    serveOperations(app, operations, {} as never, Object.fromEntries(operations.map(({ id }) => [id, handler])));
