/** Reads what a stream can be made of: the account's uploads, playlists and destinations. */
import { useQuery } from '@tanstack/react-query';
import type { Destination, List, PlaylistSummary, Upload } from '../../../service/client/index.ts';
import type { Api } from '../../api/api.ts';
import { useApi } from '../../api/context.tsx';
import { unlessFollowed } from '../../api/feed.ts';

/** More than this nobody looks through in a form; they are the newest. */
const MOST = 500;
const PAGE_SIZE = 100;
const REFRESH_MS = 5_000;

async function newest<T>(list: List<T>): Promise<T[]> {
  const found: T[] = [];
  let cursor: string | null = null;
  do {
    const { data, page }: Awaited<ReturnType<List<T>['page']>> = await list.page(cursor);
    found.push(...data);
    cursor = page.nextCursor;
  } while (cursor !== null && found.length < MOST);
  return found;
}

/** Each undefined until it is known. */
export interface StreamChoices {
  uploads: Upload[] | undefined;
  playlists: PlaylistSummary[] | undefined;
  destinations: Destination[] | undefined;
  error: unknown;
}

/** The newest destinations; the names of all others are not known. */
export const readDestinations = ({ calls }: Api, signal: AbortSignal): Promise<Destination[]> =>
  newest(calls.destinations.list({ limit: PAGE_SIZE }, { signal }));

export function useChoices(): StreamChoices {
  const api = useApi();
  const { uploads, playlists } = api.calls;
  const refetchInterval = unlessFollowed(REFRESH_MS);
  const limit = PAGE_SIZE;
  const ofUploads = useQuery({
    queryKey: ['uploads', 'choices'],
    queryFn: ({ signal }) => newest(uploads.list({ limit }, { signal })),
    refetchInterval,
  });
  const ofPlaylists = useQuery({
    queryKey: ['playlists', 'choices'],
    queryFn: ({ signal }) => newest(playlists.list({ limit }, { signal })),
    refetchInterval,
  });
  const ofDestinations = useQuery({
    queryKey: ['destinations', 'choices'],
    queryFn: ({ signal }) => readDestinations(api, signal),
    refetchInterval,
  });
  return {
    uploads: ofUploads.data,
    playlists: ofPlaylists.data,
    destinations: ofDestinations.data,
    error: ofUploads.error ?? ofPlaylists.error ?? ofDestinations.error,
  };
}
