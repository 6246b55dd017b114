/** Reads what a stream can be made of: the account's uploads, playlists and destinations. */
import { useQuery } from '@tanstack/react-query';
import type { Destination, PlaylistSummary, Upload } from '../../../service/client/index.ts';
import type { Api } from '../../api/api.ts';
import { useApi } from '../../api/context.tsx';
import { unlessFollowed } from '../../api/feed.ts';
import { LARGEST_PAGE, readNewest } from '../../api/newest.ts';
import { useUploadChoices } from '../overlays/useUploadChoices.ts';

const REFRESH_MS = 5_000;

/** Each undefined until it is known. */
export interface StreamChoices {
  uploads: Upload[] | undefined;
  playlists: PlaylistSummary[] | undefined;
  destinations: Destination[] | undefined;
  error: unknown;
}

/** The newest destinations; the names of all others are not known. */
export const readDestinations = ({ calls }: Api, signal: AbortSignal): Promise<Destination[]> =>
  readNewest(calls.destinations.list({ limit: LARGEST_PAGE }, { signal }));

export function usePlaylistChoices() {
  const { playlists } = useApi().calls;
  return useQuery({
    queryKey: ['playlists', 'choices'],
    queryFn: ({ signal }) => readNewest(playlists.list({ limit: LARGEST_PAGE }, { signal })),
    refetchInterval: unlessFollowed(REFRESH_MS),
  });
}

export function useChoices(): StreamChoices {
  const api = useApi();
  const ofUploads = useUploadChoices();
  const ofPlaylists = usePlaylistChoices();
  const ofDestinations = useQuery({
    queryKey: ['destinations', 'choices'],
    queryFn: ({ signal }) => readDestinations(api, signal),
    refetchInterval: unlessFollowed(REFRESH_MS),
  });
  return {
    uploads: ofUploads.data,
    playlists: ofPlaylists.data,
    destinations: ofDestinations.data,
    error: ofUploads.error ?? ofPlaylists.error ?? ofDestinations.error,
  };
}
