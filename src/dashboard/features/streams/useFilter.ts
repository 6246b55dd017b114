import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import type { Phase } from '../../../core/resources/stream/spec.ts';
import { useSearchText } from '../../ui/useSearchText.ts';
import type { StreamSearch } from './filter.ts';
import { STANDARD_SORT, type StreamSort } from './listOrder.ts';

/** Follows the filter and the order of the list of streams, which stand in the address. */
export function useFilter() {
  const text = useSearchText();
  const { status, sort = STANDARD_SORT } = useSearch({ from: '/streams' });
  const navigate = useNavigate({ from: '/streams' });
  const setStatus = (next: string) =>
    void navigate({
      search: (before: StreamSearch) => ({ ...before, status: (next || undefined) as Phase | undefined }),
    });
  const setSort = useCallback(
    (next: StreamSort) =>
      void navigate({
        search: (before: StreamSearch) => ({ ...before, sort: next === STANDARD_SORT ? undefined : next }),
        resetScroll: false,
      }),
    [navigate],
  );
  const clear = () => {
    text.setTyped('');
    void navigate({ search: ({ sort: kept }: StreamSearch) => ({ sort: kept }) });
  };
  return { ...text, status, sort, setStatus, setSort, clear };
}
