/** Declares the operations on playlists; those on their old versions are in version-operations.ts. Pure: no I/O, no clock. */
import { EXAMPLE } from '../../lib/examples.ts';
import { created, deleted, OWNED, operationsOf, PAGED, page, record } from '../../lib/operation.ts';
import {
  Playlist,
  PlaylistChanges,
  PlaylistCreate,
  PlaylistPublish,
  PlaylistRollback,
  PlaylistSummary,
  PlaylistUpdate,
} from './record.ts';
import type { PlaylistService } from './service.ts';

const operation = operationsOf<{ playlists: PlaylistService }>({
  tag: 'playlists',
  object: {
    idName: 'Playlist id',
    listTool: 'list_playlists',
    exampleId: EXAMPLE.playlist,
    notFound: 'playlist_not_found',
  },
});

const exampleSummary: PlaylistSummary = {
  id: EXAMPLE.playlist,
  createdAt: EXAMPLE.createdAt,
  name: 'Evening',
  kind: 'video',
  mode: 'sequential',
  streamID: EXAMPLE.stream,
  version: 3,
  publishedVersion: 2,
};

const examplePlaylist: Playlist = {
  ...exampleSummary,
  items: [{ uploadObjectID: EXAMPLE.upload }],
  publication: { version: 2, state: 'preparing', itemsReady: 2, itemsFailed: 0, itemsTotal: 3, progress: 0.82 },
};

const NEXT_VERSION =
  'Makes the next version, which is played when it is published. 409 `playlist_version_conflict`, and nothing is changed, when ' +
  '`version` is no longer the current one.';
const NEXT_VERSION_BY_TOOL =
  'Makes the next version, which streams play when it is published. Nothing is changed when `version` is no longer the current one.';

function sayPlaylist({ name, id, version, publication, items }: Playlist): string {
  const { version: played, state, itemsReady, itemsTotal } = publication;
  const ready = state === 'preparing' ? `, ${itemsReady} of ${itemsTotal} items are ready` : '';
  const shown = played === null ? 'nothing is published' : `version ${played} is published (${state}${ready})`;
  return `Playlist "${name}" (${id}) is at version ${version} with ${items.length} items; ${shown}.`;
}

