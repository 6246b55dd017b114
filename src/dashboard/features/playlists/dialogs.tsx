/** Asks before something happens to a playlist that others notice, or that cannot be taken back. */
import { useNavigate } from '@tanstack/react-router';
import type { Playlist } from '../../../service/client/index.ts';
import { useApi } from '../../api/context.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { DeleteDialog } from '../../ui/deleteDialog.tsx';
import { HolderList } from '../references/holders.tsx';
import { usePlaylistsChanged } from './queries.ts';
import type { PlaylistActs } from './useActions.ts';

export function PublishQuestion({ acts: { asked, answer, publishNow } }: { acts: PlaylistActs }) {
  if (asked === undefined) return null;
  return (
    <Confirm
      title={`Publish version ${asked}?`}
      yes="Publish"
      no="Not now"
      onYes={() => publishNow(asked)}
      onClose={answer}
    >
      Streams that play this playlist switch to this version after their current clip, without a break. Until all of it
      is prepared, they keep playing what they play.
    </Confirm>
  );
}

interface DeletePlaylistProps {
  playlist: Pick<Playlist, 'id' | 'name'>;
  onClose: () => void;
  /** In place of the way to the list of all playlists. */
  onDeleted?: () => void;
}

export function DeletePlaylist({ playlist: { id, name }, onClose, onDeleted }: DeletePlaylistProps) {
  const { playlists } = useApi().calls;
  const navigate = useNavigate();
  const changed = usePlaylistsChanged();
  return (
    <DeleteDialog
      noun="playlist"
      name={name}
      holders={(error) => <HolderList noun="playlist" error={error} />}
      remove={() => playlists.delete(id)}
      onClose={onClose}
      onDone={() => {
        void changed();
        if (onDeleted) return onDeleted();
        return void navigate({ to: '/playlists' });
      }}
    >
      All versions of the playlist are deleted permanently. Its clips stay in your uploads.
    </DeleteDialog>
  );
}
