/** REST: streams. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { LiveStats } from '../../domain/stats/record.ts';
import type { StatsService } from '../../domain/stats/service.ts';
import {
  Readiness,
  Stream,
  StreamCreate,
  StreamEvent,
  type Stream as StreamRecord,
  StreamSchedule,
  StreamSkip,
  StreamUpdate,
  StreamWindows,
} from '../../domain/streams/record.ts';
import type { Progress, StreamService } from '../../domain/streams/service.ts';
import { PHASES } from '../../resources/stream/spec.ts';
import { bodyMayBeMissing, NoBody } from '../http/body.ts';
import { kept, keptList } from '../http/kept.ts';
import { flatten, listOf, pageArgs, pageQuery } from '../http/page.ts';

const params = Type.Object({ id: Type.String({ description: 'Stream id.' }) });
const Wait = Type.Object({
  wait: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 60, description: 'Seconds to wait for it to happen; 202 if it took longer.' }),
  ),
});
const Start = Type.Object({
  ...Wait.properties,
  whenReady: Type.Optional(
    Type.Boolean({
      description: 'One that is not ready is `waiting` until it is, and goes on air by itself then, instead of 409.',
    }),
  ),
});
const StreamQuery = Type.Object({
  ...pageQuery,
  status: Type.Optional(Type.Enum(PHASES, { description: 'Only streams in this state.' })),
  q: Type.Optional(Type.String({ maxLength: 200, description: 'Only streams with this in their name.' })),
});

const tags = ['streams'];

interface Doors {
  streams: StreamService;
  stats: StatsService;
  /** Aborts when the server stops: previews have no end of their own. */
  stopping: AbortSignal;
}

export const streamRoutes: FastifyPluginAsyncTypebox<Doors> = async (app, { streams, stats, stopping }) => {
  app.post(
    '/streams',
    {
      schema: {
        operationId: 'createStream',
        tags,
        summary: 'Create a stream',
        description: 'It is off air until it is started, or until scheduleStartAt.',
        body: StreamCreate,
        response: { 201: Stream },
      },
    },
    async (request, reply) => {
      const stream = await streams.create(request.principal.accountId, request.body);
      return reply.code(201).header('location', `/v1/streams/${stream.id}`).send(stream);
    },
  );

  app.get(
    '/streams',
    {
      serializerCompiler: keptList,
      schema: {
        operationId: 'listStreams',
        tags,
        summary: 'Streams, newest first',
        querystring: StreamQuery,
        response: { 200: listOf(Stream, 'StreamList') },
      },
    },
    async ({ principal, query }) => flatten(streams.list(principal.accountId, pageArgs(query), query)),
  );

  app.get(
    '/streams/:id',
    {
      serializerCompiler: kept,
      schema: { operationId: 'getStream', tags, summary: 'One stream', params, response: { 200: Stream } },
    },
    async ({ principal, params }) => streams.get(principal.accountId, params.id),
  );

  app.patch(
    '/streams/:id',
    {
      schema: {
        operationId: 'updateStream',
        tags,
        summary: 'Change a stream',
        params,
        body: StreamUpdate,
        response: { 200: Stream },
      },
    },
    async ({ principal, params, body }) => streams.update(principal.accountId, params.id, body),
  );

  app.delete(
    '/streams/:id',
    {
      schema: {
        operationId: 'deleteStream',
        tags,
        summary: 'Delete a stream',
        description: 'Takes it off air first. 204 when nothing of it is left, 202 when that takes longer.',
        params,
        response: { 202: Type.Null(), 204: Type.Null() },
      },
    },
    async ({ principal, params }, reply) => {
      const gone = await streams.delete(principal.accountId, params.id);
      return reply.code(gone ? 204 : 202).send(null);
    },
  );

  actionRoutes(app, streams);
  liveRoutes(app, { streams, stats, stopping });
};

type App = Parameters<FastifyPluginAsyncTypebox>[0];

/** 200 when what was asked for is so, 202 when it is on its way. */
const answer = (
  reply: { code(status: 200 | 202): { send(stream: StreamRecord): unknown } },
  { stream, done }: Progress,
) => reply.code(done ? 200 : 202).send(stream);

