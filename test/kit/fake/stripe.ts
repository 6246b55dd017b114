/**
 * Implements the part of Stripe's API that the product uses, for the stock library: Checkout Sessions, refunds, disputes and events, with
 * keys, idempotency and pages. Functions act as the payer and the bank. Each leaves events, as at Stripe, to be sent to a webhook or read
 * from the list.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parse } from 'node:querystring';
import Stripe from 'stripe';

const STRIPE_KEY = 'sk_test_of_the_stub';
const WEBHOOK_SECRET = 'whsec_of_the_stub';

type Thing = Record<string, unknown> & { id: string; object: string };
interface Event extends Thing {
  type: string;
  created: number;
  data: { object: Thing };
}

export interface StripeStub {
  url: string;
  /** Events, newest last. */
  readonly events: readonly Event[];
  readonly sessions: readonly Thing[];
  /** The number of sessions made, and of all requests. */
  made(): number;
  asked(): number;
  /** The payer gives a card; `later`: a payment method that takes days, see `arrive`. */
  pay(sessionId: string, options?: { amount?: number; currency?: string; later?: boolean }): Event;
  arrive(sessionId: string): Event;
  fail(sessionId: string): Event;
  expire(sessionId: string): Event;
  refund(sessionId: string, amount: number, status?: string): { id: string; event: Event };
  refundBecomes(id: string, status: string): Event;
  dispute(sessionId: string, amount: number, status?: string): { id: string; event: Event };
  disputeBecomes(id: string, status: string): Event;
  /** Refuses to make sessions with this error (docs.stripe.com/api/errors) until it is undefined. */
  refuse(error: object | undefined): void;
  /** Answers 500 to every request from now on, or stops doing so. */
  breakDown(isDown: boolean): void;
  stop(): Promise<void>;
}

/** Settings of a server that takes cards through this stub. */
export const stripeSettings = ({ url }: StripeStub) => ({
  LOOPSTREAM_STRIPE_KEY: STRIPE_KEY,
  LOOPSTREAM_STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
  LOOPSTREAM_STRIPE_URL: url,
});

