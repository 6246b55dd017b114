import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildSchema,
  type GraphQLInputObjectType,
  type GraphQLObjectType,
  isInputObjectType,
  isObjectType,
} from 'graphql';
import type { TSchema } from 'typebox';
import { describe, expect, test } from 'vitest';
import { TopUp, TopUpCreate } from '../../../../../src/service/billing/cards/record.ts';
import {
  CryptoAsset,
  CryptoDeposit,
  CryptoDepositCreate,
  CryptoPayment,
} from '../../../../../src/service/billing/crypto/record.ts';
import { BillingAddress, BillingAddressUpdate, Invoice } from '../../../../../src/service/billing/invoices/record.ts';
import { Billing, LedgerEntry, Usage, UsageLine } from '../../../../../src/service/billing/ledger/record.ts';
import {
  Destination,
  DestinationCreate,
  DestinationTest,
  DestinationUpdate,
} from '../../../../../src/service/domain/destinations/record.ts';
import {
  Playlist,
  PlaylistChanges,
  PlaylistCreate,
  PlaylistDiff,
  PlaylistUpdate,
  PlaylistVersion,
  Publication,
} from '../../../../../src/service/domain/playlists/record.ts';
import { LiveStats } from '../../../../../src/service/domain/stats/record.ts';
import {
  Readiness,
  ReadinessIssue,
  Stream,
  StreamCreate,
  StreamEvent,
  StreamSchedule,
  StreamUpdate,
} from '../../../../../src/service/domain/streams/record.ts';
import { Upload, UploadFromLink } from '../../../../../src/service/domain/uploads/record.ts';
import { createSchema, schemaDocument } from '../../../../../src/service/server/graphql/schema.ts';
import type { Operation } from '../../../../../src/service/server/operations/list.ts';
import { isReading, OPERATION_SCOPES } from '../../../../../src/service/server/operations/scopes.ts';
import type { Services } from '../../../../../src/service/server/setup/services.ts';
import { schemaBreaks } from '../../../../../tools/generate/graphql.ts';

const committed = readFileSync(join(import.meta.dirname, '../../../../../docs/schema.graphql'), 'utf8');
const present = buildSchema(schemaDocument());

describe('docs/schema.graphql', () => {
  test('matches the served schema (fix with `make generate`)', () => expect(committed).toBe(schemaDocument()));

  test('nothing in the code breaks a client of it', () => {
    expect(schemaBreaks(committed, schemaDocument())).toEqual([]);
  });

  test.each([
    ['a field that is gone', '  rtmpKeyHint: String!\n', ''],
    ['a value that is gone', '  reconnecting\n', ''],
    ['an argument that is newly needed', 'stopStream(id: ID!', 'stopStream(sure: Boolean!, id: ID!'],
    ['an answer that may newly be missing', '  progress: Float!', '  progress: Float'],
    ['an input that is newly needed', 'input DestinationUpdateInput {', 'input DestinationUpdateInput {\n  more: ID!'],
  ])('%s would be seen as breaking', (_what, before, after) => {
    const bare = committed.replace(/^ *""".*?"""\n/gms, '').replace(/,?\s*"""[^"]*"""\s*/g, ' ');
    const text = bare.replace(/\(([^()]*)\)/g, (_all, args: string) => `(${args.trim().replace(/\s+/g, ' ')})`);
    expect(text).toContain(before);
    expect(schemaBreaks(text, text.replace(before, after))).toHaveLength(1);
  });
});