export const playlistOperations = [
  operation({
    id: 'createPlaylist',
    scope: 'write',
    http: 'POST /playlists',
    summary: 'Create a playlist',
    description:
      'Its first version is published at once. What it becomes later is played when that is published. With `streamID` it is attached to that stream as well, or not made at all.',
    input: PlaylistCreate,
    output: created(Playlist, ({ id }) => `/playlists/${id}`),
    errors: ['conflict'],
    examples: {
      input: { name: 'Evening', kind: 'video', mode: 'sequential', items: [{ uploadObjectID: EXAMPLE.upload }] },
      output: examplePlaylist,
    },
    mcp: {
      title: 'Create a playlist',
      description:
        'An ordered list of uploads (of list_uploads) that streams loop: of kind video for pictures and sound, of kind audio for songs over them. Its first version is published at once. With `streamID` it is attached to that stream as well.',
      say: sayPlaylist,
    },
    graphql: { description: 'Creates a playlist.' },
    run: ({ playlists }, { accountId, input }) => playlists.create(accountId, input),
  }),

  operation({
    id: 'listPlaylists',
    scope: 'read',
    http: 'GET /playlists',
    summary: 'Playlists, newest first',
    description: `The playlists of the account, without their items. ${PAGED}`,
    output: page(PlaylistSummary, 'PlaylistList'),
    // The published API contract declares 404 for this list too.
    errors: ['route_not_found'],
    examples: { output: exampleSummary },
    mcp: {
      title: 'List playlists',
      description: 'Playlists of the account without their items, newest first.',
    },
    graphql: { description: 'Playlists, newest first unless orderBy says otherwise.' },
    run: ({ playlists }, { accountId, page, where }) => playlists.list(accountId, page, where),
  }),

  operation({
    id: 'getPlaylist',
    scope: 'read',
    http: 'GET /playlists/{id}',
    summary: 'One playlist',
    description: `A playlist with its items. ${OWNED}`,
    output: record(Playlist),
    examples: { output: examplePlaylist },
    mcp: {
      title: 'Look at a playlist',
      description: 'One playlist with its items, its current version, and how far the published one is prepared.',
      say: sayPlaylist,
    },
    graphql: { description: 'One playlist.' },
    run: ({ playlists }, { accountId, id }) => playlists.get(accountId, id),
  }),

  operation({
    id: 'updatePlaylist',
    scope: 'write',
    http: 'PATCH /playlists/{id}',
    summary: 'Set name, mode or all items of a playlist',
    description: NEXT_VERSION,
    input: PlaylistUpdate,
    output: record(Playlist),
    errors: ['quota_exceeded', 'playlist_version_conflict', 'conflict'],
    examples: { input: { version: 3, mode: 'shuffle' }, output: examplePlaylist },
    mcp: {
      title: 'Set name, mode or all items of a playlist',
      description: NEXT_VERSION_BY_TOOL,
      say: sayPlaylist,
      isRepeatable: true,
    },
    graphql: {
      description:
        'Sets name, mode or all items, as the next version; `playlist_version_conflict` when another came before.',
    },
    run: ({ playlists }, { accountId, id, input }) => playlists.update(accountId, id, input),
  }),

  operation({
    id: 'changePlaylist',
    scope: 'write',
    http: 'POST /playlists/{id}/changes',
    summary: 'Change items of a playlist, all at once or not at all',
    description: NEXT_VERSION,
    input: PlaylistChanges,
    output: record(Playlist),
    errors: ['playlist_version_conflict', 'conflict'],
    examples: {
      input: { version: 3, changes: [{ op: 'insert', index: 0, items: [{ uploadObjectID: EXAMPLE.upload }] }] },
      output: examplePlaylist,
    },
    mcp: {
      title: 'Insert, remove, move or replace items of a playlist',
      description: `All changes are made, one after the other, or none. ${NEXT_VERSION_BY_TOOL}`,
      say: sayPlaylist,
      isRepeatable: true,
    },
    run: ({ playlists }, { accountId, id, input }) => playlists.change(accountId, id, input),
  }),

  operation({
    id: 'publishPlaylist',
    scope: 'write',
    http: 'POST /playlists/{id}/publish',
    summary: 'Put a version of a playlist on air',
    description:
      'What of it is not prepared yet is prepared, as `publication` shows; streams on air stay with what they play until then, and go on with it after the current item, with no reconnect.',
    input: PlaylistPublish,
    output: record(Playlist),
    errors: ['playlist_version_not_found', 'playlist_not_playable', 'conflict'],
    examples: { input: { version: 3 }, output: examplePlaylist },
    mcp: {
      title: 'Put a version of a playlist on air',
      description:
        'What of it is not prepared yet is prepared first, as `publication` shows; streams on air go on with it after the current item, with no reconnect.',
      say: sayPlaylist,
      isRepeatable: true,
    },
    graphql: {
      description:
        'Puts a version on air, with no reconnect, as soon as something of it is prepared, or all of it with onItemFailure Block.',
      isFlat: true,
    },
    run: ({ playlists }, { accountId, id, input }) => playlists.publish(accountId, id, input.version),
  }),

  operation({
    id: 'rollbackPlaylist',
    scope: 'write',
    http: 'POST /playlists/{id}/rollback',
    summary: 'Make a new version with mode and items of an old one',
    description: 'It is played when it is published. To put an old version itself on air, publish that.',
    input: PlaylistRollback,
    output: record(Playlist),
    errors: ['playlist_version_not_found', 'playlist_not_playable', 'playlist_version_conflict', 'conflict'],
    examples: { input: { version: 2 }, output: examplePlaylist },
    mcp: {
      title: 'Make a new version of a playlist from an old one',
      description:
        'Takes mode and items of an old version again. It is played when it is published; to put an old version itself on air, call publish_playlist with it.',
      say: sayPlaylist,
    },
    graphql: { description: 'Makes a new version with mode and items of an old one.', isFlat: true },
    run: ({ playlists }, { accountId, id, input }) => playlists.rollback(accountId, id, input.version),
  }),

  operation({
    id: 'deletePlaylist',
    scope: 'destructive',
    http: 'DELETE /playlists/{id}',
    summary: 'Delete a playlist',
    description: '409 `playlist_in_use` while a stream plays it.',
    output: deleted,
    errors: ['playlist_in_use', 'conflict'],
    mcp: {
      title: 'Delete a playlist',
      description: 'Deletes a playlist; its uploads stay. Refused while a stream plays it.',
    },
    graphql: { description: 'Deletes a playlist; `playlist_in_use` while a stream plays it.' },
    run: ({ playlists }, { accountId, id }) => playlists.delete(accountId, id),
  }),
] as const;
