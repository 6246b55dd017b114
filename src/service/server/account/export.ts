/**
 * Exports all data of an account as one document, in the shapes of the API. It contains no stream keys. The ledger has no bound, so the
 * document is written while it is read, and no server holds more than a part of it.
 */
import { Readable } from 'node:stream';
import { systemClock } from '../../../core/lib/clock.ts';
import type { TopUpService } from '../../billing/cards/service.ts';
import type { CryptoService } from '../../billing/crypto/service.ts';
import type { InvoiceService } from '../../billing/invoices/service.ts';
import type { BillingService } from '../../billing/ledger/service.ts';
import type { AccessService } from '../../domain/accounts/access.ts';
import type { AccountExport } from '../../domain/accounts/record.ts';
import type { AccountService } from '../../domain/accounts/service.ts';
import { createMinuteCounter } from '../../domain/destinations/minute-counter.ts';
import type { DestinationService } from '../../domain/destinations/service.ts';
import type { EndpointService } from '../../domain/endpoints/service.ts';
import { EVENT_TYPE_NAMES } from '../../domain/events/record.ts';
import type { EventService } from '../../domain/events/service.ts';
import type { PlaylistService } from '../../domain/playlists/service.ts';
import type { SceneService } from '../../domain/scenes/service.ts';
import type { StreamService } from '../../domain/streams/service.ts';
import type { UploadService } from '../../domain/uploads/service.ts';
import type { UptimeService } from '../../domain/uptime/service.ts';
import { AppError } from '../../lib/errors.ts';
import { FairSlots, SlotsFull } from '../../lib/fair-slots.ts';
import { type Connection, MAX_PAGE, type PageArgs } from '../../lib/list-page.ts';
import type { Principal } from '../../lib/scopes.ts';

/** Exports at once on this server. */
const PLACES = { total: 4, each: { account: 1 } };
/** Exports that an account may begin in a minute on this server. */
const PER_MINUTE = 3;
/** An export of which nothing is taken for this long ends: others wait for its place. */
const STALL_MS = 30_000;

export interface ExportDeps {
  account: AccountService;
  access: Pick<AccessService, 'keys' | 'keyPolicy' | 'sessions' | 'apps' | 'waysIn'>;
  streams: Pick<StreamService, 'list'>;
  destinations: Pick<DestinationService, 'list'>;
  uploads: Pick<UploadService, 'list'>;
  playlists: Pick<PlaylistService, 'list' | 'get'>;
  scenes: Pick<SceneService, 'list'>;
  endpoints: Pick<EndpointService, 'list'>;
  events: Pick<EventService, 'list'>;
  uptime: Pick<UptimeService, 'everything'>;
  billing: Pick<BillingService, 'entries'>;
  topUps: Pick<TopUpService, 'list'>;
  invoices: Pick<InvoiceService, 'list' | 'address'>;
  crypto: Pick<CryptoService, 'everything'>;
}

/** A list, part by part. */
type Parts = AsyncIterable<readonly object[]>;
type ListName =
  | 'streams'
  | 'destinations'
  | 'uploads'
  | 'playlists'
  | 'scenes'
  | 'endpoints'
  | 'events'
  | 'uptime'
  | 'apiKeys'
  | 'sessions'
  | 'connectedApps'
  | 'ledger'
  | 'topUps'
  | 'invoices';
type Records = Omit<AccountExport, ListName>;
type Lists = Record<ListName, Parts>;

/** Reads a list page by page. */
async function* readPages<T extends object>(
  page: (args: Pick<PageArgs, 'first' | 'after'>) => Connection<T> | Promise<Connection<T>>,
): AsyncGenerator<T[]> {
  for (let after: string | null | undefined; ; ) {
    const { edges, pageInfo } = await page({ first: MAX_PAGE, after });
    yield edges.map(({ node }) => node);
    if (!pageInfo.hasNextPage) return;
    after = pageInfo.endCursor;
  }
}

async function* readPlaylists({ playlists }: ExportDeps, accountId: string): AsyncGenerator<object[]> {
  // One at a time: each is much larger than its summary.
  for await (const page of readPages((args) => playlists.list(accountId, args)))
    for (const { id } of page) yield [playlists.get(accountId, id)];
}

