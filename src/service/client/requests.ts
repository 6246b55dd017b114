/** The kinds of request that operations make. */
import { createList, type List, type Page } from './list.ts';
import { type CallOptions, type ClientOptions, createSend, type Send } from './send.ts';

export interface ListQuery {
  /** Size of a page, 1 to 100. */
  limit?: number;
}

export interface Requests {
  get: Send;
  post: Send;
  patch: Send;
  delete: Send;
  /** Sends nothing before the list is read. */
  list<T>(path: string, query?: ListQuery, call?: CallOptions): List<T>;
}

/** Fewer requests than the server's own size takes, when all of a list is read. */
const PAGE_SIZE = 100;

export function createRequests(options: ClientOptions): Requests {
  const get = createSend(options, 'GET');
  return {
    get,
    post: createSend(options, 'POST'),
    patch: createSend(options, 'PATCH'),
    delete: createSend(options, 'DELETE'),
    list: <T>(path: string, query?: ListQuery, call?: CallOptions) =>
      createList((cursor) => get<Page<T>>(path, { ...call, query: { limit: PAGE_SIZE, ...query, cursor } })),
  };
}

/** The path of an object: ids come from elsewhere and may hold anything. */
export const path = (strings: TemplateStringsArray, ...ids: (string | number)[]): string =>
  String.raw({ raw: strings }, ...ids.map(encodeURIComponent));
