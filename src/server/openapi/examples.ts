/**
 * An example of each document of the API, by the title of its schema: a day in the life of one account, so that ids agree.
 * A test holds each against its schema. Pure: no I/O, no clock.
 */

import { exampleDestination } from '../../domain/destinations/operations.ts';
import { exampleIssue, exampleStream } from '../../domain/streams/examples.ts';
import { exampleUpload } from '../../domain/uploads/operations.ts';
import { ERRORS, type ErrorCode } from '../../lib/errors.ts';
import { EXAMPLE } from '../../lib/examples.ts';
import { moneyExamples } from './examples-money.ts';

const { stream, playlist, createdAt, since } = EXAMPLE;

const Page = {
  hasMore: true,
  nextCursor: 'c3RyIDIwMjctMDEtMzFUMTc6NDI6MDVaIHN0ci0wMWs4enE0djdoMm05eDNjNWI2bjdwOHI5dA',
};
const list = (item: object) => ({ data: [item], page: Page });

const ApiKey = {
  ...{ id: '6f2d7a1e-3b4c-4d5e-8f60-718293a4b5c6', name: 'Playout server', hint: 'lsk_QxTz' },
  ...{ createdAt, expiresAt: null, lastUsedAt: since },
};

const Session = {
  ...{ id: '0b9f6c52-1d3e-4f70-8a91-b2c3d4e5f607', isCurrent: true, address: '203.0.113.7' },
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:147.0) Gecko/20100101 Firefox/147.0',
  ...{ createdAt, expiresAt: '2027-02-14T17:42:05Z' },
};

const ConnectedApp = {
  ...{ id: 'kWcQy3TzVbNfRpLs', name: 'Scheduler', uri: 'https://scheduler.example.com', isVerified: false },
  ...{ scopes: ['service:read', 'service:write'], connectedAt: createdAt, lastUsedAt: since },
};

const User = { id: 'usr-7Qm2', email: 'ada@example.com', firstName: 'Ada', lastName: null, createdAt };

const money = moneyExamples({ stream, createdAt, list });

export const EXAMPLES: Readonly<Record<string, object | string>> = {
  Status: {
    status: 'ok',
    version: '0.1.0',
    time: since,
    components: { kubernetes: 'ok', database: 'ok' },
  },
  User,
  AccountLimits: {
    ...{ class: 'trial', howToLift: 'Buy credit once: the larger limits are there as soon as it is booked, and stay.' },
    limits: [{ name: 'streams', description: 'Streams', unit: 'count', used: 2, allowed: 5, full: 1000 }],
  },
  SignInOptions: { signUp: true, passwordReset: true, providers: [{ id: 'company', name: 'Example Company' }] },
  ApiKeyList: list(ApiKey),
  ApiKeyCreate: { name: 'Playout server', expiresInDays: 90 },
  CreatedApiKey: { ...ApiKey, lastUsedAt: null, key: 'lsk_QxTzExampleOfAKeyThatLetsNobodyIn' },
  SessionList: list(Session),
  ConnectedAppList: list(ConnectedApp),
  AccountExport: {
    ...{
      exportedAt: since,
      user: User,
      streams: [exampleStream],
      destinations: [exampleDestination],
      uploads: [exampleUpload],
    },
    ...{ playlists: [], apiKeys: [ApiKey], sessions: [Session], connectedApps: [ConnectedApp] },
    passkeys: [{ id: 'a3f1c07e-5b0c-4f3c-9d43-2f8f0a4f1f11', name: 'Phone', isSynced: true, createdAt }],
    outsideSignIns: [{ provider: 'oidc', subject: '248289761001', createdAt }],
    ...{ billingAddress: money.documents.BillingAddress, ledger: [money.entry] },
    ...{
      topUps: [money.documents.TopUp],
      deposits: [money.documents.CryptoDeposit],
      invoices: [money.documents.Invoice],
    },
  },
  ...money.documents,
  AccountDelete: { email: 'ada@example.com', password: 'several words of hers' },
};

/** By `<noun> <name>`, or by the name alone. */
export const PARAMETER_EXAMPLES: Readonly<Record<string, unknown>> = {
  'api-keys id': '6f2d7a1e-3b4c-4d5e-8f60-718293a4b5c6',
  'sessions id': '0b9f6c52-1d3e-4f70-8a91-b2c3d4e5f607',
  'connected-apps id': 'kWcQy3TzVbNfRpLs',
  'usage from': '2027-01-31',
  'usage to': '2027-01-31',
  groupBy: 'day',
  timeZone: 'Europe/Berlin',
  format: 'json',
  ...money.parameters,
  limit: 20,
  cursor: Page.nextCursor,
};

/** Further members of some problems. */
const EXTRAS: Partial<Record<ErrorCode, object>> = {
  validation_failed: { errors: [{ path: '/name', message: 'is required' }] },
  destination_forbidden: {
    errors: [
      { path: '/rtmpUrl', message: 'must name a host that the public internet knows, not one of a private network' },
    ],
  },
  link_forbidden: { errors: [{ path: '/url', message: 'The address 10.0.0.1 is not a public one.' }] },
  stream_not_ready: { issues: [exampleIssue] },
  destination_in_use: { streamIDs: [stream] },
  destination_on_air: { streamIDs: [stream] },
  upload_in_use: { streamIDs: [stream], playlistIDs: [playlist] },
  playlist_in_use: { streamIDs: [stream] },
  quota_exceeded: { limit: 'streams', used: 5, allowed: 5, class: 'trial' },
  upload_quota_exceeded: { limit: 'uploads', used: 50, allowed: 50, class: 'trial' },
  api_key_quota_exceeded: { limit: 'apiKeys', used: 10, allowed: 10, class: 'trial' },
  playlist_version_conflict: { currentVersion: 4 },
};

export const problemExample = (code: ErrorCode) => ({
  type: `/docs/errors/${code}`,
  title: ERRORS[code].title,
  status: ERRORS[code].status,
  detail: ERRORS[code].meaning,
  code,
  ...EXTRAS[code],
});
