/** The routes of all operations, for the server that answers them and for the description that is made from them. */
import type { FastifyInstance, RouteHandlerMethod } from 'fastify';
import { receiveStripeEvent, topUpOperations } from '../../billing/cards/operations.ts';
import { cryptoOperations } from '../../billing/crypto/operations.ts';
import { invoiceOperations } from '../../billing/invoices/operations.ts';
import { billingOperations } from '../../billing/ledger/operations.ts';
import type { AccessService } from '../../domain/accounts/access.ts';
import { accessOperations } from '../../domain/accounts/access-operations.ts';
import { getLimits, getMe } from '../../domain/accounts/operations.ts';
import type { SignInOptions } from '../../domain/accounts/record.ts';
import { destinationOperations } from '../../domain/destinations/operations.ts';
import { playlistOperations } from '../../domain/playlists/operations.ts';
import { playlistVersionOperations } from '../../domain/playlists/version-operations.ts';
import type { StatsService } from '../../domain/stats/service.ts';
import { streamOperations } from '../../domain/streams/operations.ts';
import { uploadOperations } from '../../domain/uploads/operations.ts';
import { resumableOperations } from '../../domain/uploads/resumable.ts';
import type { Principal } from '../../lib/scopes.ts';
import type { Deletions } from '../account/deletion.ts';
import type { AccountExport } from '../account/export.ts';
import type { ChangeService } from '../events/changes.ts';
import { changeHandlers } from '../events/feed.ts';
import { tellAge } from '../http/age.ts';
import type { AnyOperation } from '../operations/list.ts';
import { type MetaServices, metaOperations, watchChanges } from '../operations/meta.ts';
import { personOperations } from '../operations/person.ts';
import type { Services } from '../services.ts';
import { tusRoutes } from '../tus/tus.ts';
import { serveOperations } from './adapter.ts';
import { deletionHandlers } from './deletion.ts';
import { documentHandlers } from './documents.ts';
import { type WebhookDeps, webhookRoutes } from './payment-webhook.ts';
import { previewHandlers } from './previews.ts';

/** What the person whose account it is can do with it. */
export interface PersonServices {
  access: AccessService;
  deletions: Pick<Deletions, 'begin'>;
  exportAccount: (principal: Principal, now: Date) => Promise<AccountExport>;
  signInOptions: SignInOptions;
}

export interface RouteDeps extends MetaServices {
  services: Services;
  stats: StatsService;
  changes: ChangeService;
  people: PersonServices;
  /** What comes of each event of the payment provider. */
  onWebhook?: WebhookDeps['observe'] | undefined;
  /** Before the colon of a scope's public name. */
  scopePrefix: string;
  /** Aborts when the server stops: previews and feeds end. */
  stopping: AbortSignal;
  /** How old the caches of Kubernetes' resources may be, in milliseconds; 0 while it is heard of. */
  ageMs: () => number;
}

export async function nounRoutes(v1: FastifyInstance, deps: RouteDeps): Promise<void> {
  const { services, people, stats } = deps;
  serveOperations(v1, metaOperations, deps);
  serveOperations(v1, [getMe], services);
  serveOperations(v1, [...accessOperations, ...personOperations], people, deletionHandlers(v1, people.deletions));
  serveOperations(v1, [...billingOperations, ...topUpOperations], services, documentHandlers(services));
  serveOperations(v1, [...invoiceOperations, ...cryptoOperations], services, documentHandlers(services));
  await v1.register(webhookRoutes, {
    topUps: services.topUps,
    observe: deps.onWebhook,
    serve: serveBy([receiveStripeEvent]),
  });
  serveOperations(v1, [watchChanges], {}, changeHandlers(deps));
  await v1.register(async (cached) => {
    tellAge(cached, deps.ageMs);
    const previews = previewHandlers({ stats, uploads: services.uploads, stopping: deps.stopping });
    serveOperations(cached, [getLimits], services);
    serveOperations(cached, [...streamOperations, ...destinationOperations, ...uploadOperations], services, previews);
    const { incoming } = services.uploads;
    if (incoming) await cached.register(tusRoutes, { incoming, serve: serveBy(resumableOperations) });
    serveOperations(cached, [...playlistVersionOperations, ...playlistOperations], services);
  });
}

/** Serves operations that one handler answers, in a plugin with a parser of its own: they call no service themselves. */
const serveBy =
  (operations: readonly AnyOperation[]) =>
  (app: FastifyInstance, handler: RouteHandlerMethod): void =>
    serveOperations(app, operations, {} as never, Object.fromEntries(operations.map(({ id }) => [id, handler])));
