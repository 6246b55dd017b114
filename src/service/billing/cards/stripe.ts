/**
 * Adapts Stripe: creates payment pages, and returns all that Stripe knows of a payment. An event is only used to
 * identify its payment. No error of the library leaves this file: it carries the request, and a request carries the
 * key.
 */
import Stripe from 'stripe';
import { AppError, validationFailed } from '../../lib/errors.ts';
import { EVENT_TYPES } from './event-types.ts';
import type { CardFacts } from './settle.ts';

/** Signatures of events older than this are refused, as Stripe's own library has it. */
const TOLERANCE_SECONDS = 300;
const TIMEOUT_MS = 15_000;
/** Maximum of refunds and disputes of one payment; far more than occur. */
const MANY = 1000;

export interface StripeSettings {
  key: string;
  /** More than one while they are being changed for others. */
  webhookSecrets: readonly string[];
  /** The address of the API: `https://api.stripe.com`. */
  url: string;
}

/** All that is known of a payment, as it is now. */
export interface CardPayment {
  facts: CardFacts;
  /** From our metadata: null when the payment is not ours. */
  topUpId: string | null;
  sessionId: string;
  paymentIntentId: string | null;
  checkoutUrl: string | null;
}

export interface StripeEvent {
  id: string;
  type: string;
  /** In seconds since 1970. */
  created: number;
  object: Readonly<Record<string, unknown>>;
}

export interface NewSession {
  topUpId: string;
  accountId: string;
  /** In the unit in which Stripe charges the currency (currencies.ts). */
  charge: bigint;
  currency: string;
  email: string;
  expiresAt: Date;
  returnUrl: string;
}

export type Payments = ReturnType<typeof createPayments>;

const readText = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
/** Stripe sends nested objects as ids, or whole. */
const readId = (value: unknown): string | null => readText(value) ?? readText((value as { id?: unknown } | null)?.id);
const readTopUpId = (object: unknown): string | null =>
  readText((object as { metadata?: Record<string, unknown> | null } | null)?.metadata?.topUpID);

export function createPayments({ key, webhookSecrets, url }: StripeSettings) {
  const { hostname, port, protocol } = new URL(url);
  const stripe = new Stripe(key, {
    host: hostname,
    protocol: protocol === 'http:' ? 'http' : 'https',
    ...(port !== '' && { port }),
    timeout: TIMEOUT_MS,
    maxNetworkRetries: 2,
    telemetry: false,
    appInfo: { name: 'loopstream' },
  });

  const asked = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw ofOurs(error);
    }
  };

  /** One that the payment is of; another one when it was tried again, and then the latest counts. */
  const findSession = async (paymentIntent: string): Promise<string | null> => {
    const { data } = await stripe.checkout.sessions.list({ payment_intent: paymentIntent, limit: 1 });
    return data[0]?.id ?? null;
  };

  const readPayment = async (sessionId: string): Promise<CardPayment> => {
    const session = await stripe.checkout.sessions.retrieve(sessionId, { expand: ['payment_intent'] });
    const intent = session.payment_intent as Stripe.PaymentIntent | null;
    const query = intent && { payment_intent: intent.id, limit: 100 };
    const [refunds, disputes] = query
      ? await Promise.all([
          stripe.refunds.list(query).autoPagingToArray({ limit: MANY }),
          stripe.disputes.list(query).autoPagingToArray({ limit: MANY }),
        ])
      : [[], []];
    return {
      facts: {
        session: sessionState(session.status),
        receivedMinor: BigInt(intent?.amount_received ?? 0),
        currency: (intent?.currency ?? session.currency ?? '').toUpperCase(),
        hasFailed:
          session.payment_status === 'unpaid' && /^(requires_payment_method|canceled)$/.test(intent?.status ?? ''),
        refunds: refunds.map(({ id, amount, status }) => ({
          id,
          amountMinor: BigInt(amount),
          state: refundState(status),
        })),
        disputes: disputes.map(({ id, amount, status }) => ({
          id,
          amountMinor: BigInt(amount),
          state: disputeState(status),
        })),
      },
      topUpId: readTopUpId(session),
      sessionId: session.id,
      paymentIntentId: intent?.id ?? null,
      checkoutUrl: session.status === 'open' ? (session.url ?? null) : null,
    };
  };

  return {
    /** Throws `webhook_forged` when it was not Stripe who sent these bytes, or longer ago than five minutes. */
    readEvent(raw: Buffer, signature: string | undefined): StripeEvent {
      for (const secret of webhookSecrets)
        try {
          const event = stripe.webhooks.constructEvent(raw, signature ?? '', secret, TOLERANCE_SECONDS);
          return plainEvent(event);
        } catch (error) {
          if (!(error instanceof Stripe.errors.StripeSignatureVerificationError)) throw ofOurs(error);
        }
      throw new AppError(
        'webhook_forged',
        'The signature does not match the signing secret of the payment provider, or is too old.',
      );
    },

    /** Returns the payment page. The same top-up always gets the same page. */
    createSession: ({ topUpId, accountId, charge, currency, ...given }: NewSession): Promise<CardPayment> =>
      asked(async () => {
        const metadata = { topUpID: topUpId, accountID: accountId };
        const session = await stripe.checkout.sessions.create(
          {
            mode: 'payment',
            client_reference_id: topUpId,
            metadata,
            payment_intent_data: { metadata },
            customer_email: given.email,
            success_url: given.returnUrl,
            cancel_url: given.returnUrl,
            expires_at: Math.floor(given.expiresAt.getTime() / 1000),
            line_items: [
              {
                quantity: 1,
                price_data: {
                  currency: currency.toLowerCase(),
                  unit_amount: Number(charge),
                  product_data: { name: 'Credits for time on air' },
                },
              },
            ],
          },
          { idempotencyKey: `loopstream-${topUpId}` },
        );
        return readPayment(session.id);
      }),

    readPayment: (sessionId: string): Promise<CardPayment> => asked(() => readPayment(sessionId)),

    /** The session that an event is about; null when it is about something else. */
    findSession: ({ object }: StripeEvent): Promise<string | null> =>
      asked(async () => {
        if (object.object === 'checkout.session') return readText(object.id);
        const intent = object.object === 'payment_intent' ? readText(object.id) : readId(object.payment_intent);
        return intent === null ? null : findSession(intent);
      }),

    /** Lists the events about payments since `seconds` (since 1970), the oldest last; `MANY` at most. */
    eventsSince: (seconds: number): Promise<StripeEvent[]> =>
      asked(async () => {
        const list = stripe.events.list({ types: EVENT_TYPES, created: { gte: seconds }, limit: 100 });
        return (await list.autoPagingToArray({ limit: 10 * MANY })).map(plainEvent);
      }),
  };
}

