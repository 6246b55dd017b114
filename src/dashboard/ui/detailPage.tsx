/** A page about one thing: the way back to all of them, and a notice while it loads, when it is gone, or did not come. */
import { Skeleton } from '@mantine/core';
import { IconChevronLeft } from '@tabler/icons-react';
import { Link, type LinkProps } from '@tanstack/react-router';
import { type ReactNode, useRef } from 'react';
import { ProblemError } from '../../service/client/index.ts';
import { quote } from '../lib/isolate.ts';
import notices from './notices.module.css';
import { Failure, Notice } from './notices.tsx';
import classes from './page.module.css';
import { useTitle } from './page.tsx';
import { useFailure } from './useFailure.ts';

/** A kind of thing that has pages of its own. */
export interface DetailKind {
  /** As the API's codes name it, e.g. `stream`. */
  noun: string;
  /** The list of all of them. */
  list: NonNullable<LinkProps['to']>;
  /** Says what is left after one was deleted. */
  remains: string;
  /** Leads to the form that makes another. */
  create: ReactNode;
}

const capitalize = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

const Ways = ({ kind: { noun, list, create } }: { kind: DetailKind }) => (
  <p className={notices.ways}>
    <Link to={list}>All {noun}s</Link>
    {create}
  </p>
);

/** Stands at the address of a thing that does not exist. */
export function Missing({ kind }: { kind: DetailKind }) {
  const title = `${capitalize(kind.noun)} not found`;
  useTitle(title);
  return (
    <Notice title={title} actions={<Ways kind={kind} />}>
      Your account has no {kind.noun} at this address. It may have been deleted, or belong to another account. Look in
      the list, or create a new one.
    </Notice>
  );
}

/** Stands where a thing was a moment ago: another window or a program has deleted it. */
export function Deleted({ kind, name }: { kind: DetailKind; name: string }) {
  const title = `${quote(name)} was deleted`;
  useTitle(title);
  return (
    <div role="alert">
      <Notice title={title} actions={<Ways kind={kind} />}>
        This {kind.noun} was deleted elsewhere, in another window or by a program. {kind.remains}
      </Notice>
    </div>
  );
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

interface DetailPageProps<Thing> {
  kind: DetailKind;
  query: { data: Thing | undefined; error: unknown; refetch: () => unknown };
  children: (thing: Thing) => ReactNode;
}

export function DetailPage<Thing extends { name: string }>({ kind, query, children }: DetailPageProps<Thing>) {
  const { noun, list } = kind;
  const { data, refetch } = query;
  const failure = useFailure(data, query.error);
  const error = query.error ?? failure;
  // A thing that only a list knew counts too: it was there when the page was opened.
  const seen = useRef(data);
  if (data !== undefined) seen.current = data;
  const isMissing = error instanceof ProblemError && error.code === `${noun}_not_found`;
  const content = () => {
    if (isMissing) return seen.current ? <Deleted kind={kind} name={seen.current.name} /> : <Missing kind={kind} />;
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
        <Link to={list}>
          <IconChevronLeft size={16} aria-hidden /> {capitalize(noun)}s
        </Link>
      </nav>
      {content()}
    </>
  );
}
