/** Tools: playlists; what versions they had is in versions.ts. */

import {
  Playlist,
  PlaylistChanges,
  PlaylistCreate,
  PlaylistPublish,
  type Playlist as PlaylistRecord,
  PlaylistRollback,
  PlaylistSummary,
  PlaylistUpdate,
} from '../../domain/playlists/record.ts';
import type { PlaylistService } from '../../domain/playlists/service.ts';
import { flatten, listOf } from '../http/page.ts';
import { Deleted, idOf, PAGE, pageOf, sayDeleted, sayPage } from './inputs.ts';
import { type Tool, tool } from './tool.ts';

const id = idOf('Playlist id, as list_playlists tells it.');
const NEXT =
  'Makes the next version, which streams play when it is published. Nothing is changed when `version` is no longer the current one.';

function sayPlaylist({ name, id, version, publication, items }: PlaylistRecord): string {
  const { version: played, state, itemsReady, itemsTotal } = publication;
  const of = state === 'preparing' ? `, ${itemsReady} of ${itemsTotal} items are ready` : '';
  const shown = played === null ? 'nothing is published' : `version ${played} is published (${state}${of})`;
  return `Playlist "${name}" (${id}) is at version ${version} with ${items.length} items; ${shown}.`;
}

export const playlistTools = (playlists: PlaylistService): Tool[] => [
  tool({
    name: 'create_playlist',
    title: 'Create a playlist',
    description:
      'An ordered list of uploads (of list_uploads) that streams loop: of kind video for pictures and sound, of kind audio for songs over them. Its first version is published at once. With `streamID` it is attached to that stream as well.',
    operations: ['createPlaylist'],
    ...{ body: PlaylistCreate, output: Playlist, keyed: true },
    say: sayPlaylist,
    run: ({ accountId }, _own, body) => playlists.create(accountId, body),
  }),
  tool({
    name: 'list_playlists',
    title: 'List playlists',
    description: 'Playlists of the account without their items, newest first.',
    operations: ['listPlaylists'],
    ...{ own: PAGE, output: listOf(PlaylistSummary, 'PlaylistList') },
    say: sayPage,
    run: ({ accountId }, page) => flatten(playlists.list(accountId, pageOf(page))),
  }),
  tool({
    name: 'get_playlist',
    title: 'Look at a playlist',
    description: 'One playlist with its items, its current version, and how far the published one is prepared.',
    operations: ['getPlaylist'],
    ...{ own: id, output: Playlist },
    say: sayPlaylist,
    run: ({ accountId }, { id }) => playlists.get(accountId, id),
  }),
  tool({
    name: 'update_playlist',
    title: 'Set name, mode or all items of a playlist',
    description: NEXT,
    operations: ['updatePlaylist'],
    ...{ own: id, body: PlaylistUpdate, output: Playlist, repeatable: true },
    say: sayPlaylist,
    run: ({ accountId }, { id }, body) => playlists.update(accountId, id, body),
  }),
  tool({
    name: 'change_playlist',
    title: 'Insert, remove, move or replace items of a playlist',
    description: `All changes are made, one after the other, or none. ${NEXT}`,
    operations: ['changePlaylist'],
    ...{ own: id, body: PlaylistChanges, output: Playlist, repeatable: true, keyed: true },
    say: sayPlaylist,
    run: ({ accountId }, { id }, body) => playlists.change(accountId, id, body),
  }),
  tool({
    name: 'publish_playlist',
    title: 'Put a version of a playlist on air',
    description:
      'What of it is not prepared yet is prepared first, as `publication` shows; streams on air go on with it after the current item, with no reconnect.',
    operations: ['publishPlaylist'],
    ...{ own: id, body: PlaylistPublish, output: Playlist, repeatable: true, keyed: true },
    say: sayPlaylist,
    run: ({ accountId }, { id }, { version }) => playlists.publish(accountId, id, version),
  }),
  tool({
    name: 'rollback_playlist',
    title: 'Make a new version of a playlist from an old one',
    description:
      'Takes mode and items of an old version again. It is played when it is published; to put an old version itself on air, call publish_playlist with it.',
    operations: ['rollbackPlaylist'],
    ...{ own: id, body: PlaylistRollback, output: Playlist, keyed: true },
    say: sayPlaylist,
    run: ({ accountId }, { id }, { version }) => playlists.rollback(accountId, id, version),
  }),
  tool({
    name: 'delete_playlist',
    title: 'Delete a playlist',
    description: 'Deletes a playlist; its uploads stay. Refused while a stream plays it.',
    operations: ['deletePlaylist'],
    ...{ own: id, output: Deleted },
    say: sayDeleted,
    run: async ({ accountId }, { id }) => {
      await playlists.delete(accountId, id);
      return { id, done: true };
    },
  }),
];
