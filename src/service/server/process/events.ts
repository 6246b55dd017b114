/** Opens the events of accounts: what tells the outbox of them, who reads it, and who is told. */
import { isOwnEmail } from '../../auth/store.ts';
import type { Leases } from '../../db/leases.ts';
import { listen } from '../../db/listen.ts';
import type { Db } from '../../db/pool.ts';
import { startAlerts } from '../../domain/endpoints/alerts/worker.ts';
import { CHANNEL as DELIVERIES, startDeliveries } from '../../domain/endpoints/engine.ts';
import { sendItemStarts } from '../../domain/endpoints/items/worker.ts';
import { peopleSenders } from '../../domain/endpoints/people.ts';
import { createPost } from '../../domain/endpoints/post.ts';
import { webhookSender } from '../../domain/endpoints/senders.ts';
import { createEndpointService } from '../../domain/endpoints/service.ts';
import { startCollector } from '../../domain/events/collector.ts';
import { createEventService } from '../../domain/events/service.ts';
import { createSnapshots, type Snapshotted } from '../../domain/events/snapshots.ts';
import { CHANNEL } from '../../domain/events/store.ts';
import { createMailBudget } from '../../domain/mail/budget.ts';
import { createMailer } from '../../lib/mail/mailer.ts';
import type { Services } from '../setup/services.ts';
import type { ProcessContext } from './context.ts';
import type { Resources } from './kubernetes.ts';

interface EventsDeps {
  db: Db;
  leases: Leases;
  resources: Pick<Resources, 'byName' | 'ready' | 'uploads' | 'cells'>;
  services: Snapshotted & Pick<Services, 'timeline'>;
}

type OpenEvents = Pick<Services, 'events' | 'endpoints'>;

export function openEvents({ config, lifecycle, log }: ProcessContext, deps: EventsDeps): OpenEvents {
  const { db, leases, resources, services } = deps;
  const events = createEventService({ db });
  void listen(config.databaseUrl, CHANNEL, { handlers: events, log, signal: lifecycle.signal });
  const snapshot = createSnapshots(services);
  const { byName: caches, ready, uploads, cells } = resources;
  const { timeline } = services;
  const loadAccount = async (accountId: string) => {
    if (!cells.hasLoaded(accountId)) await cells.load(accountId);
  };
  const starts = { db, streams: caches.streams, uploads, timeline, loadAccount, log };
  const alongside = (signal: AbortSignal) => sendItemStarts(starts, signal);
  startCollector({ db, leases, caches, snapshot, ready, log, alongside }, lifecycle);
  const { allowPrivateLinks: allowPrivate, authSecret: secret, publicUrl } = config;
  const perHour = config.authLimits.mails;
  // The engine of deliveries tries again.
  const mailer = config.mail && createMailer(config.mail, log, { pausesMs: [] });
  lifecycle.defer('mail to people', () => mailer?.close());
  const { post, close } = createPost({ allowPrivate });
  lifecycle.defer('connections to endpoints', close);
  const people = peopleSenders({ post, publicUrl, mailer, takeMail: createMailBudget({ db, perHour }).takeAlert });
  const senders = { webhook: webhookSender(post, secret), ...people };
  const deliveries = startDeliveries({ db, senders, log: log.child({ job: 'deliveries' }) }, lifecycle);
  const alerts = startAlerts({ db, log: log.child({ job: 'alerts' }) }, lifecycle);
  // One connection for both.
  const handlers = {
    onConnect() {
      deliveries.onConnect();
      alerts.onConnect();
    },
    onNotify(payload: string) {
      deliveries.onNotify(payload);
      alerts.onNotify(payload);
    },
  };
  void listen(config.databaseUrl, DELIVERIES, { handlers, log, signal: lifecycle.signal });
  return {
    events,
    endpoints: createEndpointService({
      db,
      senders,
      secret,
      allowPrivate,
      isOwnEmail: (userId, address) => isOwnEmail(db, userId, address),
    }),
  };
}
