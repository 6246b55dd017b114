/** Reads and changes the data of the page of destinations. */
import { notifications } from '@mantine/notifications';
import { keepPreviousData, useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Destination, DestinationQuery } from '../../../service/client/index.ts';
import { useApi } from '../../api/context.tsx';
import { unlessFollowed } from '../../api/feed.ts';
import { problemText } from '../../api/problem.ts';

/** While the feed is down. */
const REFRESH_MS = 5000;
const PAGE_SIZE = 50;
const all = ['destinations'] as const;

/** Newest first unless it asks for another order. Those of another search are shown until the answer comes. */
export function useDestinations(asked: Pick<DestinationQuery, 'q' | 'sort'> = {}) {
  const api = useApi();
  return useInfiniteQuery({
    queryKey: [...all, 'list', asked],
    queryFn: ({ pageParam, signal }) =>
      api.calls.destinations.list({ ...asked, limit: PAGE_SIZE }, { signal }).page(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: unlessFollowed(REFRESH_MS),
  });
}

/** A destination that the list lacks: it may be on a later page, or be deleted. */
export function useDestination(id: string, enabled: boolean) {
  const api = useApi();
  return useQuery({
    queryKey: [...all, 'one', id],
    queryFn: ({ signal }) => api.calls.destinations.get(id, { signal }),
    enabled,
    refetchInterval: unlessFollowed(REFRESH_MS),
  });
}

/** To be called when a destination was made, changed or deleted. */
export function useDestinationsChanged(): () => Promise<void> {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: all });
}

/** Lets a stalled repair of broadcasts go on. */
export function useResumeRepair(id: string) {
  const api = useApi();
  const changed = useDestinationsChanged();
  return useMutation({
    mutationFn: () => api.calls.destinations.resumeRepair(id),
    onError: (error) => notifications.show({ color: 'red', message: problemText(error) }),
    onSettled: changed,
  });
}

/** Publishes to it for a moment. Pressing twice is one test. */
export function useDestinationTest({ id }: Destination) {
  const api = useApi();
  return useMutation({ mutationFn: () => api.calls.destinations.test(id) });
}
