/** Reads what a stream can be made of: the account's uploads, playlists and destinations. */
import { useQuery } from '@tanstack/react-query';
import type { Destination, List, PlaylistSummary, Upload } from '../../../client/index.ts';
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

export function useChoices(): StreamChoices {
  const { uploads, playlists, destinations } = useApi().calls;
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
    queryFn: ({ signal }) => newest(destinations.list({ limit }, { signal })),
    refetchInterval,
  });
  return {
    uploads: ofUploads.data,
    playlists: ofPlaylists.data,
    destinations: ofDestinations.data,
    error: ofUploads.error ?? ofPlaylists.error ?? ofDestinations.error,
  };
}

export const QUALITIES = [
  { value: 'q_720p', label: '720p' },
  { value: 'q_1080p', label: '1080p (Full HD)' },
  { value: 'q_1440p', label: '1440p' },
  { value: 'q_2160p', label: '2160p (4K)' },
] as const;

export const FRAMERATES = [
  { value: 'f_24', label: '24 fps (film)' },
  { value: 'f_25', label: '25 fps' },
  { value: 'f_30', label: '30 fps' },
  { value: 'f_60', label: '60 fps' },
] as const;

export const STARTS = [
  { value: 'Progressive', label: 'As soon as enough of it is prepared' },
  { value: 'Prepared', label: 'When all of it is prepared' },
] as const;

export const ITEM_FAILURES = [
  { value: 'Skip', label: 'Leave them out until they can be played' },
  { value: 'Block', label: 'Wait until every item can be played' },
] as const;
