/** The latest events of the account, with their causes, as they happen. */
import { NativeSelect } from '@mantine/core';
import { IconHistory } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { AccountEvent } from '../../../service/client/index.ts';
import { useNow } from '../../api/context.tsx';
import { formatAgo, formatTime } from '../../lib/format.ts';
import { Failure } from '../../ui/notices.tsx';
import { Empty, More, RowsLoading } from '../../ui/page.tsx';
import { useFailure } from '../../ui/useFailure.ts';
import { Named } from '../references/named.tsx';
import classes from './events.module.css';
import { describeEvent, EVENT_GROUPS, type EventGroup, findPage } from './eventText.ts';
import { NotificationsHead } from './head.tsx';
import { useEvents } from './useEvents.ts';

const GROUPS = Object.entries(EVENT_GROUPS).map(([value, { label }]) => ({ value, label }));

function EventItem({ event, now }: { event: AccountEvent; now: Date }) {
  const { timestamp, data } = event;
  const { title, tone, fact } = describeEvent(event);
  return (
    <li data-tone={tone} data-testid="event">
      <div className={classes.head}>
        <h2>
          <Link {...findPage(event)}>{title}</Link>
        </h2>
        <time dateTime={timestamp} title={formatTime(timestamp)}>
          {formatAgo(new Date(timestamp), now)}
        </time>
      </div>
      {fact && <p>{fact}</p>}
      {data.message && (
        <p>
          <Named>{data.message}</Named>
        </p>
      )}
      {data.fix && <p className={classes.fix}>{data.fix}</p>}
    </li>
  );
}

export function EventsPage() {
  const [group, setGroup] = useState<EventGroup>('all');
  const { events, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useEvents(group);
  const failure = useFailure(events, error);
  const now = new Date(useNow());
  if (failure) return <Failure title="Your events could not be loaded" error={failure} retry={refetch} />;
  return (
    <>
      <NotificationsHead lead="Events of the last seven days, with their causes. New ones appear as they happen." />
      <NativeSelect
        className={classes.filter ?? ''}
        aria-label="Events to show"
        data={GROUPS}
        value={group}
        onChange={({ currentTarget }) => setGroup(currentTarget.value as EventGroup)}
      />
      {!events && <RowsLoading what="your events" />}
      {events?.length === 0 && (
        <Empty icon={IconHistory} title="Nothing has happened yet">
          Whatever happens to your streams, uploads, playlists and destinations appears here.
        </Empty>
      )}
      {events && events.length > 0 && (
        <ol className={classes.events}>
          {events.map((event) => (
            <EventItem key={event.id} event={event} now={now} />
          ))}
        </ol>
      )}
      {hasNextPage && <More loading={isFetchingNextPage} onClick={() => void fetchNextPage()} />}
    </>
  );
}
