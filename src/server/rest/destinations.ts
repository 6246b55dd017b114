/** REST: destinations. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import {
  Destination,
  DestinationCreate,
  DestinationTest,
  DestinationUpdate,
} from '../../domain/destinations/record.ts';
import type { DestinationService } from '../../domain/destinations/service.ts';
import { bodyMayBeMissing, NoBody } from '../http/body.ts';
import { flatten, ListQuery, listOf, pageArgs } from '../http/page.ts';

const params = Type.Object({ id: Type.String({ description: 'Destination id.' }) });
const tags = ['destinations'];

export const destinationRoutes: FastifyPluginAsyncTypebox<{ destinations: DestinationService }> = async (
  app,
  { destinations },
) => {
  app.post(
    '/destinations',
    {
      schema: {
        operationId: 'createDestination',
        tags,
        summary: 'Create a destination',
        body: DestinationCreate,
        response: { 201: Destination },
      },
    },
    async (request, reply) => {
      const destination = await destinations.create(request.principal.accountId, request.body);
      return reply.code(201).header('location', `/v1/destinations/${destination.id}`).send(destination);
    },
  );

  app.get(
    '/destinations',
    {
      schema: {
        operationId: 'listDestinations',
        tags,
        summary: 'Destinations, newest first',
        querystring: ListQuery,
        response: { 200: listOf(Destination, 'DestinationList') },
      },
    },
    async ({ principal, query }) => flatten(destinations.list(principal.accountId, pageArgs(query))),
  );

  app.get(
    '/destinations/:id',
    {
      schema: {
        operationId: 'getDestination',
        tags,
        summary: 'One destination',
        params,
        response: { 200: Destination },
      },
    },
    async ({ principal, params }) => destinations.get(principal.accountId, params.id),
  );

  app.patch(
    '/destinations/:id',
    {
      schema: {
        operationId: 'updateDestination',
        tags,
        summary: 'Change a destination',
        description: 'A stream on air is published again with what is new.',
        params,
        body: DestinationUpdate,
        response: { 200: Destination },
      },
    },
    async ({ principal, params, body }) => destinations.update(principal.accountId, params.id, body),
  );

  app.delete(
    '/destinations/:id',
    {
      schema: {
        operationId: 'deleteDestination',
        tags,
        summary: 'Delete a destination',
        description: '409 `destination_in_use` while a stream sends to it.',
        params,
        response: { 204: Type.Null() },
      },
    },
    async ({ principal, params }, reply) => {
      await destinations.delete(principal.accountId, params.id);
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/destinations/:id/test',
    {
      preValidation: bodyMayBeMissing,
      schema: {
        operationId: 'testDestination',
        tags,
        summary: 'Publish to a destination for a moment',
        description:
          'Black pictures and silence for two seconds, sent from where streams are; the answer says how far that came. ' +
          'Requests that come while a test is under way are one with it. ' +
          '409 `destination_on_air` while a stream is sent there, which a second publisher would cut off.',
        params,
        body: NoBody,
        response: { 200: DestinationTest },
      },
    },
    async ({ principal, params }) => destinations.test(principal.accountId, params.id),
  );
};
