/** Declares the operations on the versions of a playlist. Pure: no I/O, no clock. */
import { Type } from 'typebox';
import { HISTORY_LIMIT } from '../../../core/resources/playlist/version-bytes.ts';
import { EXAMPLE } from '../../lib/examples.ts';
import { createOperationBuilder, page, record } from '../../lib/operation.ts';
import { PlaylistDiff, PlaylistVersion, PlaylistVersionSummary } from './record.ts';
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

const versionNumber = (description: string) =>
  Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description });
const path = { version: versionNumber('Number of the version.') };
const DIRECT = 'Read from Kubernetes directly: fails with 502 while it is unavailable.';

/** GraphQL cost: versions are read from Kubernetes, not from memory. */
const COST = 100;

const exampleSummary: PlaylistVersionSummary = {
  version: 2,
  createdAt: EXAMPLE.createdAt,
  mode: 'sequential',
  itemCount: 3,
  published: true,
};

export const playlistVersionOperations = [
  operation({
    id: 'listPlaylistVersions',
    scope: 'read',
    http: 'GET /playlists/{id}/versions',
    summary: 'List versions of a playlist, newest first',
    description: `Returns the current version and the ${HISTORY_LIMIT} versions before it. ${DIRECT}`,
    output: page(PlaylistVersionSummary, 'PlaylistVersionList'),
    isUncached: true,
    examples: { output: exampleSummary },
    mcp: {
      title: 'List versions of a playlist',
      description: `Lists the current version of a playlist and the ${HISTORY_LIMIT} before it, newest first.`,
    },
    graphql: {
      description: 'Lists the stored versions of a playlist, newest first unless orderBy says otherwise.',
      cost: COST,
    },
    run: ({ playlists }, { accountId, id, page, where }) => playlists.versions(accountId, id, page, where),
  }),

  operation({
    id: 'getPlaylistVersion',
    scope: 'read',
    http: 'GET /playlists/{id}/versions/{version}',
    summary: 'Get a version of a playlist',
    description: DIRECT,
    path,
    output: record(PlaylistVersion),
    errors: ['playlist_version_not_found'],
    isUncached: true,
    examples: {
      output: {
        ...exampleSummary,
        ...{ notWithin: { sameArtist: 0 }, items: [{ uploadObjectID: EXAMPLE.upload }], rules: [] },
      },
      parameters: { version: 3 },
    },
    mcp: {
      title: 'Get a version of a playlist',
      description: 'Returns a version of a playlist with its items.',
      summarize: ({ version, itemCount, published }) =>
        `Version ${version} has ${itemCount} items${published ? ' and is published' : ''}.`,
    },
    graphql: { description: 'Returns a version of a playlist.', cost: COST },
    run: ({ playlists }, { accountId, id, path: { version } }) => playlists.version(accountId, id, version),
  }),

  operation({
    id: 'diffPlaylistVersion',
    scope: 'read',
    http: 'GET /playlists/{id}/versions/{version}/diff',
    summary: 'Compare two versions of a playlist',
    description: DIRECT,
    path,
    query: { from: Type.Optional(versionNumber('Version to compare with. Defaults to the version before.')) },
    output: record(PlaylistDiff),
    errors: ['playlist_version_not_found'],
    isUncached: true,
    examples: {
      output: {
        ...{ from: 2, to: 3, mode: 'shuffle', notWithin: null, rules: null },
        changes: [{ op: 'remove', index: 4, count: 2 }],
      },
      parameters: { version: 3, from: 2 },
    },
    mcp: {
      title: 'Compare two versions of a playlist',
      description: 'Returns the changes from one version of a playlist to another.',
      summarize: ({ from, to, changes }) => `From version ${from} to ${to} there are ${changes.length} changes.`,
    },
    graphql: {
      description: 'Returns the changes of a version, compared with the version before it or with `from`.',
      field: 'playlistDiff',
      cost: COST,
      query: { from: Type.Optional(Type.Integer()) },
    },
    run: ({ playlists }, { accountId, id, path: { version }, query: { from = Math.max(1, version - 1) } }) =>
      playlists.diff(accountId, id, from, version),
  }),
] as const;
