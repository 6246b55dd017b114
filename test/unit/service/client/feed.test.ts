import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { ConnectionError, createClient, type FeedNews, problems } from '../../../../src/service/client/index.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function startClient(answer: (response: ServerResponse) => void) {
  const server = createServer((_request, response) => answer(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return createClient({ baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: 'lsk_secret' });
}

const STREAM = { 'content-type': 'text/event-stream' };

async function all(feed: AsyncIterable<FeedNews>): Promise<FeedNews[]> {
  const heard: FeedNews[] = [];
  for await (const news of feed) heard.push(news);
  return heard;
}

test('events arrive at once, however their bytes are split; other lines are left out', async () => {
  const text =
    'event: reset\ndata: {}\n\n: alive\n\nevent: change\ndata: {"noun":"stream","id":"ü","change":"updated"}\n\n' +
    'event: of a newer server\ndata: {}\n\nevent: change\ndata: cut off';
  const client = await startClient(async (response) => {
    response.writeHead(200, STREAM);
    for (const byte of Buffer.from(text)) {
      if (!response.write(Buffer.of(byte))) await new Promise((resolve) => response.once('drain', resolve));
    }
    response.end();
  });
  expect(await all(client.changes())).toEqual(['reset', { noun: 'stream', id: 'ü', change: 'updated' }]);
});

test('a refusal is its problem, and a page in place of a feed is no feed', async () => {
  const refusing = await startClient((response) => {
    response.writeHead(429, { 'content-type': 'application/problem+json', 'retry-after': '5' });
    response.end(JSON.stringify({ code: 'too_many_feeds', detail: 'So many.' }));
  });
  const refusal = await all(refusing.changes()).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(problems.TooManyFeeds);
  expect(refusal).toMatchObject({ retryAfterSeconds: 5, isPassing: true });
  const other = await startClient((response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end('<html>');
  });
  await expect(all(other.changes())).rejects.toMatchObject({ code: 'http_200' });
});

test('a broken feed reports an error; an aborted one rejects with the reason', async () => {
  const client = await startClient((response) => {
    response.writeHead(200, STREAM);
    response.write('event: reset\ndata: {}\n\n', () => response.socket?.destroy());
  });
  await expect(all(client.changes())).rejects.toBeInstanceOf(ConnectionError);

  const endless = await startClient((response) => {
    response.writeHead(200, STREAM);
    response.write('event: reset\ndata: {}\n\n');
  });
  const stop = new AbortController();
  const readEndlessly = async () => {
    for await (const _news of endless.changes({ signal: stop.signal })) stop.abort(new Error('enough'));
  };
  await expect(readEndlessly()).rejects.toThrow('enough');
});
