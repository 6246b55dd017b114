/**
 * Serves the port at which the pods of streams report (pods/streamer/control/reporter.ts). A Service leads to every operator; one that does
 * not lead answers 421, and the pod connects again. TLS is not used: the control token travels in clear inside the cluster, as it
 * does from the operator to the pod.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Lifecycle } from '../../lib/lifecycle.ts';
import type { Logger } from '../../lib/log.ts';
import { REPORTS_PATH } from '../../resources/common/names.ts';
import type { ReceiveReport } from './receive-report.ts';
import type { PushResult } from './report-result.ts';

/** Twenty unplayable items with long names and messages have some tens of KiB. */
const MAX_BODY_BYTES = 256 * 1024;
/** Changes of one moment come over one connection. Ten thousand open connections would serve nobody for the rest of the time. */
const KEEP_ALIVE_MS = 5_000;
/** A pod waits for 2 s. */
const REQUEST_MS = 5_000;
/** Time for pending requests when the process stops. */
const GRACE_MS = 2_000;

const STATUS: Record<PushResult, number> = {
  accepted: 204,
  invalid: 400,
  wrong_token: 401,
  unknown_pod: 404,
  not_leading: 421,
  too_many: 429,
  failed: 503,
};

export interface ReportServerOptions {
  host: string;
  port: number;
  /** Undefined while this operator does not lead. */
  receive: () => ReceiveReport | undefined;
  count: (result: PushResult) => void;
  log: Logger;
}

/** Resolves to the port that it listens on; rejects when the port is taken. The lifecycle closes it. */
export async function serveReports(options: ReportServerOptions, lifecycle: Lifecycle): Promise<number> {
  const { host, port, count, log } = options;
  const timeouts = {
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: REQUEST_MS,
    requestTimeout: REQUEST_MS,
    connectionsCheckingInterval: REQUEST_MS,
  };
  const server = createServer(timeouts, async (request, response) => {
    const result = await answer(request, options, lifecycle.signal).catch((err: unknown): PushResult => {
      log.warn({ err }, 'a report of a pod could not be received');
      return 'failed';
    });
    count(result);
    // The rest of a body that was not read is not waited for; and the next connection may lead to the operator that leads.
    if (result !== 'accepted' || lifecycle.signal.aborted) response.setHeader('connection', 'close');
    response.writeHead(STATUS[result]).end();
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(port, host, resolve);
  await promise;
  lifecycle.defer('reports', async () => {
    const late = setTimeout(() => server.closeAllConnections(), GRACE_MS);
    await new Promise((done) => server.close(done));
    clearTimeout(late);
  });
  return (server.address() as AddressInfo).port;
}

const PATH = new RegExp(`^${REPORTS_PATH}/([0-9A-Za-z-]{1,64})$`);

async function answer(
  request: IncomingMessage,
  { receive }: Pick<ReportServerOptions, 'receive'>,
  stopping: AbortSignal,
): Promise<PushResult> {
  const podUid = PATH.exec(request.url ?? '')?.[1];
  if (podUid === undefined || request.method !== 'POST') return 'invalid';
  const receiveReport = receive();
  if (!receiveReport || stopping.aborted) return 'not_leading';
  const token = /^Bearer (\S{1,512})$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
  return receiveReport({ podUid, token, readBody: () => readBody(request) });
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    return undefined;
  }
}
