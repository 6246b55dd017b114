/** Declares the operations on deposits of crypto currencies. Pure: no I/O, no clock. */
import { EXAMPLE } from '../../lib/examples.ts';
import { created, createOperationBuilder, FILTERED, OWNED, PAGED, page, record } from '../../lib/operation.ts';
import { listQuery, readListing } from '../../lib/paging/noun-list.ts';
import { DEPOSIT_LIST } from './list.ts';
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

const operation = createOperationBuilder<{ crypto: CryptoService }>({
  tag: 'crypto',
  object: {
    idName: 'Deposit id',
    listTool: 'list_crypto_deposits',
    exampleId: exampleDeposit.id,
    notFound: 'crypto_deposit_not_found',
  },
});

const describeDeposit = ({ id, state, address, asset, network, explanation, credits }: CryptoDeposit): string =>
  `Deposit ${id} is ${state}. Send ${asset} on ${network} to ${address}. Credited so far: ${credits}.${explanation ? ` ${explanation.message}` : ''}`;

export const cryptoOperations = [
  operation({
    id: 'listCryptoAssets',
    scope: 'billing',
    http: 'GET /crypto/assets',
    summary: 'List crypto assets that can be paid with, and their rates',
    description: 'Fails with 404 `crypto_disabled` if the service accepts no crypto currencies.',
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
      description: 'Lists the crypto currencies that can top up the balance, their networks and their current rates.',
      summarize: ({ data }) => `${data.map(({ asset, network }) => `${asset} on ${network}`).join(', ') || 'None'}.`,
    },
    run: async ({ crypto }) => ({ data: await crypto.assets() }),
  }),

  operation({
    id: 'createCryptoDeposit',
    scope: 'billing',
    http: 'POST /crypto/deposits',
    summary: 'Create a deposit address with a quote',
    description:
      'Payments until `expiresAt` are credited at the quoted rate, later ones at the rate of their time. Each ' +
      'payment is rounded down to whole credits. More or less than `amount` is credited as received.',
    input: CryptoDepositCreate,
    output: created(CryptoDeposit, ({ id }) => `/crypto/deposits/${id}`),
    errors: ['crypto_disabled', 'crypto_unavailable', 'crypto_rate_unavailable', 'crypto_deposit_quota_exceeded'],
    examples: { input: { asset: 'USDC', network: 'ethereum', amount: '25000000' }, output: exampleDeposit },
    mcp: {
      title: 'Create a crypto deposit',
      description:
        'Returns a deposit address and a quote that expires. It moves no money: the user pays from a wallet, to ' +
        'this address and on this network only. Follow the payment with get_crypto_deposit.',
      summarize: describeDeposit,
    },
    graphql: { description: 'Creates a deposit address with a quote.', payload: 'deposit' },
    client: { method: 'create' },
    run: ({ crypto }, { accountId, input }) => crypto.create(accountId, input),
  }),

  operation({
    id: 'listCryptoDeposits',
    scope: 'billing',
    http: 'GET /crypto/deposits',
    summary: 'List crypto deposits, newest first',
    description: `Returns payments by crypto currency in every state. ${FILTERED} ${PAGED}`,
    query: listQuery(DEPOSIT_LIST),
    output: page(CryptoDeposit, 'CryptoDepositList'),
    errors: ['crypto_disabled'],
    examples: { output: exampleDeposit, parameters: { state: 'credited', sort: 'expiresAt' } },
    mcp: {
      query: listQuery(DEPOSIT_LIST, 'short'),
      title: 'List crypto deposits',
      description: 'Lists the account’s crypto deposits, newest first.',
    },
    graphql: {
      description: 'Lists crypto deposits, newest first unless orderBy says otherwise.',
      query: listQuery(DEPOSIT_LIST),
    },
    client: { method: 'list' },
    run: ({ crypto }, { accountId, page, query, where }) => crypto.list(accountId, readListing(page, query), where),
  }),

  operation({
    id: 'getCryptoDeposit',
    scope: 'billing',
    http: 'GET /crypto/deposits/{id}',
    summary: 'Get a crypto deposit',
    description: `Returns a crypto deposit in its current state, with its payments on the chain. ${OWNED}`,
    output: record(CryptoDeposit),
    errors: ['crypto_disabled'],
    examples: { output: exampleDeposit },
    mcp: {
      title: 'Get a crypto deposit',
      description: 'Returns a crypto deposit in its current state: payments, confirmations and credits.',
      summarize: describeDeposit,
    },
    graphql: { description: 'Returns a crypto deposit.' },
    client: { method: 'get' },
    run: ({ crypto }, { accountId, id }) => crypto.get(accountId, id),
  }),
] as const;
