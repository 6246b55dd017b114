/** Builds what the palette offers. Pure: no I/O, no clock. */
import type { LinkProps } from '@tanstack/react-router';
import type { Destination, PlaylistSummary, Stream, Upload } from '../../service/client/index.ts';
import { NAVIGATION_ITEMS } from './navigationItems.ts';

export interface PaletteItem {
  /** Unique among all items. */
  id: string;
  group: 'Go to' | 'Create' | 'Streams' | 'Uploads' | 'Playlists' | 'Destinations';
  label: string;
  link: Pick<LinkProps, 'to' | 'search' | 'params'>;
}

const CREATE: readonly PaletteItem[] = [
  { id: 'new stream', group: 'Create', label: 'New stream', link: { to: '/create' } },
  { id: 'new playlist', group: 'Create', label: 'New playlist', link: { to: '/playlists', search: { form: 'new' } } },
  { id: 'new scene', group: 'Create', label: 'New scene', link: { to: '/scenes', search: { form: 'new' } } },
  {
    id: 'new upload',
    group: 'Create',
    label: 'Upload from a link',
    link: { to: '/uploads', search: { form: 'link' } },
  },
  {
    id: 'new destination',
    group: 'Create',
    label: 'Add destination',
    link: { to: '/destinations', search: { form: 'new' } },
  },
  {
    id: 'new endpoint',
    group: 'Create',
    label: 'Add endpoint',
    link: { to: '/notifications', search: { form: 'new' } },
  },
];

/** Too few people need this page for a place among those that are always shown. */
const SCENES: PaletteItem = { id: 'page Scenes', group: 'Go to', label: 'Scenes', link: { to: '/scenes' } };

/** The things that a search has found, at most a few of each. */
export interface Found {
  streams: readonly Stream[];
  uploads: readonly Upload[];
  playlists: readonly PlaylistSummary[];
  destinations: readonly Destination[];
}

export const NOTHING: Found = { streams: [], uploads: [], playlists: [], destinations: [] };

const toItems = ({ streams, uploads, playlists, destinations }: Found): PaletteItem[] => [
  ...streams.map(
    ({ id, name }): PaletteItem => ({
      id,
      group: 'Streams',
      label: name,
      link: { to: '/streams/$id', params: { id } },
    }),
  ),
  ...uploads.map(
    ({ objectID, name }): PaletteItem => ({
      id: objectID,
      group: 'Uploads',
      label: name,
      link: { to: '/uploads', search: { q: name } },
    }),
  ),
  ...playlists.map(
    ({ id, name }): PaletteItem => ({
      id,
      group: 'Playlists',
      label: name,
      link: { to: '/playlists/$id', params: { id } },
    }),
  ),
  ...destinations.map(
    ({ id, name }): PaletteItem => ({
      id,
      group: 'Destinations',
      label: name,
      link: { to: '/destinations', search: { form: `edit ${id}` } },
    }),
  ),
];

const has = (text: string, words: string): boolean => text.toLowerCase().includes(words.trim().toLowerCase());

/** Things come before pages, since somebody who types a name looks for it. `isPaid`: anything costs something here. */
export function listPaletteItems(words: string, found: Found, isPaid: boolean): PaletteItem[] {
  const pages = NAVIGATION_ITEMS.filter(({ paid }) => isPaid || !paid).map(
    ({ to, label }): PaletteItem => ({ id: `page ${label}`, group: 'Go to', label, link: { to } }),
  );
  const fixed = [...pages, SCENES, ...CREATE].filter(({ label, group }) => has(label, words) || has(group, words));
  return [...toItems(found), ...fixed];
}
