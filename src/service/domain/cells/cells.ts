/**
 * Knows the namespace of each account. An account gets its namespace with its first request and keeps it, so this server reads it
 * from the database once. A namespace that cannot be read concerns its own accounts alone.
 */

import type { Logger } from '../../../core/lib/log.ts';
import type { Db } from '../../db/pool.ts';
import { AppError } from '../../lib/errors.ts';
import { findEmptiest } from './emptiest.ts';
import { type CellRow, countAccounts, findCell, recordCell } from './store.ts';

export interface CellsDeps {
  db: Db;
  /** The namespaces of accounts: the API server's own first. */
  namespaces: readonly string[];
  /** Namespaces that get no new accounts. */
  fullNamespaces: readonly string[];
  /** Whether the resources of a namespace have been listed, and its Role was not missing since. */
  isFilled: (namespace: string) => boolean;
  /** The streams of each namespace that has some. */
  countStreams: () => ReadonlyMap<string, number>;
  log: Logger;
}

export type Cells = ReturnType<typeof createCells>;

export function createCells({ db, namespaces, fullNamespaces, isFilled, countStreams, log }: CellsDeps) {
  const [own = ''] = namespaces;
  const open = namespaces.filter((namespace) => !fullNamespaces.includes(namespace));
  const known = new Map<string, string>();
  const loading = new Map<string, Promise<void>>();
  const readRow = ({ namespace }: CellRow): string => namespace ?? own;

  const canRead = (namespace: string): boolean => namespaces.includes(namespace) && isFilled(namespace);

  /** Returns undefined while none of several namespaces can be read. */
  const choose = async (): Promise<string | undefined> => {
    if (open.length === 1) return open[0];
    const streams = countStreams();
    const accounts = new Map((await countAccounts(db)).map((row) => [readRow(row), row.accounts]));
    return findEmptiest(
      open.filter(isFilled).map((namespace) => ({
        namespace,
        streams: streams.get(namespace) ?? 0,
        accounts: accounts.get(namespace) ?? 0,
      })),
    );
  };

  const place = async (accountId: string): Promise<CellRow | undefined> => {
    const namespace = await choose();
    if (namespace === undefined) return undefined;
    const recorded = await recordCell(db, accountId, namespace === own ? null : namespace);
    log.info({ account: accountId, namespace: readRow(recorded) }, 'an account got its namespace');
    return recorded;
  };

  const loadOnce = async (accountId: string): Promise<void> => {
    const row = (await findCell(db, accountId)) ?? (await place(accountId));
    if (row) known.set(accountId, readRow(row));
  };

  const getNamespace = (accountId: string): string => {
    const namespace = known.get(accountId);
    if (namespace !== undefined) return namespace;
    throw new AppError(
      'upstream_unavailable',
      'The server could not find out yet where the resources of this account are. Try again.',
    );
  };

  return {
    namespaces,

    hasLoaded: (accountId: string): boolean => known.has(accountId),

    /**
     * Reads the namespace of an account; a new account gets one, unless no namespace can be read. Requests load the account that they
     * are of before they are served. Rejects with the database's error.
     */
    load(accountId: string): Promise<void> {
      const running = loading.get(accountId);
      if (running) return running;
      const started = loadOnce(accountId).finally(() => loading.delete(accountId));
      loading.set(accountId, started);
      return started;
    },

    /** Returns the namespace of an account. Throws `upstream_unavailable` while it is not loaded. */
    getNamespace,

    /** Returns whether the resources of an account are in the caches. */
    isReadable(accountId: string): boolean {
      const namespace = known.get(accountId);
      return namespace !== undefined && canRead(namespace);
    },

    /** Returns the namespace of an account, once its resources are in the caches. Throws `upstream_unavailable` before. */
    getReadable(accountId: string): string {
      const namespace = getNamespace(accountId);
      if (canRead(namespace)) return namespace;
      throw new AppError(
        'upstream_unavailable',
        'Kubernetes has not responded to this server for the namespace of this account. Try again later.',
      );
    },
  };
}
