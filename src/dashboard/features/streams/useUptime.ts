import { useQueries } from '@tanstack/react-query';
import { useApi } from '../../api/context.tsx';

const UPTIME_MS = 60_000;
const DAY_MS = 86_400_000;

/** The spans that the page shows, in days. The last one lists the outages. */
export const SPANS = [1, 7, 30] as const;

/** The uptime of a stream in each span until now. */
export function useUptime(id: string) {
  const { streams } = useApi().calls;
  return useQueries({
    queries: SPANS.map((days) => ({
      queryKey: ['streamUptime', id, days],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        streams.uptime(id, { from: new Date(Date.now() - days * DAY_MS).toISOString() }, { signal }),
      refetchInterval: UPTIME_MS,
    })),
  });
}
