import { Button } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import type { Playlist } from '../../../service/client/index.ts';
import { useDrafts } from '../../lib/drafts/context.tsx';
import { isolate } from '../../lib/isolate.ts';
import { DetailPage } from '../../ui/detailPage.tsx';
import { Name } from '../../ui/name.tsx';
import page from '../../ui/page.module.css';
import { PageHead, useTitle } from '../../ui/page.tsx';
import { Panel } from '../../ui/panel.tsx';
import { playlistCommands } from '../commands/commands.ts';
import { ForPrograms } from '../commands/snippets.tsx';
import { Conflict } from './conflict.tsx';
import { DeletePlaylist, PublishQuestion } from './dialogs.tsx';
import { Editor } from './editor.tsx';
import { PLAYLIST } from './kind.tsx';
import { Published } from './published.tsx';
import { usePlaylist } from './queries.ts';
import { SaveBar } from './saveBar.tsx';
import { KIND_WORDS } from './text.ts';
import { useActions } from './useActions.ts';
import { useEditing } from './useEditing.ts';
import { Versions } from './versions.tsx';

function PlaylistView({ playlist, refetch }: { playlist: Playlist; refetch: () => unknown }) {
  const editing = useEditing(playlist);
  const acts = useActions(playlist, editing, refetch);
  const [deleting, setDeleting] = useState(false);
  const { id, name, kind, version } = playlist;
  const { draft, conflict } = editing;
  useTitle(isolate(name));
  return (
    <>
      <PageHead title={<Name>{name}</Name>} lead={`${KIND_WORDS[kind]} playlist · version ${version}`}>
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
          <Editor
            playlist={playlist}
            draft={draft}
            edit={editing.edit}
            nameError={acts.nameError}
            ruleMistakes={acts.ruleMistakes}
            busy={acts.saving}
          />
        </div>
        <div className={page.column}>
          <Panel title="On air">
            <Published playlist={playlist} />
          </Panel>
          <Panel title="Versions">
            {editing.update && <p className={page.dim}>Save or discard your changes before you restore a version.</p>}
            <Versions
              playlist={playlist}
              publish={acts.askToPublish}
              rollback={acts.rollback}
              busy={acts.busy || editing.update !== undefined}
            />
          </Panel>
        </div>
      </div>
      <ForPrograms about="This playlist" {...playlistCommands(location.origin, id, version)} />
      <SaveBar editing={editing} acts={acts} />
      <PublishQuestion acts={acts} />
      {deleting && <DeletePlaylist playlist={playlist} onClose={() => setDeleting(false)} />}
    </>
  );
}

export function PlaylistPage({ id }: { id: string }) {
  const query = usePlaylist(id);
  // The draft is found when the account is known.
  const { known } = useDrafts();
  return (
    <DetailPage kind={PLAYLIST} query={known ? query : { ...query, data: undefined }}>
      {(playlist) => <PlaylistView playlist={playlist} refetch={query.refetch} />}
    </DetailPage>
  );
}
