/** Declares the operations on top-ups by card, and what the payment provider calls. Pure: no I/O, no clock. */
import { Type } from 'typebox';
import { EXAMPLE } from '../../lib/examples.ts';
import { created, OWNED, operationsOf, PAGED, page, record } from '../../lib/operation.ts';
import { TopUp, TopUpCreate } from './record.ts';
import type { TopUpService } from './service.ts';

export const exampleTopUp: TopUp = {
  id: 'top-01k8zq5w9j4p1y6e0d8c2s3v5x',
  state: 'open',
  amountMinor: '2500',
  currency: 'USD',
  paidMinor: '0',
  refundedMinor: '0',
  checkoutUrl: 'https://checkout.stripe.com/c/pay/cs_live_a1b2c3',
  createdAt: EXAMPLE.createdAt,
  expiresAt: '2027-02-01T05:42:05Z',
};

const operation = operationsOf<{ topUps: TopUpService }>({
  tag: 'billing',
  object: {
    idName: 'Top-up id',
    listTool: 'list_top_ups',
    exampleId: exampleTopUp.id,
    notFound: 'topup_not_found',
  },
});

const sayTopUp = ({ id, state, checkoutUrl }: TopUp): string =>
  checkoutUrl === null ? `Top-up ${id} is ${state}.` : `Top-up ${id} is ${state}: a person pays it at ${checkoutUrl}`;

export const topUpOperations = [
  operation({
    id: 'createTopUp',
    scope: 'billing',
    http: 'POST /billing/top-ups',
    summary: 'Begin a top-up by card',
    description:
      'The answer has the address of a page of the payment provider, where the card is given. What is received there ' +
      'is credited within seconds. 404 `topups_disabled` where no cards are taken.',
    input: TopUpCreate,
    output: created(TopUp, ({ id }) => `/billing/top-ups/${id}`),
    errors: ['topups_disabled', 'topups_unavailable', 'upstream_unavailable'],
    examples: { input: { amountMinor: '2500', currency: 'USD' }, output: exampleTopUp },
    mcp: {
      title: 'Make a link to top up',
      description:
        'Answers the address of a page of the payment provider, to be given to the person: a card is given there and nowhere else. What is paid is credited within seconds; get_top_up tells when it was.',
      say: sayTopUp,
      reachesOut: true,
    },
    graphql: { description: 'Begins a top-up: its checkoutUrl is where the card is given.' },
    run: ({ topUps }, { principal, input }) => topUps.create(principal, input),
  }),

  operation({
    id: 'listTopUps',
    scope: 'billing',
    http: 'GET /billing/top-ups',
    summary: 'Top-ups by card, newest first',
    description: `Payments by card, whatever became of them. ${PAGED}`,
    output: page(TopUp, 'TopUpList'),
    examples: { output: exampleTopUp },
    mcp: { title: 'List top-ups', description: 'Top-ups by card, newest first.' },
    graphql: { description: 'Top-ups by card, newest first unless orderBy says otherwise.' },
    run: ({ topUps }, { principal, page, where }) => topUps.list(principal, page, where),
  }),

  operation({
    id: 'getTopUp',
    scope: 'billing',
    http: 'GET /billing/top-ups/{id}',
    summary: 'One top-up by card',
    description: `A payment by card and its state. ${OWNED}`,
    output: record(TopUp),
    examples: { output: exampleTopUp },
    mcp: {
      title: 'Look at a top-up',
      description: 'One top-up by card: whether it has been paid.',
      say: sayTopUp,
    },
    graphql: { description: 'One top-up by card.' },
    run: ({ topUps }, { principal, id }) => topUps.get(principal, id),
  }),
] as const;

const Received = Type.Object(
  { received: Type.Boolean({ description: 'It need not be sent again.' }) },
  { title: 'WebhookReceived' },
);

/** Its signature is over the bytes of the body, so its route is written by hand. */
export const receiveStripeEvent = operation({
  id: 'receiveStripeEvent',
  scope: null,
  http: 'POST /webhooks/stripe',
  summary: 'For the payment provider alone: something has happened to a payment',
  description:
    'The body is an event of Stripe, signed in the header `Stripe-Signature`. What it says is not believed: the ' +
    'payment it is about is asked for anew.',
  output: record(Received),
  errors: ['webhook_forged', 'topups_disabled', 'topups_unavailable', 'upstream_unavailable', 'payload_too_large'],
  examples: { output: { received: true } },
});
