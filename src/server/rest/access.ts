/** REST: what lets others into an account, for the person whose it is, and the account's end. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { type TSchema, Type } from 'typebox';
import type { AccessService } from '../../domain/accounts/access.ts';
import {
  AccountDelete,
  ApiKey,
  ApiKeyCreate,
  ConnectedApp,
  CreatedApiKey,
  Export,
  PersonSession,
  SignInOptions,
} from '../../domain/accounts/record.ts';
import { AppError } from '../../lib/errors.ts';
import { flatten, ListQuery, listOf, pageArgs } from '../../lib/paging/list.ts';
import type { Principal } from '../../lib/scopes.ts';
import type { Deletions } from '../account/deletion.ts';
import type { AccountExport } from '../account/export.ts';

export interface AccessRoutes {
  access: AccessService;
  deletions: Pick<Deletions, 'begin'>;
  exportAccount: (principal: Principal, now: Date) => Promise<AccountExport>;
  signInOptions: SignInOptions;
}

const tags = ['account'];
const params = Type.Object({ id: Type.String() });
const nothing = { 204: Type.Null() };
/** Passwords that may be tried to delete an account, in ten minutes. */
const ATTEMPTS = 10;
const ATTEMPTS_MS = 600_000;

const listing = (operationId: string, summary: string, item: TSchema, name: string) => ({
  ...{ operationId, tags, summary, querystring: ListQuery, response: { 200: listOf(item, name) } },
});

const keyRoutes: FastifyPluginAsyncTypebox<Pick<AccessRoutes, 'access'>> = async (app, { access }) => {
  app.post(
    '/api-keys',
    {
      schema: {
        operationId: 'createApiKey',
        tags,
        summary: 'Make an API key',
        description:
          'The answer shows the key, this once. Only who has signed in can make one. It takes no Idempotency-Key: its ' +
          'answer is not kept.',
        body: ApiKeyCreate,
        response: { 201: CreatedApiKey },
      },
    },
    async ({ principal, body }, reply) => reply.code(201).send(await access.createKey(principal, body)),
  );

  app.get(
    '/api-keys',
    { schema: listing('listApiKeys', 'API keys, newest first', ApiKey, 'ApiKeyList') },
    async ({ principal, query }) => flatten(await access.keys(principal, pageArgs(query as never))),
  );

  app.delete(
    '/api-keys/:id',
    {
      schema: {
        ...{ operationId: 'revokeApiKey', tags, summary: 'Revoke an API key', params, response: nothing },
        description: 'It is refused at once, and within a second by every server.',
      },
    },
    async ({ principal, params }, reply) => {
      await access.revokeKey(principal, params.id);
      return reply.code(204).send(null);
    },
  );
};

const sessionRoutes: FastifyPluginAsyncTypebox<Pick<AccessRoutes, 'access'>> = async (app, { access }) => {
  app.get(
    '/sessions',
    { schema: listing('listSessions', 'Where the person has signed in, newest first', PersonSession, 'SessionList') },
    async ({ principal, query }) => flatten(await access.sessions(principal, pageArgs(query as never))),
  );

  app.delete(
    '/sessions/:id',
    { schema: { operationId: 'endSession', tags, summary: 'End a session', params, response: nothing } },
    async ({ principal, params }, reply) => {
      await access.endSession(principal, params.id);
      return reply.code(204).send(null);
    },
  );

  app.delete(
    '/sessions',
    { schema: { operationId: 'endOtherSessions', tags, summary: 'End all other sessions', response: nothing } },
    async ({ principal }, reply) => {
      await access.endOtherSessions(principal);
      return reply.code(204).send(null);
    },
  );

  app.get(
    '/connected-apps',
    {
      schema: listing('listConnectedApps', 'Programs that were let in, newest first', ConnectedApp, 'ConnectedAppList'),
    },
    async ({ principal, query }) => flatten(await access.apps(principal, pageArgs(query as never))),
  );

  app.delete(
    '/connected-apps/:id',
    {
      schema: {
        ...{ operationId: 'disconnectApp', tags, summary: 'Disconnect a program', params, response: nothing },
        description: 'It gets no more tokens, and those it has are refused. To come back it has to ask again.',
      },
    },
    async ({ principal, params }, reply) => {
      await access.disconnectApp(principal, params.id);
      return reply.code(204).send(null);
    },
  );
};

/** The account itself: how one gets in, all of it as a document, and its end. */
export const accessRoutes: FastifyPluginAsyncTypebox<{ people: AccessRoutes }> = async (app, { people }) => {
  const { access, deletions, exportAccount, signInOptions } = people;
  await app.register(keyRoutes, { access });
  await app.register(sessionRoutes, { access });

  app.get(
    '/sign-in-options',
    {
      schema: {
        ...{ operationId: 'getSignInOptions', tags, summary: 'How people can sign in here' },
        response: { 200: SignInOptions },
      },
    },
    async () => signInOptions,
  );

  app.get(
    '/account/export',
    {
      schema: {
        operationId: 'exportAccount',
        tags,
        summary: 'All that is kept of the account, as a document',
        description:
          'Keys of destinations and API keys are in it by their hints alone; passwords, and what proves passkeys, not at all. ' +
          'Media is not in it.',
        response: { 200: Export },
      },
    },
    async ({ principal }, reply) =>
      reply
        .header('content-disposition', 'attachment; filename="loopstream-account.json"')
        .send((await exportAccount(principal, new Date())) as never),
  );

  // In the plugin of the rate limit, which the description of the API is made without.
  const count = app.createRateLimit?.({
    ...{ max: ATTEMPTS, timeWindow: ATTEMPTS_MS },
    keyGenerator: ({ principal }) => `deletion ${principal.accountId}`,
  });
  app.post(
    '/account/deletion',
    {
      schema: {
        operationId: 'deleteAccount',
        tags,
        summary: 'Delete the account',
        description:
          'From the answer on nobody is let into the account. Streams go off air, and everything that belongs to it is ' +
          'cleared away; media within a day. This cannot be undone.',
        body: AccountDelete,
        response: nothing,
      },
    },
    async (request, reply) => {
      const counted = await count?.(request);
      if (counted && !counted.isAllowed && counted.isExceeded)
        throw new AppError('rate_limited', `Too many attempts; wait ${Math.ceil(counted.ttl / 1000)} seconds.`);
      await deletions.begin(request.principal, request.body);
      return reply.code(204).send(null);
    },
  );
};
