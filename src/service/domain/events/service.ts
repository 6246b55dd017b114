/** Reads the events of an account, and waits for new ones. */
import type { Db } from '../../db/pool.ts';
import type { RowWhere } from '../../db/where.ts';
import { AppError, validationFailed } from '../../lib/errors.ts';
import { type Connection, DEFAULT_PAGE, type ListArgs } from '../../lib/list-page.ts';
import { createFollowers } from '../../lib/paging/followers.ts';
import type { Scope } from '../../lib/scopes.ts';
import { type AccountEvent, type AccountEventType, EVENT_TYPE_NAMES, listReceivedTypes } from './record.ts';
import * as store from './store.ts';

/** The order of events: that in which they were recorded. */
export type AccountEventOrder = 'recorded';

/** The events that a client with these scopes asks for: of some types, of one object. */
export interface EventFilter {
  scopes: ReadonlySet<Scope>;
  types?: readonly AccountEventType[] | undefined;
  objectID?: string | undefined;
}

export const toWhere = ({ scopes, types, objectID }: EventFilter): RowWhere => ({
  type: { in: listReceivedTypes(scopes, types) },
  ...(objectID !== undefined && { objectID: { eq: objectID } }),
});

/** How often, and how long, an event is looked for of which the database has told. */
const AGAIN_MS = 100;
const AGAIN_FOR_MS = 10_000;

/** Ids are our own (news.ts). */
const EVENT_ID = /^evt_[A-Za-z0-9_]{1,120}$/;
const NEVER = new AbortController().signal;

interface Asked {
  scopes: ReadonlySet<Scope>;
  where?: RowWhere | undefined;
  /** Whether all events that match are counted. */
  isCounted?: boolean;
}

/** Whether conditions name a type anywhere. */
const namesType = (where: RowWhere): boolean =>
  Object.entries(where).some(
    ([field, asked]) =>
      asked !== null &&
      asked !== undefined &&
      (field === 'type' ||
        (['and', 'or', 'not'].includes(field) && [asked].flat().some((one) => namesType(one as RowWhere)))),
  );

/** The conditions, on what a client with these scopes receives. */
const limitWhere = (scopes: ReadonlySet<Scope>, where: RowWhere = {}): RowWhere => ({
  and: [where, toWhere({ scopes, types: namesType(where) ? EVENT_TYPE_NAMES : undefined })],
});

export interface EventsDeps {
  db: Db;
}

export type EventService = ReturnType<typeof createEventService>;

