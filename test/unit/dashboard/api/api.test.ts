import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createApi } from '../../../../src/dashboard/api/api.ts';
import { LoopstreamError, ProblemError } from '../../../../src/service/client/index.ts';
import { until } from '../../../kit/wait.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** Starts a real HTTP server with `listener`; returns its base address. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): RequestListener =>
  (_, response) => {
    response.writeHead(status, {
      'content-type': status < 400 ? 'application/json; charset=utf-8' : 'application/problem+json',
      ...headers,
    });
    response.end(JSON.stringify(body));
  };

const readProblem = (promise: Promise<unknown>): Promise<LoopstreamError> =>
  promise.then(
    () => Promise.reject(new Error('it did not fail')),
    (error: unknown) => (error instanceof LoopstreamError ? error : Promise.reject(error)),
  );

describe('the API client of the page', () => {
  test('the key travels in its header and never in the address; ids are escaped', async () => {
    const seen: string[] = [];
    const base = await serve((request, response) => {
      seen.push(`${request.method} ${request.url} ${request.headers['x-api-key']}`);
      json(200, { id: 'x', data: [] })(request, response);
    });
    const api = createApi(base, 'lsk_secret');
    await api.start('a/b?c');
    await api.calls.streams.list({ limit: 48 }).page('next=');
    expect(seen).toEqual([
      'POST /v1/streams/a%2Fb%3Fc/start lsk_secret',
      'GET /v1/streams?limit=48&cursor=next%3D lsk_secret',
    ]);
    expect(api.preview('s1')).toEqual({
      url: `${base}/streams/s1/preview.flv`,
      headers: { 'X-API-Key': 'lsk_secret' },
    });
  });

  test('a session that is over asks the server nothing, and fails as it would there', async () => {
    let asked = 0;
    let isOver = false;
    const base = await serve((request, response) => {
      asked += 1;
      json(200, { id: 'x', data: [] })(request, response);
    });
    const api = createApi(base, undefined, { isOver: () => isOver });
    await api.stream('x');
    isOver = true;
    expect(await readProblem(api.stream('x'))).toMatchObject({ status: 401, code: 'unauthenticated' });
    expect(asked).toBe(1);
    isOver = false;
    await api.stream('x');
    expect(asked).toBe(2);
  });

  test('a server that takes requests and answers none is noticed before they are given up, and again when it answers', async () => {
    const held: (() => void)[] = [];
    const base = await serve((request, response) => void held.push(() => json(200, { id: 'x' })(request, response)));
    const reached: boolean[] = [];
    const api = createApi(base, 'k', { reached: (yes) => reached.push(yes) });
    const asking = api.stream('x');
    await until('it is noticed', () => reached.includes(false), 12_000);
    for (const answer of held) answer();
    await asking;
    expect(reached).toEqual([false, true]);
  });

  test('a list is answered while the readiness of many streams is not', async () => {
    const late: (() => void)[] = [];
    const asked: string[] = [];
    const base = await serve((request, response) => {
      asked.push(request.url ?? '');
      const answer = () => json(200, { data: [] })(request, response);
      if (request.url?.endsWith('/readiness') && asked.length <= 3) late.push(answer);
      else answer();
    });
    const api = createApi(base, undefined);
    const stop = new AbortController();
    const answers = Array.from({ length: 20 }, (_, n) => api.readiness(`s${n}`, n === 4 ? stop.signal : undefined));
    await until('three are asked', () => late.length === 3);
    await api.calls.streams.list().page();
    expect(asked).toHaveLength(4);
    stop.abort(new Error('out of sight'));
    for (const answer of late) answer();
    await expect(answers[4]).rejects.toThrow('out of sight');
    await Promise.all(answers.filter((_, n) => n !== 4));
    expect(asked).not.toContain('/v1/streams/s4/readiness');
  });

  test('202, a start that is not confirmed yet, is an answer like any other', async () => {
    const base = await serve(json(202, { id: 's1', status: 'starting' }));
    expect(await createApi(base, 'k').start('s1')).toMatchObject({ status: 'starting' });
  });

  test('a problem document becomes an error with its code, sentence and issues', async () => {
    const issue = { code: 'media_preparing', message: 'Being prepared.', fix: 'Wait.', field: 'f', since: 't' };
    const base = await serve(json(409, { code: 'stream_not_ready', detail: 'Not yet.', issues: [issue] }));
    const problem = await readProblem(createApi(base, 'k').start('s1'));
    expect(problem).toMatchObject({ status: 409, code: 'stream_not_ready', message: 'Not yet.', issues: [issue] });
  });

  test('reports a refused key, so that the page signs out', async () => {
    const base = await serve(json(401, { code: 'unauthenticated', detail: 'Revoked.' }));
    const told: string[] = [];
    await readProblem(createApi(base, 'k', { refused: () => told.push('refused') }).me());
    expect(told).toEqual(['refused']);
  });

  test('no answer, and a gateway without a server behind it, are a lost connection; any other answer is none', async () => {
    const reached: boolean[] = [];
    const observer = { reached: (yes: boolean) => reached.push(yes) };
    const cut = await serve((request) => request.socket.destroy());
    expect(await readProblem(createApi(cut, 'k', observer).me())).not.toBeInstanceOf(ProblemError);
    await readProblem(createApi(await serve(json(503, {})), 'k', observer).me());
    await readProblem(createApi(await serve(json(404, {})), 'k', observer).me());
    await createApi(await serve(json(200, {})), 'k', observer).me();
    expect(reached).toEqual([false, false, true, true]);
  });

  test('a page in place of JSON is an error, not data', async () => {
    const base = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<html>');
    });
    expect(await readProblem(createApi(base, 'k').me())).toMatchObject({ code: 'http_200' });
  });

  test('a request that the page gave up is no lost connection', async () => {
    const reached: boolean[] = [];
    const stop = new AbortController();
    const base = await serve(() => stop.abort());
    const error = await createApi(base, 'k', { reached: (yes) => reached.push(yes) })
      .me(stop.signal)
      .catch((e) => e);
    expect(error).toMatchObject({ name: 'AbortError' });
    expect(reached).toEqual([]);
  });

  test('the clock of the server is learnt from its Date header', async () => {
    const offsets: number[] = [];
    const base = await serve(json(200, {}, { date: new Date(Date.now() + 3_600_000).toUTCString() }));
    await createApi(base, 'k', { clockOffset: (ms) => offsets.push(ms) }).me();
    expect(Math.abs((offsets[0] ?? 0) - 3_600_000)).toBeLessThan(10_000);
  });
});
