/** Tests that a change of a stream reaches the lists on the page, without reading their pages anew. */
import { InfiniteQueryObserver, QueryClient } from '@tanstack/react-query';
import { afterEach, expect, test } from 'vitest';
import { problems } from '../../../../src/client/index.ts';
import type { Page, Stream } from '../../../../src/dashboard/api/api.ts';
import { createStreamFollower } from '../../../../src/dashboard/app/followStreams.ts';
import { createSpacer, findSpacing } from '../../../../src/dashboard/app/spacer.ts';
import type { LoadedStreams } from '../../../../src/dashboard/features/streams/loadedStreams.ts';
import { until } from '../../../kit/wait.ts';

const stream = (id: string, name = id): Stream => ({ id, name, status: 'idle' }) as Stream;

let stop = new AbortController();
afterEach(() => {
  stop.abort();
  stop = new AbortController();
});

/** A server with these streams, two on a page, and a page that shows the first `pages` of a list. */
async function show(names: string[], { filter = {}, pages = 1 }: { filter?: object; pages?: number } = {}) {
  const server = names.map((name) => stream(name));
  const asked = { lists: 0, streams: [] as string[] };
  const queries = new QueryClient();
  const read = (pageParam: string | undefined): Page<Stream> => {
    asked.lists += 1;
    const at = Number(pageParam ?? 0);
    const hasMore = at + 2 < server.length;
    return {
      data: server.slice(at, at + 2),
      page: { hasMore, nextCursor: hasMore ? String(at + 2) : null },
    } as Page<Stream>;
  };
  const observer = new InfiniteQueryObserver(queries, {
    queryKey: ['streams', 'list', filter],
    queryFn: async ({ pageParam }) => read(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last: Page<Stream>) => last.page.nextCursor ?? undefined,
  });
  stop.signal.addEventListener(
    'abort',
    observer.subscribe(() => undefined),
  );
  await until('the first page is there', () => observer.getCurrentResult().data !== undefined);
  for (let page = 1; page < pages; page++) await observer.fetchNextPage();
  asked.lists = 0;
  const readStream = async (id: string): Promise<Stream> => {
    asked.streams.push(id);
    const found = server.find((one) => one.id === id);
    if (found) return found;
    throw new problems.StreamNotFound({ code: 'stream_not_found' } as never);
  };
  const space = createSpacer(stop.signal);
  const apply = createStreamFollower({ queries, api: { stream: readStream }, space, findSpacing, signal: stop.signal });
  const listNames = () =>
    (observer.getCurrentResult().data as LoadedStreams).pages.flatMap(({ data }) => data.map(({ name }) => name));
  return { server, asked, apply, listNames };
}

test('a change of a stream on the page reads that stream alone', async () => {
  const { server, asked, apply, listNames } = await show(['d', 'c', 'b', 'a'], { pages: 2 });
  server[2] = stream('b', 'changed');
  apply({ id: 'b', change: 'updated' });
  await until('it is shown', () => listNames().join() === 'd,c,changed,a');
  expect(asked).toEqual({ lists: 0, streams: ['b'] });
});

test('a change of a stream that is not loaded reads nothing', async () => {
  const { asked, apply } = await show(['d', 'c', 'b', 'a']);
  apply({ id: 'a', change: 'updated' });
  apply({ id: 'a', change: 'deleted' });
  expect(asked).toEqual({ lists: 0, streams: [] });
});

test('a new stream stands first, and a deleted one is gone', async () => {
  const { server, asked, apply, listNames } = await show(['c', 'b', 'a'], { pages: 2 });
  server.unshift(stream('d'));
  apply({ id: 'd', change: 'created' });
  await until('it is shown', () => listNames().join() === 'd,c,b,a');
  apply({ id: 'c', change: 'deleted' });
  expect(listNames()).toEqual(['d', 'b', 'a']);
  expect(asked).toEqual({ lists: 0, streams: ['d'] });
});

test('a stream that is gone when it is read is no longer shown', async () => {
  const { server, apply, listNames } = await show(['b', 'a']);
  server.pop();
  apply({ id: 'a', change: 'updated' });
  await until('it is gone', () => listNames().join() === 'b');
});

test('a filtered list is read anew, since the filter is the server’s', async () => {
  const { server, asked, apply, listNames } = await show(['b', 'a'], { filter: { status: 'live' } });
  server.unshift(stream('c'));
  apply({ id: 'c', change: 'updated' });
  await until('it is shown', () => listNames().join() === 'c,b');
  expect(asked.lists).toBe(1);
});

test('a list of several pages is read once a second for each of them at most', () => {
  const state = (pages: number) => ({ state: { data: { pages: Array(pages).fill({}) } } }) as never;
  expect([findSpacing(state(1)), findSpacing(state(42))]).toEqual([undefined, 42_000]);
});
