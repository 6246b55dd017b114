/** Handles an event of the payment provider, from a webhook or a poll: settles the payment that it names. */
import type { Logger } from '../../../core/lib/log.ts';
import { EVENT_TYPES } from './event-types.ts';
import { type PostDeps, settleTopUp } from './post-top-up.ts';
import type { Payments, StripeEvent } from './stripe.ts';

/** `ignored`: it is about something else. */
export type EventOutcome = 'settled' | 'ignored';

export interface EventDeps extends PostDeps {
  payments: Payments;
  log: Pick<Logger, 'warn'>;
}

export async function handleEvent(deps: EventDeps, event: StripeEvent): Promise<EventOutcome> {
  const { payments, log } = deps;
  const sessionId = EVENT_TYPES.includes(event.type) ? await payments.findSession(event) : null;
  const looked = sessionId === null ? undefined : await payments.readPayment(sessionId);
  if (!looked?.topUpId) return 'ignored';
  const row = await settleTopUp(deps, looked.topUpId, looked, new Date());
  // Another installation may use the same account of Stripe.
  if (!row) log.warn({ eventID: event.id, topUpID: looked.topUpId }, 'a payment belongs to no known top-up');
  return row ? 'settled' : 'ignored';
}
