/** Reads and changes streams, and shows a wish while it is on its way. */
import { notifications } from '@mantine/notifications';
import {
  type InfiniteData,
  keepPreviousData,
  type QueryClient,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { createElement, useEffect, useMemo, useState } from 'react';
import { type Destination, ProblemError, type StreamQuery } from '../../../service/client/index.ts';
import type { Api, Page, Stream } from '../../api/api.ts';
import { useApi } from '../../api/context.tsx';
import { unlessFollowed } from '../../api/feed.ts';
import { problemText } from '../../api/problem.ts';
import { withReadable } from '../../api/readable.ts';
import { quote } from '../../lib/isolate.ts';
import { readDestinations } from './choices.ts';
import { IssueLines } from './issues.tsx';
import type { StreamListFilter } from './listOrder.ts';
import type { LoadedStreams } from './loadedStreams.ts';
import { INTENT_MS, isRunning, type PowerIntent, shownPhase } from './phase.ts';
import { findAheadSchedule } from './power.ts';

/** Polling intervals while the feed of changes is down. */
const LIST_MS = 3000;
const STREAM_MS = 2000;
const EVENTS_MS = 5000;
const READINESS_MS = 5000;
const DESTINATIONS_MS = 30_000;
/** Live numbers cause no events of change: they are polled while they are shown. */
const STATS_MS = 2000;
const PAGE_SIZE = 100;
/** Pages of a list that are read as a whole: 1,000 streams are counted, sorted and ticked as a whole. More come when asked for. */
const WHOLE_PAGES = 10;

const keys = {
  streams: ['streams'] as const,
  list: ['streams', 'list'] as const,
  stream: (id: string) => ['stream', id] as const,
  readiness: (id: string) => ['readiness', id] as const,
  stats: (id: string) => ['stats', id] as const,
  events: (id: string) => ['events', id] as const,
  schedule: (id: string) => ['schedule', id] as const,
  intents: ['intents'] as const,
  // Of choices.ts, which reads the same.
  destinations: ['destinations', 'choices'] as const,
};

/** The streams found for another filter are shown until the answer comes. */
function useStreams(filter: StreamListFilter) {
  const { streams } = useApi().calls;
  return useInfiniteQuery({
    queryKey: [...keys.list, filter],
    queryFn: ({ pageParam, signal }) => streams.list({ ...filter, limit: PAGE_SIZE }, { signal }).page(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
    // Each page is a request.
    refetchInterval: ({ state }) => unlessFollowed(LIST_MS * Math.max(1, state.data?.pages.length ?? 0))(),
  });
}

/**
 * All streams that match, page after page, up to a bound. An account that has more (`isCut`) gets them in the server's order; of others, the
 * page has all, so that another order is no other request.
 */
export function useAllStreams(filter: Omit<StreamListFilter, 'sort'>, sort: NonNullable<StreamQuery['sort']>) {
  const isWhole = ({ data }: { data: LoadedStreams | undefined }) => (data?.pages.length ?? 0) >= WHOLE_PAGES;
  const first = useStreams({ ...filter, sort: 'onAir' });
  const isLong = !first.isPlaceholderData && first.hasNextPage && isWhole(first);
  const list = useStreams({ ...filter, sort: isLong ? sort : 'onAir' });
  const { data, hasNextPage, isFetching, isPlaceholderData, isError, fetchNextPage } = list;
  const isCut = hasNextPage && isWhole(list);
  useEffect(() => {
    if (hasNextPage && !isCut && !isFetching && !isPlaceholderData && !isError) void fetchNextPage();
  }, [hasNextPage, isCut, isFetching, isPlaceholderData, isError, fetchNextPage]);
  // A stream that moves between two answers is in both.
  const streams = useMemo(
    () => [...new Map((data?.pages ?? []).flatMap((page) => page.data.map((stream) => [stream.id, stream]))).values()],
    [data],
  );
  return { ...list, streams, isCut };
}

/** One stream; the copy in a list is shown until the answer comes. */
export function useStream(id: string) {
  const api = useApi();
  const queries = useQueryClient();
  return useQuery<Stream>({
    queryKey: keys.stream(id),
    queryFn: ({ signal }) => api.stream(id, signal),
    placeholderData: () =>
      queries
        .getQueriesData<InfiniteData<Page<Stream>>>({ queryKey: keys.list })
        .flatMap(([, list]) => list?.pages.flatMap((page) => page.data) ?? [])
        .find((stream) => stream.id === id),
    refetchInterval: unlessFollowed(STREAM_MS),
  });
}

const NO_NAMES: ReadonlyMap<string, string> = new Map();
/** The same function for each render, so that the names are the same map until they change. */
const toNames = (destinations: readonly Destination[]) => new Map(destinations.map(({ id, name }) => [id, name]));

/** Names of the account's destinations by id; empty until they are known. */
export function useDestinationNames(): ReadonlyMap<string, string> {
  const api = useApi();
  const { data } = useQuery({
    queryKey: keys.destinations,
    queryFn: ({ signal }) => readDestinations(api, signal),
    select: toNames,
    refetchInterval: unlessFollowed(DESTINATIONS_MS),
  });
  return data ?? NO_NAMES;
}

type View = Destination['platformLive'];
const NO_VIEWS: ReadonlyMap<string, View> = new Map();
const toViews = (destinations: readonly Destination[]) =>
  new Map(destinations.map(({ id, platformLive }) => [id, platformLive]));

/** The views of the viewers of the account's destinations, by id. */
export function useDestinationViews(): ReadonlyMap<string, View> {
  const api = useApi();
  const { data } = useQuery({
    queryKey: keys.destinations,
    queryFn: ({ signal }) => readDestinations(api, signal),
    select: toViews,
    refetchInterval: unlessFollowed(DESTINATIONS_MS),
  });
  return data ?? NO_VIEWS;
}

export function useReadiness(id: string, enabled = true) {
  const api = useApi();
  return useQuery({
    queryKey: keys.readiness(id),
    queryFn: ({ signal }) => api.readiness(id, signal),
    enabled,
    refetchInterval: unlessFollowed(READINESS_MS),
  });
}

/** `everyMs`: a card asks less often than the page of its stream. */
export function useLiveStats(id: string, phase: string, everyMs = STATS_MS) {
  const api = useApi();
  return useQuery({
    queryKey: keys.stats(id),
    queryFn: ({ signal }) => api.liveStats(id, signal),
    enabled: isRunning(phase),
    refetchInterval: everyMs,
  });
}

/** When its schedule puts it on air next. */
export function useSchedule({ id, scheduleStartAt, recurrence }: Stream) {
  const { streams } = useApi().calls;
  return useQuery({
    queryKey: keys.schedule(id),
    queryFn: ({ signal }) => streams.windows(id, { signal }),
    enabled: scheduleStartAt !== null || recurrence !== null,
    refetchInterval: unlessFollowed(READINESS_MS),
  });
}

export function useEvents(id: string) {
  const api = useApi();
  return useQuery({
    queryKey: keys.events(id),
    queryFn: ({ signal }) => api.events(id, signal),
    refetchInterval: unlessFollowed(EVENTS_MS),
  });
}

/** By the id of the stream. One query for all: each change looks through the queries, and a list may show thousands of streams. */
type PowerIntents = Readonly<Record<string, PowerIntent | undefined>>;
const NO_INTENTS: PowerIntents = {};

const setIntent = (queries: QueryClient, id: string, intent: PowerIntent | undefined): void =>
  void queries.setQueryData<PowerIntents>(keys.intents, (intents = NO_INTENTS) => ({ ...intents, [id]: intent }));

/** Shows a wish for a stream at once, and takes it back. */
export function useIntents() {
  const queries = useQueryClient();
  return {
    set: (id: string, want: PowerIntent['want']) => setIntent(queries, id, { want, at: Date.now() }),
    clear: (id: string) => setIntent(queries, id, undefined),
  };
}

/** The state to show for a stream: a wish shows at once, and gives way to the system's answer. */
export function useShownPhase(stream: Pick<Stream, 'id' | 'status'>): string {
  const { data: intent } = useQuery({
    queryKey: keys.intents,
    queryFn: () => NO_INTENTS,
    enabled: false,
    initialData: NO_INTENTS,
    select: (intents) => intents[stream.id] ?? null,
  });
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!intent) return;
    setNow(Date.now());
    const timer = setTimeout(() => setNow(Date.now()), intent.at + INTENT_MS + 50 - Date.now());
    return () => clearTimeout(timer);
  }, [intent]);
  return shownPhase(stream.status, intent ?? undefined, now);
}

