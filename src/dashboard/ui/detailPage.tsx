/** A page about one thing: the way back to all of them, and what is said while it is read, when it is gone, or did not come. */
import { Skeleton } from '@mantine/core';
import { IconChevronLeft } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useRef } from 'react';
import { ProblemError } from '../../client/index.ts';
import { Deleted, Failure, Missing } from './notices.tsx';
import classes from './page.module.css';

interface WholeProps<Thing> {
  noun: 'stream' | 'playlist';
  query: { data: Thing | undefined; error: unknown; refetch: () => unknown };
  children: (thing: Thing) => ReactNode;
}

function Loading({ noun }: { noun: string }) {
  return (
    <div aria-busy="true">
      <h1 className={classes.loadingTitle}>Loading the {noun}…</h1>
      <div className={classes.columns} aria-hidden>
        <Skeleton height={360} radius="lg" />
        <Skeleton height={240} radius="lg" />
      </div>
    </div>
  );
}

export function Whole<Thing extends { name: string }>({ noun, query, children }: WholeProps<Thing>) {
  const { data, error, refetch } = query;
  // What a list knew of it counts too: it was there when the page was opened.
  const seen = useRef(data);
  if (data !== undefined) seen.current = data;
  const isMissing = error instanceof ProblemError && error.code === `${noun}_not_found`;
  const content = () => {
    if (isMissing) return seen.current ? <Deleted noun={noun} name={seen.current.name} /> : <Missing noun={noun} />;
    if (data !== undefined) return children(data);
    return error ? (
      <Failure title={`The ${noun} could not be loaded`} error={error} retry={refetch} />
    ) : (
      <Loading noun={noun} />
    );
  };
  return (
    <>
      <nav aria-label="Breadcrumb" className={classes.crumb}>
        <Link to={`/${noun}s`}>
          <IconChevronLeft size={16} aria-hidden /> {noun === 'stream' ? 'Streams' : 'Playlists'}
        </Link>
      </nav>
      {content()}
    </>
  );
}
