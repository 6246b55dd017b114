/** Reads and changes the data of the pages of money. */
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { type CryptoDeposit, type List, ProblemError } from '../../../service/client/index.ts';
import { useApi } from '../../api/context.tsx';
import { unlessFollowed } from '../../api/feed.ts';
import { findTimeZone, UTC } from '../../lib/timeZones.ts';

/** The feed reports changes (app/followChanges.ts); these hold while it is away. A balance changes slowly. */
const BALANCE_MS = 30_000;
/** A person who pays looks at the page meanwhile. */
const PAYING_MS = 3_000;
const PAGE_SIZE = 10;

const all = ['money'] as const;

/** `followed`: on the page about it. */
export function useBilling({ followed = false } = {}) {
  const { billing } = useApi().calls;
  return useQuery({
    queryKey: [...all, 'balance'],
    queryFn: ({ signal }) => billing.get({ signal }),
    refetchInterval: followed && unlessFollowed(BALANCE_MS),
    staleTime: PAYING_MS,
  });
}

export interface DayRange {
  from: string;
  to: string;
}

const refusesZone = (error: unknown): boolean =>
  error instanceof ProblemError && error.errors.some(({ path }) => path === '/timeZone');

/** In days of the reader's zone; in those of UTC where the server does not know that zone. The answer says which. */
export function useUsage(range: DayRange, groupBy: 'day' | 'stream') {
  const { billing } = useApi().calls;
  const query = { ...range, groupBy, timeZone: findTimeZone() };
  return useQuery({
    queryKey: [...all, 'usage', query],
    queryFn: ({ signal }) =>
      billing
        .usage(query, { signal })
        .catch((error: unknown) =>
          refusesZone(error) ? billing.usage({ ...query, timeZone: UTC }, { signal }) : Promise.reject(error),
        ),
    refetchInterval: unlessFollowed(BALANCE_MS),
  });
}

type MoneyList = 'topUps' | 'deposits' | 'ledger' | 'invoices';

function useList<T>(
  noun: MoneyList,
  list: (cursor: string | undefined, signal: AbortSignal) => ReturnType<List<T>['page']>,
) {
  return useInfiniteQuery({
    queryKey: [...all, noun],
    queryFn: ({ pageParam, signal }) => list(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.page.nextCursor ?? undefined,
    refetchInterval: unlessFollowed(BALANCE_MS),
  });
}

export function useTopUps() {
  const { topUps } = useApi().calls;
  return useList('topUps', (cursor, signal) => topUps.list({ limit: PAGE_SIZE }, { signal }).page(cursor));
}

export function useDeposits() {
  const { crypto } = useApi().calls;
  return useList('deposits', (cursor, signal) => crypto.list({ limit: PAGE_SIZE }, { signal }).page(cursor));
}

export function useInvoices() {
  const { invoices } = useApi().calls;
  return useList('invoices', (cursor, signal) => invoices.list({ limit: PAGE_SIZE }, { signal }).page(cursor));
}

export function useEntries() {
  const { billing } = useApi().calls;
  return useList('ledger', (cursor, signal) => billing.ledger({ limit: PAGE_SIZE }, { signal }).page(cursor));
}

export function useAssets() {
  const { crypto } = useApi().calls;
  return useQuery({ queryKey: [...all, 'assets'], queryFn: ({ signal }) => crypto.assets({ signal }) });
}

/** Milliseconds until the next read. No event reports that a quote has expired. */
function nextLook(deposit: CryptoDeposit | undefined): number | false {
  if (deposit?.state === 'credited') return false;
  const unheard = unlessFollowed(PAYING_MS)();
  if (unheard !== false || deposit?.state !== 'waiting') return unheard;
  return Math.max(PAYING_MS, Date.parse(deposit.expiresAt) - Date.now() + 1_000);
}

/** As it happens, until it is credited. */
export function useDeposit(id: string) {
  const { crypto } = useApi().calls;
  return useQuery({
    queryKey: [...all, 'deposit', id],
    queryFn: ({ signal }) => crypto.get(id, { signal }),
    refetchInterval: ({ state: { data } }) => nextLook(data),
  });
}

/** To be called when something was paid or is about to be. */
export function useMoneyChanged(): () => Promise<void> {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: all });
}
