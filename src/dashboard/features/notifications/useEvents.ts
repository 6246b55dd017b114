/** Follows the events of the account, newest first, while somebody looks. */
import { type InfiniteData, keepPreviousData, useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import type { AccountEvent } from '../../../service/client/index.ts';
import type { Page } from '../../api/api.ts';
import { useApi } from '../../api/context.tsx';
import { unlessFollowed } from '../../api/feed.ts';
import { type EventGroup, listGroupTypes } from './eventText.ts';

const REFRESH_MS = 5_000;
const PAGE_SIZE = 30;

type Events = InfiniteData<Page<AccountEvent>>;

const followLooks = (look: () => void) => {
  document.addEventListener('visibilitychange', look);
  return () => document.removeEventListener('visibilitychange', look);
};
const isLookedAt = (): boolean => !document.hidden;

/** An event that is known already stays where it is. */
function prepend(events: Events | undefined, event: AccountEvent): Events | undefined {
  const [first, ...rest] = events?.pages ?? [];
  if (!events || !first || events.pages.some(({ data }) => data.some(({ id }) => id === event.id))) return events;
  return { ...events, pages: [{ ...first, data: [event, ...first.data] }, ...rest] };
}

export function useEvents(group: EventGroup) {
  const api = useApi();
  const queries = useQueryClient();
  const isSeen = useSyncExternalStore(followLooks, isLookedAt);
  const list = useInfiniteQuery({
    queryKey: ['accountEvents', group],
    queryFn: ({ pageParam, signal }) =>
      api.calls.events
        .list({ types: listGroupTypes(group).join(','), sort: '-recorded', limit: PAGE_SIZE }, { signal })
        .page(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: unlessFollowed(REFRESH_MS),
  });
  const isRead = list.isSuccess && !list.isPlaceholderData;
  useEffect(() => {
    if (!isRead || !isSeen) return;
    const stop = new AbortController();
    const queryKey = ['accountEvents', group];
    const [first] = queries.getQueryData<Events>(queryKey)?.pages ?? [];
    const [newest] = first?.data ?? [];
    const follow = async () => {
      const query = { types: listGroupTypes(group), ...(newest && { after: newest.id }) };
      for await (const event of api.watchEvents(query, stop.signal))
        queries.setQueryData<Events>(queryKey, (before) => prepend(before, event));
    };
    // Where it breaks off for good, the page asks by the clock, as all pages do.
    follow().catch(() => undefined);
    return () => stop.abort();
  }, [api, queries, group, isRead, isSeen]);
  return { ...list, events: list.data?.pages.flatMap(({ data }) => data) };
}
