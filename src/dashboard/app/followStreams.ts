/**
 * Keeps the lists of streams current, stream by stream. To read a list anew is a request for each of its loaded pages, which a page
 * with 2,000 streams cannot afford at every change.
 */
import type { Query, QueryClient } from '@tanstack/react-query';
import { type Change, problems } from '../../client/index.ts';
import type { Api } from '../api/api.ts';
import {
  addStream,
  hasStream,
  type LoadedStreams,
  removeStream,
  replaceStream,
} from '../features/streams/loadedStreams.ts';
import type { Spacer } from './spacer.ts';

const LISTS = ['streams', 'list'] as const;

const isFiltered = ({ queryKey }: Query): boolean => Object.keys(queryKey[2] ?? {}).length > 0;
const getList = (query: Query): LoadedStreams | undefined => query.state.data as LoadedStreams | undefined;

interface StreamFollowerDeps {
  queries: QueryClient;
  api: Pick<Api, 'stream'>;
  space: Spacer;
  /** The pause between two reads of a list. */
  findSpacing: (query: Query) => number | undefined;
  signal: AbortSignal;
}

/** Returns a function that shows a change of a stream in all lists. */
export function createStreamFollower({ queries, api, space, findSpacing, signal }: StreamFollowerDeps) {
  const listQueries = (): Query[] => queries.getQueryCache().findAll({ queryKey: LISTS });
  const show = ({ queryKey }: Query, change: (list: LoadedStreams) => LoadedStreams): void =>
    void queries.setQueryData<LoadedStreams>(queryKey, (list) => list && change(list));

  async function read(id: string, isNew: boolean): Promise<void> {
    const stream = await api.stream(id, signal).catch((error: unknown) => {
      if (error instanceof problems.StreamNotFound) return undefined;
      throw error;
    });
    for (const query of listQueries())
      show(query, (list) => {
        if (!stream) return removeStream(list, id);
        return isNew && !isFiltered(query) ? addStream(list, stream) : replaceStream(list, stream);
      });
    // Pages that are on their way were read before, and will overwrite it.
    if (listQueries().some((query) => query.state.fetchStatus === 'fetching')) readSoon(id, isNew);
  }

  const readSoon = (id: string, isNew: boolean): void => space(`stream ${id}`, () => read(id, isNew));

  return ({ id, change }: Pick<Change, 'id' | 'change'>): void => {
    let isShown = false;
    for (const query of listQueries()) {
      const { queryKey } = query;
      // The server says what a filter finds. A list that nobody looks at is read when somebody does.
      if (isFiltered(query) || !query.isActive())
        space(JSON.stringify(queryKey), () => queries.invalidateQueries({ queryKey, exact: true }), findSpacing(query));
      const list = getList(query);
      if (!list || !query.isActive()) continue;
      if (change === 'deleted') show(query, (before) => removeStream(before, id));
      else isShown ||= hasStream(list, id) || (change === 'created' && !isFiltered(query));
    }
    if (isShown) readSoon(id, change === 'created');
  };
}
