/** REST: playlists. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import {
  Playlist,
  PlaylistChanges,
  PlaylistCreate,
  PlaylistPublish,
  PlaylistRollback,
  PlaylistSummary,
  PlaylistUpdate,
} from '../../domain/playlists/record.ts';
import type { PlaylistService } from '../../domain/playlists/service.ts';
import { flatten, ListQuery, listOf, pageArgs } from '../http/page.ts';
import { playlistVersionRoutes } from './playlist-versions.ts';

const params = Type.Object({ id: Type.String({ description: 'Playlist id.' }) });
const tags = ['playlists'];
const ONE_OF_MANY =
  '409 `playlist_version_conflict`, and nothing is changed, when `version` is no longer the current one.';

export const playlistRoutes: FastifyPluginAsyncTypebox<{ playlists: PlaylistService }> = async (app, { playlists }) => {
  await app.register(playlistVersionRoutes, { playlists });

  app.post(
    '/playlists',
    {
      schema: {
        operationId: 'createPlaylist',
        tags,
        summary: 'Create a playlist',
        description:
          'Its first version is published at once. What it becomes later is played when that is published. With `streamID` it is attached to that stream as well, or not made at all.',
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

  app.patch(
    '/playlists/:id',
    {
      schema: {
        operationId: 'updatePlaylist',
        tags,
        summary: 'Set name, mode or all items of a playlist',
        description: `Makes the next version, which is played when it is published. ${ONE_OF_MANY}`,
        params,
        body: PlaylistUpdate,
        response: { 200: Playlist },
      },
    },
    async ({ principal, params, body }) => playlists.update(principal.accountId, params.id, body),
  );

  app.post(
    '/playlists/:id/changes',
    {
      schema: {
        operationId: 'changePlaylist',
        tags,
        summary: 'Change items of a playlist, all at once or not at all',
        description: `Makes the next version, which is played when it is published. ${ONE_OF_MANY}`,
        params,
        body: PlaylistChanges,
        response: { 200: Playlist },
      },
    },
    async ({ principal, params, body }) => playlists.change(principal.accountId, params.id, body),
  );

  app.post(
    '/playlists/:id/publish',
    {
      schema: {
        operationId: 'publishPlaylist',
        tags,
        summary: 'Put a version of a playlist on air',
        description:
          'What of it is not prepared yet is prepared, as `publication` shows; streams on air stay with what they play until then, and go on with it after the current item, with no reconnect.',
        params,
        body: PlaylistPublish,
        response: { 200: Playlist },
      },
    },
    async ({ principal, params, body }) => playlists.publish(principal.accountId, params.id, body.version),
  );

  app.post(
    '/playlists/:id/rollback',
    {
      schema: {
        operationId: 'rollbackPlaylist',
        tags,
        summary: 'Make a new version with mode and items of an old one',
        description: 'It is played when it is published. To put an old version itself on air, publish that.',
        params,
        body: PlaylistRollback,
        response: { 200: Playlist },
      },
    },
    async ({ principal, params, body }) => playlists.rollback(principal.accountId, params.id, body.version),
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
