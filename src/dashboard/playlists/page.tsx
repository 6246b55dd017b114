import { Button, Skeleton } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconChevronLeft, IconTrash } from '@tabler/icons-react';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { type Playlist, problems } from '../../client/index.ts';
import { useApi } from '../context.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { DeleteDialog } from '../parts/delete.tsx';
import { mistakesOf } from '../parts/mistakes.ts';
import { PageHead, useTitle } from '../parts/page.tsx';
import { Panel } from '../parts/panel.tsx';
import { problemText } from '../problem.ts';
import { Failure, Notice } from '../shell/notices.tsx';
import page from '../streams/streamPage.module.css';
import { Conflict } from './conflict.tsx';
import { Editor } from './editor.tsx';
import classes from './playlists.module.css';
import { Published } from './published.tsx';
import { usePlaylist, usePlaylistActs, usePlaylistsChanged } from './queries.ts';
import { type Editing, useDraft } from './useDraft.ts';
import { Versions } from './versions.tsx';
import { KIND_WORDS } from './words.ts';

const refused = (title: string) => (error: unknown) =>
  notifications.show({ color: 'red', autoClose: 12_000, withBorder: true, title, message: problemText(error) });

interface SaveBarProps {
  editing: Editing;
  busy: boolean;
  problem: string | undefined;
  onSave: () => void;
  onSaveAndPublish: () => void;
}

/** Stays in sight while there are changes that are not saved. */
function SaveBar({
  editing: { update, conflict, draft, discard },
  busy,
  problem,
  onSave,
  onSaveAndPublish,
}: SaveBarProps) {
  if (!update) return null;
  const off = conflict !== undefined || draft.name.trim() === '';
  return (
    <section className={classes.saveBar} aria-label="Unsaved changes">
      <p>{problem ? <span role="alert">{problem}</span> : 'Your changes are not saved yet.'}</p>
      <div className={classes.buttons}>
        <Button variant="subtle" onClick={discard} disabled={busy}>
          Discard
        </Button>
        <Button variant="default" onClick={onSave} disabled={off || busy}>
          Save
        </Button>
        <Button onClick={onSaveAndPublish} disabled={off || draft.entries.length === 0} loading={busy}>
          Save and publish
        </Button>
      </div>
    </section>
  );
}

/** Saving, publishing and rolling back, and what is asked before. */
function useActs(playlist: Playlist, editing: Editing, refetch: () => unknown) {
  const { save, publish, rollback } = usePlaylistActs(playlist.id);
  const [asked, setAsked] = useState<number>();
  const announce = (after: Playlist, title: string) =>
    notifications.show({ title, message: `“${after.name}” is at version ${after.version} now.` });
  const publishNow = (version: number) =>
    publish.mutate(version, { onError: refused(`Version ${version} was not published`) });
  // Nobody notices what no stream plays, so there is nothing to ask then.
  const askToPublish = (version: number) => (playlist.streamID === '' ? publishNow(version) : setAsked(version));
  const saveThen = (then: (after: Playlist) => void) => {
    if (!editing.update || save.isPending) return;
    save.mutate(editing.update, {
      onSuccess: (after) => {
        editing.discard();
        then(after);
      },
      onError: (error) => {
        if (error instanceof problems.PlaylistVersionConflict) void refetch();
      },
    });
  };
  const isConflict = save.error instanceof problems.PlaylistVersionConflict;
  const mistakes = save.error && !isConflict ? mistakesOf(save.error, ['name']) : undefined;
  return {
    asked,
    answer: () => setAsked(undefined),
    publishNow,
    askToPublish,
    save: () => saveThen((after) => announce(after, 'Saved')),
    saveAndPublish: () => saveThen(({ version }) => askToPublish(version)),
    rollback: (version: number) =>
      rollback.mutate(version, {
        onSuccess: (after) => announce(after, `Rolled back to version ${version}`),
        onError: refused(`There is no way back to version ${version}`),
      }),
    saving: save.isPending,
    busy: save.isPending || publish.isPending || rollback.isPending,
    nameError: mistakes?.fields.name,
    problem: mistakes?.rest,
  };
}

function PlaylistView({ playlist, refetch }: { playlist: Playlist; refetch: () => unknown }) {
  const { calls } = useApi();
  const navigate = useNavigate();
  const changed = usePlaylistsChanged();
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
          onDiscard={editing.discard}
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
      <SaveBar
        editing={editing}
        busy={acts.saving}
        problem={acts.problem}
        onSave={acts.save}
        onSaveAndPublish={acts.saveAndPublish}
      />
      {acts.asked !== undefined && (
        <Confirm
          title={`Publish version ${acts.asked}?`}
          yes="Publish"
          no="Not now"
          onYes={() => acts.publishNow(acts.asked ?? version)}
          onClose={acts.answer}
        >
          Streams that play this playlist go on with it after their current clip, without a break. They stay with what
          they play until all of it is prepared.
        </Confirm>
      )}
      {deleting && (
        <DeleteDialog
          noun="playlist"
          name={name}
          remove={() => calls.playlists.delete(id)}
          onClose={() => setDeleting(false)}
          onDone={() => {
            void changed();
            return navigate({ to: '/playlists' });
          }}
        >
          It goes with all of its versions, for good. Its clips stay among your uploads.
        </DeleteDialog>
      )}
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
