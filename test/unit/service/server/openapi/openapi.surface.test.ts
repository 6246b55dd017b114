/** Tests the designed operations (api.md) against the real ones: in the table of scopes, in REST, in GraphQL. */
import { buildSchema, type GraphQLField, type GraphQLObjectType, getNamedType, isObjectType } from 'graphql';
import { describe, expect, test } from 'vitest';
import type { PERSON, Scope } from '../../../../../src/service/lib/scopes.ts';
import { schemaDocument } from '../../../../../src/service/server/graphql/schema.ts';
import { describeApi } from '../../../../../src/service/server/openapi/describe.ts';
import type { Operation } from '../../../../../src/service/server/operations/list.ts';
import { isReading, OPERATION_SCOPES } from '../../../../../src/service/server/operations/scopes.ts';

/** An operation in REST, with its designed query parameters and body fields, and the same in GraphQL. */
interface Designed {
  rest: string;
  scope: Scope | typeof PERSON | null;
  query?: string[];
  body?: string[];
  /** The field of Query or Mutation; null where none is designed. */
  graphql: string | null;
}

const DRY_RUN = ['dryRun'];
const PAGED = ['limit', 'cursor'];
const DATED = [...PAGED, 'createdAfter', 'createdBefore', 'sort'];
const NAMED = [...DATED, 'q', 'label'];
const SCHEDULE = ['scheduleStartAt', 'scheduleEndAt', 'scheduleOnAirUntil', 'recurrence'];
const STREAM = [
  ...['name', 'quality', 'framerate', 'destinationID', 'destinationIDs'],
  ...['videoUploadObjectID', 'playlistIDs', 'audioPlaylistIDs'],
];

