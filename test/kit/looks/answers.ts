/**
 * Answers the requests of a page without a server: with the records of `account.ts`, and with the example of the operation where there are
 * none. Pages that send forms get no answer, since pictures show what is before that. Pure: no I/O, no clock.
 */

import { describeUptime, drawBadge } from '../../../src/service/domain/uptime/badge.ts';
import type { OperationDeclaration } from '../../../src/service/lib/operation.ts';
import { OPERATIONS, type Operation } from '../../../src/service/server/operations/list.ts';
import {
  degraded,
  degradedStats,
  destinations,
  entries,
  events,
  live,
  liveStats,
  NOW,
  notReady,
  playlists,
  prices,
  ready,
  ruled,
  scenes,
  sessions,
  signInOptions,
  streams,
  uploads,
  uptimeOf,
  usageByStream,
  usageLines,
} from './account.ts';
import { accountEvents, deliveries, endpoints } from './notifications.ts';
import { publicNow, timeline } from './programme.ts';

/** A page waits for `later`, and finds no server with `away`; a problem has a status and a code. Any picture is the same. */
export type Given =
  | 'later'
  | 'away'
  | 'picture'
  | { svg: string }
  | { status: number; code: string; detail?: string }
  | { json: unknown };

interface Asked {
  id: string;
  query: URLSearchParams;
}
/** The result of an operation, or the items of a page. A function reads the request first. */
export type Answers = Partial<Record<Operation, unknown>>;

export const later = () => 'later' as const;
export const away = () => 'away' as const;

const includes = ({ name }: { name: string }, query: URLSearchParams): boolean =>
  name.toLowerCase().includes((query.get('q') ?? '').toLowerCase());

/** The account with something of everything. */
const FULL: Answers = {
  listStreams: ({ query }: Asked) =>
    streams.filter((one) => includes(one, query) && (query.get('status') ?? one.status) === one.status),
  getStream: ({ id }: Asked) => streams.find((one) => one.id === id),
  getStreamReadiness: ({ id }: Asked) => (streams.find((one) => one.id === id)?.ready ? ready : notReady),
  getStreamLiveStats: ({ id }: Asked) => (id === degraded.id ? degradedStats : liveStats),
  listStreamEvents: events,
  listStreamSessions: ({ id }: Asked) =>
    sessions.slice(streams.find((one) => one.id === id)?.status === 'live' ? 0 : 1),
  getStreamUptime: ({ query }: Asked) =>
    uptimeOf(Math.round((NOW.getTime() - Date.parse(query.get('from') ?? '')) / 86_400_000)),
  getUptimeBadge: { svg: drawBadge(describeUptime(uptimeOf(30), 30)) },
  getStreamTimeline: timeline,
  getStreamPublicNow: ({ id }: Asked) => (id === live.id ? publicNow : { enabled: false, url: null, since: null }),
  listUploads: uploads,
  getUpload: ({ id }: Asked) => uploads.find(({ objectID }) => objectID === id),
  listDestinations: destinations,
  getDestination: ({ id }: Asked) => destinations.find((one) => one.id === id),
  listEndpoints: endpoints,
  getEndpoint: ({ id }: Asked) => endpoints.find((one) => one.id === id),
  listEndpointDeliveries: ({ query }: Asked) =>
    deliveries.filter(({ state }) => (query.get('state') ?? state) === state),
  listScenes: scenes,
  getScene: ({ id }: Asked) => scenes.find((one) => one.id === id),
  listPlaylists: playlists,
  getPlaylist: ({ id }: Asked) => ({ ...ruled, ...playlists.find((one) => one.id === id) }),
  getSignInOptions: signInOptions,
  getPrices: prices,
  getUsage: ({ query }: Asked) => {
    const isByDay = query.get('groupBy') !== 'stream';
    const lines = isByDay ? usageLines : usageByStream;
    const sum = (of: 'credits' | 'onAirSeconds') => lines.reduce((all, line) => all + Number(line[of]), 0);
    const [from, to] = [query.get('from'), query.get('to')];
    const groupBy = isByDay ? 'day' : 'stream';
    return {
      from,
      to,
      timeZone: 'UTC',
      groupBy,
      credits: `${sum('credits')}`,
      onAirSeconds: sum('onAirSeconds'),
      lines,
    };
  },
  listLedgerEntries: entries,
  // Its moving pictures never come: a picture is of one moment.
  getStreamPreview: later,
  getUploadPreview: later,
  watchEvents: accountEvents,
};

/** An account on its first day. */
export const EMPTY: Answers = {
  ...Object.fromEntries(OPERATIONS.filter(({ output }) => output.kind === 'page').map(({ id }) => [id, []])),
};

/** No operation answers: the banner of a lost connection goes with the first answer of any. */
export const AWAY: Answers = Object.fromEntries(OPERATIONS.map(({ id }) => [id, away]));

const isPicture = ({ output }: Route['operation']): boolean =>
  output.kind === 'content' && Object.keys(output.types).some((type) => type.startsWith('image/'));

interface Route {
  operation: OperationDeclaration<Operation, never, never>;
  method: string;
  path: RegExp;
}
const ROUTES: Route[] = OPERATIONS.map((operation) => {
  const [method = '', path = ''] = operation.http.split(' ');
  // linear-time: paths are our own.
  const pattern = path.replace(/[.]/g, '\\.').replace(/\{(\w+)\}/g, '(?<$1>[^/]+?)');
  return { operation, method, path: new RegExp(`^/v1${pattern}$`) } as Route;
});

/** Returns what an address of the API answers, by `answers` before those of the full account. */
export function answerApi(answers: Answers, method: string, url: URL): Given {
  for (const { operation, method: own, path } of ROUTES) {
    const found = own === method ? path.exec(url.pathname) : null;
    if (!found) continue;
    const all: Answers = { ...FULL, ...answers };
    const asked: Asked = { id: found.groups?.id ?? '', query: url.searchParams };
    const given = operation.id in all ? all[operation.id] : operation.examples?.output;
    const value: unknown = typeof given === 'function' ? given(asked) : given;
    if (value === 'later' || value === 'away') return value;
    if (operation.id === 'getUptimeBadge') return value as Given;
    if (value === undefined && isPicture(operation)) return 'picture';
    if (value === undefined) return { status: 404, code: operation.object?.notFound ?? 'not_found' };
    if (operation.output.kind !== 'page') return { json: value };
    const data = Array.isArray(value) ? value : [value];
    return { json: { data, page: { hasMore: false, nextCursor: null } } };
  }
  return { status: 404, code: 'not_found' };
}