async function* readUptime({ streams, uptime }: ExportDeps, accountId: string): AsyncGenerator<object[]> {
  for await (const page of readPages((args) => streams.list(accountId, args)))
    for (const { id } of page) yield [await uptime.everything(accountId, id)];
}

function readLists(deps: ExportDeps, principal: Principal): Lists {
  const { access, streams, destinations, uploads, scenes, endpoints, events, billing, topUps, invoices } = deps;
  const { accountId, scopes } = principal;
  return {
    streams: readPages((args) => streams.list(accountId, args)),
    destinations: readPages((args) => destinations.list(accountId, args)),
    uploads: readPages((args) => uploads.list(accountId, args)),
    playlists: readPlaylists(deps, accountId),
    scenes: readPages((args) => scenes.list(accountId, args)),
    endpoints: readPages((args) => endpoints.list(accountId, args)),
    events: readPages((args) => events.list(accountId, args, { scopes, where: { type: { in: EVENT_TYPE_NAMES } } })),
    uptime: readUptime(deps, accountId),
    apiKeys: readPages((args) => access.keys(principal, args)),
    sessions: readPages((args) => access.sessions(principal, args)),
    connectedApps: readPages((args) => access.apps(principal, args)),
    ledger: billing.entries(principal),
    topUps: readPages((args) => topUps.list(principal, args)),
    invoices: readPages((args) => invoices.list(principal, args)),
  };
}

async function* writeList(name: string, parts: Parts): AsyncGenerator<string> {
  yield `,${JSON.stringify(name)}:[`;
  let isFirst = true;
  for await (const part of parts) {
    if (part.length === 0) continue;
    yield `${isFirst ? '' : ','}${part.map((item) => JSON.stringify(item)).join(',')}`;
    isFirst = false;
  }
  yield ']';
}

async function readRecords(deps: ExportDeps, principal: Principal, now: Date): Promise<Records> {
  const { account, access, invoices, crypto } = deps;
  return {
    exportedAt: now.toISOString(),
    user: await account.me(principal),
    apiKeyPolicy: await access.keyPolicy(principal),
    ...(await access.waysIn(principal)),
    billingAddress: await invoices.address(principal),
    deposits: await crypto.everything(principal.accountId),
  };
}

async function* write(records: Records, lists: Lists): AsyncGenerator<string> {
  yield JSON.stringify(records).slice(0, -1);
  for (const [name, parts] of Object.entries(lists)) yield* writeList(name, parts);
  yield '}';
}

/** Destroys a document of which nothing is taken. */
function endStalled(text: AsyncIterable<string>): Readable {
  const parts = async function* () {
    for await (const part of text) {
      timer.refresh();
      yield part;
    }
  };
  const document = Readable.from(parts());
  const timer = setTimeout(() => document.destroy(), STALL_MS);
  return document.once('close', () => clearTimeout(timer));
}

/** Returns the function that opens an export: the text of one JSON object. It rejects with `rate_limited` and `server_busy`. */
export function createExport(deps: ExportDeps) {
  const places = new FairSlots(PLACES);
  const begun = createMinuteCounter(systemClock);
  const take = (accountId: string) => {
    if (begun.count(accountId) >= PER_MINUTE)
      throw new AppError('rate_limited', `The account has begun ${PER_MINUTE} exports. Try again in a minute.`, {
        extras: { retryAfterSeconds: 60 },
      });
    try {
      const release = places.takeNow({ account: accountId });
      begun.begin(accountId);
      return release;
    } catch (error) {
      if (!(error instanceof SlotsFull)) throw error;
      throw error.limit === 'account'
        ? new AppError('rate_limited', 'An export of the account is in progress. Wait until it has ended.')
        : new AppError('server_busy', 'This server makes as many exports as it can. Try again later.');
    }
  };
  return async (principal: Principal, now: Date): Promise<Readable> => {
    const release = take(principal.accountId);
    try {
      const records = await readRecords(deps, principal, now);
      return endStalled(write(records, readLists(deps, principal))).once('close', release);
    } catch (error) {
      release();
      throw error;
    }
  };
}
