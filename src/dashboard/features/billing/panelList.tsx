/** A list in a panel: its entries, a text where there are none, and the next page. */
import { Skeleton } from '@mantine/core';
import type { ReactNode } from 'react';
import { problemText } from '../../api/problem.ts';
import page from '../../ui/page.module.css';
import { More } from '../../ui/page.tsx';
import classes from './billing.module.css';

interface Pages<T> {
  data: { pages: { data: T[] }[] } | undefined;
  error: unknown;
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => unknown;
}

interface EntriesProps<T> {
  query: Pages<T>;
  none: string;
  getKey: (one: T) => string;
  children: (one: T) => ReactNode;
}

export function PanelList<T>({ query, none, getKey, children }: EntriesProps<T>) {
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  if (error && !data) return <p role="alert">{problemText(error)}</p>;
  if (!data) return <Skeleton height={60} />;
  const all = data.pages.flatMap((one) => one.data);
  if (all.length === 0) return <p className={page.dim}>{none}</p>;
  return (
    <>
      <ul className={classes.entries}>
        {all.map((one) => (
          <li key={getKey(one)}>{children(one)}</li>
        ))}
      </ul>
      {hasNextPage && <More loading={isFetchingNextPage} onClick={fetchNextPage} />}
    </>
  );
}
