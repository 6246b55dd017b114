/**
 * Serves a stream's plain HTTP: health for all, numbers and a preview for holders of the view token, control for the
 * operator, and metrics on a port of their own.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import { KEYFRAMES_PATH, RELEASE_PATH, SKIP_PATH, STOP_PATH } from '../../../resources/common/names.ts';
import type { Broadcaster } from '../output/broadcaster.ts';
import { KeyframeQueue } from '../output/keyframe-queue.ts';
import { OutputQueue } from '../output/output-queue.ts';
import type { CommandAnswer, Commands } from './commands.ts';
import type { ShownStats } from './stats.ts';

/**
 * An ES import of node:http reads every export, and its WebSocket getter loads a whole HTTP client: 15 MB in every
 * stream for nothing.
 */
const { createServer } = process.getBuiltinModule('node:http');

export interface HttpOptions {
  host: string;
  port: number;
  /** Port of /metrics; undefined: `port`. */
  metricsPort?: number | undefined;
  broadcaster: Broadcaster;
  profile: () => string;
  stats: () => ShownStats;
  metrics: () => Promise<Registry>;
  commands: Commands;
}

export interface StreamerHttp {
  port: number;
  metricsPort: number;
  close(): Promise<void>;
}

/** A broadcaster whose loop has not turned for this long hangs. The loop turns at least twice a second, with or without media. */
export const HUNG_MS = 10_000;

/**
 * A start is over after this time, whatever the destinations do: a probe that fails for too long restarts the container. A stream that
 * is held waits for another pod, which stops when this one has started.
 */
const STARTING_MS = { held: 1_000, publishing: 10_000 };

/** Commands are a few words. */
const MAX_BODY_BYTES = 4096;

const KEYFRAMES_QUERY = KEYFRAMES_PATH.slice(KEYFRAMES_PATH.indexOf('?'));

const READS = ['GET', 'HEAD'];

type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

function json(response: ServerResponse, status: number, body: unknown): void {
  const text = `${JSON.stringify(body)}\n`;
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(text);
}

/**
 * Serves the stream as HTTP-FLV, beginning at the keyframe on air, and disconnects a slow viewer. Any page may show it:
 * the stream is public anyway, and players in a browser fetch it from another origin. With KEYFRAMES_QUERY, keyframes alone.
 */
function preview({ broadcaster, profile }: HttpOptions): Handler {
  return (request, response) => {
    const isWhole = !request.url?.endsWith(KEYFRAMES_QUERY);
    response.writeHead(200, {
      'content-type': 'video/x-flv',
      'cache-control': 'no-store',
      'access-control-allow-origin': '*',
    });
    if (request.method === 'HEAD') return void response.end();
    response.flushHeaders();
    const options = { profile: profile(), sink: response, onOverflow: () => response.destroy() };
    const queue = isWhole ? new OutputQueue(options) : new KeyframeQueue(options);
    // One who compares keyframes looks at them later, and can wait for the large batches.
    const unlisten = broadcaster.listen((segment) => queue.offer(segment), { watched: isWhole });
    response.once('close', () => {
      unlisten();
      queue.close();
    });
  };
}

/** Undefined when the body is too long or not JSON. */
async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    return undefined;
  }
}

const asked =
  (commands: Commands, act: (body: unknown) => CommandAnswer | Promise<CommandAnswer>): Handler =>
  async (request, response) => {
    if (!(await commands.mayAsk(request.headers.authorization))) {
      response.setHeader('www-authenticate', 'Bearer');
      return json(response, 401, { code: 'token_wrong' });
    }
    const { status, body } = await act(await readBody(request));
    json(response, status, body);
  };

const forViewers =
  (commands: Commands, handler: Handler): Handler =>
  async (request, response) => {
    if (await commands.mayLook(request.headers.authorization)) return handler(request, response);
    response.setHeader('www-authenticate', 'Bearer');
    json(response, 401, { code: 'token_wrong' });
  };

function routes(options: HttpOptions): Record<string, Handler> {
  const { broadcaster, stats, commands } = options;
  const sinceMs = performance.now();
  return {
    '/startupz': (_, response) => {
      const { live, held } = stats();
      const isStarted = live || performance.now() - sinceMs > STARTING_MS[held ? 'held' : 'publishing'];
      json(response, isStarted ? 200 : 503, { status: isStarted ? 'started' : 'starting' });
    },
    // A restart mends a hung loop. It does not mend media that cannot be played, so `playable` does not count here.
    '/healthz': (_, response) => {
      const { idleMs } = broadcaster.stats();
      json(response, idleMs < HUNG_MS ? 200 : 503, {
        status: idleMs < HUNG_MS ? 'ok' : 'hung',
        playable: stats().playable,
      });
    },
    '/readyz': (_, response) => {
      // The slate is media too.
      const { live, destinations, cache } = stats();
      const status = live ? 'ready' : 'no_destination_connected';
      const errors = destinations.flatMap((d) => (d.lastError ? [{ name: d.name, ...d.lastError }] : []));
      const storage = cache?.failure === undefined ? [] : [{ code: 'storage_unavailable', message: cache.failure }];
      json(response, status === 'ready' ? 200 : 503, { status, errors: [...storage, ...errors] });
    },
    '/stats': forViewers(commands, (_, response) => json(response, 200, stats())),
    '/preview.flv': forViewers(commands, preview(options)),
  };
}

const metricsRoutes = ({ metrics }: HttpOptions): Record<string, Handler> => ({
  '/metrics': async (_, response) => {
    const registry = await metrics();
    const text = await registry.metrics();
    response.writeHead(200, { 'content-type': registry.contentType });
    response.end(text);
  },
});

type Table = Map<string, { handler: Handler; methods: string[] }>;

const routeReads = (handlers: Record<string, Handler>): Table =>
  new Map(Object.entries(handlers).map(([path, handler]) => [path, { handler, methods: READS }]));

function createRouteServer(table: Table): Server {
  return createServer((request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    const route = table.get(path);
    if (!route) return json(response, 404, { error: 'This path does not exist.' });
    const allow = route.methods.join(', ');
    if (!route.methods.includes(request.method ?? '')) {
      response.setHeader('allow', allow);
      return json(response, 405, { error: `Only ${allow}.` });
    }
    Promise.resolve(route.handler(request, response)).catch(() => response.destroy());
  });
}

const closed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

async function listen(server: Server, host: string, port: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(port, host, resolve);
  await promise;
  server.off('error', reject);
  return (server.address() as AddressInfo).port;
}

/** Rejects when it cannot listen on a port. */
export async function serveHttp(options: HttpOptions): Promise<StreamerHttp> {
  const { commands, host, metricsPort } = options;
  const apart = metricsPort === undefined ? undefined : createRouteServer(routeReads(metricsRoutes(options)));
  const table = routeReads({ ...routes(options), ...(apart ? {} : metricsRoutes(options)) });
  const actions: Record<string, Parameters<typeof asked>[1]> = {
    [SKIP_PATH]: (body) => commands.skip(body),
    [RELEASE_PATH]: (body) => commands.publish(body),
    [STOP_PATH]: () => commands.stop(),
  };
  for (const [path, act] of Object.entries(actions))
    table.set(path, { handler: asked(commands, act), methods: ['POST'] });
  const server = createRouteServer(table);
  const port = await listen(server, host, options.port);
  return {
    port,
    metricsPort: apart && metricsPort !== undefined ? await listen(apart, host, metricsPort) : port,
    close: async () => {
      await Promise.all([closed(server), apart && closed(apart)]);
    },
  };
}
