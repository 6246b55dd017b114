/** REST: the versions that a playlist had. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { PlaylistDiff, PlaylistVersion, PlaylistVersionSummary } from '../../domain/playlists/record.ts';
import type { PlaylistService } from '../../domain/playlists/service.ts';
import { HISTORY_LIMIT } from '../../resources/playlist/kept.ts';
import { flatten, ListQuery, listOf, pageArgs } from '../http/page.ts';

const params = Type.Object({ id: Type.String({ description: 'Playlist id.' }) });
const number = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const versionParams = Type.Object({
  id: Type.String({ description: 'Playlist id.' }),
  version: Type.Integer({ ...number, description: 'Number of the version.' }),
});
const tags = ['playlists'];
const DIRECT = 'Asked of Kubernetes itself: 502 while it is away.';

export const playlistVersionRoutes: FastifyPluginAsyncTypebox<{ playlists: PlaylistService }> = async (
  app,
  { playlists },
) => {
  app.get(
    '/playlists/:id/versions',
    {
      schema: {
        operationId: 'listPlaylistVersions',
        tags,
        summary: 'Versions of a playlist, newest first',
        description: `The current one, and the ${HISTORY_LIMIT} before it. ${DIRECT}`,
        params,
        querystring: ListQuery,
        response: { 200: listOf(PlaylistVersionSummary, 'PlaylistVersionList') },
      },
    },
    async ({ principal, params, query }) =>
      flatten(await playlists.versions(principal.accountId, params.id, pageArgs(query))),
  );

  app.get(
    '/playlists/:id/versions/:version',
    {
      schema: {
        operationId: 'getPlaylistVersion',
        tags,
        summary: 'One version of a playlist',
        description: DIRECT,
        params: versionParams,
        response: { 200: PlaylistVersion },
      },
    },
    async ({ principal, params }) => playlists.version(principal.accountId, params.id, params.version),
  );

  app.get(
    '/playlists/:id/versions/:version/diff',
    {
      schema: {
        operationId: 'diffPlaylistVersion',
        tags,
        summary: 'What a version changed',
        description: DIRECT,
        params: versionParams,
        querystring: Type.Object({
          from: Type.Optional(Type.Integer({ ...number, description: 'The version to compare with; the one before.' })),
        }),
        response: { 200: PlaylistDiff },
      },
    },
    async ({ principal, params: { id, version }, query }) =>
      playlists.diff(principal.accountId, id, query.from ?? Math.max(1, version - 1), version),
  );
};
