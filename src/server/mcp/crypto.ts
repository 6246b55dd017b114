/** Tools: deposits of crypto currencies. */
import {
  CryptoAssets,
  CryptoDeposit,
  CryptoDepositCreate,
  type CryptoDeposit as DepositRecord,
} from '../../billing/crypto/record.ts';
import type { CryptoService } from '../../billing/crypto/service.ts';
import { flatten, listOf } from '../../lib/paging/list.ts';
import { idOf, PAGE, pageOf, sayPage } from './inputs.ts';
import { type Tool, tool } from './tool.ts';

const id = idOf('Deposit id, as list_crypto_deposits tells it.');

const sayDeposit = ({ id, state, address, asset, network, explanation, credits }: DepositRecord): string =>
  `Deposit ${id} is ${state}; ${asset} on ${network} goes to ${address}. Credited so far: ${credits}.${explanation ? ` ${explanation.message}` : ''}`;

export const cryptoTools = (crypto: CryptoService): Tool[] => [
  tool({
    name: 'list_crypto_assets',
    title: 'List crypto assets',
    description:
      'What the balance can be topped up with in crypto currencies, on which networks, and what a coin is worth.',
    operations: ['listCryptoAssets'],
    output: CryptoAssets,
    say: ({ data }) => `${data.map(({ asset, network }) => `${asset} on ${network}`).join(', ') || 'None'}.`,
    run: async () => ({ data: await crypto.assets() }),
  }),
  tool({
    name: 'create_crypto_deposit',
    title: 'Create a crypto deposit',
    description:
      'An address to pay to, with a quote that expires. It moves no money: the person pays from a wallet, to this address and on this network alone. Follow it with get_crypto_deposit.',
    operations: ['createCryptoDeposit'],
    ...{ body: CryptoDepositCreate, output: CryptoDeposit, keyed: true },
    say: sayDeposit,
    run: ({ accountId }, _own, body) => crypto.create(accountId, body),
  }),
  tool({
    name: 'list_crypto_deposits',
    title: 'List crypto deposits',
    description: 'Crypto deposits of the account, newest first.',
    operations: ['listCryptoDeposits'],
    ...{ own: PAGE, output: listOf(CryptoDeposit, 'CryptoDepositList') },
    say: sayPage,
    run: async ({ accountId }, page) => flatten(await crypto.list(accountId, pageOf(page))),
  }),
  tool({
    name: 'get_crypto_deposit',
    title: 'Look at a crypto deposit',
    description: 'One crypto deposit as it is now: what came, how often it is confirmed, what was credited.',
    operations: ['getCryptoDeposit'],
    ...{ own: id, output: CryptoDeposit },
    say: sayDeposit,
    run: ({ accountId }, { id }) => crypto.get(accountId, id),
  }),
];