const plainEvent = ({ id, type, created, data }: Stripe.Event): StripeEvent => ({
  id,
  type,
  created,
  object: data.object as unknown as Record<string, unknown>,
});

const sessionState = (status: string | null): CardFacts['session'] =>
  status === 'complete' || status === 'expired' ? status : 'open';

/** https://docs.stripe.com/api/refunds/object#refund_object-status */
function refundState(status: string | null): CardFacts['refunds'][number]['state'] {
  if (status === 'succeeded') return 'done';
  return status === 'failed' || status === 'canceled' ? 'failed' : 'pending';
}

/** https://docs.stripe.com/api/disputes/object#dispute_object-status; while it is appealed, the bank holds the money. */
function disputeState(status: string): CardFacts['disputes'][number]['state'] {
  if (status === 'won' || status === 'lost') return status;
  return status.startsWith('warning') || status === 'prevented' ? 'warning' : 'held';
}

/** With what helps to find it at Stripe, and nothing of the request. */
function ofOurs(error: unknown): AppError {
  const { type = 'error', code, requestId, statusCode } = (error ?? {}) as Partial<Stripe.errors.StripeError>;
  const cause = new Error(`Stripe: ${[type, code, statusCode, requestId].filter(Boolean).join(' ')}`);
  if (error instanceof Stripe.errors.StripeAuthenticationError || error instanceof Stripe.errors.StripePermissionError)
    return new AppError('topups_unavailable', 'The payment provider rejects the credentials of this service.', {
      cause,
    });
  if (error instanceof Stripe.errors.StripeInvalidRequestError) return explainRefusal(error, cause);
  return new AppError('upstream_unavailable', 'The payment provider did not respond. Try again.', { cause });
}

/** Why Stripe refuses a request of ours: the amount, or what its account is not set up for. */
function explainRefusal({ code, param, message }: Stripe.errors.StripeError, cause: Error): AppError {
  if (code === 'amount_too_small' || code === 'amount_too_large') {
    const how = code === 'amount_too_small' ? 'more' : 'less';
    const refused = `must be ${how}: the payment provider does not charge such an amount`;
    return validationFailed([{ path: '/amountMinor', message: refused }]);
  }
  const isCurrency = /currency/.test(param ?? '') || /currenc/i.test(message);
  return new AppError(
    'topups_unavailable',
    isCurrency
      ? 'The payment provider does not charge the currency of this service. Pay in another way, or tell the administrator: ' +
          'the account of the payment provider must accept LOOPSTREAM_CURRENCY.'
      : 'The payment provider refuses the payment. Pay in another way, or tell the administrator of the service.',
    { cause },
  );
}
