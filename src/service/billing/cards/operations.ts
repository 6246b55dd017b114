/** Declares the operations on top-ups by card, and what the payment provider calls. Pure: no I/O, no clock. */
import { Type } from 'typebox';
import { EXAMPLE } from '../../lib/examples.ts';
import { created, createOperationBuilder, FILTERED, OWNED, PAGED, page, record } from '../../lib/operation.ts';
import { listQuery, readListing } from '../../lib/paging/noun-list.ts';
import { formatMinor } from '../ledger/money.ts';
import { TOP_UP_LIST } from './list.ts';
import { TopUp, TopUpCreate } from './record.ts';
import type { TopUpService } from './service.ts';

export const exampleTopUp: TopUp = {
  id: 'top-01k8zq5w9j4p1y6e0d8c2s3v5x',
  state: 'open',
  amountMinor: '2500',
  currency: 'USD',
  currencyDigits: 2,
  paidMinor: '0',
  refundedMinor: '0',
  checkoutUrl: 'https://checkout.stripe.com/c/pay/cs_live_a1b2c3',
  createdAt: EXAMPLE.createdAt,
  expiresAt: '2027-02-01T05:42:05Z',
};

const operation = createOperationBuilder<{ topUps: TopUpService }>({
  tag: 'billing',
  object: {
    idName: 'Top-up id',
    listTool: 'list_top_ups',
    exampleId: exampleTopUp.id,
    notFound: 'topup_not_found',
  },
  client: { noun: 'topUps' },
});

const describeTopUp = ({ id, state, checkoutUrl, amountMinor, currency, currencyDigits }: TopUp): string => {
  const amount = formatMinor(BigInt(amountMinor), currency, currencyDigits);
  const what = `Top-up ${id} of ${amount} is ${state}.`;
  return checkoutUrl === null ? what : `${what} The user pays it at ${checkoutUrl}`;
};

export const topUpOperations = [
  operation({
    id: 'createTopUp',
    scope: 'billing',
    http: 'POST /billing/top-ups',
    summary: 'Start a top-up by card',
    description:
      'Returns the address of the payment provider’s checkout page, where the card is entered. A payment is ' +
      'credited within seconds. Fails with 404 `topups_disabled` if the service accepts no cards.',
    input: TopUpCreate,
    output: created(TopUp, ({ id }) => `/billing/top-ups/${id}`),
    errors: ['topups_disabled', 'topups_unavailable', 'upstream_unavailable'],
    examples: { input: { amountMinor: '2500', currency: 'USD' }, output: exampleTopUp },
    mcp: {
      title: 'Create a top-up link',
      description:
        'Returns the address of the payment provider’s checkout page, to give to the user. The card is entered ' +
        'there and nowhere else. The payment is credited within seconds; get_top_up reports it.',
      summarize: describeTopUp,
      reachesOut: true,
    },
    graphql: { description: 'Starts a top-up. The card is entered at checkoutUrl.' },
    run: ({ topUps }, { principal, input }) => topUps.create(principal, input),
  }),

  operation({
    id: 'listTopUps',
    scope: 'billing',
    http: 'GET /billing/top-ups',
    summary: 'List top-ups by card, newest first',
    description: `Returns payments by card in every state. ${FILTERED} ${PAGED}`,
    query: listQuery(TOP_UP_LIST),
    output: page(TopUp, 'TopUpList'),
    examples: { output: exampleTopUp, parameters: { state: 'paid', sort: 'amountMinor' } },
    mcp: {
      query: listQuery(TOP_UP_LIST, 'short'),
      title: 'List top-ups',
      description: 'Lists top-ups by card, newest first.',
    },
    graphql: {
      description: 'Lists top-ups by card, newest first unless orderBy says otherwise.',
      query: listQuery(TOP_UP_LIST),
    },
    run: ({ topUps }, { principal, page, query, where }) => topUps.list(principal, readListing(page, query), where),
  }),

  operation({
    id: 'getTopUp',
    scope: 'billing',
    http: 'GET /billing/top-ups/{id}',
    summary: 'Get a top-up by card',
    description: `Returns a payment by card and its state. ${OWNED}`,
    output: record(TopUp),
    examples: { output: exampleTopUp },
    mcp: {
      title: 'Get a top-up',
      description: 'Returns a top-up by card and whether it has been paid.',
      summarize: describeTopUp,
    },
    graphql: { description: 'Returns a top-up by card.' },
    run: ({ topUps }, { principal, id }) => topUps.get(principal, id),
  }),
] as const;

const Received = Type.Object(
  { received: Type.Boolean({ description: 'The event was received and need not be sent again.' }) },
  { title: 'WebhookReceived' },
);

/** Its signature is over the bytes of the body, so its route is written by hand. */
export const receiveStripeEvent = operation({
  id: 'receiveStripeEvent',
  scope: null,
  http: 'POST /webhooks/stripe',
  summary: 'Receive an event from the payment provider',
  description:
    'Used by the payment provider alone. The body is a Stripe event, signed in the header `Stripe-Signature`. The ' +
    'service does not rely on its content: it reads the payment again from Stripe.',
  output: record(Received),
  errors: ['webhook_forged', 'topups_disabled', 'topups_unavailable', 'upstream_unavailable', 'payload_too_large'],
  examples: { output: { received: true } },
  client: false,
});
