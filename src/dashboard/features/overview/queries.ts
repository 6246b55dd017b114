/** Reads the data of the overview. */
import { useQuery } from '@tanstack/react-query';
import type { Upload } from '../../../service/client/index.ts';
import type { Stream } from '../../api/api.ts';
import { useApi } from '../../api/context.tsx';
import { unlessFollowed } from '../../api/feed.ts';
import type { LoadedStreams } from '../streams/loadedStreams.ts';
import { OVERVIEW_PHASES } from './selectStreams.ts';

const PAGE_SIZE = 100;
const REFRESH_MS = 3000;

export interface OverviewStreams {
  streams: Stream[];
  /** The account has a stream at all. */
  any: boolean;
}

function selectOverview({ pages }: LoadedStreams): OverviewStreams {
  // A stream may change its state between two of the answers.
  const byId = new Map(pages.flatMap(({ data }) => data).map((stream) => [stream.id, stream]));
  return { streams: [...byId.values()], any: pages.length > 1 || byId.size > 0 };
}

/** All streams of an account that has few; of one with more than a page of them, those that the overview is about. */
export function useOverview() {
  const { streams } = useApi().calls;
  return useQuery<LoadedStreams, Error, OverviewStreams>({
    queryKey: ['streams', 'overview'],
    queryFn: async ({ signal }) => {
      const first = await streams.list({ limit: PAGE_SIZE }, { signal }).page();
      if (!first.page.hasMore) return { pages: [first] };
      const pages = await Promise.all(
        OVERVIEW_PHASES.map((status) => streams.list({ status, limit: PAGE_SIZE }, { signal }).page()),
      );
      return { pages: [first, ...pages] };
    },
    select: selectOverview,
    refetchInterval: ({ state }) => unlessFollowed(REFRESH_MS * Math.max(1, state.data?.pages.length ?? 0))(),
  });
}

/** Uploads that failed, among the newest: nobody waits for older ones. */
export function useFailedUploads(): Upload[] {
  const { uploads } = useApi().calls;
  const { data } = useQuery({
    queryKey: ['uploads', 'failed'],
    queryFn: ({ signal }) => uploads.list({ limit: PAGE_SIZE }, { signal }).page(),
    select: ({ data }) => data.filter(({ state }) => state === 'failed'),
    refetchInterval: unlessFollowed(REFRESH_MS),
  });
  return data ?? [];
}
