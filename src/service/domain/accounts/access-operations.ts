/** Declares the operations on an account's credentials: keys, sessions and connected programs. Pure: no I/O, no clock. */
import { created, createOperationBuilder, deleted, FILTERED, PAGED, page, record } from '../../lib/operation.ts';
import { listQuery, readListing } from '../../lib/paging/noun-list.ts';
import { PERSON } from '../../lib/scopes.ts';
import type { AccessService } from './access.ts';
import { exampleApiKey, exampleApp, exampleSession } from './examples.ts';
import { KEY_LIST } from './key-list.ts';
import {
  ApiKey,
  ApiKeyCreate,
  ApiKeyPolicy,
  ApiKeyUpdate,
  ConnectedApp,
  CreatedApiKey,
  PersonSession,
} from './record.ts';

interface Services {
  access: AccessService;
}

const keyOperation = createOperationBuilder<Services>({
  tag: 'account',
  object: { exampleId: exampleApiKey.id, notFound: 'api_key_not_found' },
});
const policyOperation = createOperationBuilder<Services>({ tag: 'account', client: { noun: 'apiKeyPolicy' } });
const sessionOperation = createOperationBuilder<Services>({
  tag: 'account',
  object: { exampleId: exampleSession.id, notFound: 'session_not_found' },
});
const appOperation = createOperationBuilder<Services>({
  tag: 'account',
  object: { exampleId: exampleApp.id, notFound: 'connected_app_not_found' },
});

export const accessOperations = [
  keyOperation({
    id: 'createApiKey',
    scope: PERSON,
    http: 'POST /api-keys',
    summary: 'Create an API key',
    description:
      'The response shows the key once. Only a user who has signed in within the last hour can create one, so no key makes another ' +
      'one. The request takes no Idempotency-Key, because its response is not stored.',
    input: ApiKeyCreate,
    output: created(CreatedApiKey),
    errors: ['api_key_quota_exceeded', 'conflict', 'not_confirmed'],
    examples: {
      input: { name: 'Playout server', expiresInDays: 90, scopes: ['read', 'write'], labelSelector: 'team=radio' },
      output: {
        ...exampleApiKey,
        lastUsedAt: null,
        lastUsedAddress: null,
        key: 'lsk_QxTzExampleOfAKeyThatLetsNobodyIn',
      },
    },
    run: ({ access }, { principal, input }) => access.createKey(principal, input),
  }),

  keyOperation({
    id: 'listApiKeys',
    scope: PERSON,
    http: 'GET /api-keys',
    summary: 'List API keys, newest first',
    description: `Returns the account’s keys that were not revoked, without their secrets, filtered and sorted as asked. ${FILTERED} ${PAGED}`,
    query: listQuery(KEY_LIST),
    output: page(ApiKey, 'ApiKeyList'),
    examples: { output: exampleApiKey, parameters: { state: 'valid', sort: 'expiresAt' } },
    run: ({ access }, { principal, page, query }) => access.keys(principal, readListing(page, query)),
  }),

  keyOperation({
    id: 'updateApiKey',
    scope: PERSON,
    http: 'PATCH /api-keys/{id}',
    summary: 'Change an API key',
    description:
      'Changes its name and its labels, or brings its expiry forward. Its rights never changes, and it never lives longer: create ' +
      'a new key for that. This server obeys an earlier expiry immediately, every other server within a second.',
    input: ApiKeyUpdate,
    output: record(ApiKey),
    examples: { input: { name: 'Playout server, studio 2', labels: { team: 'radio' } }, output: exampleApiKey },
    run: ({ access }, { principal, id, input }) => access.updateKey(principal, id, input),
  }),

  keyOperation({
    id: 'revokeApiKey',
    scope: PERSON,
    http: 'DELETE /api-keys/{id}',
    summary: 'Revoke an API key',
    description: 'This server rejects the key immediately, every other server within a second.',
    output: deleted,
    run: ({ access }, { principal, id }) => access.revokeKey(principal, id),
  }),

  policyOperation({
    id: 'getApiKeyPolicy',
    scope: PERSON,
    http: 'GET /api-key-policy',
    summary: 'Read the policy on API keys',
    description: 'Returns the longest life that the account allows its API keys.',
    output: record(ApiKeyPolicy),
    examples: { output: { maxKeyDays: 90 } },
    run: ({ access }, { principal }) => access.keyPolicy(principal),
  }),

  policyOperation({
    id: 'updateApiKeyPolicy',
    scope: PERSON,
    http: 'PATCH /api-key-policy',
    summary: 'Change the policy on API keys',
    description:
      'Only a user who has signed in within the last hour can change it. Keys that are older than `maxKeyDays` expire immediately, the ' +
      'other keys when they reach that age. Null removes the limit.',
    input: ApiKeyPolicy,
    output: record(ApiKeyPolicy),
    errors: ['not_confirmed'],
    examples: { input: { maxKeyDays: 90 }, output: { maxKeyDays: 90 } },
    run: ({ access }, { principal, input }) => access.updateKeyPolicy(principal, input),
  }),

  sessionOperation({
    id: 'listSessions',
    scope: PERSON,
    http: 'GET /sessions',
    summary: 'List browser sessions, newest first',
    description: `Returns the browsers in which the user is signed in. ${PAGED}`,
    output: page(PersonSession, 'SessionList'),
    examples: { output: exampleSession },
    run: ({ access }, { principal, page }) => access.sessions(principal, page),
  }),

  sessionOperation({
    id: 'endSession',
    scope: PERSON,
    http: 'DELETE /sessions/{id}',
    summary: 'End a session',
    description: 'Signs the user out of one browser.',
    output: deleted,
    run: ({ access }, { principal, id }) => access.endSession(principal, id),
  }),

  sessionOperation({
    id: 'endOtherSessions',
    scope: PERSON,
    http: 'DELETE /sessions',
    summary: 'End all other sessions',
    description: 'Signs the user out of every other browser.',
    output: deleted,
    client: { method: 'endOthers' },
    run: ({ access }, { principal }) => access.endOtherSessions(principal),
  }),

  appOperation({
    id: 'listConnectedApps',
    scope: PERSON,
    http: 'GET /connected-apps',
    summary: 'List connected apps, newest first',
    description: `Returns the apps that may act for the user, and their scopes. ${PAGED}`,
    output: page(ConnectedApp, 'ConnectedAppList'),
    examples: { output: exampleApp },
    run: ({ access }, { principal, page }) => access.apps(principal, page),
  }),

  appOperation({
    id: 'disconnectApp',
    scope: PERSON,
    http: 'DELETE /connected-apps/{id}',
    summary: 'Disconnect an app',
    description:
      'The app gets no more tokens, and its current ones stop working. To reconnect, it must ask the user again.',
    output: deleted,
    run: ({ access }, { principal, id }) => access.disconnectApp(principal, id),
  }),
] as const;
