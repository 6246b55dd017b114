import { Button, VisuallyHidden } from '@mantine/core';
import { useEffect } from 'react';
import type { Stream } from '../api.ts';
import { Failure } from '../shell/notices.tsx';
import { CardSkeleton, StreamCard } from './card.tsx';
import { EmptyStreams } from './empty.tsx';
import classes from './listPage.module.css';
import { isRunning, needsAttention } from './phase.ts';
import { useDestinationNames, useStreams } from './queries.ts';

/** `2 on air · 1 needs you · 5 in all`. */
function summary(streams: readonly Stream[], more: boolean): string {
  const onAir = streams.filter((s) => s.status === 'live').length;
  const needing = streams.filter((s) => needsAttention(s.status)).length;
  const starting = streams.filter((s) => isRunning(s.status) && s.status === 'starting').length;
  return [
    `${onAir} on air`,
    starting > 0 && `${starting} starting`,
    needing > 0 && `${needing} need${needing === 1 ? 's' : ''} you`,
    `${streams.length}${more ? '+' : ''} in all`,
  ]
    .filter(Boolean)
    .join(' · ');
}

export function StreamsPage() {
  const { data, error, isPending, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useStreams();
  const destinations = useDestinationNames();
  const streams = data?.pages.flatMap((page) => page.data) ?? [];
  const onAir = streams.filter((s) => s.status === 'live').length;
  useEffect(() => {
    document.title = onAir > 0 ? `● ${onAir} on air · loopstream` : 'Streams · loopstream';
  }, [onAir]);

  if (error && !data) return <Failure title="Your streams could not be loaded" error={error} retry={refetch} />;
  return (
    <>
      <div className={classes.head}>
        <h1>Streams</h1>
        {streams.length > 0 && <p>{summary(streams, hasNextPage)}</p>}
      </div>
      {isPending && (
        <div className={classes.grid}>
          <VisuallyHidden role="status">Loading your streams</VisuallyHidden>
          {['a', 'b', 'c'].map((key) => (
            <CardSkeleton key={key} />
          ))}
        </div>
      )}
      {data && streams.length === 0 && <EmptyStreams />}
      <ul className={classes.grid}>
        {streams.map((stream) => (
          <li key={stream.id}>
            <StreamCard stream={stream} destinations={destinations} />
          </li>
        ))}
      </ul>
      {hasNextPage && (
        <div className={classes.more}>
          <Button variant="default" loading={isFetchingNextPage} onClick={() => fetchNextPage()}>
            Show more
          </Button>
        </div>
      )}
    </>
  );
}
