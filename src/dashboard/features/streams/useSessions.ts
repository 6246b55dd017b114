import { useInfiniteQuery } from '@tanstack/react-query';
import { useApi } from '../../api/context.tsx';

/** The time and the cost of the session on air grow, and nothing reports that. */
const SESSIONS_MS = 30_000;
/** Most people look at the latest alone. One who asks for more wants to see them all. */
const [FIRST_PAGE, NEXT_PAGE] = [20, 100];

/** The sessions of a stream, the latest first, page after page. */
export function useSessions(id: string) {
  const { streams } = useApi().calls;
  return useInfiniteQuery({
    queryKey: ['streamSessions', id],
    queryFn: ({ pageParam, signal }) =>
      streams.sessions(id, { limit: pageParam === undefined ? FIRST_PAGE : NEXT_PAGE }, { signal }).page(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.page.nextCursor ?? undefined,
    // A session that begins between two pages moves one to the next: it is in both.
    select: ({ pages }) => [...new Map(pages.flatMap(({ data }) => data).map((one) => [one.number, one])).values()],
    // Each page is a request.
    refetchInterval: ({ state }) => SESSIONS_MS * Math.max(1, state.data?.pages.length ?? 0),
  });
}
