/** Serves the operator's own port, which is never public: liveness, readiness, metrics. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { Registry } from 'prom-client';
import type { Lifecycle } from '../../lib/lifecycle.ts';

const compress = promisify(gzip);

/** Serves /healthz, /readyz and /metrics; returns the port it listens on. */
export async function serveOps(
  options: {
    host: string;
    port: number;
    ready: () => boolean;
    /** Why this process has to begin anew; undefined while it has not. */
    ill?: () => string | undefined;
    metrics: () => Promise<string>;
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
    // Many streams are many megabytes of text that repeats itself; level 1 is a tenth of them for little time.
    const show = async () => {
      const text = await metrics();
      const type = { 'content-type': Registry.PROMETHEUS_CONTENT_TYPE };
      if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return send(200, text, type);
      const packed = await compress(text, { level: constants.Z_BEST_SPEED });
      return send(200, packed, { ...type, 'content-encoding': 'gzip', vary: 'accept-encoding' });
    };
    const path = request.url?.split('?')[0];
    const illness = ill();
    if (path === '/healthz') send(illness === undefined ? 200 : 503, `${illness ?? 'ok'}\n`);
    else if (path === '/readyz') send(ready() ? 200 : 503, ready() ? 'ok\n' : 'not ready\n');
    else if (path === '/metrics') {
      show().catch(() => send(500, 'the metrics could not be collected\n'));
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
