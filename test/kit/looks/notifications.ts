/** Provides the endpoints of the account of pictures: of every kind, in every state, with deliveries. Pure: no I/O, no clock. */
import { DELIVERY_ERRORS, type DeliveryCode } from '../../../src/core/lib/codes/deliveries.ts';
import type { Delivery, Endpoint } from '../../../src/service/client/index.ts';
import { findOperation, type Operation } from '../../../src/service/server/operations/list.ts';
import { live, NOW, streams } from './account.ts';

const example = <T>(id: Operation): T => findOperation(id)?.examples?.output as T;
const before = (minutes: number): string => new Date(NOW.getTime() - minutes * 60_000).toISOString();

const rule = { offAirSeconds: 30, flappingCount: 3, flappingSeconds: 600 };
const LONG = `https://${'a-very-long-host-name.'.repeat(4)}example/hooks/of/the/evening?token=…`;

const ENDPOINTS: readonly Partial<Endpoint>[] = [
  { kind: 'mail', name: 'Me', target: 'somebody@example.com', types: [], rule },
  { previousSecretUntil: before(-900), objectIDs: [live.id, streams[2]?.id ?? ''] },
  {
    kind: 'slack',
    name: 'Night shift',
    target: 'https://hooks.slack.com/…Xz9k',
    state: 'unverified',
    types: ['stream.off_air'],
    rule: { ...rule, offAirSeconds: 0 },
  },
  {
    kind: 'discord',
    name: 'قناة المساء',
    target: 'https://discord.com/…a81c',
    state: 'disabled',
    disabledCode: 'by_request',
    rule,
  },
  { kind: 'webhook', name: LONG, target: LONG, state: 'disabled', disabledCode: 'gone', types: [] },
  {
    kind: 'template',
    name: 'Phone',
    target: 'https://ntfy.sh/…opic',
    types: [],
    rule: { ...rule, offAirSeconds: 300 },
  },
];
export const endpoints = ENDPOINTS.map(
  (one, n): Endpoint => ({
    ...example<Endpoint>('getEndpoint'),
    id: `end-01k8zq4v7h2m9x3c5b6n7p${String(n).padStart(4, '0')}`,
    createdAt: before(5_000 + n),
    ...one,
  }),
);

const DELIVERY = example<Delivery>('listEndpointDeliveries');
const accepted = DELIVERY.lastAnswer as NonNullable<Delivery['lastAnswer']>;
const refused = (code: DeliveryCode, rest: Partial<typeof accepted> = {}): typeof accepted => ({
  ...accepted,
  ...{ status: null, body: null, code, message: DELIVERY_ERRORS[code].meaning, fix: DELIVERY_ERRORS[code].fix },
  ...rest,
});

const DELIVERIES: readonly (Partial<Delivery> & { minutes: number })[] = [
  { minutes: 1, type: 'stream.recovered', state: 'waiting', attempts: 0, lastAnswer: null, nextAttemptAt: before(0) },
  {
    minutes: 3,
    state: 'waiting',
    attempts: 4,
    nextAttemptAt: before(-7),
    lastAnswer: refused('rejected', {
      status: 500,
      body: '<html><body><h1>Internal Server Error</h1></body></html>',
      message: 'The receiver answered 500 in place of 200.',
    }),
  },
  { minutes: 125, type: 'upload.ready' },
  { minutes: 1600, state: 'failed', attempts: 21, lastAnswer: refused('certificate_expired') },
  { minutes: 1700, type: 'stream.live' },
];
export const deliveries = DELIVERIES.map(
  ({ minutes, ...one }, n): Delivery => ({
    ...DELIVERY,
    id: `delivery ${n}`,
    number: 40 - n,
    createdAt: before(minutes),
    ...one,
  }),
);
