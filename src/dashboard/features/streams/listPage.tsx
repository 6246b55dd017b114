/** All streams: found by name and state, newest first. */
import { Button, NativeSelect, TextInput, VisuallyHidden } from '@mantine/core';
import { IconPlus, IconSearch, IconSearchOff } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useEffect, useMemo, useRef } from 'react';
import type { Stream } from '../../api/api.ts';
import { Failure } from '../../ui/notices.tsx';
import { Empty, More, PageHead, useTitle } from '../../ui/page.tsx';
import { CardSkeleton } from './card.tsx';
import { EmptyStreams } from './emptyStreams.tsx';
import { StreamGrid } from './grid.tsx';
import classes from './listPage.module.css';
import { keepEqualStreams } from './loadedStreams.ts';
import { PHASE_LOOKS } from './phase.ts';
import { useDestinationNames, useStreams } from './queries.ts';
import { useFilter } from './useFilter.ts';

const STATES = [
  { value: '', label: 'In any state' },
  ...Object.entries(PHASE_LOOKS).map(([value, { word }]) => ({ value, label: word })),
];

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
  const { wanted, sought, status } = filter;
  const asked = { ...(sought && { q: sought }), ...(status && { status }) };
  const found = useStreams(asked);
  const { data, error, isPending, isPlaceholderData, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = found;
  const destinations = useDestinationNames();
  const isAnswered = wanted === sought && !isPlaceholderData;
  const shown = useRef<readonly Stream[]>([]);
  // The same list for each key that is typed, so that the cards are not rendered again.
  const streams = useMemo(() => {
    const all = data?.pages.flatMap((page) => page.data) ?? [];
    return keepEqualStreams(shown.current, all);
  }, [data]);
  useEffect(() => {
    shown.current = streams;
  }, [streams]);
  const filtered = wanted !== '' || status !== undefined;
  useTitle('Streams');

  if (error && !data) return <Failure title="Your streams could not be loaded" error={error} retry={refetch} />;
  const isEmpty = data !== undefined && streams.length === 0;
  // Only an answer says that the account has none. Until then the field stays, which somebody types in.
  const hasNone = isEmpty && !filtered && isAnswered;
  return (
    <>
      <PageHead title="Streams">{!hasNone && <NewStream />}</PageHead>
      {!hasNone && <Filter {...filter} />}
      {(isPending || (isEmpty && !filtered && !isAnswered)) && <Loading />}
      {hasNone && <EmptyStreams />}
      {isEmpty && filtered && (
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
      <div aria-busy={!isAnswered} data-testid="stream-list">
        <StreamGrid streams={streams} destinations={destinations} />
      </div>
      {isAnswered && hasNextPage && <More loading={isFetchingNextPage} onClick={() => fetchNextPage()} />}
    </>
  );
}
