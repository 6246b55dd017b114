/**
 * Proxies a kube-apiserver and misbehaves on demand. Clients use plain HTTP, the proxy uses the administrator's TLS, and one fault is set
 * at a time.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, request } from 'node:https';
import type { ControlPlane } from '../../../tools/control-plane/controlplane.ts';
import { startServer } from '../real/kube.ts';

export type Fault =
  | 'none'
  /** Every connection is reset, open ones too. */
  | 'reset'
  /** 429 with Retry-After: 1. */
  | 'throttled'
  | 'internal error'
  /** Answers end in the middle of an object; a watch ends so after the start of its next event. */
  | 'cut'
  /** Watches, open and new, report that their version is too old. */
  | 'expired'
  /** Open watches go silent without an error. */
  | 'half-open'
  /** Every request is accepted and never answered. */
  | 'silent'
  /** Answers trickle, a byte at a time. */
  | 'slow'
  /** Each event of a watch comes twice, and once more after its successor. */
  | 'repeated'
  /** The request is done, and the connection is reset before the answer. */
  | 'answer lost'
  /** Requests reach the API server only after a while. */
  | 'late';

/** Faults of writes alone, except writes to a playlist's history. */
export type WriteFault =
  /** The write is done, and the connection is reset before the answer. */
  | 'write lost'
  /** The write is done, and never answered. */
  | 'write held';

const LATE_MS = 1_500;
const TRICKLE_MS = 20;

/** Forwards about 50 bytes a second until `isOver`, then the rest at once. */
function trickle(answer: IncomingMessage, response: ServerResponse, isOver: () => boolean): void {
  const waiting: Buffer[] = [];
  let ended = false;
  answer.on('data', (chunk: Buffer) => waiting.push(chunk));
  answer.on('end', () => {
    ended = true;
  });
  const timer = setInterval(() => {
    const rest = Buffer.concat(waiting.splice(0));
    const size = isOver() ? rest.length : 1;
    if (rest.length > 0) response.write(rest.subarray(0, size));
    if (rest.length > size) waiting.push(rest.subarray(size));
    if (ended && rest.length <= size) response.end();
  }, TRICKLE_MS);
  response.on('close', () => clearInterval(timer));
}

/** Forwards each line twice and the line before it a third time. */
function repeat(answer: IncomingMessage, response: ServerResponse): void {
  let text = '';
  let last = '';
  answer.setEncoding('utf8');
  answer.on('data', (chunk: string) => {
    const lines = (text + chunk).split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) {
      response.write(`${line}\n${line}\n${last}`);
      last = `${line}\n`;
    }
  });
  answer.on('end', () => response.end());
}

export async function startFaultyProxy(plane: Pick<ControlPlane, 'apiserverUrl' | 'certificates'>) {
  const { ca, admin } = plane.certificates;
  const agent = new Agent({ ca, cert: admin.cert, key: admin.key, keepAlive: true });
  const target = new URL(plane.apiserverUrl);
  const watches = new Set<ServerResponse>();
  const open = new Set<ServerResponse>();
  const silenced = new WeakSet<ServerResponse>();
  let fault: Fault | WriteFault = 'none';
  let requests = 0;
  const asked: string[] = [];

  const pass = (answer: IncomingMessage, response: ServerResponse, isWatch: boolean) => {
    if (fault === 'answer lost') return void response.socket?.resetAndDestroy();
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    response.flushHeaders();
    answer.on('error', () => response.destroy());
    if (fault === 'slow') return trickle(answer, response, () => fault !== 'slow');
    if (fault === 'repeated' && isWatch) return repeat(answer, response);
    answer.on('data', (chunk: Buffer) => {
      if (silenced.has(response)) return;
      if (fault === 'cut') {
        response.write(chunk.subarray(0, Math.floor(chunk.length / 2)));
        response.socket?.end();
        answer.destroy();
      } else response.write(chunk);
    });
    answer.on('end', () => !silenced.has(response) && response.end());
  };

  /** Also of a list that comes as a stream, which ends when its reader has all of it. */
  const follows = (path: string | undefined): boolean => path?.includes('watch=true') ?? false;

  const forward = (incoming: IncomingMessage, response: ServerResponse, isWatch: boolean) => {
    const { method, url: path, headers: asked } = incoming;
    const headers = { ...asked, host: target.host };
    const isWrite = method !== 'GET' && !path?.includes('/controllerrevisions');
    const upstream = request(
      { agent, hostname: target.hostname, port: target.port, method, path, headers },
      (answer) => {
        if (isWrite && fault === 'write lost') response.socket?.resetAndDestroy();
        else if (!isWrite || fault !== 'write held') pass(answer, response, isWatch);
      },
    );
    upstream.on('error', () => response.destroy());
    if (isWatch) watches.add(response);
    response.on('close', () => {
      watches.delete(response);
      // A request whose sender has given up still reaches the API server, as in a real cluster.
      if (follows(path)) upstream.destroy();
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
    open.add(response);
    response.on('close', () => open.delete(response));
    const isWatch = follows(incoming.url) && !incoming.url?.includes('sendInitialEvents');
    if (!isWatch) asked.push(`${incoming.method} ${incoming.url?.split('?')[0]}`);
    if (fault === 'reset') incoming.socket.resetAndDestroy();
    else if (fault === 'throttled') status(response, 429, 'TooManyRequests', { 'retry-after': '1' });
    else if (fault === 'internal error') status(response, 500, 'InternalError');
    else if (fault === 'expired' && isWatch) expire(response.writeHead(200));
    else if (fault === 'late') setTimeout(forward, LATE_MS * Math.random(), incoming, response, isWatch);
    else if (fault !== 'silent') forward(incoming, response, isWatch);
  });

  return {
    url: server.url,
    requests: () => requests,
    /** Returns the requests since the last call, e.g. `GET /api/v1/…`, without watches, which clients open by themselves. */
    asked: () => asked.splice(0),
    openWatches: () => watches.size,
    /** Sets the fault for new and open connections. */
    set(next: Fault | WriteFault) {
      fault = next;
      if (next === 'reset') for (const response of [...open]) response.socket?.resetAndDestroy();
      for (const response of [...watches]) {
        // A watch without events shows no cut, so these faults end it as well. The last two affect a new watch only.
        if (['throttled', 'internal error', 'slow', 'repeated'].includes(next)) response.end();
        else if (next === 'expired') expire(response);
        else if (next === 'half-open' || next === 'silent') silenced.add(response);
      }
    },
    async close() {
      agent.destroy();
      await server.close();
    },
  };
}
export type FaultyProxy = Awaited<ReturnType<typeof startFaultyProxy>>;
