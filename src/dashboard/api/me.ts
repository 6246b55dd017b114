/** Reads the account that the page works with. */
import { useQuery } from '@tanstack/react-query';
import { useApi } from './context.tsx';

export function useMe() {
  const api = useApi();
  return useQuery({ queryKey: ['me'], queryFn: ({ signal }) => api.me(signal), staleTime: Number.POSITIVE_INFINITY });
}
