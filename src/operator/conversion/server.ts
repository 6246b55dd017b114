/**
 * Serves the conversion webhook over HTTPS. Every operator process serves it, whether it leads or not, from its start on: kube-apiserver may
 * need it to fill the caches of this very process. It keeps nothing, and takes up a new certificate without a restart.
 */
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { Lifecycle } from '../../lib/lifecycle.ts';
import type { Logger } from '../../lib/log.ts';
import { CONVERSION_PATH } from '../../resources/common/names.ts';
import type { ConversionMetrics, ConversionResult } from '../metrics/conversion.ts';
import { answerReview } from './review.ts';

/** A page of a list has 500 objects, and the largest playlists have some 60 KB each. */
const MAX_BODY_BYTES = 32 * 2 ** 20;
/** Bodies that are being read or answered at the same time: parsed, they take several times as much memory. */
const MAX_BODIES_BYTES = 48 * 2 ** 20;
/** kube-apiserver closes an idle connection after 90 s. It does not repeat a request on one that we closed in that moment. */
const KEEP_ALIVE_MS = 120_000;
/** kube-apiserver waits for 30 s. */
const REQUEST_MS = 30_000;
/** Kubelet brings a changed Secret into the volume within about a minute, so a look at two small files is often enough. */
const LOOK_MS = 5_000;
/** Time for requests at work when the process stops. */
const GRACE_MS = 5_000;

export interface ConversionOptions {
  host: string;
  port: number;
  /** A directory with `tls.crt` and `tls.key`, such as the volume of a Secret. The files may come later, and change. */
  certDir: string;
}

interface Deps {
  metrics: ConversionMetrics;
  log: Logger;
  /** Time between two looks at the files, in milliseconds. */
  lookMs?: number;
}

/** Resolves to the port when it listens; the lifecycle closes it. Until there is a certificate, TLS handshakes fail. */
export async function serveConversion(
  { host, port, certDir }: ConversionOptions,
  lifecycle: Lifecycle,
  { metrics, log, lookMs = LOOK_MS }: Deps,
): Promise<number> {
  const handle = createHandler(metrics, lifecycle.signal);
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: REQUEST_MS }, (request, response) => {
    handle(request, response).catch((err: unknown) => {
      log.warn({ err }, 'a conversion could not be answered');
      response.destroy();
    });
  });
  const look = followCertificate(server, certDir, { metrics, log });
  await look();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(port, host, resolve);
  await promise;
  const timer = setInterval(() => void look(), lookMs);
  lifecycle.defer('conversion webhook', async () => {
    clearInterval(timer);
    const late = setTimeout(() => server.closeAllConnections(), GRACE_MS);
    await new Promise((done) => server.close(done));
    clearTimeout(late);
  });
  return (server.address() as AddressInfo).port;
}

/** Returns a function that reads the files, and serves what is new in them. It never rejects. */
function followCertificate(server: Server, certDir: string, { metrics, log }: Pick<Deps, 'metrics' | 'log'>) {
  let served = '';
  let told = '';
  return async () => {
    try {
      const [cert, key] = await Promise.all([
        readFile(join(certDir, 'tls.crt'), 'utf8'),
        readFile(join(certDir, 'tls.key'), 'utf8'),
      ]);
      if (cert + key === served) return;
      // Throws where one of the files is of the Secret before: the next look finds both.
      createSecureContext({ cert, key });
      const { validTo } = new X509Certificate(cert);
      server.setSecureContext({ cert, key });
      served = cert + key;
      told = '';
      metrics.showExpiry(Date.parse(validTo) / 1000);
      log.info({ certDir, validTo }, 'the conversion webhook has a certificate');
    } catch (err) {
      const message = (err as Error).message;
      if (message !== told) log.warn({ certDir, err }, 'the conversion webhook has no new certificate');
      told = message;
    }
  };
}

class Refusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

function createHandler(metrics: ConversionMetrics, stopping: AbortSignal) {
  const room = createRoom();
  const respond = async (request: IncomingMessage): Promise<{ result: ConversionResult; body: unknown }> => {
    if (request.url?.split('?')[0] !== CONVERSION_PATH) throw new Refusal(404, 'not found');
    if (request.method !== 'POST') throw new Refusal(405, 'only POST');
    const text = await room.read(request);
    const review = answerReview(parseJson(text));
    if (!review) throw new Refusal(400, 'The body is not a ConversionReview of apiextensions.k8s.io/v1.');
    return { result: review.response.result.status === 'Success' ? 'success' : 'failed', body: review };
  };
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const since = performance.now();
    const send = (status: number, body: unknown) => {
      const text = JSON.stringify(body);
      // A connection that is at work is not idle yet when the server closes.
      if (stopping.aborted) response.setHeader('connection', 'close');
      response
        .writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
        .end(text);
    };
    let result: ConversionResult = 'refused';
    try {
      const answer = await respond(request);
      result = answer.result;
      send(200, answer.body);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // The rest of the body is not read.
      response.setHeader('connection', 'close');
      send(error.status, { message: error.message });
    } finally {
      room.leave(request);
      metrics.observe(result, (performance.now() - since) / 1000);
    }
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(400, 'The body is not JSON.');
  }
}

/** Bounds the bytes of one body, and of all bodies at the same time: everybody in the cluster may connect. */
function createRoom() {
  const taken = new Map<IncomingMessage, number>();
  const take = (request: IncomingMessage, bytes: number) => {
    if (bytes > MAX_BODY_BYTES) throw new Refusal(413, `The body is larger than ${MAX_BODY_BYTES} bytes.`);
    taken.set(request, bytes);
    const all = [...taken.values()].reduce((sum, one) => sum + one, 0);
    // One alone always has room.
    if (all > MAX_BODIES_BYTES) throw new Refusal(503, 'Too many conversions at the same time.');
  };
  return {
    async read(request: IncomingMessage): Promise<string> {
      const chunks: Buffer[] = [];
      let bytes = 0;
      take(request, Number(request.headers['content-length'] ?? 0));
      for await (const chunk of request as AsyncIterable<Buffer>) {
        chunks.push(chunk);
        bytes += chunk.length;
        take(request, Math.max(bytes, taken.get(request) ?? 0));
      }
      return Buffer.concat(chunks).toString('utf8');
    },
    leave: (request: IncomingMessage) => void taken.delete(request),
  };
}
