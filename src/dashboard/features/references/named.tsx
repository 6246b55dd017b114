import { useQueries } from '@tanstack/react-query';
import type { Api } from '../../api/api.ts';
import { useApi } from '../../api/context.tsx';
import { withoutIds } from '../../api/readable.ts';
import { idsIn, withNames } from './names.ts';

/** Query keys as elsewhere, so that known data is not requested again, and changes arrive. */
const LOOKUPS: Record<string, { key: string[]; find: (api: Api, id: string) => Promise<{ name: string }> }> = {
  str: { key: ['stream'], find: (api, id) => api.stream(id) },
  upl: { key: ['uploads', 'one'], find: (api, id) => api.calls.uploads.get(id) },
  pls: { key: ['playlists', 'one'], find: (api, id) => api.calls.playlists.get(id) },
  scn: { key: ['scenes', 'one'], find: (api, id) => api.calls.scenes.get(id) },
  dst: { key: ['destinations', 'one'], find: (api, id) => api.calls.destinations.get(id) },
};

/** A sentence of the server, with names in place of the ids in it. */
export function Named({ children }: { children: string }) {
  const api = useApi();
  const ids = idsIn(children);
  const names = useQueries({
    queries: ids.flatMap((id) => {
      const lookup = LOOKUPS[id.slice(0, 3)];
      return lookup ? [{ queryKey: [...lookup.key, id], queryFn: () => lookup.find(api, id), staleTime: 60_000 }] : [];
    }),
    combine: (found) => found.map(({ data }) => data?.name),
  });
  const known = ids.flatMap((id, index) => (names[index] === undefined ? [] : [[id, names[index]] as const]));
  return withoutIds(withNames(children, new Map(known)));
}