describe('GraphQL matches REST', () => {
  const getFields = (name: string): Record<string, { type: unknown }> => {
    const type = present.getType(name);
    expect(isObjectType(type) || isInputObjectType(type), name).toBe(true);
    return (type as GraphQLObjectType | GraphQLInputObjectType).getFields();
  };
  const getProperties = (schema: TSchema) => Object.keys((schema as { properties?: object }).properties ?? {});

  test.each([
    ['Stream', Stream],
    ['Readiness', Readiness],
    ['ReadinessIssue', ReadinessIssue],
    ['StreamEvent', StreamEvent],
    ['LiveStats', LiveStats],
    ['Destination', Destination],
    ['DestinationTest', DestinationTest],
    ['Upload', Upload],
    ['Billing', Billing],
    ['Usage', Usage],
    ['UsageLine', UsageLine],
    ['LedgerEntry', LedgerEntry],
    ['TopUp', TopUp],
    ['Invoice', Invoice],
    ['BillingAddress', BillingAddress],
    ['CryptoAsset', CryptoAsset],
    ['CryptoDeposit', CryptoDeposit],
    ['CryptoPayment', CryptoPayment],
    ['Playlist', Playlist],
    ['PlaylistPublication', Publication],
    ['PlaylistVersion', PlaylistVersion],
    ['PlaylistDiff', PlaylistDiff],
  ])('every field of %s', (name, schema) => {
    // The contract: status in REST is state in GraphQL.
    const expected = getProperties(schema).map((field) => (name === 'Stream' && field === 'status' ? 'state' : field));
    expect(Object.keys(getFields(name))).toEqual(expect.arrayContaining(expected));
  });

  test.each([
    ['StreamCreateInput', StreamCreate],
    ['StreamUpdateInput', StreamUpdate],
    ['StreamScheduleInput', StreamSchedule],
    ['DestinationCreateInput', DestinationCreate],
    ['DestinationUpdateInput', DestinationUpdate],
    ['UploadFromLinkInput', UploadFromLink],
    ['TopUpCreateInput', TopUpCreate],
    ['BillingAddressInput', BillingAddressUpdate],
    ['CryptoDepositCreateInput', CryptoDepositCreate],
    ['PlaylistCreateInput', PlaylistCreate],
    ['PlaylistUpdateInput', PlaylistUpdate],
    ['PlaylistChangesInput', PlaylistChanges],
  ])('every field of %s, needed where it is needed there', (name, schema) => {
    const needed = (schema as { required?: string[] }).required ?? [];
    const fields = Object.entries(getFields(name)).map(([field, { type }]) => [field, String(type).endsWith('!')]);
    expect(fields).toEqual(
      getProperties(schema)
        .map((field) => [field, needed.includes(field)])
        .sort(),
    );
  });

  test('every operation that reads has a field and every one that writes a mutation', () => {
    // The name in GraphQL where it differs; null: not in GraphQL.
    const named: Record<string, string | null> = {
      getStatus: null,
      getSignInOptions: null,
      getOpenApi: null,
      getStreamPreview: null,
      watchChanges: null,
      getUploadPreview: null,
      getUploadPoster: null,
      getUptimeBadge: null,
      getPublicNow: null,
      exportStreamTimeline: null,
      exportStreamAsRun: null,
      receiveStripeEvent: null,
      getInvoicePdf: null,
      // tus: bytes, and headers of its own.
      getResumableUploadOptions: null,
      createResumableUpload: null,
      getResumableUpload: null,
      appendToResumableUpload: null,
      cancelResumableUpload: null,
      getStreamLiveStats: 'liveStats',
      listStreamEvents: 'streamEvents',
      watchEvents: 'events',
      getStreamReadiness: null,
      getStreamSchedule: null,
      diffPlaylistVersion: 'playlistDiff',
    };
    const queries = Object.keys(present.getQueryType()?.getFields() ?? {});
    const mutations = Object.keys(present.getMutationType()?.getFields() ?? {});
    for (const [operation, scope] of Object.entries(OPERATION_SCOPES)) {
      // Operations for signed-in people alone are done on pages, by REST alone.
      if (scope === 'person') continue;
      const name =
        operation in named
          ? named[operation]
          : operation.replace(/^(get|list)(.)/, (_all, _verb, c) => c.toLowerCase());
      if (name) expect(isReading(operation as Operation) ? queries : mutations, operation).toContain(name);
    }
    expect(mutations.every((name) => name in OPERATION_SCOPES)).toBe(true);
  });

  test('each mutation checks its own operation’s scope before anything else', async () => {
    const mutations =
      createSchema({} as unknown as Services)
        .getMutationType()
        ?.getFields() ?? {};
    for (const [name, { resolve }] of Object.entries(mutations)) {
      const allow = (operation: string) => {
        throw new Error(`asked for ${operation}`);
      };
      await expect(resolve?.(undefined, {}, { allow }, undefined as never), name).rejects.toThrow(`asked for ${name}`);
    }
    expect(Object.keys(mutations).length).toBeGreaterThan(10);
  });

  test('a stream key goes in and never comes out', () => {
    const listWith = (key: string) =>
      Object.entries(present.getTypeMap())
        .filter(([, type]) => (isObjectType(type) || isInputObjectType(type)) && key in type.getFields())
        .map(([name]) => name)
        .sort();
    const INPUTS = ['DestinationCreateInput', 'DestinationUpdateInput'];
    expect(listWith('rtmpKey')).toEqual(INPUTS);
    expect(listWith('key')).toEqual(INPUTS);
  });
});
