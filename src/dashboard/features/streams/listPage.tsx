/** All streams: found by name and state, newest first. */
import { Button, NativeSelect, TextInput, VisuallyHidden } from '@mantine/core';
import { IconPlus, IconSearch, IconSearchOff } from '@tabler/icons-react';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { Phase } from '../../../resources/stream/spec.ts';
import { Failure } from '../../ui/notices.tsx';
import { Empty, More, PageHead } from '../../ui/page.tsx';
import { CardSkeleton } from './card.tsx';
import { EmptyStreams } from './emptyStreams.tsx';
import { parseSearch, type StreamSearch } from './filter.ts';
import { StreamGrid } from './grid.tsx';
import classes from './listPage.module.css';
import { PHASE_LOOKS } from './phase.ts';
import { useDestinationNames, useStreams } from './queries.ts';

/** Typing is over when nothing was typed for this long. */
const TYPED_MS = 250;

const STATES = [
  { value: '', label: 'In any state' },
  ...Object.entries(PHASE_LOOKS).map(([value, { word }]) => ({ value, label: word })),
];

/** The filter stands in the address, so that it can be kept, sent, and gone back to. */
function useFilter() {
  const { q = '', status } = useSearch({ from: '/streams' });
  const navigate = useNavigate({ from: '/streams' });
  const [typed, setTyped] = useState(q);
  const wanted = parseSearch({ q: typed }).q ?? '';
  const lastQuery = useRef(q);
  // The address changes a moment later, and more may have been typed by then.
  useEffect(() => {
    if (q === lastQuery.current) return;
    lastQuery.current = q;
    setTyped(q);
  }, [q]);
  useEffect(() => {
    if (wanted === q) return;
    const timer = setTimeout(() => {
      lastQuery.current = wanted;
      void navigate({ search: (before: StreamSearch) => ({ ...before, q: wanted || undefined }), replace: true });
    }, TYPED_MS);
    return () => clearTimeout(timer);
  }, [wanted, q, navigate]);
  const setStatus = (next: string) =>
    void navigate({
      search: (before: StreamSearch) => ({ ...before, status: (next || undefined) as Phase | undefined }),
    });
  const clear = () => {
    setTyped('');
    void navigate({ search: {} });
  };
  return { q, status, typed, setTyped, setStatus, clear };
}

function Filter({ typed, status, setTyped, setStatus }: ReturnType<typeof useFilter>) {
  return (
    <search className={classes.filter}>
      <TextInput
        type="search"
        aria-label="Find streams by name"
        placeholder="Find by name"
        maxLength={200}
        autoComplete="off"
        leftSection={<IconSearch size={16} aria-hidden />}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
      <NativeSelect
        aria-label="Only streams in this state"
        data={STATES}
        value={status ?? ''}
        onChange={(event) => setStatus(event.currentTarget.value)}
      />
    </search>
  );
}

const NewStream = () => (
  <Button component={Link} to="/create" leftSection={<IconPlus size={16} aria-hidden />}>
    New stream
  </Button>
);

function Loading() {
  return (
    <div className={classes.grid} aria-busy="true">
      <VisuallyHidden role="status">Loading your streams</VisuallyHidden>
      {['a', 'b', 'c'].map((key) => (
        <CardSkeleton key={key} />
      ))}
    </div>
  );
}

export function StreamsPage() {
  const filter = useFilter();
  const { q, status } = filter;
  const asked = { ...(q && { q }), ...(status && { status }) };
  const { data, error, isPending, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useStreams(asked);
  const destinations = useDestinationNames();
  // The same list for each key that is typed, so that the cards are not rendered again.
  const streams = useMemo(() => data?.pages.flatMap((page) => page.data) ?? [], [data]);
  const filtered = q !== '' || status !== undefined;
  useEffect(() => {
    document.title = 'Streams · loopstream';
  }, []);

  if (error && !data) return <Failure title="Your streams could not be loaded" error={error} retry={refetch} />;
  const none = data !== undefined && streams.length === 0;
  return (
    <>
      <PageHead title="Streams">{(!none || filtered) && <NewStream />}</PageHead>
      {(!none || filtered) && <Filter {...filter} />}
      {isPending && <Loading />}
      {none && !filtered && <EmptyStreams />}
      {none && filtered && (
        <Empty
          icon={IconSearchOff}
          title="No stream matches"
          action={
            <Button variant="default" onClick={filter.clear}>
              Show all streams
            </Button>
          }
        >
          {status ? 'None of your streams with this name is in this state now.' : 'None of your streams has this name.'}
        </Empty>
      )}
      <StreamGrid streams={streams} destinations={destinations} />
      {hasNextPage && <More loading={isFetchingNextPage} onClick={() => fetchNextPage()} />}
    </>
  );
}
