/** Tests that a change of a stream reaches the lists on the page, without reading their pages anew. */
import { InfiniteQueryObserver, QueryClient } from '@tanstack/react-query';
import { afterEach, expect, test } from 'vitest';
import type { Page, Stream } from '../../../../src/dashboard/api/api.ts';
import { createStreamFollower, listStreamsWithoutPicture } from '../../../../src/dashboard/app/followStreams.ts';
import { createSpacer, findSpacing } from '../../../../src/dashboard/app/spacer.ts';
import type { LoadedStreams } from '../../../../src/dashboard/features/streams/loadedStreams.ts';
import { problems } from '../../../../src/service/client/index.ts';
import { until } from '../../../kit/wait.ts';

const stream = (id: string, name = id): Stream => ({ id, name, status: 'idle' }) as Stream;

let stop = new AbortController();
afterEach(() => {
  stop.abort();
  stop = new AbortController();
});

/** A server with these streams, two on a page, and a page that shows the first `pages` of a list. */
async function show(
  names: string[],
  { filter = {}, pages = 1, list = ['list', filter] }: { filter?: object; pages?: number; list?: unknown[] } = {},
) {
  const server = names.map((name) => stream(name));
  const asked = { lists: 0, streams: [] as string[] };
  /** Lists are answered when it has resolved. */
  const gate = { opened: Promise.resolve() };
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
    queryKey: ['streams', ...list],
    queryFn: async ({ pageParam }) => {
      await gate.opened;
      return read(pageParam);
    },
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
  const { signal } = stop;
  const apply = createStreamFollower({ queries, api: { stream: readStream }, space: createSpacer(signal), signal });
  const listNames = () =>
    (observer.getCurrentResult().data as LoadedStreams).pages.flatMap(({ data }) => data.map(({ name }) => name));
  return { server, queries, asked, apply, listNames, gate, showMore: () => observer.fetchNextPage() };
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

test('more streams that change at once than the list has pages make it read its pages', async () => {
  const { server, asked, apply, listNames } = await show(['d', 'c', 'b', 'a'], { pages: 2 });
  for (const [at, { id }] of server.entries()) {
    server[at] = stream(id, `${id} changed`);
    apply({ id, change: 'updated' });
  }
  await until('all are shown', () => listNames().every((name) => name.endsWith('changed')));
  // The first change came alone, so that its stream was read.
  expect(asked).toEqual({ lists: 2, streams: ['d'] });
});

test('the next page comes although the list is being read, which is then read again', async () => {
  const live = await show(['e', 'd', 'c', 'b', 'a'], { filter: { status: 'live' } });
  const { promise, resolve } = Promise.withResolvers<void>();
  live.gate.opened = promise;
  live.server.unshift(stream('f'));
  live.apply({ id: 'f', change: 'updated' });
  const more = live.showMore();
  resolve();
  await more;
  expect(live.listNames()).toHaveLength(4);
  await until('the new one is shown', () => live.listNames().join() === 'f,e,d,c');
});

test('the overview reads the stream that it shows and that has changed, and its lists for another one', async () => {
  const { server, asked, apply, listNames } = await show(['b', 'a'], { list: ['overview'] });
  server[0] = stream('b', 'changed');
  apply({ id: 'b', change: 'updated' });
  await until('it is shown', () => listNames().join() === 'changed,a');
  expect(asked).toEqual({ lists: 0, streams: ['b'] });
  server.unshift(stream('c'));
  apply({ id: 'c', change: 'created' });
  await until('it is shown', () => listNames().join() === 'c,changed');
  expect(asked).toEqual({ lists: 1, streams: ['b'] });
});

test('a stream that no longer plays a playlist is no longer shown with it', async () => {
  const { server, apply, listNames } = await show(['b', 'a'], { list: ['of playlist', 'night'] });
  server[1] = { ...stream('a', 'changed'), playlistIDs: ['night'] } as Stream;
  apply({ id: 'a', change: 'updated' });
  await until('it is shown', () => listNames().join() === 'b,changed');
  server[1] = { ...stream('a'), playlistIDs: ['day'] } as Stream;
  apply({ id: 'a', change: 'updated' });
  await until('it is gone', () => listNames().join() === 'b');
});

test('a page reads less than one list a second, however many lists it shows', () => {
  const query = (pages: number, isActive = true) =>
    ({ state: { data: { pages: Array(pages).fill({}) } }, isActive: () => isActive }) as never;
  const events = { state: { data: { data: [], page: {} } }, isActive: () => true } as never;
  const one = { state: { data: { id: 'a' } }, isActive: () => true } as never;
  expect(findSpacing([query(1)])).toBe(1_500);
  expect(findSpacing([query(42), query(7), query(9, false), events, one])).toBe(75_000);
  expect(findSpacing([one])).toBeUndefined();
});

test('a list that has grown is spaced by the pages that it has now', async () => {
  const space = createSpacer(stop.signal);
  const times: number[] = [];
  const work = async () => void times.push(performance.now());
  space('list', work, 10);
  space('list', work, 300);
  await until('it was read twice', () => times.length === 2);
  space('list', work, 10);
  await until('it was read three times', () => times.length === 3);
  expect((times[2] ?? 0) - (times[1] ?? 0)).toBeGreaterThanOrEqual(299);
});

test('an upload that gets its poster makes the streams on screen be read that play it and have no picture', async () => {
  const { server, queries } = await show(['a', 'b']);
  Object.assign(server[0] as Stream, { videoUploadObjectID: 'film', posterUrl: null });
  Object.assign(server[1] as Stream, { videoUploadObjectID: 'film', posterUrl: '/v1/uploads/film/poster' });
  await queries.refetchQueries();
  expect(listStreamsWithoutPicture(queries, 'film')).toEqual(['a']);
  expect(listStreamsWithoutPicture(queries, 'other')).toEqual([]);
});