/** `after` is the id of the last event that the client knows; without it, the oldest one that is kept comes first. */
export function createEventService({ db }: EventsDeps) {
  const followers = createFollowers<'new'>();

  /** An id that leads to nothing would leave out what came meanwhile. */
  async function ensureKnown(accountId: string, id: string | null | undefined, path: string): Promise<void> {
    if (!id) return;
    if (!EVENT_ID.test(id))
      throw validationFailed([{ path, message: 'is not the id of an event; use one of an earlier response' }]);
    if (await store.hasEvent(db, accountId, id)) return;
    throw new AppError(
      'event_not_found',
      `No event ${id.slice(0, 100)} is kept: events are kept for ${store.KEPT_DAYS} days. Read the objects, then begin without ${path.slice(1)}.`,
    );
  }

  async function resolve(accountId: string, after: string | undefined, path = '/after'): Promise<string | undefined> {
    if (after === 'now') return store.findLastId(db, accountId);
    await ensureKnown(accountId, after, path);
    return after;
  }

  /** Cursors are known to be events of the account. */
  async function readPage(
    accountId: string,
    { first, last, orderBy, ...cursors }: ListArgs<AccountEventOrder>,
    { where, isCounted = false }: Omit<Asked, 'scopes'> = {},
  ): Promise<Connection<AccountEvent>> {
    const isDescending = orderBy?.descending === true;
    const [after, before] = [cursors.after ?? undefined, cursors.before ?? undefined];
    const bounds = isDescending ? { after: before, before: after } : { after, before };
    // `last` alone counts from the end.
    const isFromEnd = first === undefined && last !== undefined;
    const limit = first ?? last ?? DEFAULT_PAGE;
    const rows = await store.readEvents(
      db,
      accountId,
      where,
      { ...bounds, limit: limit + 1 },
      isFromEnd !== isDescending,
    );
    const hasMore = rows.length > limit;
    const read = isFromEnd ? rows.slice(0, limit).reverse() : rows.slice(0, limit);
    const shown = first !== undefined && last !== undefined ? read.slice(-last) : read;
    const edges = shown.map((node) => ({ cursor: node.id, node }));
    const pageInfo = {
      hasNextPage: isFromEnd ? before !== undefined : hasMore,
      hasPreviousPage: isFromEnd ? hasMore : after !== undefined || shown.length < read.length,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    };
    return { totalCount: isCounted ? await store.countEvents(db, accountId, where) : edges.length, pageInfo, edges };
  }

  /** Oldest first, unless `orderBy` says otherwise. Throws `event_not_found`. */
  async function list(
    accountId: string,
    args: ListArgs<AccountEventOrder>,
    { scopes, where, isCounted }: Asked,
  ): Promise<Connection<AccountEvent>> {
    const after = await resolve(accountId, args.after ?? undefined, args.afterPath);
    await ensureKnown(accountId, args.before, '/before');
    return readPage(
      accountId,
      { ...args, after },
      { where: limitWhere(scopes, where), ...(isCounted && { isCounted }) },
    );
  }

  /**
   * Reads the next events behind `after`, and waits up to `waitMs` while there are none. A notification comes before its event can be
   * read while an older transaction is under way, so it is looked for again.
   */
  async function wait(
    accountId: string,
    after: string | undefined,
    filter: EventFilter,
    { limit, waitMs, signal }: { limit: number; waitMs: number; signal: AbortSignal },
  ): Promise<AccountEvent[]> {
    const until = performance.now() + waitMs;
    let wake = Promise.withResolvers<void>();
    let againUntil = 0;
    const unfollow = followers.follow(accountId, () => {
      againUntil = performance.now() + AGAIN_FOR_MS;
      wake.resolve();
    });
    const end = () => wake.resolve();
    signal.addEventListener('abort', end, { once: true });
    try {
      for (;;) {
        wake = Promise.withResolvers();
        const found = await store.readEvents(db, accountId, toWhere(filter), { after, limit });
        const leftMs = until - performance.now();
        if (found.length > 0 || leftMs <= 0 || signal.aborted) return found;
        const timer = setTimeout(wake.resolve, performance.now() < againUntil ? Math.min(AGAIN_MS, leftMs) : leftMs);
        await wake.promise;
        clearTimeout(timer);
      }
    } finally {
      signal.removeEventListener('abort', end);
      unfollow();
    }
  }

  return {
    list,

    /** Returns the event behind which a client reads: `now` is the last one. Throws `event_not_found`. */
    resolve,

    /** A page behind `after`, which is waited for where there is no event yet. Throws `event_not_found`. */
    async page(
      accountId: string,
      args: Pick<ListArgs<AccountEventOrder>, 'first' | 'after' | 'afterPath' | 'orderBy'>,
      { filter, waitMs, signal = NEVER }: { filter: EventFilter; waitMs: number; signal?: AbortSignal },
    ): Promise<Connection<AccountEvent>> {
      const after = await resolve(accountId, args.after ?? undefined, args.afterPath);
      if (waitMs > 0) await wait(accountId, after, filter, { limit: 1, waitMs, signal });
      return readPage(accountId, { ...args, after }, { where: toWhere(filter) });
    },

    wait,

    /** Receives the notifications of the database; what came before a connection may be lost. */
    onNotify: (accountId: string): void => followers.notify(accountId, 'new'),
    onConnect: (): void => followers.notifyAll('new'),
  };
}
