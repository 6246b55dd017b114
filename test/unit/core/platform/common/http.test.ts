/** Tests that an answer of a platform is bounded, whatever a server sends. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createSender } from '../../../../../src/core/platform/common/http.ts';

const ends: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function serve(listener: RequestListener): Promise<URL> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
}

function createTestSender() {
  const abort = new AbortController();
  ends.push(() => abort.abort());
  return { abort, send: createSender(abort.signal) };
}

test('a redirect is not followed: nothing is sent to another server', async () => {
  const asked: (string | undefined)[] = [];
  const other = await serve((request, response) => {
    asked.push(request.headers.authorization);
    response.end('{}');
  });
  const url = await serve((_request, response) => response.writeHead(302, { location: other.href }).end());
  const { send } = createTestSender();
  expect((await send({ url, headers: { authorization: 'Bearer secret' } }))?.status).toBe(302);
  expect(asked).toEqual([]);
});

test('an answer without end is none, and its connection is closed', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const url = await serve((_request, response) => {
    response.on('close', () => resolve());
    const block = Buffer.alloc(65_536, 'x');
    const write = () => {
      while (response.write(block));
      response.once('drain', write);
    };
    write();
  });
  const { send } = createTestSender();
  expect(await send({ url })).toBeUndefined();
  await closed;
});

test.each([
  ['a page', '<html>Sign in</html>'],
  ['nothing', ''],
  ['half a JSON', '{"items": ['],
])('%s is an answer without a body', async (_what, text) => {
  const url = await serve((_request, response) => response.end(text));
  const { send } = createTestSender();
  expect(await send({ url })).toMatchObject({ status: 200, body: undefined });
});

test('a connection that breaks off, and one that is given up, are no answer', async () => {
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const broken = await serve((request) => request.socket.destroy());
  const silent = await serve(() => resolve());
  const { send, abort } = createTestSender();
  expect(await send({ url: broken, method: 'POST', json: {} })).toBeUndefined();
  const answer = send({ url: silent });
  await asked;
  abort.abort();
  expect(await answer).toBeUndefined();
});
