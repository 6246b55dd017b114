/** Provides the endpoints of the account of pictures: of every kind, in every state, with deliveries. Pure: no I/O, no clock. */
import { DELIVERY_ERRORS, type DeliveryCode } from '../../../src/core/lib/codes/deliveries.ts';
import { DEGRADATIONS } from '../../../src/core/lib/codes/streams.ts';
import type { AccountEvent, Delivery, Endpoint } from '../../../src/service/client/index.ts';
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

const EVENT = example<AccountEvent>('watchEvents');
const data = { ...EVENT.data, ...{ code: null, message: null, fix: null } };
const { DestinationReconnecting } = DEGRADATIONS;
const EVENTS: readonly (Pick<AccountEvent, 'type'> & { minutes: number; data: Partial<AccountEvent['data']> })[] = [
  { type: 'stream.recovered', minutes: 1, data: { offAirSeconds: 195 } },
  {
    type: 'stream.off_air',
    minutes: 4,
    data: {
      code: DestinationReconnecting.code,
      message: 'Destination "Second channel" does not accept the stream. The destination refuses connections.',
      fix: DestinationReconnecting.fix,
    },
  },
  { type: 'stream.degraded', minutes: 90, data: { name: 'قناة المساء — البث المباشر' } },
  { type: 'schedule.upcoming', minutes: 95, data: { name: 'Channel 4', startAt: before(80) } },
  { type: 'upload.ready', minutes: 600, data: { name: 'Film with several sound tracks.mkv' } },
  { type: 'playlist.published', minutes: 700, data: { name: 'Evening', version: 4 } },
  { type: 'credit.low', minutes: 1500, data: { name: 'Credit', hoursLeft: 24 } },
  { type: 'key.created', minutes: 4000, data: { name: 'Playout server' } },
];
export const accountEvents = EVENTS.map(
  ({ minutes, data: own, type }, n): AccountEvent => ({
    ...EVENT,
    id: `evt_${n}`,
    type,
    timestamp: before(minutes),
    data: { ...data, ...own },
  }),
);
