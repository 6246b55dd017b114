/** Declares what lists of playlists are filtered and sorted by. Pure: no I/O, no clock. */
import type { Stored } from '../../../core/kube/types.ts';
import type { Playlist } from '../../../core/resources/playlist/resource.ts';
import { PLAYLIST_KINDS } from '../../../core/resources/playlist/spec.ts';
import { readVersion } from '../../../core/resources/playlist/version.ts';
import { amountKey } from '../../lib/paging/noun-list.ts';
import { resourceList } from '../limits/resource-list.ts';

export const PLAYLIST_LIST = resourceList<Stored<Playlist>>({
  nouns: 'playlists',
  type: { title: 'MediaKind', values: PLAYLIST_KINDS, get: ({ spec }) => spec.track },
  sorts: { version: { key: (playlist) => amountKey(readVersion(playlist)) } },
});
