/** Exports all data of an account as one document, in the shapes of the API. It contains no stream keys. */

import type { TopUpService } from '../../billing/cards/service.ts';
import type { CryptoService } from '../../billing/crypto/service.ts';
import type { InvoiceService } from '../../billing/invoices/service.ts';
import type { BillingService } from '../../billing/ledger/service.ts';
import type { AccessService } from '../../domain/accounts/access.ts';
import type { AccountService } from '../../domain/accounts/service.ts';
import type { DestinationService } from '../../domain/destinations/service.ts';
import type { PlaylistService } from '../../domain/playlists/service.ts';
import type { StreamService } from '../../domain/streams/service.ts';
import type { UploadService } from '../../domain/uploads/service.ts';
import { type Connection, MAX_PAGE, type PageArgs } from '../../lib/paging/connection.ts';
import type { Principal } from '../../lib/scopes.ts';

export interface ExportDeps {
  account: AccountService;
  access: Pick<AccessService, 'keys' | 'sessions' | 'apps' | 'waysIn'>;
  streams: Pick<StreamService, 'list'>;
  destinations: Pick<DestinationService, 'list'>;
  uploads: Pick<UploadService, 'list'>;
  playlists: Pick<PlaylistService, 'list' | 'get'>;
  billing: Pick<BillingService, 'entries'>;
  topUps: Pick<TopUpService, 'list'>;
  invoices: Pick<InvoiceService, 'list' | 'address'>;
  crypto: Pick<CryptoService, 'everything'>;
}

type Pages = Pick<PageArgs, 'first' | 'after'>;

/** Reads all pages of a list. */
async function all<T>(page: (args: Pages) => Connection<T> | Promise<Connection<T>>): Promise<T[]> {
  const found: T[] = [];
  for (let after: string | null | undefined; ; ) {
    const { edges, pageInfo } = await page({ first: MAX_PAGE, after });
    for (const { node } of edges) found.push(node);
    if (!pageInfo.hasNextPage) return found;
    after = pageInfo.endCursor;
  }
}

/** Exports ledger entries and payments. */
async function exportMoney({ billing, topUps, invoices, crypto }: ExportDeps, principal: Principal) {
  return {
    billingAddress: await invoices.address(principal),
    ledger: await billing.entries(principal),
    topUps: await all((args) => topUps.list(principal, args)),
    deposits: await crypto.everything(principal.accountId),
    invoices: await all((args) => invoices.list(principal, args)),
  };
}

export const createExport = (deps: ExportDeps) => async (principal: Principal, now: Date) => {
  const { account, access, streams, destinations, uploads, playlists } = deps;
  const { accountId } = principal;
  const lists = await all((args) => playlists.list(accountId, args));
  return {
    exportedAt: now.toISOString(),
    user: await account.me(principal),
    streams: await all((args) => streams.list(accountId, args)),
    destinations: await all((args) => destinations.list(accountId, args)),
    uploads: await all((args) => uploads.list(accountId, args)),
    playlists: lists.map(({ id }) => playlists.get(accountId, id)),
    apiKeys: await all((args) => access.keys(principal, args)),
    sessions: await all((args) => access.sessions(principal, args)),
    connectedApps: await all((args) => access.apps(principal, args)),
    ...(await access.waysIn(principal)),
    ...(await exportMoney(deps, principal)),
  };
};

export type AccountExport = Awaited<ReturnType<ReturnType<typeof createExport>>>;