const DESIGNED: Partial<Record<string, Designed>> = {
  getStatus: { rest: 'GET /status', scope: null, graphql: null },
  getOpenApi: { rest: 'GET /openapi.json', scope: null, graphql: null },
  getMe: { rest: 'GET /me', scope: 'read', graphql: 'me' },
  getSignInOptions: { rest: 'GET /sign-in-options', scope: null, graphql: null },
  createApiKey: { rest: 'POST /api-keys', scope: 'person', body: ['name', 'expiresInDays'], graphql: null },
  listApiKeys: { rest: 'GET /api-keys', scope: 'person', query: [...NAMED, 'state'], graphql: null },
  revokeApiKey: { rest: 'DELETE /api-keys/{id}', scope: 'person', graphql: null },
  listSessions: { rest: 'GET /sessions', scope: 'person', query: PAGED, graphql: null },
  endSession: { rest: 'DELETE /sessions/{id}', scope: 'person', graphql: null },
  endOtherSessions: { rest: 'DELETE /sessions', scope: 'person', graphql: null },
  listConnectedApps: { rest: 'GET /connected-apps', scope: 'person', query: PAGED, graphql: null },
  disconnectApp: { rest: 'DELETE /connected-apps/{id}', scope: 'person', graphql: null },
  exportAccount: { rest: 'GET /account/export', scope: 'person', graphql: null },
  deleteAccount: { rest: 'POST /account/deletion', scope: 'person', body: ['email', 'password'], graphql: null },

  createStream: { rest: 'POST /streams', scope: 'write', body: [...STREAM, ...SCHEDULE], graphql: 'createStream' },
  listStreams: { rest: 'GET /streams', scope: 'read', query: [...NAMED, 'state', 'status'], graphql: 'streams' },
  getStream: { rest: 'GET /streams/{id}', scope: 'read', graphql: 'stream' },
  updateStream: { rest: 'PATCH /streams/{id}', scope: 'write', query: DRY_RUN, body: STREAM, graphql: 'updateStream' },
  cloneStream: {
    rest: 'POST /streams/{id}/clone',
    scope: 'write',
    body: ['name', 'labels', 'destinationID', 'destinationIDs', 'videoUploadObjectID', 'playlistIDs'],
    graphql: 'cloneStream',
  },
  deleteStream: { rest: 'DELETE /streams/{id}', scope: 'destructive', graphql: 'deleteStream' },
  getStreamReadiness: { rest: 'GET /streams/{id}/readiness', scope: 'read', graphql: 'stream' },
  startStream: {
    rest: 'POST /streams/{id}/start',
    scope: 'write',
    query: ['wait', 'whenReady'],
    graphql: 'startStream',
  },
  stopStream: { rest: 'POST /streams/{id}/stop', scope: 'write', query: ['wait'], graphql: 'stopStream' },
  scheduleStream: {
    rest: 'POST /streams/{id}/schedule',
    scope: 'write',
    query: DRY_RUN,
    body: SCHEDULE,
    graphql: 'scheduleStream',
  },
  unscheduleStream: {
    rest: 'DELETE /streams/{id}/schedule',
    scope: 'write',
    query: DRY_RUN,
    graphql: 'unscheduleStream',
  },
  getStreamLiveStats: { rest: 'GET /streams/{id}/live-stats', scope: 'read', graphql: 'liveStats' },
  listStreamSessions: {
    rest: 'GET /streams/{id}/sessions',
    scope: 'read',
    query: [...PAGED, 'format'],
    graphql: 'streamSessions',
  },
  listStreamEvents: { rest: 'GET /streams/{id}/events', scope: 'read', query: PAGED, graphql: 'streamEvents' },
  skipStreamItem: { rest: 'POST /streams/{id}/skip', scope: 'write', graphql: 'skipStreamItem' },

  createDestination: {
    rest: 'POST /destinations',
    scope: 'write',
    body: ['name', 'rtmpUrl', 'rtmpKey', 'url', 'key'],
    graphql: 'createDestination',
  },
  listDestinations: { rest: 'GET /destinations', scope: 'read', query: [...NAMED, 'type'], graphql: 'destinations' },
  getDestination: { rest: 'GET /destinations/{id}', scope: 'read', graphql: 'destination' },
  updateDestination: {
    rest: 'PATCH /destinations/{id}',
    scope: 'write',
    query: DRY_RUN,
    body: ['name', 'rtmpUrl', 'rtmpKey', 'url', 'key'],
    graphql: 'updateDestination',
  },
  deleteDestination: { rest: 'DELETE /destinations/{id}', scope: 'destructive', graphql: 'deleteDestination' },
  resumeDestinationRepair: {
    rest: 'POST /destinations/{id}/resume-repair',
    scope: 'write',
    graphql: 'resumeDestinationRepair',
  },
  testDestination: { rest: 'POST /destinations/{id}/test', scope: 'write', graphql: 'testDestination' },

  createUploadFromLink: {
    rest: 'POST /uploads/from-link',
    scope: 'write',
    body: ['type', 'url'],
    graphql: 'createUploadFromLink',
  },
  listUploads: { rest: 'GET /uploads', scope: 'read', query: [...NAMED, 'state', 'type'], graphql: 'uploads' },
  getUpload: { rest: 'GET /uploads/{id}', scope: 'read', graphql: 'upload' },
  updateUpload: { rest: 'PATCH /uploads/{id}', scope: 'write', body: ['name', 'tracks'], graphql: 'updateUpload' },
  retryUpload: { rest: 'POST /uploads/{id}/retry', scope: 'write', graphql: 'retryUpload' },
  deleteUpload: { rest: 'DELETE /uploads/{id}', scope: 'destructive', graphql: 'deleteUpload' },
  createResumableUpload: { rest: 'POST /uploads/resumable', scope: 'write', graphql: null },
  appendToResumableUpload: { rest: 'PATCH /uploads/resumable/{id}', scope: 'write', graphql: null },

  createPlaylist: {
    rest: 'POST /playlists',
    scope: 'write',
    body: ['kind', 'mode', 'items', 'streamID'],
    graphql: 'createPlaylist',
  },
  listPlaylists: { rest: 'GET /playlists', scope: 'read', query: [...NAMED, 'type'], graphql: 'playlists' },
  getPlaylist: { rest: 'GET /playlists/{id}', scope: 'read', graphql: 'playlist' },
  updatePlaylist: {
    rest: 'PATCH /playlists/{id}',
    scope: 'write',
    body: ['version', 'mode', 'items'],
    graphql: 'updatePlaylist',
  },
  changePlaylist: {
    rest: 'POST /playlists/{id}/changes',
    scope: 'write',
    body: ['version', 'changes'],
    graphql: 'changePlaylist',
  },
  publishPlaylist: {
    rest: 'POST /playlists/{id}/publish',
    scope: 'write',
    body: ['version'],
    graphql: 'publishPlaylist',
  },
  listPlaylistVersions: {
    rest: 'GET /playlists/{id}/versions',
    scope: 'read',
    query: PAGED,
    graphql: 'playlistVersions',
  },
  getPlaylistVersion: { rest: 'GET /playlists/{id}/versions/{version}', scope: 'read', graphql: 'playlistVersion' },
  rollbackPlaylist: {
    rest: 'POST /playlists/{id}/rollback',
    scope: 'write',
    body: ['version'],
    graphql: 'rollbackPlaylist',
  },
  deletePlaylist: { rest: 'DELETE /playlists/{id}', scope: 'destructive', graphql: 'deletePlaylist' },

  getBilling: { rest: 'GET /billing', scope: 'billing', graphql: 'billing' },
  getPrices: { rest: 'GET /billing/prices', scope: 'read', graphql: 'prices' },
  getUsage: {
    rest: 'GET /billing/usage',
    scope: 'billing',
    graphql: 'usage',
    query: ['from', 'to', 'groupBy', 'timeZone', 'format'],
  },
  listLedgerEntries: {
    rest: 'GET /billing/ledger',
    scope: 'billing',
    query: [...DATED, 'type'],
    graphql: 'ledgerEntries',
  },
  createTopUp: {
    rest: 'POST /billing/top-ups',
    scope: 'billing',
    body: ['amountMinor', 'currency'],
    graphql: 'createTopUp',
  },
  listTopUps: { rest: 'GET /billing/top-ups', scope: 'billing', query: [...DATED, 'state'], graphql: 'topUps' },
  getTopUp: { rest: 'GET /billing/top-ups/{id}', scope: 'billing', graphql: 'topUp' },
  listCryptoAssets: { rest: 'GET /crypto/assets', scope: 'billing', graphql: 'cryptoAssets' },
  createCryptoDeposit: {
    rest: 'POST /crypto/deposits',
    scope: 'billing',
    body: ['asset', 'network', 'amount'],
    graphql: 'createCryptoDeposit',
  },
  listCryptoDeposits: {
    rest: 'GET /crypto/deposits',
    scope: 'billing',
    query: [...DATED, 'state'],
    graphql: 'cryptoDeposits',
  },
  getCryptoDeposit: { rest: 'GET /crypto/deposits/{id}', scope: 'billing', graphql: 'cryptoDeposit' },
  listInvoices: {
    rest: 'GET /billing/invoices',
    scope: 'billing',
    query: [...DATED, 'q', 'type'],
    graphql: 'invoices',
  },
  getInvoice: { rest: 'GET /billing/invoices/{id}', scope: 'billing', graphql: 'invoice' },
  getInvoicePdf: { rest: 'GET /billing/invoices/{id}.pdf', scope: 'billing', graphql: null },
  receiveStripeEvent: { rest: 'POST /webhooks/stripe', scope: null, graphql: null },
};

