/**
 * Settles top-ups in the background: reads events that never arrived, and asks about open payments. So the ledger
 * becomes right in the end without any webhook.
 */
import type { BillingJob } from '../ledger/jobs.ts';
import { type EventDeps, handleEvent } from './events.ts';
import { settleTopUp } from './post-top-up.ts';
import * as store from './store.ts';
import type { StripeEvent } from './stripe.ts';

const EVERY_MS = 60_000;
/** Events come into Stripe's list a little after the time that they bear, and its clock is not ours. */
const OVERLAP_SECONDS = 120;
/** Pause between two checks of an open payment. */
const QUIET_SECONDS = 600;
const AT_ONCE = 100;

export interface TopUpJobDeps extends EventDeps {
  /** QUIET_SECONDS by default. */
  quietSeconds?: number;
}

export function createTopUpJob(deps: TopUpJobDeps): BillingJob {
  const { db, payments, log, quietSeconds = QUIET_SECONDS } = deps;
  /** Events of the overlap, which each run would handle again. */
  let seen = new Set<string>();

  const readEvents = async (signal: AbortSignal): Promise<number> => {
    const since = await store.readUntil(db);
    const now = new Date();
    // Before the first run there were no events.
    if (!since) await store.keepReadUntil(db, now);
    const from = Math.floor((since ?? now).getTime() / 1000) - OVERLAP_SECONDS;
    const events = await payments.eventsSince(from);
    const done = new Set(events.map(({ id }) => id).filter((id) => seen.has(id)));
    let failures = 0;
    for (const event of events.toReversed()) {
      signal.throwIfAborted();
      if (done.has(event.id)) continue;
      if (await attempt(event)) done.add(event.id);
      else failures++;
    }
    seen = done;
    if (failures === 0) await store.keepReadUntil(db, now);
    return failures;
  };
  const attempt = (event: StripeEvent): Promise<boolean> =>
    handleEvent(deps, event).then(
      () => true,
      (err) => {
        log.warn({ err, eventID: event.id }, 'an event of the payment provider could not be processed');
        return false;
      },
    );

  const askAgain = async (signal: AbortSignal): Promise<number> => {
    let failures = 0;
    for (const row of await store.listUnsettled(db, quietSeconds, AT_ONCE)) {
      signal.throwIfAborted();
      try {
        // Nobody knows the page of a payment whose creation was cut off, so nobody can pay it.
        if (row.sessionId === null) await store.expireUnmade(db, row.id);
        else await settleTopUp(deps, row.id, await payments.readPayment(row.sessionId), new Date());
      } catch (err) {
        failures++;
        log.warn({ err, topUpID: row.id }, 'a top-up could not be read from the payment provider');
      }
      await store.markChecked(db, row.id);
    }
    return failures;
  };

  return {
    name: 'card-top-ups',
    everyMs: EVERY_MS,
    async run(signal) {
      const failures = (await readEvents(signal)) + (await askAgain(signal));
      if (failures > 0) throw new Error(`${failures} payments could not be read from the payment provider.`);
    },
  };
}
