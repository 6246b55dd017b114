/** Reads the data of the pages of notifications. */
import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import type { DeliveriesQuery } from '../../../service/client/index.ts';
import { useApi } from '../../api/context.tsx';

/** The feed of changes says nothing of endpoints: a receiver that answers, or wants no more, changes them. */
const ENDPOINTS_MS = 10_000;
const DELIVERIES_MS = 5_000;
const PAGE_SIZE = 20;
const LARGEST_PAGE = 100;
const all = ['endpoints'] as const;

/** An account has few: they are one page. */
export function useEndpoints() {
  const { endpoints } = useApi().calls;
  return useQuery({
    queryKey: [...all, 'list'],
    queryFn: ({ signal }) => endpoints.list({ limit: LARGEST_PAGE }, { signal }).page(),
    refetchInterval: ENDPOINTS_MS,
  });
}

export function useEndpoint(id: string) {
  const { endpoints } = useApi().calls;
  return useQuery({
    queryKey: [...all, 'one', id],
    queryFn: ({ signal }) => endpoints.get(id, { signal }),
    refetchInterval: ENDPOINTS_MS,
  });
}

/** To be called when an endpoint was made, changed or deleted, or something was sent there. */
export function useEndpointsChanged(): () => Promise<void> {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: all });
}

/** Newest first. Those of another state are shown until the answer comes. */
export function useDeliveries(id: string, state: DeliveriesQuery['state']) {
  const { endpoints } = useApi().calls;
  return useInfiniteQuery({
    queryKey: [...all, 'deliveries', id, state],
    queryFn: ({ pageParam, signal }) =>
      endpoints.deliveries(id, { limit: PAGE_SIZE, ...(state && { state }) }, { signal }).page(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: DELIVERIES_MS,
  });
}

/** The streams to choose from, by name; those on a later page keep their ids. */
export function useStreamChoices(enabled: boolean) {
  const { streams } = useApi().calls;
  return useQuery({
    queryKey: ['streams', 'of endpoints'],
    queryFn: ({ signal }) => streams.list({ limit: LARGEST_PAGE, sort: 'name' }, { signal }).page(),
    enabled,
  });
}
