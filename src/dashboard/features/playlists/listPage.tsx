import { Button } from '@mantine/core';
import { IconPencil, IconPlaylist, IconPlus, IconTrash } from '@tabler/icons-react';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { PlaylistSummary } from '../../../service/client/index.ts';
import { useApi, useNow } from '../../api/context.tsx';
import { formatAgo } from '../../lib/format.ts';
import { ActMenu, copyAct } from '../../ui/actMenu.tsx';
import cover from '../../ui/cover.module.css';
import { ListFilter, NothingFound, useListSearch } from '../../ui/listFilter.tsx';
import { Name } from '../../ui/name.tsx';
import { Failure } from '../../ui/notices.tsx';
import page from '../../ui/page.module.css';
import { Empty, More, PageHead, RowsLoading, useTitle } from '../../ui/page.tsx';
import { Poster } from '../../ui/poster.tsx';
import { RenameDialog } from '../../ui/renameDialog.tsx';
import { Row } from '../../ui/row.tsx';
import { useFailure } from '../../ui/useFailure.ts';
import { useOpen } from '../../ui/useOpen.ts';
import { listCommands } from '../commands/commands.ts';
import { ForPrograms } from '../commands/snippets.tsx';
import { CreateForm } from './createForm.tsx';
import { DeletePlaylist } from './dialogs.tsx';
import classes from './playlists.module.css';
import { usePlaylists, usePlaylistsChanged } from './queries.ts';
import { KIND_WORDS, MODE_WORDS } from './text.ts';

const LEAD = 'Lists of clips that a stream loops in order. Changes go on air when you publish them.';

/** `Video · In order · version 4, of which 3 is published`. */
function formatSummary({ kind, mode, version, publishedVersion }: PlaylistSummary): string {
  const played = publishedVersion !== null && publishedVersion !== version ? `, streams play ${publishedVersion}` : '';
  return `${KIND_WORDS[kind]} · ${MODE_WORDS[mode]} · version ${version}${played}`;
}

function PlaylistRow({ playlist }: { playlist: PlaylistSummary }) {
  const { id, name, kind, createdAt, streamID, version, posterUrl } = playlist;
  const { calls } = useApi();
  const changed = usePlaylistsChanged();
  const [asked, setAsked] = useState<'rename' | 'delete'>();
  const close = () => setAsked(undefined);
  const now = useNow(false);
  return (
    <Row
      data-testid="playlist"
      name={name}
      picture={<Poster url={posterUrl} kind={kind === 'audio' ? 'AUDIO' : 'VIDEO'} />}
      title={
        <Link to="/playlists/$id" params={{ id }} className={cover.cover}>
          <Name>{name}</Name>
        </Link>
      }
      facts={<p className={page.dim}>{formatSummary(playlist)}</p>}
      actions={
        <>
          <p className={classes.aside}>
            {streamID === '' ? 'Not in any stream' : 'In a stream'}
            <span>Created {formatAgo(new Date(createdAt), new Date(now))}</span>
          </p>
          <div className={classes.menu}>
            <ActMenu
              isSmall
              label={`More actions for ${name}`}
              acts={[
                { label: 'Rename…', icon: IconPencil, run: () => setAsked('rename') },
                copyAct('Copy id', id),
                { label: 'Delete playlist…', icon: IconTrash, isDanger: true, run: () => setAsked('delete') },
              ]}
            />
          </div>
        </>
      }
    >
      {asked === 'rename' && (
        <RenameDialog
          noun="playlist"
          name={name}
          rename={(next) => calls.playlists.update(id, { version, name: next })}
          onClose={close}
          onDone={() => {
            close();
            return changed();
          }}
        />
      )}
      {asked === 'delete' && <DeletePlaylist playlist={playlist} onClose={close} onDeleted={close} />}
    </Row>
  );
}

export function PlaylistsPage() {
  useTitle('Playlists');
  const search = useListSearch();
  const { data, error, isPending, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = usePlaylists(
    search.asked,
  );
  const failure = useFailure(data, error);
  const changed = usePlaylistsChanged();
  const navigate = useNavigate();
  const { opened, open, close } = useOpen();
  const playlists = data?.pages.flatMap((one) => one.data) ?? [];
  const hasSome = playlists.length > 0 || search.isFiltered;
  const add = (
    <Button leftSection={<IconPlus size={17} aria-hidden />} onClick={() => open('new')}>
      New playlist
    </Button>
  );

  if (failure) return <Failure title="Your playlists could not be loaded" error={failure} retry={refetch} />;
  return (
    <>
      <PageHead title="Playlists" lead={LEAD}>
        {hasSome && add}
      </PageHead>
      {hasSome && <ListFilter nouns="playlists" search={search} />}
      {isPending && <RowsLoading what="your playlists" />}
      {data && playlists.length === 0 && search.isFiltered && <NothingFound noun="playlist" search={search} />}
      {data && !hasSome && (
        <Empty icon={IconPlaylist} title="No playlist yet" action={add}>
          Combine several clips into one list, in order or shuffled, and use it in a stream instead of a single video.
        </Empty>
      )}
      <ul className={page.list}>
        {playlists.map((playlist) => (
          <li key={playlist.id}>
            <PlaylistRow playlist={playlist} />
          </li>
        ))}
      </ul>
      {hasNextPage && <More loading={isFetchingNextPage} onClick={() => fetchNextPage()} />}
      <ForPrograms about="Playlists" {...listCommands(location.origin, 'playlists')} />
      {opened === 'new' && (
        <CreateForm
          onClose={close}
          onDone={({ id }) => {
            void changed();
            // Going back from there does not lead into a form that was sent.
            return navigate({ to: '/playlists/$id', params: { id }, replace: true });
          }}
        />
      )}
    </>
  );
}
