/** Provides web servers on loopback. */
import { createReadStream } from 'node:fs';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';

export interface WebServer extends AsyncDisposable {
  /** Without a slash at its end. */
  url: string;
  close(): Promise<void>;
}

/** Serves on loopback until it is closed, or disposed of. */
export async function serve(handler: RequestListener): Promise<WebServer> {
  const server = createServer(handler);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const close = async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Sends a file as it is on the disk, without a length or a type. */
export const sendFile = (path: string, response: ServerResponse): void => void createReadStream(path).pipe(response);

/** Serves the files of a directory by their names. */
export const serveDir = (dir: string): Promise<WebServer> =>
  serve(({ url = '' }, response) => sendFile(join(dir, basename(decodeURI(url))), response));