function actionRoutes(app: App, streams: StreamService): void {
  app.post(
    '/streams/:id/start',
    {
      preValidation: bodyMayBeMissing,
      schema: {
        operationId: 'startStream',
        tags,
        summary: 'Put a stream on air',
        description: 'Safe to repeat: a stream that is on air answers as it is.',
        params,
        querystring: Start,
        body: NoBody,
        response: { 200: Stream, 202: Stream },
      },
    },
    async ({ principal, params, query: { wait, whenReady } }, reply) => {
      await answer(reply, await streams.start(principal.accountId, params.id, wait, { whenReady }));
      return reply;
    },
  );

  app.post(
    '/streams/:id/stop',
    {
      preValidation: bodyMayBeMissing,
      schema: {
        operationId: 'stopStream',
        tags,
        summary: 'Take a stream off air',
        description: 'Safe to repeat: a stream that is off air answers as it is.',
        params,
        querystring: Wait,
        body: NoBody,
        response: { 200: Stream, 202: Stream },
      },
    },
    async ({ principal, params, query }, reply) => {
      await answer(reply, await streams.stop(principal.accountId, params.id, query.wait));
      return reply;
    },
  );

  app.post(
    '/streams/:id/skip',
    {
      preValidation: bodyMayBeMissing,
      schema: {
        operationId: 'skipStreamItem',
        tags,
        summary: 'Go on to the next item',
        description:
          'At once and without a reconnect. 200 when the next item has begun, 202 when that takes longer; ' +
          'requests that come while one is under way are one with it.',
        params,
        body: StreamSkip,
        response: { 200: Stream, 202: Stream },
      },
    },
    async ({ principal, params, body }, reply) => {
      await answer(reply, await streams.skip(principal.accountId, params.id, body));
      return reply;
    },
  );

  app.get(
    '/streams/:id/upcoming',
    {
      schema: {
        operationId: 'getStreamSchedule',
        tags,
        summary: 'A stream’s schedule and the next times it is on air',
        params,
        response: { 200: StreamWindows },
      },
    },
    async ({ principal, params }) => streams.windows(principal.accountId, params.id),
  );

  app.post(
    '/streams/:id/schedule',
    {
      schema: {
        operationId: 'scheduleStream',
        tags,
        summary: 'Schedule a stream',
        params,
        body: StreamSchedule,
        response: { 200: Stream },
      },
    },
    async ({ principal, params, body }) => streams.schedule(principal.accountId, params.id, body),
  );

  app.delete(
    '/streams/:id/schedule',
    {
      schema: {
        operationId: 'unscheduleStream',
        tags,
        summary: 'Take a stream’s schedule away',
        params,
        response: { 200: Stream },
      },
    },
    async ({ principal, params }) => streams.unschedule(principal.accountId, params.id),
  );
}

function liveRoutes(app: App, { streams, stats, stopping }: Doors): void {
  app.get(
    '/streams/:id/readiness',
    {
      serializerCompiler: kept,
      schema: {
        operationId: 'getStreamReadiness',
        tags,
        summary: 'What would stop the stream from starting',
        params,
        response: { 200: Readiness },
      },
    },
    async ({ principal, params }) => streams.readiness(principal.accountId, params.id),
  );

  app.get(
    '/streams/:id/live-stats',
    {
      schema: {
        operationId: 'getStreamLiveStats',
        tags,
        summary: 'Live numbers of a stream',
        params,
        response: { 200: LiveStats },
      },
    },
    async ({ principal, params }) => stats.live(principal.accountId, params.id),
  );

  app.get(
    '/streams/:id/events',
    {
      schema: {
        operationId: 'listStreamEvents',
        tags,
        summary: 'What happened to a stream, newest first',
        description: 'Asked of Kubernetes itself, which keeps them for about an hour: 502 while it is away.',
        params,
        querystring: Type.Object(pageQuery),
        response: { 200: listOf(StreamEvent, 'StreamEventList') },
      },
    },
    async ({ principal, params, query }) =>
      flatten(await streams.events(principal.accountId, params.id, pageArgs(query))),
  );

  app.get(
    '/streams/:id/preview.flv',
    {
      exposeHeadRoute: false,
      schema: {
        operationId: 'getStreamPreview',
        tags,
        summary: 'What is on air, as HTTP-FLV',
        params,
        // OpenAPI 3.1: bytes in a body have no schema.
        response: { 200: { content: { 'video/x-flv': { schema: Type.Unsafe<unknown>({}) } } } },
      },
    },
    async ({ principal, params }, reply) => {
      const gone = new AbortController();
      const close = () => gone.abort();
      reply.raw.once('close', close);
      const signal = AbortSignal.any([gone.signal, stopping]);
      const media = await stats.preview(principal.accountId, params.id, signal);
      return reply.type('video/x-flv').header('cache-control', 'no-store').send(media);
    },
  );
}
