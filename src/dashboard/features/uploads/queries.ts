/** Reads uploads for the pages. */
import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Upload, UploadQuery } from '../../../service/client/index.ts';
import type { Api } from '../../api/api.ts';
import { useApi } from '../../api/context.tsx';
import { unlessFollowed } from '../../api/feed.ts';

/** While the feed is down. */
const REFRESH_MS = 5000;
const PAGE_SIZE = 50;
const LARGEST_PAGE = 100;
const all = ['uploads'] as const;

/** Newest first unless it asks for another order. Those of another search are shown until the answer comes. */
export function useUploads(asked: Pick<UploadQuery, 'q' | 'sort'> = {}) {
  const api = useApi();
  return useInfiniteQuery({
    queryKey: [...all, 'list', asked],
    queryFn: ({ pageParam, signal }) =>
      api.calls.uploads.list({ ...asked, limit: PAGE_SIZE }, { signal }).page(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: unlessFollowed(REFRESH_MS),
  });
}

/** To be called when an upload was made or deleted. */
export function useUploadsChanged(): () => Promise<void> {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: all });
}

/** Goes through the list until all that are wanted are found: most are among the newest. */
async function find(api: Api, wanted: ReadonlySet<string>, signal: AbortSignal): Promise<ReadonlyMap<string, Upload>> {
  const found = new Map<string, Upload>();
  let cursor: string | undefined;
  while (found.size < wanted.size) {
    const { data, page } = await api.calls.uploads.list({ limit: LARGEST_PAGE }, { signal }).page(cursor);
    for (const upload of data) if (wanted.has(upload.objectID)) found.set(upload.objectID, upload);
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  return found;
}

/** Uploads by their objectIDs; those that do not exist any more are not in it. undefined until it is known. */
export function useUploadsById(objectIDs: readonly string[]): ReadonlyMap<string, Upload> | undefined {
  const api = useApi();
  const wanted = [...new Set(objectIDs)].sort();
  const { data } = useQuery({
    queryKey: [...all, 'by id', wanted],
    queryFn: ({ signal }) => find(api, new Set(wanted), signal),
    placeholderData: keepPreviousData,
    refetchInterval: unlessFollowed(REFRESH_MS),
  });
  return data;
}
