/**
 * Serves the part of the kubelet's HTTPS API that the API server needs for `kubectl logs`, and /healthz and /pods.
 * Clients need a certificate that the cluster's client CA signed.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Logger } from '../../src/core/lib/log.ts';
import { readLog } from './container-log.ts';
import { type LogQuery, selectLog } from './log-format.ts';
import type { PodWorker } from './pod.ts';

export interface ServerOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
  /** PEM. */
  tls: { cert: string | Buffer; key: string | Buffer; clientCa: string | Buffer };
  log: Logger;
  pods(): PodWorker[];
}

export interface NodeServer {
  port: number;
  close(): Promise<void>;
}

export async function serve(options: ServerOptions): Promise<NodeServer> {
  const { host, port, tls, log } = options;
  const { cert, key, clientCa } = tls;
  const server = createServer(
    { cert, key, ca: clientCa, requestCert: true, rejectUnauthorized: true },
    (request, response) => {
      try {
        answer(options, request, response);
      } catch (err) {
        log.error({ err, url: request.url }, 'a request to the node failed');
        if (!response.headersSent) plain(response, 500, 'internal error');
        else response.destroy();
      }
    },
  );
  await listen(server, host, port);
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function plain(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain' });
  response.end(text);
}

function answer(options: ServerOptions, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'https://node');
  if (request.method !== 'GET') {
    plain(response, 405, 'Method Not Allowed');
    return;
  }
  if (url.pathname === '/healthz') {
    plain(response, 200, 'ok');
    return;
  }
  if (url.pathname === '/pods') {
    const items = options.pods().map(({ pod, status }) => ({ ...pod, apiVersion: 'v1', kind: 'Pod', status }));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ apiVersion: 'v1', kind: 'PodList', metadata: {}, items }));
    return;
  }
  const [, route, namespace, name, container, ...rest] = url.pathname.split('/').map(decodeURIComponent);
  if (route !== 'containerLogs' || !container || rest.length > 0) {
    plain(response, 404, 'not found');
    return;
  }
  const worker = options
    .pods()
    .filter(({ pod }) => pod.metadata.namespace === namespace && pod.metadata.name === name)
    .at(-1);
  if (!worker) {
    plain(response, 404, `pod "${name}" does not exist`);
    return;
  }
  sendLog(worker, container, url.searchParams, response);
}

function number(text: string | null): number | undefined {
  const value = text === null || text === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : undefined;
}

/** The query of PodLogOptions as the API server passes it on. */
function parseQuery(params: URLSearchParams): LogQuery {
  const seconds = number(params.get('sinceSeconds'));
  const time = Date.parse(params.get('sinceTime') ?? '');
  return {
    tailLines: number(params.get('tailLines')),
    sinceMs: seconds === undefined ? (Number.isNaN(time) ? undefined : time) : Date.now() - seconds * 1000,
    timestamps: params.get('timestamps') === 'true',
    limitBytes: number(params.get('limitBytes')),
  };
}

/** A reader that does not read is disconnected here, so that it cannot hold the log in memory. */
const MAX_BEHIND_BYTES = 8 * 2 ** 20;

function sendLog(worker: PodWorker, container: string, params: URLSearchParams, response: ServerResponse): void {
  const previous = params.get('previous') === 'true';
  const pod = worker.pod.metadata.name;
  const log = worker.log(container, previous);
  if (!log) {
    plain(response, 404, `container ${container} not found in pod ${pod}`);
    return;
  }
  if (log === 'waiting') {
    const why = previous ? `previous terminated container "${container}" in pod "${pod}" not found` : undefined;
    plain(response, 400, why ?? `container "${container}" in pod "${pod}" is waiting to start`);
    return;
  }
  const query = parseQuery(params);
  response.writeHead(200, { 'content-type': 'text/plain' });
  const start = readLog(log.file, query);
  if (params.get('follow') !== 'true' || !log.live) {
    response.end(start);
    return;
  }
  // Sent at once even when there is nothing yet, so that the client knows it follows.
  response.flushHeaders();
  response.write(start);
  let left = query.limitBytes === undefined ? Number.POSITIVE_INFINITY : query.limitBytes - start.length;
  const stop = log.live.follow((record) => {
    if (record === undefined || response.writableLength > MAX_BEHIND_BYTES) {
      response.end();
      return;
    }
    const text = selectLog(record, { timestamps: query.timestamps }).subarray(0, left);
    left -= text.length;
    response.write(text);
    if (left <= 0) response.end();
  });
  response.on('close', stop);
}
