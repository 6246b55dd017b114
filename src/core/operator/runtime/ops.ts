/** Serves the operator's own port, which is never public: liveness, readiness, metrics. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import { Registry } from 'prom-client';
import type { Lifecycle } from '../../lib/lifecycle.ts';

/**
 * Many streams are many megabytes of text that repeats itself; level 1 is a tenth of them for little time. The text is compressed part
 * by part, so that it is not in memory twice.
 */
async function compress(parts: readonly string[]): Promise<Buffer> {
  const gzip = createGzip({ level: constants.Z_BEST_SPEED });
  const [packed] = await Promise.all([buffer(gzip), pipeline(parts, gzip)]);
  return packed;
}

const countBytes = (parts: readonly string[]): number => parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);

/** Serves /healthz, /readyz and /metrics; returns the port it listens on. */
export async function serveOps(
  options: {
    host: string;
    port: number;
    ready: () => boolean;
    /** Why this process has to begin anew; undefined while it has not. */
    ill?: () => string | undefined;
    /** The metrics in Prometheus' text format, in parts. */
    metrics: () => Promise<readonly string[]>;
  },
  lifecycle: Lifecycle,
): Promise<number> {
  const { host, port, ready, ill = () => undefined, metrics } = options;
  const server = createServer((request, response) => {
    const send = (status: number, body: string | Buffer, headers: Record<string, string> = {}) =>
      response
        .writeHead(status, {
          'content-type': 'text/plain; charset=utf-8',
          'content-length': Buffer.byteLength(body),
          ...headers,
        })
        .end(body);
    const show = async () => {
      const parts = await metrics();
      const type = { 'content-type': Registry.PROMETHEUS_CONTENT_TYPE };
      if (/\bgzip\b/.test(request.headers['accept-encoding'] ?? ''))
        return send(200, await compress(parts), { ...type, 'content-encoding': 'gzip', vary: 'accept-encoding' });
      response.writeHead(200, { ...type, 'content-length': countBytes(parts) });
      return pipeline(parts, response);
    };
    const path = request.url?.split('?')[0];
    const illness = ill();
    if (path === '/healthz') send(illness === undefined ? 200 : 503, `${illness ?? 'ok'}\n`);
    else if (path === '/readyz') send(ready() ? 200 : 503, ready() ? 'ok\n' : 'not ready\n');
    else if (path === '/metrics') {
      show().catch(() => !response.headersSent && send(500, 'the metrics could not be collected\n'));
    } else send(404, 'not found\n');
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(port, host, resolve);
  await promise;
  lifecycle.defer('ops server', async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  return (server.address() as AddressInfo).port;
}