/** Tells why a wish was not followed. */
export function notifyRefused(name: string, want: PowerIntent['want'], error: unknown): void {
  const issues = error instanceof ProblemError ? withReadable(error.issues) : [];
  notifications.show({
    id: `${want}-${name}`,
    color: 'red',
    autoClose: 12_000,
    withBorder: true,
    title: want === 'start' ? `${quote(name)} did not start` : `${quote(name)} was not stopped`,
    message: issues.length > 0 ? createElement(IssueLines, { issues }) : problemText(error),
  });
}

/** Puts a stream on air now, also one that waits for its time. */
export function startNow(api: Api, stream: Stream): Promise<Stream> {
  const schedule = findAheadSchedule(stream, Date.now());
  return schedule ? api.calls.streams.schedule(stream.id, schedule) : api.start(stream.id);
}

/** Start and stop of any stream. The wish shows at once; an error takes it back and says why. */
export function usePowers() {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ stream, want }: { stream: Stream; want: PowerIntent['want'] }) =>
      want === 'start' ? startNow(api, stream) : api.stop(stream.id),
    onMutate: async ({ stream: { id, name }, want }) => {
      notifications.hide(`${want}-${name}`);
      setIntent(queries, id, { want, at: Date.now() });
      await queries.cancelQueries({ queryKey: keys.stream(id) });
    },
    onSuccess: (after, { stream: { id } }) => {
      if (after.id === id) queries.setQueryData(keys.stream(id), after);
    },
    onError: (error, { stream: { id, name }, want }) => {
      setIntent(queries, id, undefined);
      notifyRefused(name, want, error);
    },
    onSettled: (_after, _error, { stream: { id } }) =>
      Promise.all(
        [keys.stream(id), keys.streams, keys.readiness(id), keys.events(id), keys.schedule(id)].map((queryKey) =>
          queries.invalidateQueries({ queryKey }),
        ),
      ),
  });
}

/** The same of one stream. */
export function usePower(stream: Stream) {
  const { mutate, isPending, variables } = usePowers();
  return {
    isPending,
    want: variables?.want,
    mutate: (want: PowerIntent['want']) => mutate({ stream, want }),
  };
}
