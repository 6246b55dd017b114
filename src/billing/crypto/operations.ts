/** Declares the operations on deposits of crypto currencies. Pure: no I/O, no clock. */
import { EXAMPLE } from '../../lib/examples.ts';
import { created, OWNED, operationsOf, PAGED, page, record } from '../../lib/operation.ts';
import { CryptoAssets, CryptoDeposit, CryptoDepositCreate } from './record.ts';
import type { CryptoService } from './service.ts';

export const exampleDeposit: CryptoDeposit = {
  id: 'dep-01k8zq6x9k4n1z5d7e8p0q2r3t',
  asset: 'USDC',
  network: 'ethereum',
  decimals: 6,
  state: 'confirming',
  confirmations: 3,
  neededConfirmations: 12,
  address: '0x9858EfFD232B4033E47d90003D41EC34EcaEda94',
  paymentUri:
    'ethereum:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48@1/transfer?address=0x9858EfFD232B4033E47d90003D41EC34EcaEda94&uint256=25000000',
  amount: '25000000',
  receivedAmount: '0',
  quote: { rate: '1', currency: 'USD', credits: '250000', expiresAt: '2027-01-31T17:57:05Z' },
  expiresAt: '2027-01-31T17:57:05Z',
  credits: '0',
  explanation: null,
  payments: [
    {
      txid: '0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060',
      index: '0',
      network: 'ethereum',
      asset: 'USDC',
      contract: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
      amount: '25000000',
      state: 'confirming',
      confirmations: 3,
      credits: null,
      explanation: null,
      at: EXAMPLE.createdAt,
    },
  ],
  createdAt: EXAMPLE.createdAt,
};

const operation = operationsOf<{ crypto: CryptoService }>({
  tag: 'crypto',
  object: {
    idName: 'Deposit id',
    listTool: 'list_crypto_deposits',
    exampleId: exampleDeposit.id,
    notFound: 'crypto_deposit_not_found',
  },
});

const sayDeposit = ({ id, state, address, asset, network, explanation, credits }: CryptoDeposit): string =>
  `Deposit ${id} is ${state}; ${asset} on ${network} goes to ${address}. Credited so far: ${credits}.${explanation ? ` ${explanation.message}` : ''}`;

export const cryptoOperations = [
  operation({
    id: 'listCryptoAssets',
    scope: 'billing',
    http: 'GET /crypto/assets',
    summary: 'What can be paid in crypto currencies, and what it is worth',
    description: '404 `crypto_disabled` where the service takes none.',
    output: record(CryptoAssets),
    errors: ['crypto_disabled'],
    examples: {
      output: {
        data: [
          {
            asset: 'USDC',
            network: 'ethereum',
            contract: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
            decimals: 6,
            minimumAmount: '1000000',
            confirmations: 12,
            rate: '1',
            currency: 'USD',
          },
        ],
      },
    },
    mcp: {
      title: 'List crypto assets',
      description:
        'What the balance can be topped up with in crypto currencies, on which networks, and what a coin is worth.',
      say: ({ data }) => `${data.map(({ asset, network }) => `${asset} on ${network}`).join(', ') || 'None'}.`,
    },
    run: async ({ crypto }) => ({ data: await crypto.assets() }),
  }),

  operation({
    id: 'createCryptoDeposit',
    scope: 'billing',
    http: 'POST /crypto/deposits',
    summary: 'An address to pay to, with a quote',
    description:
      'What comes to the address until `expiresAt` is credited at the rate of the quote, what comes later at the rate of ' +
      'its time; each payment is rounded down to whole credits. More or less than `amount` is credited as it is.',
    input: CryptoDepositCreate,
    output: created(CryptoDeposit, ({ id }) => `/crypto/deposits/${id}`),
    errors: ['crypto_disabled', 'crypto_unavailable', 'crypto_rate_unavailable', 'crypto_deposit_quota_exceeded'],
    examples: { input: { asset: 'USDC', network: 'ethereum', amount: '25000000' }, output: exampleDeposit },
    mcp: {
      title: 'Create a crypto deposit',
      description:
        'An address to pay to, with a quote that expires. It moves no money: the person pays from a wallet, to this address and on this network alone. Follow it with get_crypto_deposit.',
      say: sayDeposit,
    },
    graphql: { description: 'An address to pay to, with a quote.', payload: 'deposit' },
    run: ({ crypto }, { accountId, input }) => crypto.create(accountId, input),
  }),

  operation({
    id: 'listCryptoDeposits',
    scope: 'billing',
    http: 'GET /crypto/deposits',
    summary: 'Crypto deposits, newest first',
    description: `Payments by crypto currencies, whatever became of them. ${PAGED}`,
    output: page(CryptoDeposit, 'CryptoDepositList'),
    errors: ['crypto_disabled'],
    examples: { output: exampleDeposit },
    mcp: { title: 'List crypto deposits', description: 'Crypto deposits of the account, newest first.' },
    graphql: { description: 'Crypto deposits, newest first unless orderBy says otherwise.' },
    run: ({ crypto }, { accountId, page, where }) => crypto.list(accountId, page, where),
  }),

  operation({
    id: 'getCryptoDeposit',
    scope: 'billing',
    http: 'GET /crypto/deposits/{id}',
    summary: 'One crypto deposit, as it is now',
    description: `A payment by a crypto currency, with what the chain shows of it. ${OWNED}`,
    output: record(CryptoDeposit),
    errors: ['crypto_disabled'],
    examples: { output: exampleDeposit },
    mcp: {
      title: 'Look at a crypto deposit',
      description: 'One crypto deposit as it is now: what came, how often it is confirmed, what was credited.',
      say: sayDeposit,
    },
    graphql: { description: 'One crypto deposit.' },
    run: ({ crypto }, { accountId, id }) => crypto.get(accountId, id),
  }),
] as const;
