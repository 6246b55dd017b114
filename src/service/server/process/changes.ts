/** Opens the feeds of changes: of resources from their caches, and of billing from the database's notifications. */
import { CHANNEL, createLedgerEvents } from '../../billing/ledger/events.ts';
import { listen } from '../../db/listen.ts';
import type { FairSlots } from '../../lib/fair-slots.ts';
import { type ChangeService, createChangeService } from '../events/changes.ts';
import type { ProcessContext } from './context.ts';
import type { Resources } from './kubernetes.ts';

export function openChanges(
  { config, lifecycle, log }: ProcessContext,
  { byNoun }: Resources,
  places: FairSlots,
): ChangeService {
  const billing = createLedgerEvents();
  // Without billing there are no changes.
  if (config.billing) void listen(config.databaseUrl, CHANNEL, { handlers: billing, log, signal: lifecycle.signal });
  return createChangeService({ ...byNoun, ...billing.byNoun }, places);
}
