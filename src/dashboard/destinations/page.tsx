import { Button } from '@mantine/core';
import { IconPlus, IconSend } from '@tabler/icons-react';
import { useState } from 'react';
import { Empty, More, PageHead, RowsLoading, useTitle } from '../parts/page.tsx';
import { Failure } from '../shell/notices.tsx';
import classes from './destinations.module.css';
import { DestinationForm } from './form.tsx';
import { useDestinations, useDestinationsChanged } from './queries.ts';
import { DestinationRow } from './row.tsx';

const LEAD = 'Where your streams are sent: a channel on a platform, or a server of your own.';

export function DestinationsPage() {
  useTitle('Destinations');
  const { data, error, isPending, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useDestinations();
  const changed = useDestinationsChanged();
  const [creating, setCreating] = useState(false);
  const destinations = data?.pages.flatMap((page) => page.data) ?? [];
  const add = (
    <Button leftSection={<IconPlus size={17} aria-hidden />} onClick={() => setCreating(true)}>
      Add destination
    </Button>
  );

  if (error && !data) return <Failure title="Your destinations could not be loaded" error={error} retry={refetch} />;
  return (
    <>
      <PageHead title="Destinations" lead={LEAD}>
        {destinations.length > 0 && add}
      </PageHead>
      {isPending && <RowsLoading what="your destinations" />}
      {data && destinations.length === 0 && (
        <Empty icon={IconSend} title="No destination yet" action={add}>
          Choose a platform, paste the stream key that it gives you, and test it here before anything goes on air.
        </Empty>
      )}
      <ul className={classes.list}>
        {destinations.map((destination) => (
          <li key={destination.id}>
            <DestinationRow destination={destination} />
          </li>
        ))}
      </ul>
      {hasNextPage && <More loading={isFetchingNextPage} onClick={() => fetchNextPage()} />}
      {creating && (
        <DestinationForm
          onClose={() => setCreating(false)}
          onDone={() => {
            setCreating(false);
            return changed();
          }}
        />
      )}
    </>
  );
}
