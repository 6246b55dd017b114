/** Fetches links by the real code, into a storage of its own. */
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect } from 'vitest';
import { type FetchOptions, fetchInto } from '../../../src/core/pods/prepare/link/fetch.ts';
import { serve } from '../serve.ts';
import { halfWritten, quiet, room, sinkTo } from './prepare.ts';

/** Fetches a link; rejects as fetchInto() does, and then expects an empty storage. */
export async function fetched(link: string, options: Partial<FetchOptions> = {}) {
  await using place = await room();
  const { storage } = place;
  try {
    const result = await fetchInto(sinkTo(storage), link, {
      allowPrivateLinks: true,
      maxBytes: 1e6,
      timeoutSeconds: 20,
      minBytesPerSecond: 0,
      retryDelayMs: 1,
      signal: new AbortController().signal,
      log: quiet,
      ...options,
    });
    return { ...result, content: await buffer(await storage.read('sources/x')) };
  } catch (error) {
    expect(await storage.head('sources/x')).toBeUndefined();
    expect(await halfWritten(place.path('media'))).toEqual([]);
    throw error;
  }
}

export async function fetchedFrom(handler: RequestListener, options: Partial<FetchOptions> = {}, path = '/a.mp4') {
  await using server = await serve(handler);
  return await fetched(server.url + path, options);
}

/** Runs a TCP server, for answers that no HTTP server gives. */
export async function serveRaw(answer: (socket: Socket, request: string) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('data', (data) => answer(socket, data.toString('latin1')));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}

export const failure = (code: string, message = '') =>
  expect.objectContaining({ code, message: expect.stringMatching(message) });
