/** Opens the events of accounts: what tells the outbox of them, and who reads it. */
import type { Leases } from '../../db/leases.ts';
import { listen } from '../../db/listen.ts';
import type { Db } from '../../db/pool.ts';
import { startCollector } from '../../domain/events/collector.ts';
import { createEventService, type EventService } from '../../domain/events/service.ts';
import { createSnapshots, type Snapshotted } from '../../domain/events/snapshots.ts';
import { CHANNEL } from '../../domain/events/store.ts';
import type { ProcessContext } from './context.ts';
import type { Resources } from './kubernetes.ts';

interface EventsDeps {
  db: Db;
  leases: Leases;
  resources: Pick<Resources, 'byName' | 'ready'>;
  services: Snapshotted;
}

export function openEvents({ config, lifecycle, log }: ProcessContext, deps: EventsDeps): EventService {
  const { db, leases, resources, services } = deps;
  const events = createEventService({ db });
  void listen(config.databaseUrl, CHANNEL, { handlers: events, log, signal: lifecycle.signal });
  const snapshot = createSnapshots(services);
  startCollector({ db, leases, caches: resources.byName, snapshot, ready: resources.ready, log }, lifecycle);
  return events;
}
