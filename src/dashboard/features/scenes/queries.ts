/** Reads the account's scenes, for their page and for the forms of streams. */
import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Scene, SceneQuery } from '../../../service/client/index.ts';
import { useApi } from '../../api/context.tsx';
import { unlessFollowed } from '../../api/feed.ts';
import { LARGEST_PAGE, readNewest } from '../../api/newest.ts';

/** While the feed is down. */
const REFRESH_MS = 5000;
const PAGE_SIZE = 50;
const all = ['scenes'] as const;
const CHOICES = [...all, 'choices'] as const;

/** Newest first unless it asks for another order. Those of another search are shown until the answer comes. */
export function useScenes(asked: Pick<SceneQuery, 'q' | 'sort'>) {
  const { scenes } = useApi().calls;
  return useInfiniteQuery({
    queryKey: [...all, 'list', asked],
    queryFn: ({ pageParam, signal }) => scenes.list({ ...asked, limit: PAGE_SIZE }, { signal }).page(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: unlessFollowed(REFRESH_MS),
  });
}

export function useSceneChoices() {
  const { scenes } = useApi().calls;
  return useQuery({
    queryKey: CHOICES,
    queryFn: ({ signal }) => readNewest(scenes.list({ limit: LARGEST_PAGE }, { signal })),
    refetchInterval: unlessFollowed(REFRESH_MS),
  });
}

/** Reads a scene that is not in the list; undefined without an id. */
export function useScene(id: string | undefined) {
  const { scenes } = useApi().calls;
  return useQuery({
    queryKey: [...all, 'one', id],
    queryFn: ({ signal }) => scenes.get(id ?? '', { signal }),
    enabled: id !== undefined,
    refetchInterval: unlessFollowed(REFRESH_MS),
  });
}

export function useScenesChanged() {
  const queries = useQueryClient();
  return {
    changed: () => queries.invalidateQueries({ queryKey: all }),
    /** Shows a new scene before the list is read again. */
    added: (scene: Scene) => {
      queries.setQueryData<readonly Scene[]>(CHOICES, (before) => before && [scene, ...before]);
      return queries.invalidateQueries({ queryKey: all });
    },
  };
}