/** Operations beyond the design. */
const MORE: Operation[] = [
  'createUploadsFromLinks',
  'getApiKeyPolicy',
  'updateApiKey',
  'updateApiKeyPolicy',
  'getLimits',
  'getBillingAddress',
  'updateBillingAddress',
  'getStreamSchedule',
  'watchChanges',
  'watchEvents',
  'createEndpoint',
  'listEndpoints',
  'getEndpoint',
  'updateEndpoint',
  'deleteEndpoint',
  'verifyEndpoint',
  'testEndpoint',
  'getEndpointSecret',
  'rotateEndpointSecret',
  'recoverEndpoint',
  'listEndpointDeliveries',
  'replayDelivery',
  'getStreamPreview',
  'getUploadPreview',
  'getUploadPoster',
  'quarantineUpload',
  'releaseUpload',
  'getStreamTimeline',
  'getStreamExplanation',
  'exportStreamTimeline',
  'getStreamAsRun',
  'exportStreamAsRun',
  'getStreamAsRunTotals',
  'getStreamNow',
  'getStreamPublicNow',
  'updateStreamPublicNow',
  'getPublicNow',
  'getStreamUptime',
  'getUptimeBadge',
  'diffPlaylistVersion',
  'createScene',
  'listScenes',
  'getScene',
  'updateScene',
  'deleteScene',
  'getResumableUploadOptions',
  'getResumableUpload',
  'cancelResumableUpload',
];

