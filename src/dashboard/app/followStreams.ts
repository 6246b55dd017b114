/**
 * Keeps the lists of streams current, stream by stream. To read a list anew is a request for each of its loaded pages, which a page
 * with 2,000 streams cannot afford at every change. Nor can it read every stream that changes: an account has 600 requests a minute
 * for all its clients.
 */
import type { Query, QueryClient } from '@tanstack/react-query';
import { type Change, problems } from '../../service/client/index.ts';
import type { Api, Stream } from '../api/api.ts';
import { belongsToOverview } from '../features/overview/selectStreams.ts';
import { playsPlaylist } from '../features/playlists/playsPlaylist.ts';
import type { StreamListFilter } from '../features/streams/listOrder.ts';
import {
  addStream,
  hasStream,
  type LoadedStreams,
  removeStream,
  replaceStream,
} from '../features/streams/loadedStreams.ts';
import { findSpacing, type Spacer } from './spacer.ts';

/** Streams that are read at once. The spacer lets that happen twice a second. */
const READS = 2;

interface ListRules {
  /** Whether a change of a stream that the list does not show makes it read the stream, its own pages, or nothing. */
  findRead: (query: Query, change: Change['change']) => 'stream' | 'list' | 'nothing';
  /** Whether the list still shows a stream that it has shown. */
  keeps: (stream: Stream, list: LoadedStreams, query: Query) => boolean;
}

/** The page sorts the streams of a list itself, so an order is no filter. */
function isFiltered({ queryKey }: Query): boolean {
  const { q, status } = (queryKey[2] ?? {}) as StreamListFilter;
  return q !== undefined || status !== undefined;
}

/** By the second part of the query's key. The data of each is `LoadedStreams`. */
const LISTS: Partial<Record<string, ListRules>> = {
  list: {
    // The server says what a filter finds.
    findRead: (query, change) => (isFiltered(query) ? 'list' : change === 'created' ? 'stream' : 'nothing'),
    keeps: () => true,
  },
  overview: { findRead: (_query, change) => (change === 'deleted' ? 'nothing' : 'list'), keeps: belongsToOverview },
  'of playlist': {
    findRead: (_query, change) => (change === 'deleted' ? 'nothing' : 'list'),
    keeps: (stream, _list, { queryKey }) => playsPlaylist(stream, String(queryKey[2])),
  },
};

const getRules = ({ queryKey: [noun, list] }: Query): ListRules | undefined =>
  noun === 'streams' ? LISTS[String(list)] : undefined;
const getList = (query: Query): LoadedStreams | undefined => query.state.data as LoadedStreams | undefined;

/** Streams on screen that play an upload and have no picture: it may have got its poster, which changes no stream. */
export function listStreamsWithoutPicture(queries: QueryClient, uploadID: string): string[] {
  const lists = queries.getQueryCache().findAll({ predicate: (query) => Boolean(getRules(query)) && query.isActive() });
  const shown = lists.flatMap((query) => getList(query)?.pages.flatMap(({ data }) => data) ?? []);
  const lacking = shown.filter((stream) => stream.videoUploadObjectID === uploadID && stream.posterUrl === null);
  return [...new Set(lacking.map(({ id }) => id))];
}

interface StreamFollowerDeps {
  queries: QueryClient;
  api: Pick<Api, 'stream'>;
  space: Spacer;
  signal: AbortSignal;
}

/** Returns a function that shows a change of a stream in all lists. */
export function createStreamFollower({ queries, api, space, signal }: StreamFollowerDeps) {
  /** Streams to read, and whether each is new. */
  const waiting = new Map<string, boolean>();

  const findLists = (): Query[] => queries.getQueryCache().findAll({ predicate: (query) => Boolean(getRules(query)) });
  const show = ({ queryKey }: Query, change: (list: LoadedStreams) => LoadedStreams): void =>
    void queries.setQueryData<LoadedStreams>(queryKey, (list) => {
      const next = list && change(list);
      return next === list ? undefined : next;
    });
  const readList = (query: Query): void => {
    // To look for its key would write the keys of all queries as JSON.
    const predicate = (one: Query) => one === query;
    const read = async () => {
      const wasReading = query.state.fetchStatus === 'fetching';
      // Another read of the list would cancel a request for its next page.
      await queries.invalidateQueries({ predicate }, { cancelRefetch: false });
      // A request for the next page has replaced this read.
      if (query.isActive() && (wasReading || query.state.fetchMeta?.fetchMore)) readList(query);
    };
    space(query.queryHash, read, findSpacing([query]));
  };
  const wants = (query: Query, id: string, isNew: boolean): boolean => {
    const list = getList(query);
    if (!list || !query.isActive()) return false;
    return hasStream(list, id) || (isNew && getRules(query)?.findRead(query, 'created') === 'stream');
  };
  const readSoon = (id: string, isNew: boolean): void => {
    waiting.set(id, isNew || waiting.get(id) === true);
    space('streams', readSome);
  };

  async function readStream(id: string, isNew: boolean): Promise<void> {
    const stream = await api.stream(id, signal).catch((error: unknown) => {
      if (error instanceof problems.StreamNotFound) return undefined;
      // The next change reads it too.
      waiting.set(id, isNew);
      throw error;
    });
    const isReading = findLists().some(({ state }) => state.fetchStatus === 'fetching');
    for (const query of findLists())
      show(query, (list) => {
        if (!stream) return removeStream(list, id);
        if (hasStream(list, id))
          return getRules(query)?.keeps(stream, list, query) ? replaceStream(list, stream) : removeStream(list, id);
        return wants(query, id, isNew) ? addStream(list, stream) : list;
      });
    // Pages that are on their way were read before, and will overwrite it.
    if (isReading) readSoon(id, isNew);
  }

  /** Reads a few of the streams that wait. A list with fewer pages than streams that wait for it is read itself. */
  async function readSome(): Promise<void> {
    const alone = new Set<string>();
    for (const query of findLists()) {
      const ids = [...waiting].filter(([id, isNew]) => wants(query, id, isNew)).map(([id]) => id);
      if (ids.length > (getList(query)?.pages.length ?? 0)) readList(query);
      else for (const id of ids) alone.add(id);
    }
    const left = [...waiting].filter(([id]) => alone.has(id));
    waiting.clear();
    for (const [id, isNew] of left.slice(READS)) readSoon(id, isNew);
    await Promise.all(left.slice(0, READS).map(([id, isNew]) => readStream(id, isNew)));
  }

  return ({ id, change }: Pick<Change, 'id' | 'change'>): void => {
    for (const query of findLists()) {
      const list = getList(query);
      const isShown = list !== undefined && hasStream(list, id);
      const read = getRules(query)?.findRead(query, change);
      // A list that nobody looks at is read when somebody does.
      if (!query.isActive() || (read === 'list' && (!isShown || isFiltered(query)))) readList(query);
      if (list && isShown && change === 'deleted') show(query, (before) => removeStream(before, id));
      else if (wants(query, id, change === 'created')) readSoon(id, change === 'created');
    }
  };
}
