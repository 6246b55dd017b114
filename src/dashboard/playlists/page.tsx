import { Button, Skeleton } from '@mantine/core';
import { IconChevronLeft, IconTrash } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { type Playlist, problems } from '../../client/index.ts';
import { PageHead, useTitle } from '../parts/page.tsx';
import { Panel } from '../parts/panel.tsx';
import { Failure, Notice } from '../shell/notices.tsx';
import page from '../streams/streamPage.module.css';
import { Conflict } from './conflict.tsx';
import { Editor } from './editor.tsx';
import classes from './playlists.module.css';
import { Published } from './published.tsx';
import { usePlaylist } from './queries.ts';
import { DeletePlaylist, PublishQuestion } from './questions.tsx';
import { SaveBar } from './saveBar.tsx';
import { useActs } from './useActs.ts';
import { useDraft } from './useDraft.ts';
import { Versions } from './versions.tsx';
import { KIND_WORDS } from './words.ts';

function PlaylistView({ playlist, refetch }: { playlist: Playlist; refetch: () => unknown }) {
  const editing = useDraft(playlist);
  const acts = useActs(playlist, editing, refetch);
  const [deleting, setDeleting] = useState(false);
  const { id, name, kind, version } = playlist;
  const { draft, conflict } = editing;
  useTitle(name);
  return (
    <>
      <PageHead title={name} lead={`${KIND_WORDS[kind]} playlist · version ${version}`}>
        <Button variant="default" leftSection={<IconTrash size={16} aria-hidden />} onClick={() => setDeleting(true)}>
          Delete
        </Button>
      </PageHead>
      {conflict && (
        <Conflict
          id={id}
          from={draft.base.version}
          to={conflict.version}
          onKeep={editing.rebase}
          onDiscard={acts.discard}
        />
      )}
      <div className={page.columns}>
        <div className={page.column}>
          <Editor kind={kind} draft={draft} edit={editing.edit} nameError={acts.nameError} busy={acts.saving} />
        </div>
        <div className={page.column}>
          <Panel title="On air">
            <Published playlist={playlist} />
          </Panel>
          <Panel title="Versions">
            {editing.update && <p className={classes.dim}>Save or discard your changes before you go back to one.</p>}
            <Versions
              playlist={playlist}
              publish={acts.askToPublish}
              rollback={acts.rollback}
              busy={acts.busy || editing.update !== undefined}
            />
          </Panel>
        </div>
      </div>
      <SaveBar editing={editing} acts={acts} />
      <PublishQuestion acts={acts} />
      {deleting && <DeletePlaylist playlist={playlist} onClose={() => setDeleting(false)} />}
    </>
  );
}

function Loading() {
  return (
    <div aria-busy="true">
      <h1 className={page.loadingTitle}>Loading the playlist…</h1>
      <div className={page.columns} aria-hidden>
        <Skeleton height={320} radius="lg" />
        <Skeleton height={220} radius="lg" />
      </div>
    </div>
  );
}

const NotFound = () => (
  <Notice title="Playlist not found" actions={<Link to="/playlists">All playlists</Link>}>
    No playlist of yours has this id. It may have been deleted.
  </Notice>
);

export function PlaylistPage({ id }: { id: string }) {
  const { data: playlist, error, refetch } = usePlaylist(id);
  const missing = error instanceof problems.PlaylistNotFound;
  return (
    <>
      <nav aria-label="Breadcrumb" className={page.crumb}>
        <Link to="/playlists">
          <IconChevronLeft size={16} aria-hidden /> Playlists
        </Link>
      </nav>
      {missing ? (
        <NotFound />
      ) : playlist ? (
        <PlaylistView playlist={playlist} refetch={refetch} />
      ) : error ? (
        <Failure title="The playlist could not be loaded" error={error} retry={refetch} />
      ) : (
        <Loading />
      )}
    </>
  );
}
