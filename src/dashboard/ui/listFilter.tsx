/** Finds things of a list by name, and orders them. */
import { Button, NativeSelect, TextInput } from '@mantine/core';
import { IconSearch, IconSearchOff } from '@tabler/icons-react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import classes from './listFilter.module.css';
import { Empty } from './page.tsx';
import { LIST_SORTS, type ListSort } from './searchText.ts';
import { useSearchText } from './useSearchText.ts';

const ORDERS = Object.entries(LIST_SORTS).map(([value, label]) => ({ value, label }));

/** The search and the order of a list, which stand in the address. */
export function useListSearch() {
  const text = useSearchText();
  const { sort: given = '-createdAt' } = useSearch({ strict: false });
  const navigate = useNavigate();
  const sort = given as ListSort;
  return {
    ...text,
    sort,
    /** The query for the server. */
    asked: { ...(text.sought && { q: text.sought }), sort },
    isFiltered: text.wanted !== '' || text.sought !== '',
    setSort: (next: ListSort) =>
      void navigate({ to: '.', search: (before) => ({ ...before, sort: next === '-createdAt' ? undefined : next }) }),
    clear: () => {
      text.setTyped('');
      void navigate({ to: '.', search: (before) => ({ ...before, q: undefined }) });
    },
  };
}

export type ListSearching = ReturnType<typeof useListSearch>;

export function ListFilter({ nouns, search }: { nouns: string; search: ListSearching }) {
  return (
    <search className={classes.filter}>
      <TextInput
        type="search"
        aria-label={`Find ${nouns} by name`}
        placeholder="Find by name"
        maxLength={200}
        autoComplete="off"
        leftSection={<IconSearch size={16} aria-hidden />}
        value={search.typed}
        onChange={(event) => search.setTyped(event.currentTarget.value)}
      />
      <NativeSelect
        aria-label={`Order of the ${nouns}`}
        data={ORDERS}
        value={search.sort}
        onChange={(event) => search.setSort(event.currentTarget.value as ListSort)}
      />
    </search>
  );
}

/** Stands where a search finds nothing. */
export const NothingFound = ({ noun, search }: { noun: string; search: ListSearching }) => (
  <Empty
    icon={IconSearchOff}
    title={`No ${noun} matches`}
    action={
      <Button variant="default" onClick={search.clear}>
        Show all {noun}s
      </Button>
    }
  >
    None of your {noun}s has this name.
  </Empty>
);
