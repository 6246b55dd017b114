/** Declares the operations on playlists; those on their old versions are in version-operations.ts. Pure: no I/O, no clock. */
import { Type } from 'typebox';
import { EXAMPLE } from '../../lib/examples.ts';
import { created, createOperationBuilder, deleted, FILTERED, OWNED, PAGED, page, record } from '../../lib/operation.ts';
import { listQuery, readListing } from '../../lib/paging/noun-list.ts';
import { PLAYLIST_LIST } from './list.ts';
import {
  Playlist,
  PlaylistChanges,
  PlaylistCreate,
  PlaylistPublish,
  PlaylistRollback,
  PlaylistSummary,
  PlaylistUpdate,
} from './record.ts';
import type { PlaylistRule } from './rules.ts';
import type { PlaylistService } from './service.ts';

const operation = createOperationBuilder<{ playlists: PlaylistService }>({
  tag: 'playlists',
  isOpenToLimitedKeys: true,
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
  labels: { team: 'news' },
  kind: 'video',
  mode: 'sequential',
  streamID: EXAMPLE.stream,
  version: 3,
  publishedVersion: 2,
  posterUrl: EXAMPLE.posterUrl,
};

const exampleRule: PlaylistRule = {
  ...{ name: 'jingle', when: { eachItems: 5 }, uploadObjectID: EXAMPLE.upload },
  ...{ start: 'Border', lateSeconds: 120, after: 'Resume', count: 1, pick: 'Next' },
};

/** The whole schema would be a fiftieth of the list of tools, twice. */
const LISTED_RULES = {
  notWithin: Type.Optional(
    Type.Object({}, { description: 'Shuffle keeps songs of an artist apart: {sameArtist: 3}.' }),
  ),
  rules: Type.Optional(
    Type.Array(Type.Object({}), {
      description:
        'What else plays when, the most important first: {name, uploadObjectID or playlistID, when: one of {everySeconds}, {eachItems}, ' +
        '{at: {cron, timeZone}}, {window: {cron, timeZone, durationSeconds}}; optional start (Border, Cut), lateSeconds, after (Resume, ' +
        'Next, Restart), count, pick (Next, Shuffle)}.',
    }),
  ),
};

const examplePlaylist: Playlist = {
  ...exampleSummary,
  notWithin: { sameArtist: 0 },
  items: [{ uploadObjectID: EXAMPLE.upload }],
  rules: [exampleRule],
  publication: { version: 2, state: 'preparing', itemsReady: 2, itemsFailed: 0, itemsTotal: 3, progress: 0.82 },
};

const NEXT_VERSION =
  'Creates the next version, which streams play once it is published. Fails with 409 ' +
  '`playlist_version_conflict` and changes nothing if `version` is no longer the current version.';
const NEXT_VERSION_BY_TOOL =
  'Creates the next version, which streams play once it is published. Nothing changes if `version` is no longer ' +
  'the current version.';

function describePlaylist({ name, id, version, publication, items }: Playlist): string {
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
      'Publishes the first version immediately. Streams play later versions once they are published. With ' +
      '`streamID`, the playlist is also attached to that stream; if that fails, no playlist is created.',
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
        'Creates an ordered list of uploads for streams to loop: kind video for pictures and sound, kind audio for ' +
        'songs over them. The first version is published immediately. `streamID` also attaches it to that stream.',
      listed: LISTED_RULES,
      summarize: describePlaylist,
    },
    graphql: { description: 'Creates a playlist.' },
    run: ({ playlists }, { accountId, input }) => playlists.create(accountId, input),
  }),

  operation({
    id: 'listPlaylists',
    scope: 'read',
    http: 'GET /playlists',
    summary: 'List playlists, newest first',
    description: `Returns the account’s playlists without their items, filtered and sorted as asked. ${FILTERED} ${PAGED}`,
    query: listQuery(PLAYLIST_LIST),
    output: page(PlaylistSummary, 'PlaylistList'),
    // The published API contract declares 404 for this list too.
    errors: ['route_not_found'],
    examples: { output: exampleSummary, parameters: { type: 'video', sort: 'name' } },
    mcp: {
      query: listQuery(PLAYLIST_LIST, 'short'),
      title: 'List playlists',
      description:
        'Lists the account’s playlists without their items, newest first, optionally filtered by a word in the name.',
    },
    graphql: {
      description: 'Lists playlists, newest first unless orderBy says otherwise.',
      query: listQuery(PLAYLIST_LIST),
    },
    run: ({ playlists }, { accountId, page, query, where }) =>
      playlists.list(accountId, readListing(page, query), where),
  }),

  operation({
    id: 'getPlaylist',
    scope: 'read',
    http: 'GET /playlists/{id}',
    summary: 'Get a playlist',
    description: `Returns a playlist with its items. ${OWNED}`,
    output: record(Playlist),
    examples: { output: examplePlaylist },
    mcp: {
      title: 'Get a playlist',
      description:
        'Returns a playlist with its items, its current version, and the preparation of the published version.',
      summarize: describePlaylist,
    },
    graphql: { description: 'Returns a playlist.' },
    run: ({ playlists }, { accountId, id }) => playlists.get(accountId, id),
  }),

  operation({
    id: 'updatePlaylist',
    scope: 'write',
    http: 'PATCH /playlists/{id}',
    summary: 'Set name, mode, all items or all rules of a playlist',
    description: NEXT_VERSION,
    input: PlaylistUpdate,
    output: record(Playlist),
    errors: ['quota_exceeded', 'playlist_version_conflict', 'conflict'],
    examples: { input: { version: 3, mode: 'shuffle' }, output: examplePlaylist },
    mcp: {
      title: 'Set name, mode, all items or all rules of a playlist',
      description: NEXT_VERSION_BY_TOOL,
      listed: LISTED_RULES,
      summarize: describePlaylist,
      isRepeatable: true,
    },
    graphql: {
      description:
        'Sets name, mode, all items or all rules, as the next version. Fails with `playlist_version_conflict` if another version ' +
        'came first.',
    },
    run: ({ playlists }, { accountId, id, input }) => playlists.update(accountId, id, input),
  }),

  operation({
    id: 'changePlaylist',
    scope: 'write',
    http: 'POST /playlists/{id}/changes',
    summary: 'Change items of a playlist in one batch',
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
      description: `Makes all changes in order, or none of them. ${NEXT_VERSION_BY_TOOL}`,
      summarize: describePlaylist,
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
      'Prepares the media that is not prepared yet; `publication` shows the progress. Until then, streams on air ' +
      'keep playing what they play. They switch after the current item, without a reconnect.',
    input: PlaylistPublish,
    output: record(Playlist),
    errors: ['playlist_version_not_found', 'playlist_not_playable', 'conflict'],
    examples: { input: { version: 3 }, output: examplePlaylist },
    mcp: {
      title: 'Put a version of a playlist on air',
      description:
        'Prepares missing media first; `publication` shows the progress. Streams on air switch after the current ' +
        'item, without a reconnect.',
      summarize: describePlaylist,
      isRepeatable: true,
    },
    graphql: {
      description:
        'Puts a version on air without a reconnect as soon as part of it is prepared, or all of it with onItemFailure Block.',
      isFlat: true,
    },
    run: ({ playlists }, { accountId, id, input }) => playlists.publish(accountId, id, input.version),
  }),

  operation({
    id: 'rollbackPlaylist',
    scope: 'write',
    http: 'POST /playlists/{id}/rollback',
    summary: 'Create a new version from an old one',
    description:
      'Copies mode, items and rules of the old version. Streams play the new version once it is published. To put the old ' +
      'version itself on air, publish it.',
    input: PlaylistRollback,
    output: record(Playlist),
    errors: ['playlist_version_not_found', 'playlist_not_playable', 'playlist_version_conflict', 'conflict'],
    examples: { input: { version: 2 }, output: examplePlaylist },
    mcp: {
      title: 'Make a new version of a playlist from an old one',
      description:
        'Copies mode, items and rules of an old version. Streams play the new version once it is published. To put the old ' +
        'version itself on air, call publish_playlist with it.',
      summarize: describePlaylist,
    },
    graphql: { description: 'Creates a new version with mode, items and rules of an old one.', isFlat: true },
    run: ({ playlists }, { accountId, id, input }) => playlists.rollback(accountId, id, input.version),
  }),

  operation({
    id: 'deletePlaylist',
    scope: 'destructive',
    http: 'DELETE /playlists/{id}',
    summary: 'Delete a playlist',
    description: 'Fails with 409 `playlist_in_use` while a stream plays it.',
    output: deleted,
    errors: ['playlist_in_use', 'conflict'],
    mcp: {
      title: 'Delete a playlist',
      description: 'Deletes a playlist. Its uploads stay. Fails while a stream plays it.',
    },
    graphql: { description: 'Deletes a playlist. Fails with `playlist_in_use` while a stream plays it.' },
    run: ({ playlists }, { accountId, id }) => playlists.delete(accountId, id),
  }),
] as const;
