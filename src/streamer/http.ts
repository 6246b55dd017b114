/** What a stream shows of itself: health, numbers and a preview, over plain HTTP. Only GET and HEAD; no secret is known here. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import { Feed } from './feed.ts';
import type { Station } from './station.ts';
import type { StreamerStats } from './stats.ts';

/**
 * An ES import of node:http reads all that it exports, and its WebSocket is a getter that loads a whole HTTP client: 15 MB
 * in every stream for something that none of them uses.
 */
const { createServer } = process.getBuiltinModule('node:http');

export interface HttpOptions {
  host: string;
  port: number;
  station: Station;
  profile: () => string;
  stats: () => StreamerStats;
  metrics: () => Promise<Registry>;
}

export interface StreamerHttp {
  port: number;
  close(): Promise<void>;
}

/** A station that has not gone round its loop for this long hangs. It does so at least twice a second, media or not. */
export const HUNG_MS = 10_000;

type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

function json(response: ServerResponse, status: number, body: unknown): void {
  const text = `${JSON.stringify(body)}\n`;
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(text);
}

/**
 * The stream as HTTP-FLV from the keyframe on air; a viewer that is too slow is let go. Any page may show it: it is what
 * goes to the public anyway, and players in a browser fetch it from another origin.
 */
function preview({ station, profile }: HttpOptions): Handler {
  return (request, response) => {
    response.writeHead(200, {
      'content-type': 'video/x-flv',
      'cache-control': 'no-store',
      'access-control-allow-origin': '*',
    });
    if (request.method === 'HEAD') return void response.end();
    response.flushHeaders();
    const feed = new Feed({ profile: profile(), sink: response, onOverflow: () => response.destroy() });
    const unlisten = station.listen((segment) => feed.offer(segment), { watched: true });
    response.once('close', () => {
      unlisten();
      feed.close();
    });
  };
}

function routes(options: HttpOptions): Record<string, Handler> {
  const { station, stats, metrics } = options;
  return {
    // Restarting would mend a loop that hangs; it would not mend media that cannot be played, so that is not asked here.
    '/healthz': (_, response) => {
      const { idleMs } = station.stats();
      json(response, idleMs < HUNG_MS ? 200 : 503, {
        status: idleMs < HUNG_MS ? 'ok' : 'hung',
        playable: stats().playable,
      });
    },
    '/readyz': (_, response) => {
      const { live, playable, destinations } = stats();
      const status = live && playable ? 'ready' : playable ? 'no_destination_connected' : 'no_playable_item';
      const errors = destinations.flatMap((d) => (d.lastError ? [{ name: d.name, ...d.lastError }] : []));
      json(response, status === 'ready' ? 200 : 503, { status, errors });
    },
    '/stats': (_, response) => json(response, 200, stats()),
    '/metrics': async (_, response) => {
      const registry = await metrics();
      const text = await registry.metrics();
      response.writeHead(200, { 'content-type': registry.contentType });
      response.end(text);
    },
    '/preview.flv': preview(options),
  };
}

async function listen(server: Server, host: string, port: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(port, host, resolve);
  await promise;
  server.off('error', reject);
  return (server.address() as AddressInfo).port;
}

/** Rejects when the port cannot be listened on. */
export async function serveHttp(options: HttpOptions): Promise<StreamerHttp> {
  const table = new Map(Object.entries(routes(options)));
  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    const handler = table.get(path);
    if (!handler) return json(response, 404, { error: 'There is nothing here.' });
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD');
      return json(response, 405, { error: 'Only GET.' });
    }
    Promise.resolve(handler(request, response)).catch(() => response.destroy());
  });
  const port = await listen(server, options.host, options.port);
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
