/** Provides the example account and credentials of the documentation. Pure: no I/O, no clock. */
import { EXAMPLE } from '../../lib/examples.ts';
import type { ApiKey, ConnectedApp, OutsideSignIn, PasskeyRecord, PersonSession, User } from './record.ts';

const { createdAt, since } = EXAMPLE;

export const exampleUser: User = {
  id: 'usr-7Qm2',
  email: 'ada@example.com',
  firstName: 'Ada',
  lastName: null,
  createdAt,
};

export const exampleApiKey: ApiKey = {
  id: '6f2d7a1e-3b4c-4d5e-8f60-718293a4b5c6',
  name: 'Playout server',
  labels: {},
  hint: 'lsk_QxTz',
  scopes: ['read', 'write'],
  labelSelector: 'team=radio',
  createdAt,
  expiresAt: '2027-05-01T17:42:05Z',
  lastUsedAt: since,
  lastUsedAddress: '203.0.113.7',
};

export const exampleSession: PersonSession = {
  id: '0b9f6c52-1d3e-4f70-8a91-b2c3d4e5f607',
  isCurrent: true,
  address: '203.0.113.7',
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:147.0) Gecko/20100101 Firefox/147.0',
  createdAt,
  expiresAt: '2027-02-14T17:42:05Z',
};

export const exampleApp: ConnectedApp = {
  id: 'kWcQy3TzVbNfRpLs',
  name: 'Scheduler',
  uri: 'https://scheduler.example.com',
  isVerified: false,
  scopes: ['service:read', 'service:write'],
  connectedAt: createdAt,
  lastUsedAt: since,
};

export const examplePasskey: PasskeyRecord = {
  id: 'a3f1c07e-5b0c-4f3c-9d43-2f8f0a4f1f11',
  name: 'Phone',
  isSynced: true,
  createdAt,
};

export const exampleOutsideSignIn: OutsideSignIn = { provider: 'oidc', subject: '248289761001', createdAt };
