/** Stands between a client and a real S3 server, and answers some requests itself: with errors, too late, or out of date. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3';

export interface S3Request {
  method: string;
  /** Key of the object, in the bucket; empty for a request to the bucket. */
  key: string;
  query: URLSearchParams;
}

/** An answer in place of the server's: an error with its code, a body, or a connection that is cut or never answers. */
export type Fault = { status: number; code: string } | { xml: string } | 'cut' | 'silence';

export interface FaultyS3 {
  endpoint: string;
  /** Judges each request; undefined passes it on. */
  fault: ((request: S3Request) => Fault | undefined) | undefined;
  close(): Promise<void>;
}

function answer(response: ServerResponse, fault: Fault): void {
  if (fault === 'silence') return;
  if (fault === 'cut') {
    response.destroy();
    return;
  }
  response.setHeader('content-type', 'application/xml');
  if ('xml' in fault) response.end(fault.xml);
  else
    response.writeHead(fault.status).end(`<Error><Code>${fault.code}</Code><Message>${fault.code}</Message></Error>`);
}

function passOn(incoming: IncomingMessage, response: ServerResponse, server: URL): void {
  const { method, url, headers } = incoming;
  // The signature covers the client's Host.
  const outgoing = request({ host: server.hostname, port: server.port, method, path: url, headers });
  outgoing.on('response', (from) => {
    response.writeHead(from.statusCode ?? 502, from.headers);
    from.pipe(response);
    from.on('error', () => response.destroy());
  });
  outgoing.on('error', () => response.destroy());
  response.on('close', () => outgoing.destroy());
  incoming.pipe(outgoing);
}

/** Forwards to the server at `endpoint`. Keys are those of path-style requests. */
export async function startFaultyS3(endpoint: string): Promise<FaultyS3> {
  const server = createServer((incoming, response) => {
    const { pathname, searchParams: query } = new URL(incoming.url ?? '/', endpoint);
    const key = decodeURIComponent(pathname.split('/').slice(2).join('/'));
    const fault = faulty.fault?.({ method: incoming.method ?? '', key, query });
    if (fault === undefined) passOn(incoming, response, new URL(endpoint));
    else answer(response, fault);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const faulty: FaultyS3 = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fault: undefined,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return faulty;
}

/** Makes a fault: listings are of this moment, whatever is written or deleted later. */
export async function freezeListings(client: S3Client, bucket: string): Promise<NonNullable<FaultyS3['fault']>> {
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket }));
  const keys = Contents.map(({ Key = '' }) => Key);
  return ({ method, key, query }) => {
    if (method !== 'GET' || key !== '' || !query.has('list-type')) return undefined;
    const listed = keys.filter((one) => one.startsWith(query.get('prefix') ?? ''));
    const contents = listed.map((one) => `<Contents><Key>${one}</Key></Contents>`).join('');
    return { xml: `<ListBucketResult><IsTruncated>false</IsTruncated>${contents}</ListBucketResult>` };
  };
}

/** Makes a fault: a reader does not find an object before it has asked for it this often. */
export function hideAtFirst(pattern: RegExp, times: number): NonNullable<FaultyS3['fault']> {
  const asked = new Map<string, number>();
  return ({ method, key }) => {
    if (!['GET', 'HEAD'].includes(method) || !pattern.test(key)) return undefined;
    const before = asked.get(key) ?? 0;
    asked.set(key, before + 1);
    return before < times ? { status: 404, code: 'NoSuchKey' } : undefined;
  };
}
