/** All streams: found by name and state, in an order that the reader chooses, as cards or as a table. */
import { Button, NativeSelect, TextInput, VisuallyHidden } from '@mantine/core';
import { IconLayoutGrid, IconPlus, IconSearch, IconSearchOff, IconTable } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useRef } from 'react';
import type { Stream } from '../../api/api.ts';
import { Failure } from '../../ui/notices.tsx';
import { Empty, More, PageHead, useTitle } from '../../ui/page.tsx';
import { useFailure } from '../../ui/useFailure.ts';
import { BulkBar } from './bulkBar.tsx';
import { CardSkeleton } from './card.tsx';
import { EmptyStreams } from './emptyStreams.tsx';
import { StreamGrid } from './grid.tsx';
import { formatListCount, SORTS, type StreamSort, sortStreams, toServerOrder } from './listOrder.ts';
import classes from './listPage.module.css';
import { keepEqualStreams } from './loadedStreams.ts';
import { PHASE_LOOKS } from './phase.ts';
import { useAllStreams, useDestinationNames, usePowers } from './queries.ts';
import { StreamTable } from './table.tsx';
import { useFilter } from './useFilter.ts';
import { type ListView, useListView } from './useListView.ts';
import { useSelection } from './useSelection.ts';
import { useStreamDialogs } from './useStreamDialogs.tsx';

const STATES = [
  { value: '', label: 'In any state' },
  ...Object.entries(PHASE_LOOKS).map(([value, { word }]) => ({ value, label: word })),
];
const ORDERS = Object.entries(SORTS).map(([value, label]) => ({ value, label }));

interface FilterProps extends ReturnType<typeof useFilter> {
  view: ListView;
  onView: (view: ListView) => void;
}

const VIEWS = [
  { view: 'cards', label: 'Show cards', icon: IconLayoutGrid },
  { view: 'table', label: 'Show a table', icon: IconTable },
] as const;

function Filter({ typed, status, sort, setTyped, setStatus, setSort, view, onView }: FilterProps) {
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
      <NativeSelect
        aria-label="Order of the streams"
        data={ORDERS}
        value={sort}
        onChange={(event) => setSort(event.currentTarget.value as StreamSort)}
      />
      <div className={classes.views}>
        {VIEWS.map(({ view: one, label, icon: Icon }) => (
          <button
            key={one}
            type="button"
            aria-label={label}
            title={label}
            aria-pressed={view === one}
            onClick={() => onView(one)}
          >
            <Icon size={18} stroke={1.7} aria-hidden />
          </button>
        ))}
      </div>
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

function NoMatch({ status, onClear }: { status: string | undefined; onClear: () => void }) {
  return (
    <Empty
      icon={IconSearchOff}
      title="No stream matches"
      action={
        <Button variant="default" onClick={onClear}>
          Show all streams
        </Button>
      }
    >
      {status ? 'None of your streams with this name is in this state now.' : 'None of your streams has this name.'}
    </Empty>
  );
}

/** The streams of an answer in the order of the page. The same list for each key that is typed, so that rows are not rendered again. */
function useShownStreams(found: readonly Stream[], sort: StreamSort | undefined): readonly Stream[] {
  const shown = useRef<readonly Stream[]>([]);
  const streams = useMemo(() => keepEqualStreams(shown.current, found), [found]);
  useEffect(() => {
    shown.current = streams;
  }, [streams]);
  return useMemo(() => (sort ? sortStreams(streams, sort) : streams), [streams, sort]);
}

interface FoundStreamsProps {
  streams: readonly Stream[];
  view: ListView;
  sort: StreamSort;
  onSort: (sort: StreamSort) => void;
}

function FoundStreams({ streams, view, sort, onSort }: FoundStreamsProps) {
  const destinations = useDestinationNames();
  const { ids, selected, toggle, toggleAll, select } = useSelection(streams);
  const done = useCallback((failed: readonly Stream[]) => select(failed.map(({ id }) => id)), [select]);
  const { calls, dialog } = useStreamDialogs(done);
  const { mutate: power } = usePowers();
  const acts = useMemo(() => ({ ...calls, power, toggle }), [calls, power, toggle]);
  return (
    <>
      {view === 'cards' && <StreamGrid streams={streams} destinations={destinations} calls={calls} />}
      {view === 'table' && streams.length > 0 && (
        <StreamTable
          streams={streams}
          destinations={destinations}
          selected={ids}
          count={selected.length}
          sort={sort}
          acts={acts}
          onSort={onSort}
          onToggleAll={toggleAll}
        />
      )}
      {view === 'table' && selected.length > 0 && (
        <BulkBar selected={selected} onAct={calls.ask} onClear={() => select([])} />
      )}
      {dialog}
    </>
  );
}

export function StreamsPage() {
  const filter = useFilter();
  const { wanted, sought, status, sort } = filter;
  const asked = { ...(sought && { q: sought }), ...(status && { status }) };
  const found = useAllStreams(asked, toServerOrder(sort));
  const { error, isPending, isPlaceholderData, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = found;
  const failure = useFailure(found.data, error);
  const isAnswered = wanted === sought && !isPlaceholderData;
  // A list that the server has more of is in its order.
  const streams = useShownStreams(found.streams, found.isCut ? undefined : sort);
  const isFiltered = wanted !== '' || status !== undefined;
  const isKnown = found.data !== undefined && isAnswered;
  const { view, choose } = useListView({ count: isKnown ? streams.length : undefined, isFiltered });
  useTitle('Streams');

  if (failure) return <Failure title="Your streams could not be loaded" error={failure} retry={refetch} />;
  const isEmpty = found.data !== undefined && streams.length === 0;
  // Only an answer says that the account has none. Until then the field stays, which somebody types in.
  const hasNone = isEmpty && !isFiltered && isAnswered;
  return (
    <>
      <PageHead title="Streams">{!hasNone && <NewStream />}</PageHead>
      {!hasNone && <Filter {...filter} view={view} onView={choose} />}
      {(isPending || (isEmpty && !isFiltered && !isAnswered)) && <Loading />}
      {hasNone && <EmptyStreams />}
      {isEmpty && isFiltered && <NoMatch status={status} onClear={filter.clear} />}
      {streams.length > 0 && (
        <p className={classes.count} data-testid="stream-count">
          {formatListCount({ streams, hasMore: hasNextPage, isFiltered })}
        </p>
      )}
      <div aria-busy={!isAnswered} data-testid="stream-list">
        <FoundStreams streams={streams} view={view} sort={sort} onSort={filter.setSort} />
      </div>
      {isAnswered && found.isCut && <More loading={isFetchingNextPage} onClick={() => fetchNextPage()} />}
    </>
  );
}
