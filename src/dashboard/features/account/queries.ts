/** Reads the data of the account's pages. */
import { useQuery } from '@tanstack/react-query';
import { createClient, type SignInOptions } from '../../../service/client/index.ts';
import { useApi } from '../../api/context.tsx';
import { authApi } from './authApi.ts';

/** Asks without saying who is asking. */
const open = createClient({ baseUrl: `${location.origin}/v1`, maxRetries: 1, timeoutMs: 15_000 });

/** How one can sign in here; undefined until that is known. */
export function useOptions(): SignInOptions | undefined {
  return useQuery({
    queryKey: ['sign-in-options'],
    queryFn: ({ signal }) => open.signInOptions({ signal }),
    staleTime: Number.POSITIVE_INFINITY,
  }).data;
}

export const keys = {
  limits: ['limits'] as const,
  apiKeys: ['api-keys'] as const,
  apiKeyPolicy: ['api-key-policy'] as const,
  sessions: ['sessions'] as const,
  apps: ['connected-apps'] as const,
  passkeys: ['passkeys'] as const,
};

/** As many as one page shows: nobody remembers the use of more. */
const MANY = { limit: 100 };

export function useApiKeys() {
  const { apiKeys } = useApi().calls;
  return useQuery({
    queryKey: keys.apiKeys,
    queryFn: ({ signal }) => apiKeys.list(MANY, { signal }).page(),
    refetchOnWindowFocus: true,
  });
}

export function useApiKeyPolicy() {
  const { apiKeyPolicy } = useApi().calls;
  return useQuery({ queryKey: keys.apiKeyPolicy, queryFn: ({ signal }) => apiKeyPolicy.get({ signal }) });
}

export function useLimits() {
  const { limits } = useApi().calls;
  return useQuery({ queryKey: keys.limits, queryFn: ({ signal }) => limits({ signal }), refetchOnWindowFocus: true });
}

export function useSessions() {
  const { sessions } = useApi().calls;
  return useQuery({
    queryKey: keys.sessions,
    queryFn: ({ signal }) => sessions.list(MANY, { signal }).page(),
    refetchOnWindowFocus: true,
  });
}

export function useConnectedApps() {
  const { connectedApps } = useApi().calls;
  return useQuery({
    queryKey: keys.apps,
    queryFn: ({ signal }) => connectedApps.list(MANY, { signal }).page(),
    refetchOnWindowFocus: true,
  });
}

export const usePasskeys = () =>
  useQuery({ queryKey: keys.passkeys, queryFn: () => authApi.passkeys(), refetchOnWindowFocus: true });
