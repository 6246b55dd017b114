import { Button } from '@mantine/core';
import { IconPlus, IconSend } from '@tabler/icons-react';
import { useRef } from 'react';
import { type Destination, problems } from '../../../service/client/index.ts';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { ListFilter, NothingFound, useListSearch } from '../../ui/listFilter.tsx';
import { Failure } from '../../ui/notices.tsx';
import page from '../../ui/page.module.css';
import { Empty, More, PageHead, RowsLoading, useTitle } from '../../ui/page.tsx';
import { useFailure } from '../../ui/useFailure.ts';
import { useOpen } from '../../ui/useOpen.ts';
import { listCommands } from '../commands/commands.ts';
import { ForPrograms } from '../commands/snippets.tsx';
import { DestinationForm } from './form.tsx';
import { useDestination, useDestinations, useDestinationsChanged } from './queries.ts';
import { DestinationRow } from './row.tsx';

const EDIT = 'edit ';

/**
 * The destination of a form. It stays after a deletion elsewhere (`isGone`), so that typed text can still be read.
 * Without one and gone, the address leads to none.
 */
function useEdited(destinations: readonly Destination[] | undefined, opened: string | undefined) {
  const last = useRef<Destination>(undefined);
  const id = opened?.startsWith(EDIT) ? opened.slice(EDIT.length) : undefined;
  const listed = destinations?.find((one) => one.id === id);
  const { data, error } = useDestination(id ?? '', id !== undefined && destinations !== undefined && !listed);
  const found = listed ?? data;
  if (found) last.current = found;
  const edited = last.current?.id === id ? last.current : undefined;
  return { edited, isGone: id !== undefined && !listed && error instanceof problems.DestinationNotFound };
}

const NoDestination = ({ onClose }: { onClose: () => void }) => (
  <Dialog title="Destination not found" onClose={onClose}>
    <p>
      Your account has no destination at this address. It may have been deleted. Choose another one from the list, or
      add it again.
    </p>
    <DialogActions>
      <Button onClick={onClose} data-autofocus>
        Show my destinations
      </Button>
    </DialogActions>
  </Dialog>
);

const LEAD = 'Servers that your streams are sent to: a channel on a platform, or a server of your own.';

export function DestinationsPage() {
  useTitle('Destinations');
  const search = useListSearch();
  const { data, error, isPending, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useDestinations(
    search.asked,
  );
  const failure = useFailure(data, error);
  const changed = useDestinationsChanged();
  const { opened, open, close } = useOpen();
  const read = data?.pages.flatMap((one) => one.data);
  const destinations = read ?? [];
  const { edited, isGone } = useEdited(read, opened);
  const hasSome = destinations.length > 0 || search.isFiltered;
  const add = (
    <Button leftSection={<IconPlus size={17} aria-hidden />} onClick={() => open('new')}>
      Add destination
    </Button>
  );

  if (failure) return <Failure title="Your destinations could not be loaded" error={failure} retry={refetch} />;
  return (
    <>
      <PageHead title="Destinations" lead={LEAD}>
        {hasSome && add}
      </PageHead>
      {hasSome && <ListFilter nouns="destinations" search={search} />}
      {isPending && <RowsLoading what="your destinations" />}
      {data && destinations.length === 0 && search.isFiltered && <NothingFound noun="destination" search={search} />}
      {data && !hasSome && (
        <Empty icon={IconSend} title="No destination yet" action={add}>
          Choose a platform, paste the stream key that it shows, and test the destination before a stream goes on air.
        </Empty>
      )}
      <ul className={page.list}>
        {destinations.map((destination) => (
          <li key={destination.id}>
            <DestinationRow destination={destination} onEdit={() => open(`${EDIT}${destination.id}`)} />
          </li>
        ))}
      </ul>
      {hasNextPage && <More loading={isFetchingNextPage} onClick={() => fetchNextPage()} />}
      <ForPrograms about="Destinations" {...listCommands(location.origin, 'destinations')} />
      {isGone && !edited && <NoDestination onClose={close} />}
      {(opened === 'new' || edited) && (
        <DestinationForm
          {...(edited && { before: edited, isGone })}
          onClose={close}
          onDone={() => {
            close();
            return changed();
          }}
        />
      )}
    </>
  );
}
