/** REST: top-ups by card. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { TopUp, TopUpCreate } from '../../billing/cards/record.ts';
import type { TopUpService } from '../../billing/cards/service.ts';
import { flatten, ListQuery, listOf, pageArgs } from '../../lib/paging/list.ts';

const params = Type.Object({ id: Type.String({ description: 'Top-up id.' }) });
const tags = ['billing'];

export const topUpRoutes: FastifyPluginAsyncTypebox<{ topUps: TopUpService }> = async (app, { topUps }) => {
  app.post(
    '/billing/top-ups',
    {
      schema: {
        operationId: 'createTopUp',
        tags,
        summary: 'Begin a top-up by card',
        description:
          'The answer has the address of a page of the payment provider, where the card is given. What is received there ' +
          'is credited within seconds. 404 `topups_disabled` where no cards are taken.',
        body: TopUpCreate,
        response: { 201: TopUp },
      },
    },
    async ({ principal, body }, reply) => {
      const topUp = await topUps.create(principal, body);
      return reply.code(201).header('location', `/v1/billing/top-ups/${topUp.id}`).send(topUp);
    },
  );

  app.get(
    '/billing/top-ups',
    {
      schema: {
        operationId: 'listTopUps',
        tags,
        summary: 'Top-ups by card, newest first',
        querystring: ListQuery,
        response: { 200: listOf(TopUp, 'TopUpList') },
      },
    },
    async ({ principal, query }) => flatten(await topUps.list(principal, pageArgs(query))),
  );

  app.get(
    '/billing/top-ups/:id',
    { schema: { operationId: 'getTopUp', tags, summary: 'One top-up by card', params, response: { 200: TopUp } } },
    async ({ principal, params }) => topUps.get(principal, params.id),
  );
};
