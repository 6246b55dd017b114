/** Tools: the versions that a playlist had. */
import { Type } from 'typebox';
import { PlaylistDiff, PlaylistVersion, PlaylistVersionSummary } from '../../domain/playlists/record.ts';
import type { PlaylistService } from '../../domain/playlists/service.ts';
import { HISTORY_LIMIT } from '../../resources/playlist/kept.ts';
import { flatten, listOf } from '../http/page.ts';
import { idOf, PAGE, pageOf, sayPage } from './inputs.ts';
import { type Tool, tool } from './tool.ts';

const id = idOf('Playlist id, as list_playlists tells it.');
const number = (description: string) => Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description });

export const versionTools = (playlists: PlaylistService): Tool[] => [
  tool({
    name: 'list_playlist_versions',
    title: 'List versions of a playlist',
    description: `The current version of a playlist and the ${HISTORY_LIMIT} before it, newest first.`,
    operations: ['listPlaylistVersions'],
    ...{ own: { ...id, ...PAGE }, output: listOf(PlaylistVersionSummary, 'PlaylistVersionList') },
    say: sayPage,
    run: async ({ accountId }, { id, ...page }) => flatten(await playlists.versions(accountId, id, pageOf(page))),
  }),
  tool({
    name: 'get_playlist_version',
    title: 'Look at a version of a playlist',
    description: 'One version of a playlist with its items.',
    operations: ['getPlaylistVersion'],
    ...{ own: { ...id, version: number('Number of the version.') }, output: PlaylistVersion },
    say: ({ version, itemCount, published }) =>
      `Version ${version} has ${itemCount} items${published ? ' and is published' : ''}.`,
    run: ({ accountId }, { id, version }) => playlists.version(accountId, id, version),
  }),
  tool({
    name: 'diff_playlist_version',
    title: 'What a version of a playlist changed',
    description: 'The changes that lead from one version of a playlist to another.',
    operations: ['diffPlaylistVersion'],
    own: {
      ...id,
      version: number('Number of the version.'),
      from: Type.Optional(number('The version to compare with; the one before.')),
    },
    output: PlaylistDiff,
    say: ({ from, to, changes }) => `From version ${from} to ${to} there are ${changes.length} changes.`,
    run: ({ accountId }, { id, version, from = Math.max(1, version - 1) }) =>
      playlists.diff(accountId, id, from, version),
  }),
];