const designed = Object.entries(DESIGNED) as [Operation, Designed][];
const description = await describeApi();
const schema = buildSchema(schemaDocument());
const served = Object.entries(description.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({
    rest: `${method.toUpperCase()} ${path.replace('/v1', '')}`,
    id: operation.operationId,
    operation,
  })),
);

describe('the operations', () => {
  test('of the table of scopes are those that are designed, and a few more that are known', () => {
    expect(Object.keys(OPERATION_SCOPES).sort()).toEqual([...Object.keys(DESIGNED), ...MORE].sort());
  });

  test.each(designed)('%s is there as designed', (id, { rest, scope, query = [], body = [], graphql }) => {
    const { operation } = served.find((one) => one.id === id) ?? {};
    expect(served.find((one) => one.id === id)?.rest).toBe(rest);
    expect(OPERATION_SCOPES[id]).toBe(scope);
    const parameters = (operation?.parameters ?? []).filter((one) => one.in === 'query').map(({ name }) => name);
    expect(parameters.sort()).toEqual([...query].sort());
    const { $ref } = operation?.requestBody?.content['application/json']?.schema ?? {};
    const fields = description.components.schemas[String($ref).replace('#/components/schemas/', '')]?.properties ?? {};
    expect(Object.keys(fields)).toEqual(expect.arrayContaining(body));
    const root = isReading(id) ? schema.getQueryType() : schema.getMutationType();
    if (graphql !== null) expect(Object.keys(root?.getFields() ?? {})).toContain(graphql);
  });
});

describe('every list of GraphQL', () => {
  const all = Object.values(schema.getTypeMap()).filter(isObjectType) as GraphQLObjectType[];
  const lists = all.flatMap((type) =>
    Object.values(type.getFields()).filter(({ type: output }) => getNamedType(output).name.endsWith('Connection')),
  ) as GraphQLField[];

  test('is found', () => {
    const connections = all.map(({ name }) => name).filter((name) => name.endsWith('Connection'));
    expect(lists.map(({ type }) => getNamedType(type).name).sort()).toEqual(connections.sort());
    expect(lists.length).toBeGreaterThanOrEqual(6);
  });

  test.each(lists.map((field) => [field.name, field] as const))(
    '%s can be paged both ways, filtered and ordered',
    (_name, field) => {
      const types = Object.fromEntries(field.args.map(({ name, type }) => [name, String(type)]));
      const node = getNamedType(field.type).name.replace(/(Summary)?Connection$/, '');
      expect(types).toMatchObject({
        first: 'Int',
        last: 'Int',
        after: 'Cursor',
        before: 'Cursor',
        where: `${node}WhereInput`,
        orderBy: expect.stringMatching(new RegExp(`^${node}(Summary)?Order$`)),
      });
    },
  );
});
