/** Serves the port for the cluster, never for the public: /healthz (alive), /readyz (may get requests), /metrics. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Lifecycle } from '../../core/lib/lifecycle.ts';

export interface OpsDeps {
  host: string;
  port: number;
  /** Undefined when requests may come, otherwise why not. */
  unready: () => Promise<string | undefined>;
  registry: { contentType: string; metrics: () => Promise<string> };
}

export interface Ops {
  port: number;
  url: string;
}

/** Resolves when it listens; the lifecycle closes it. */
export async function openOps({ host, port, unready, registry }: OpsDeps, lifecycle: Lifecycle): Promise<Ops> {
  const server = createServer((request, response) => {
    const send = (status: number, text: string, type = 'text/plain; charset=utf-8') =>
      response.writeHead(status, { 'content-type': type }).end(`${text}\n`);
    const answer = async () => {
      if (request.method !== 'GET' && request.method !== 'HEAD') return send(405, 'only GET');
      if (request.url === '/healthz') return send(200, 'ok');
      if (request.url === '/readyz') {
        const why = await unready();
        return send(why === undefined ? 200 : 503, why ?? 'ok');
      }
      if (request.url === '/metrics') return send(200, (await registry.metrics()).trimEnd(), registry.contentType);
      return send(404, 'not found');
    };
    answer().catch(() => send(500, 'failed'));
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(port, host, resolve);
  await promise;
  lifecycle.defer('ops', () => {
    server.close();
    server.closeAllConnections();
  });
  const { port: opened } = server.address() as AddressInfo;
  return { port: opened, url: `http://${host}:${opened}` };
}
