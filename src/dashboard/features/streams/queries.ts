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
import { createElement, useEffect, useState } from 'react';
import { ProblemError, type StreamQuery } from '../../../service/client/index.ts';
import type { Page, Stream } from '../../api/api.ts';
import { useApi } from '../../api/context.tsx';
import { unlessFollowed } from '../../api/feed.ts';
import { problemText } from '../../api/problem.ts';
import { IssueLines } from './issues.tsx';
import { INTENT_MS, isRunning, type PowerIntent, shownPhase } from './phase.ts';

/** Polling intervals while the feed of changes is down. */
const LIST_MS = 3000;
const STREAM_MS = 2000;
const EVENTS_MS = 5000;
const READINESS_MS = 5000;
const DESTINATIONS_MS = 30_000;
/** Live numbers cause no events of change: they are polled while they are shown. */
const STATS_MS = 2000;
const PAGE_SIZE = 48;

const keys = {
  streams: ['streams'] as const,
  list: ['streams', 'list'] as const,
  stream: (id: string) => ['stream', id] as const,
  readiness: (id: string) => ['readiness', id] as const,
  stats: (id: string) => ['stats', id] as const,
  events: (id: string) => ['events', id] as const,
  schedule: (id: string) => ['schedule', id] as const,
  intents: ['intents'] as const,
  destinations: ['destinations', 'names'] as const,
};

export type StreamListFilter = Pick<StreamQuery, 'status' | 'q'>;

/** Newest first. The streams found for another filter are shown until the answer comes. */
export function useStreams(filter: StreamListFilter = {}) {
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

/** Names of the account's destinations by id; empty until they are known. */
export function useDestinationNames(): ReadonlyMap<string, string> {
  const api = useApi();
  const { data } = useQuery({
    queryKey: keys.destinations,
    queryFn: ({ signal }) => api.destinations(signal),
    select: (page) => new Map(page.data.map((d) => [d.id, d.name])),
    refetchInterval: unlessFollowed(DESTINATIONS_MS),
  });
  return data ?? NO_NAMES;
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
  const issues = error instanceof ProblemError ? error.issues : [];
  notifications.show({
    id: `${want}-${name}`,
    color: 'red',
    autoClose: 12_000,
    withBorder: true,
    title: want === 'start' ? `“${name}” did not start` : `“${name}” was not stopped`,
    message: issues.length > 0 ? createElement(IssueLines, { issues }) : problemText(error),
  });
}

/** Start and stop. The wish shows at once; an error takes it back and says why. */
export function usePower(stream: Pick<Stream, 'id' | 'name'>) {
  const api = useApi();
  const queries = useQueryClient();
  const { id, name } = stream;
  return useMutation({
    mutationFn: (want: PowerIntent['want']) => (want === 'start' ? api.start(id) : api.stop(id)),
    onMutate: async (want) => {
      notifications.hide(`${want}-${name}`);
      setIntent(queries, id, { want, at: Date.now() });
      await queries.cancelQueries({ queryKey: keys.stream(id) });
    },
    onSuccess: (after) => {
      if (after.id === id) queries.setQueryData(keys.stream(id), after);
    },
    onError: (error, want) => {
      setIntent(queries, id, undefined);
      notifyRefused(name, want, error);
    },
    onSettled: () =>
      Promise.all(
        [keys.stream(id), keys.streams, keys.readiness(id), keys.events(id)].map((queryKey) =>
          queries.invalidateQueries({ queryKey }),
        ),
      ),
  });
}