/** Signs an event as Stripe does for a webhook. `at` is in seconds since 1970. */
export function signEvent(event: object, { secret = WEBHOOK_SECRET, at }: { secret?: string; at?: number } = {}) {
  const payload = JSON.stringify(event, null, 2);
  const timestamp = at ?? Math.floor(Date.now() / 1000);
  const signature = new Stripe(STRIPE_KEY).webhooks.generateTestHeaderString({ payload, secret, timestamp });
  return { payload, headers: { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': signature } };
}

const readBody = async (request: IncomingMessage): Promise<string> => {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
};

export async function startStripeStub(): Promise<StripeStub> {
  const sessions = new Map<string, Thing>();
  const intents = new Map<string, Thing>();
  const refunds = new Map<string, Thing>();
  const disputes = new Map<string, Thing>();
  const events: Event[] = [];
  const answers = new Map<string, { body: string; answer: Thing }>();
  let number = 0;
  let made = 0;
  let asked = 0;
  let isDown = false;
  let refusal: object | undefined;
  const id = (prefix: string) => `${prefix}_${++number}${randomUUID().slice(0, 8)}`;
  const now = () => Math.floor(Date.now() / 1000);
  const get = (map: Map<string, Thing>, key: string): Thing => {
    const thing = map.get(key);
    if (!thing) throw new Error(`The stub has no ${key}.`);
    return thing;
  };
  const addEvent = (type: string, object: Thing): Event => {
    // Events keep the object's state of that moment.
    const event = { id: id('evt'), object: 'event', type, created: now(), data: { object: structuredClone(object) } };
    events.push(event);
    return event;
  };

  const makeSession = (form: ReturnType<typeof parse>): Thing => {
    made++;
    const session: Thing = {
      id: id('cs_test'),
      object: 'checkout.session',
      status: 'open',
      payment_status: 'unpaid',
      mode: form.mode,
      client_reference_id: form.client_reference_id,
      metadata: { topUpID: form['metadata[topUpID]'], accountID: form['metadata[accountID]'] },
      amount_total: Number(form['line_items[0][price_data][unit_amount]']),
      currency: form['line_items[0][price_data][currency]'],
      customer_email: form.customer_email,
      payment_intent: null,
      expires_at: Number(form.expires_at),
      created: now(),
    };
    session.url = `https://checkout.stripe.com/c/pay/${session.id}`;
    sessions.set(session.id, session);
    return session;
  };

  const paged = (all: Thing[], query: ReturnType<typeof parse>): object => {
    const from = query.starting_after ? all.findIndex((one) => one.id === query.starting_after) + 1 : 0;
    const limit = Number(query.limit ?? 10);
    const data = all.slice(from, from + limit);
    return { object: 'list', data, has_more: from + limit < all.length, url: '/v1/list' };
  };
  const ofIntent = (map: Map<string, Thing>, query: ReturnType<typeof parse>) =>
    paged([...map.values()].filter((one) => one.payment_intent === query.payment_intent).reverse(), query);

  const answer = (
    method: string,
    path: string,
    query: ReturnType<typeof parse>,
    body: string,
    key?: string,
  ): unknown => {
    if (method === 'POST' && path === '/v1/checkout/sessions') {
      const before = key ? answers.get(key) : undefined;
      if (before && before.body !== body) return undefined;
      const session = before?.answer ?? makeSession(parse(body));
      if (key) answers.set(key, { body, answer: session });
      return session;
    }
    const session = sessions.get(path.replace('/v1/checkout/sessions/', ''));
    if (session)
      return { ...session, payment_intent: session.payment_intent && get(intents, String(session.payment_intent)) };
    if (path === '/v1/checkout/sessions') return ofIntent(sessions, query);
    if (path === '/v1/refunds') return ofIntent(refunds, query);
    if (path === '/v1/disputes') return ofIntent(disputes, query);
    if (path !== '/v1/events') return undefined;
    const types = Object.entries(query).flatMap(([name, value]) => (name.startsWith('types') ? [value].flat() : []));
    const since = Number(query['created[gte]'] ?? 0);
    return paged(events.filter((one) => types.includes(one.type) && one.created >= since).reverse(), query);
  };

  const server = createServer(async (request, response) => {
    asked++;
    const { pathname, search } = new URL(request.url ?? '/', 'http://stub');
    const body = await readBody(request);
    const send = (status: number, value: unknown) =>
      response
        .writeHead(status, { 'content-type': 'application/json', 'request-id': id('req') })
        .end(JSON.stringify(value));
    if (refusal && request.method === 'POST') return send(400, { error: refusal });
    if (isDown) return send(500, { error: { type: 'api_error', message: 'The stub is down.' } });
    if (request.headers.authorization !== `Bearer ${STRIPE_KEY}`)
      return send(401, {
        error: { type: 'invalid_request_error', message: `Invalid API Key provided: ${request.headers.authorization}` },
      });
    const key = request.headers['idempotency-key'];
    const value = answer(request.method ?? '', pathname, parse(search.slice(1)), body, key ? String(key) : undefined);
    if (value) return send(200, value);
    return send(400, { error: { type: key ? 'idempotency_error' : 'invalid_request_error', message: 'No.' } });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  const findIntent = (sessionId: string): Thing => get(intents, String(get(sessions, sessionId).payment_intent));
  const goBack = (map: Map<string, Thing>, object: string, sessionId: string, amount: number, status: string) => {
    const intent = findIntent(sessionId);
    const thing: Thing = {
      id: id(object === 'refund' ? 're' : 'du'),
      object,
      amount,
      status,
      payment_intent: intent.id,
    };
    thing.currency = intent.currency;
    map.set(thing.id, thing);
    return thing;
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    events,
    get sessions() {
      return [...sessions.values()];
    },
    made: () => made,
    asked: () => asked,
    pay(sessionId, { amount, currency, later = false } = {}) {
      const session = get(sessions, sessionId);
      const received = later ? 0 : (amount ?? Number(session.amount_total));
      const intent: Thing = {
        id: id('pi'),
        object: 'payment_intent',
        amount_received: received,
        metadata: session.metadata,
        currency: currency ?? session.currency,
        status: later ? 'processing' : 'succeeded',
      };
      intents.set(intent.id, intent);
      Object.assign(session, {
        status: 'complete',
        payment_status: later ? 'unpaid' : 'paid',
        payment_intent: intent.id,
      });
      return addEvent('checkout.session.completed', session);
    },
    arrive(sessionId) {
      const session = Object.assign(get(sessions, sessionId), { payment_status: 'paid' });
      Object.assign(findIntent(sessionId), { amount_received: session.amount_total, status: 'succeeded' });
      return addEvent('checkout.session.async_payment_succeeded', session);
    },
    fail(sessionId) {
      Object.assign(findIntent(sessionId), { status: 'requires_payment_method' });
      return addEvent('checkout.session.async_payment_failed', get(sessions, sessionId));
    },
    expire: (sessionId) =>
      addEvent('checkout.session.expired', Object.assign(get(sessions, sessionId), { status: 'expired', url: null })),
    refund(sessionId, amount, status = 'succeeded') {
      const refund = goBack(refunds, 'refund', sessionId, amount, status);
      return { id: refund.id, event: addEvent('refund.created', refund) };
    },
    refundBecomes: (name, status) =>
      addEvent(status === 'failed' ? 'refund.failed' : 'refund.updated', Object.assign(get(refunds, name), { status })),
    dispute(sessionId, amount, status = 'needs_response') {
      const dispute = goBack(disputes, 'dispute', sessionId, amount, status);
      return { id: dispute.id, event: addEvent('charge.dispute.created', dispute) };
    },
    disputeBecomes: (name, status) =>
      addEvent(
        /^(won|lost)$/.test(status) ? 'charge.dispute.closed' : 'charge.dispute.updated',
        Object.assign(get(disputes, name), { status }),
      ),
    refuse(error) {
      refusal = error;
    },
    breakDown(down) {
      isDown = down;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
