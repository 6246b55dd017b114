/** Describes playlists as a kind of thing that has pages of its own. */
import { Link } from '@tanstack/react-router';
import type { DetailKind } from '../../ui/detailPage.tsx';

export const PLAYLIST: DetailKind = {
  noun: 'playlist',
  list: '/playlists',
  remains: 'Its clips are still in your uploads.',
  create: (
    <Link to="/playlists" search={{ form: 'new' }}>
      New playlist
    </Link>
  ),
};
