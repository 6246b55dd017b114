/** Serves the port for the cluster, never for the public: /healthz (alive), /readyz (may get requests), /metrics. */
import { createServer, type Server } from 'node:http';

export interface OpsDeps {
  host: string;
  port: number;
  /** Undefined when requests may come, otherwise why not. */
  unready: () => Promise<string | undefined>;
  metrics: () => Promise<{ type: string; text: string }>;
}

/** Resolves when it listens. */
export async function startOps({ host, port, unready, metrics }: OpsDeps): Promise<Server> {
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
      if (request.url === '/metrics') {
        const { type, text } = await metrics();
        return send(200, text.trimEnd(), type);
      }
      return send(404, 'not found');
    };
    answer().catch(() => send(500, 'failed'));
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(port, host, resolve);
  await promise;
  return server;
}
