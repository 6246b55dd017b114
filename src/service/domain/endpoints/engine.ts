/**
 * Delivers what waits for endpoints, at every API server. First attempts of an endpoint go in the order of their events, from one
 * server at a time, and one that gets no answer holds the next back for two seconds at most. Further attempts block nothing. Each host
 * gets so much from all endpoints of all accounts together.
 */
import { type Clock, sleep, systemClock } from '../../../core/lib/clock.ts';
import type { Lifecycle } from '../../../core/lib/lifecycle.ts';
import type { Logger } from '../../../core/lib/log.ts';
import { settlesWithin } from '../../../core/lib/settle-within.ts';
import { runWhenDue } from '../../db/due.ts';
import type { NotificationHandlers } from '../../db/listen.ts';
import type { Db } from '../../db/pool.ts';
import { FairSlots, SlotsFull } from '../../lib/fair-slots.ts';
import { createTokenBuckets } from '../../lib/token-buckets.ts';
import type { ClaimedDelivery } from './delivery-store.ts';
import * as queue from './delivery-store.ts';
import { type DeliveryAttempt, judge } from './outcome.ts';
import type { EndpointSenders } from './senders.ts';
import { refreshTypes } from './store.ts';
import { findHost } from './target.ts';

/** The channel of notifications: something waits. */
export const CHANNEL = 'loopstream_deliveries';

const PLACES = {
  total: 200,
  each: { host: 20, account: 40 },
  waiting: { total: 4_000, each: 200, ms: 20_000 },
};
/** Requests to one host in a minute, from this server. */
export const PER_HOST_AND_MINUTE = 6_000;
const BUDGET_POLL_MS = 250;
/** Deliveries that wait are due within this time once their endpoint answers again. */
const HASTEN_SECONDS = 30;
/** The lane of an endpoint is kept this long before its time is over. */
const HOLD_AGAIN_MS = queue.HOLD_BACK_MS / 2;

export interface DeliveryDeps {
  db: Db;
  senders: EndpointSenders;
  log: Logger;
  clock?: Clock;
  /** Receives the result of each attempt. */
  onAttempt?: (attempt: DeliveryAttempt & { ageMs: number }) => void;
}

/** Runs until the process stops. Deliveries that are under way then are sent again by another server. */
export function startDeliveries(
  { db, senders, log, clock = systemClock, onAttempt }: DeliveryDeps,
  lifecycle: Lifecycle,
): NotificationHandlers {
  const { signal } = lifecycle;
  const places = new FairSlots(PLACES);
  const budget = createTokenBuckets(PER_HOST_AND_MINUTE, clock);
  const running = new Set<Promise<unknown>>();

  const track = (work: Promise<unknown>): void => {
    const tracked = work
      .catch((err) => signal.aborted || log.warn({ err }, 'a delivery could not be kept; it is sent again'))
      .finally(() => {
        running.delete(tracked);
        due.poke();
      });
    running.add(tracked);
  };

  async function send(delivery: ClaimedDelivery): Promise<DeliveryAttempt> {
    const { endpoint, messageId: id, body, now: at } = delivery;
    if (body === undefined) return { failure: 'not_kept', tookMs: 0 };
    const host = findHost(endpoint);
    while (budget.getLevel(host) < 1) await sleep(BUDGET_POLL_MS, signal);
    budget.take(host, 1);
    const sender = senders[endpoint.kind];
    return sender ? sender(endpoint, { id, at, body }, signal) : { failure: 'unreachable', tookMs: 0 };
  }

  async function attempt(delivery: ClaimedDelivery): Promise<void> {
    const { endpoint } = delivery;
    let release: () => void;
    try {
      release = await places.take({ host: findHost(endpoint), account: endpoint.accountId });
    } catch (error) {
      // No attempt was made: it is claimed again when this claim ends.
      if (error instanceof SlotsFull) return;
      throw error;
    }
    try {
      const found = await send(delivery);
      if (signal.aborted && found.failure) return await queue.release(db, delivery.id);
      onAttempt?.({ ...found, ageMs: delivery.ageMs });
      const outcome = judge(found, delivery);
      const { isOverdue } = await queue.keepOutcome(db, delivery, outcome);
      if (outcome.state === 'delivered' && isOverdue) await queue.hasten(db, endpoint.id, HASTEN_SECONDS);
    } finally {
      release();
    }
  }

  /** Sends the first attempts of one endpoint. */
  async function sendInOrder(deliveries: readonly ClaimedDelivery[]): Promise<void> {
    const [first] = deliveries;
    if (!first) return;
    let heldAt = clock.monotonicMs();
    for (const delivery of deliveries) {
      if (signal.aborted) return;
      const answered = attempt(delivery);
      track(answered);
      await settlesWithin(answered, queue.HOLD_BACK_MS, signal);
      if (delivery === deliveries.at(-1) || clock.monotonicMs() - heldAt < HOLD_AGAIN_MS) continue;
      heldAt = clock.monotonicMs();
      await queue.holdLane(db, first.endpoint.id);
    }
    await queue.holdLane(db, first.endpoint.id, true);
  }

  let hasFreshTypes = false;

  /** Begins what is due, and returns whether there was anything. */
  async function begin(): Promise<boolean> {
    if (!hasFreshTypes) await refreshTypes(db);
    hasFreshTypes = true;
    const first = await queue.claimFirst(db);
    for (const run of Map.groupBy(first, ({ endpoint }) => endpoint.id).values()) track(sendInOrder(run));
    const again = await queue.claimAgain(db);
    for (const delivery of again) track(attempt(delivery));
    return first.length + again.length > 0;
  }

  const onError = (err: unknown) => log.warn({ err }, 'deliveries could not be read; it is retried');
  const due = runWhenDue({ begin, findNextDueMs: () => queue.findNextDueMs(db), onError }, signal);
  lifecycle.defer('deliveries', async () => {
    await due.ended;
    await Promise.all(running);
  });
  return due.handlers;
}
