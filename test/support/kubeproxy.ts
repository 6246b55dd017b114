/**
 * An HTTP proxy before a kube-apiserver that misbehaves on demand: plain HTTP on our side, the administrator's TLS on the
 * other, one fault after the other.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, request } from 'node:https';
import type { ControlPlane } from '../../src/local/kubernetes/controlplane.ts';
import { startServer } from './kube.ts';

export type Fault =
  | 'none'
  /** Every connection is torn, the open ones too. */
  | 'reset'
  /** 429 with Retry-After: 1. */
  | 'throttled'
  | 'internal error'
  /** Answers end in the middle of an object; a watch does so after its next event began. */
  | 'cut'
  /** Watches say that their version is too old, new ones and open ones. */
  | 'expired'
  /** Open watches go silent, and nobody says so. */
  | 'half-open';

export async function startFaultyProxy(plane: ControlPlane) {
  const { ca, admin } = plane.certificates;
  const agent = new Agent({ ca, cert: admin.cert, key: admin.key, keepAlive: true });
  const target = new URL(plane.apiserverUrl);
  const watches = new Set<ServerResponse>();
  const silenced = new WeakSet<ServerResponse>();
  let fault: Fault = 'none';
  let requests = 0;

  const forward = (incoming: IncomingMessage, response: ServerResponse, isWatch: boolean) => {
    const { method, url, headers } = incoming;
    const upstream = request(
      {
        agent,
        hostname: target.hostname,
        port: target.port,
        method,
        path: url,
        headers: { ...headers, host: target.host },
      },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        response.flushHeaders();
        answer.on('data', (chunk: Buffer) => {
          if (silenced.has(response)) return;
          if (fault === 'cut') {
            response.write(chunk.subarray(0, Math.floor(chunk.length / 2)));
            response.socket?.end();
            upstream.destroy();
          } else response.write(chunk);
        });
        answer.on('end', () => !silenced.has(response) && response.end());
        answer.on('error', () => response.destroy());
      },
    );
    upstream.on('error', () => response.destroy());
    if (isWatch) watches.add(response);
    response.on('close', () => {
      watches.delete(response);
      upstream.destroy();
    });
    incoming.pipe(upstream);
  };

  const status = (response: ServerResponse, code: number, reason: string, headers = {}) => {
    response.writeHead(code, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ kind: 'Status', code, reason, message: `${reason}, says the proxy` }));
  };
  const expire = (response: ServerResponse) => {
    const object = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };
    response.end(`${JSON.stringify({ type: 'ERROR', object })}\n`);
  };

  const server = await startServer((incoming, response) => {
    requests++;
    const isWatch = incoming.url?.includes('watch=true') ?? false;
    if (fault === 'reset') incoming.socket.resetAndDestroy();
    else if (fault === 'throttled') status(response, 429, 'TooManyRequests', { 'retry-after': '1' });
    else if (fault === 'internal error') status(response, 500, 'InternalError');
    else if (fault === 'expired' && isWatch) expire(response.writeHead(200));
    else forward(incoming, response, isWatch);
  });

  return {
    url: server.url,
    requests: () => requests,
    openWatches: () => watches.size,
    /** From now on; what is open feels it as well. */
    set(next: Fault) {
      fault = next;
      for (const response of [...watches]) {
        if (next === 'reset') response.socket?.resetAndDestroy();
        // A watch that is cut at its next event cannot be seen while nothing happens, so these two end it as well.
        else if (next === 'throttled' || next === 'internal error') response.end();
        else if (next === 'expired') expire(response);
        else if (next === 'half-open') silenced.add(response);
      }
    },
    async close() {
      agent.destroy();
      await server.close();
    },
  };
}
