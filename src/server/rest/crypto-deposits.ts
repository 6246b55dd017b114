/** REST: deposits of crypto currencies. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { CryptoAssets, CryptoDeposit, CryptoDepositCreate } from '../../billing/crypto/record.ts';
import type { CryptoService } from '../../billing/crypto/service.ts';
import { flatten, ListQuery, listOf, pageArgs } from '../../lib/paging/list.ts';

const params = Type.Object({ id: Type.String({ description: 'Deposit id.' }) });
const tags = ['crypto'];

export const cryptoRoutes: FastifyPluginAsyncTypebox<{ crypto: CryptoService }> = async (app, { crypto }) => {
  app.get(
    '/crypto/assets',
    {
      schema: {
        operationId: 'listCryptoAssets',
        tags,
        summary: 'What can be paid in crypto currencies, and what it is worth',
        description: '404 `crypto_disabled` where the service takes none.',
        response: { 200: CryptoAssets },
      },
    },
    async () => ({ data: await crypto.assets() }),
  );

  app.post(
    '/crypto/deposits',
    {
      schema: {
        operationId: 'createCryptoDeposit',
        tags,
        summary: 'An address to pay to, with a quote',
        description:
          'What comes to the address until `expiresAt` is credited at the rate of the quote, what comes later at the rate of ' +
          'its time; each payment is rounded down to whole credits. More or less than `amount` is credited as it is.',
        body: CryptoDepositCreate,
        response: { 201: CryptoDeposit },
      },
    },
    async ({ principal, body }, reply) => {
      const deposit = await crypto.create(principal.accountId, body);
      return reply.code(201).header('location', `/v1/crypto/deposits/${deposit.id}`).send(deposit);
    },
  );

  app.get(
    '/crypto/deposits',
    {
      schema: {
        operationId: 'listCryptoDeposits',
        tags,
        summary: 'Crypto deposits, newest first',
        querystring: ListQuery,
        response: { 200: listOf(CryptoDeposit, 'CryptoDepositList') },
      },
    },
    async ({ principal, query }) => flatten(await crypto.list(principal.accountId, pageArgs(query))),
  );

  app.get(
    '/crypto/deposits/:id',
    {
      schema: {
        operationId: 'getCryptoDeposit',
        tags,
        summary: 'One crypto deposit, as it is now',
        params,
        response: { 200: CryptoDeposit },
      },
    },
    async ({ principal, params }) => crypto.get(principal.accountId, params.id),
  );
};
