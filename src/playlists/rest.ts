/** REST: playlists. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { flatten, ListQuery, listOf, pageArgs } from '../http/page.ts';
import { Playlist, PlaylistCreate, PlaylistSummary } from './record.ts';
import type { PlaylistService } from './service.ts';

const params = Type.Object({ id: Type.String({ description: 'Playlist id.' }) });
const tags = ['playlists'];

export const playlistRoutes: FastifyPluginAsyncTypebox<{ playlists: PlaylistService }> = async (app, { playlists }) => {
  app.post(
    '/playlists',
    {
      schema: {
        operationId: 'createPlaylist',
        tags,
        summary: 'Create a playlist',
        body: PlaylistCreate,
        response: { 201: Playlist },
      },
    },
    async (request, reply) => {
      const playlist = await playlists.create(request.principal.accountId, request.body);
      return reply.code(201).header('location', `/v1/playlists/${playlist.id}`).send(playlist);
    },
  );

  app.get(
    '/playlists',
    {
      schema: {
        operationId: 'listPlaylists',
        tags,
        summary: 'Playlists, newest first',
        querystring: ListQuery,
        response: { 200: listOf(PlaylistSummary, 'PlaylistList') },
      },
    },
    async ({ principal, query }) => flatten(playlists.list(principal.accountId, pageArgs(query))),
  );

  app.get(
    '/playlists/:id',
    { schema: { operationId: 'getPlaylist', tags, summary: 'One playlist', params, response: { 200: Playlist } } },
    async ({ principal, params }) => playlists.get(principal.accountId, params.id),
  );

  app.delete(
    '/playlists/:id',
    {
      schema: {
        operationId: 'deletePlaylist',
        tags,
        summary: 'Delete a playlist',
        description: '409 `playlist_in_use` while a stream plays it.',
        params,
        response: { 204: Type.Null() },
      },
    },
    async ({ principal, params }, reply) => {
      await playlists.delete(principal.accountId, params.id);
      return reply.code(204).send(null);
    },
  );
};
