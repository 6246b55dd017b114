import { useQuery } from '@tanstack/react-query';
import { useApi } from '../../api/context.tsx';
import { unlessFollowed } from '../../api/feed.ts';
import { LARGEST_PAGE, readNewest } from '../../api/newest.ts';

const REFRESH_MS = 5_000;

/** Reads the account's uploads for a form to choose from. */
export function useUploadChoices() {
  const { uploads } = useApi().calls;
  return useQuery({
    queryKey: ['uploads', 'choices'],
    queryFn: ({ signal }) => readNewest(uploads.list({ limit: LARGEST_PAGE }, { signal })),
    refetchInterval: unlessFollowed(REFRESH_MS),
  });
}
