/** Reads and changes the data of the pages of playlists. */
import { keepPreviousData, useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Playlist, PlaylistQuery, PlaylistUpdate, Stream } from '../../../service/client/index.ts';
import type { Api } from '../../api/api.ts';
import { useApi } from '../../api/context.tsx';
import { unlessFollowed } from '../../api/feed.ts';
import type { LoadedStreams } from '../streams/loadedStreams.ts';
import { playsPlaylist } from './playsPlaylist.ts';
import { listMoments } from './ruleText.ts';

/** While the feed is down. */
const REFRESH_MS = 5000;
const MOMENTS_REFRESH_MS = 60_000;
/** The largest part of a timeline. */
const MAX_MOMENT_ITEMS = 500;
const PAGE_SIZE = 50;
const LARGEST_PAGE = 100;
const all = ['playlists'] as const;
const one = (id: string) => [...all, 'one', id] as const;

/** Newest first unless it asks for another order. Those of another search are shown until the answer comes. */
export function usePlaylists(asked: Pick<PlaylistQuery, 'q' | 'sort'> = {}) {
  const api = useApi();
  return useInfiniteQuery({
    queryKey: [...all, 'list', asked],
    queryFn: ({ pageParam, signal }) =>
      api.calls.playlists.list({ ...asked, limit: PAGE_SIZE }, { signal }).page(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: unlessFollowed(REFRESH_MS),
  });
}

export function usePlaylist(id: string) {
  const api = useApi();
  return useQuery({
    queryKey: one(id),
    queryFn: ({ signal }) => api.calls.playlists.get(id, { signal }),
    refetchInterval: unlessFollowed(REFRESH_MS),
  });
}

export function usePlaylistsChanged(): () => Promise<void> {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: all });
}

/** Newest first. `version` is the current one: another one makes another list. */
export function useVersions(id: string, version: number) {
  const api = useApi();
  return useInfiniteQuery({
    queryKey: [...one(id), 'versions', version],
    queryFn: ({ pageParam, signal }) =>
      api.calls.playlists.versions(id, { limit: LARGEST_PAGE }, { signal }).page(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.page.nextCursor ?? undefined,
  });
}

/** A version's changes, and the version that they were made to. Versions never change, so each is read once. */
export function useDifference(id: string, from: number, to: number) {
  const api = useApi();
  return useQuery({
    queryKey: [...one(id), 'difference', from, to],
    queryFn: async ({ signal }) => {
      const { playlists } = api.calls;
      const [before, diff] = await Promise.all([
        playlists.version(id, from, { signal }),
        playlists.diff(id, to, { from }, { signal }),
      ]);
      return { diff, before: before.items.map(({ uploadObjectID }) => uploadObjectID) };
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Each page of the account's streams with those that play it. */
async function findStreams(api: Api, id: string, signal: AbortSignal): Promise<LoadedStreams> {
  const pages: LoadedStreams['pages'] = [];
  let cursor: string | undefined;
  do {
    const { data, page } = await api.calls.streams.list({ limit: LARGEST_PAGE }, { signal }).page(cursor);
    pages.push({ data: data.filter((stream) => playsPlaylist(stream, id)), page });
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return { pages };
}

const joinPages = ({ pages }: LoadedStreams): Stream[] => pages.flatMap(({ data }) => data);

/** The streams that play it; they are looked for only where there are some. */
export function usePlaylistStreams({ id, streamID }: Playlist) {
  const api = useApi();
  return useQuery({
    queryKey: ['streams', 'of playlist', id, streamID],
    queryFn: ({ signal }) => findStreams(api, id, signal),
    select: joinPages,
    enabled: streamID !== '',
  });
}

/** Reads when the rules that are published come next, by their names; undefined until a stream plays the playlist. */
export function useRuleMoments({ id, kind, streamID }: Pick<Playlist, 'id' | 'kind' | 'streamID'>, hasRules: boolean) {
  const { streams } = useApi().calls;
  return useQuery({
    queryKey: [...one(id), 'moments', streamID],
    queryFn: ({ signal }) => streams.timeline(streamID, { track: kind, limit: MAX_MOMENT_ITEMS }, { signal }),
    select: listMoments,
    refetchInterval: MOMENTS_REFRESH_MS,
    enabled: hasRules && streamID !== '',
  }).data;
}

/** Acts that make or show another version; the answer is shown at once. */
export function usePlaylistMutations(id: string) {
  const { playlists } = useApi().calls;
  const queries = useQueryClient();
  const mutationKey = [...one(id), 'act'];
  const onSuccess = (after: Playlist) => {
    queries.setQueryData(one(id), after);
    return queries.invalidateQueries({ queryKey: all });
  };
  return {
    /** Whether one of them is on its way at this moment: a second press may come before anything is rendered. */
    isActing: () => queries.isMutating({ mutationKey }) > 0,
    save: useMutation({
      mutationKey,
      onSuccess,
      mutationFn: (update: PlaylistUpdate) => playlists.update(id, update),
    }),
    publish: useMutation({
      mutationKey,
      onSuccess,
      mutationFn: (version: number) => playlists.publish(id, { version }),
    }),
    rollback: useMutation({
      mutationKey,
      onSuccess,
      mutationFn: (version: number) => playlists.rollback(id, { version }),
    }),
  };
}
