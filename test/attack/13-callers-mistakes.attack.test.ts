/** Attacks the log through callers' mistakes: a stranger cannot write errors into it, nor make the service report a failure. */

import { connect } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildSchema, getNamedType, isObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeCursor } from '../../src/service/lib/paging/connection.ts';
import { AUTH_PATHS } from '../../src/service/server/auth/paths.ts';
import { schemaDocument } from '../../src/service/server/graphql/schema.ts';
import type { OpenApi } from '../../src/service/server/openapi/document.ts';
import { listBadRequests } from '../kit/make/bad-input.ts';
import { ownPage } from '../kit/make/oauth.ts';
import { type Client, startTestApi, type TestApi } from '../kit/system/api.ts';
import { type ApiProcess, startApiProcess } from '../kit/system/api-process.ts';
import { tempDir } from '../kit/temp-dir.ts';

const AT_ONCE = 8;
/** pino's number of the level. */
const ERROR = 50;

const dir = tempDir();
let api: TestApi;
let server: ApiProcess;
let mallory: Client;

beforeAll(async () => {
  api = await startTestApi();
  mallory = await api.client('mallory');
  server = await startApiProcess({
    ...api.environment,
    LOOPSTREAM_STORAGE_URL: pathToFileURL(join(dir, 'media')).href,
    LOOPSTREAM_BILLING: 'true',
    LOOPSTREAM_SIGN_IN_ATTEMPTS: '100000',
    LOOPSTREAM_CLIENT_REGISTRATIONS: '100000',
    LOOPSTREAM_MAILS_PER_HOUR: '100000',
  });
});
afterAll(async () => {
  server?.signal('SIGKILL');
  await server?.ended;
  await api?.stop();
});

interface Sent {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
}

/** Returns the answers that report a failure of the service. */
async function findFailures(requests: readonly Sent[]): Promise<string[]> {
  const failures: string[] = [];
  const left = [...requests];
  const work = async () => {
    for (let next = left.shift(); next; next = left.shift()) {
      const { method, path, headers, body } = next;
      const init = { method, headers: { 'x-api-key': mallory.key, ...headers }, redirect: 'manual', body } as const;
      const answer = await fetch(`${server.url}${path}`, init as RequestInit);
      const text = await answer.text();
      const isFailure = answer.status >= 500;
      if (isFailure || /"code": ?"(internal|INTERNAL[^"]*)"/.test(text))
        failures.push(`${method} ${path} ${String(body).slice(0, 80)}: ${answer.status} ${text.slice(0, 200)}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return failures;
}

/** Returns log lines of level `error` and above. */
const errorLines = (): string[] =>
  server
    .logs()
    .split('\n')
    .filter((line) => line.startsWith('{') && Number((JSON.parse(line) as { level: number }).level) >= ERROR)
    .map((line) => line.slice(0, 500));

const JSON_TYPE = { 'content-type': 'application/json' };
/** None of these is valid for any operation. */
const BODIES: (string | Uint8Array)[] = [
  ...['', '[]', '[{}]', '[[]]', '{}', 'null', '5', '"x"', 'true', '{', '{"a":1,}', 'NaN', '\u0000', '{"__proto__":[]}'],
  ...['{"query":1}', '{"query":null}', '{"query":"{"}', '{"query":"{a"}', '{"query":"","variables":[]}'],
  ...['{"query":"{me{id}}","variables":5}', '{"query":"{me{id}}","operationName":{}}'],
  ...['{"query":"{me{id}}","extensions":[]}', '{"query":"subscription{a}"}', '{"query":"query A{a} query B{b}"}'],
  ...['{"query":"{me{id}}","operationName":"B"}', `{"query":"${'{a'.repeat(500)}"}`, `{"query":"${'['.repeat(5000)}"}`],
  ...['{"jsonrpc":"2.0"}', '{"jsonrpc":"2.0","id":{},"method":5}', '{"jsonrpc":"1","id":1,"method":"tools/list"}'],
  ...['{"jsonrpc":"2.0","id":1,"method":"tools/call"}', '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}'],
  ...['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nothing","arguments":5}}'],
  ...['{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}'],
  ...['{"jsonrpc":"2.0","id":1,"method":"__proto__","params":{}}', '{"jsonrpc":"2.0","method":"notifications/x"}'],
  ...['{"email":{},"password":[]}', '{"email":"a@b","password":"\\u0000"}', 'email=a&password=b', 'grant_type='],
  ...['{"redirect_uris":5}', '{"redirect_uris":["x"]}', '{"response":{"id":[]}}', '['.repeat(100_000)],
  Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d),
];
const QUERIES = ['', '?', '?a=%ff', '?token=%00', '?code=x&state=y', '?client_id[]=1', `?${'a=1&'.repeat(500)}`];
const HEADERS: Record<string, string>[] = [
  {},
  JSON_TYPE,
  { 'content-type': 'application/x-www-form-urlencoded' },
  { ...JSON_TYPE, accept: 'image/png' },
  { ...JSON_TYPE, accept: 'application/json, text/event-stream', 'mcp-protocol-version': '1999-01-01' },
  { ...JSON_TYPE, 'idempotency-key': 'x'.repeat(300) },
  { ...JSON_TYPE, authorization: 'Bearer a.b.c' },
  { ...JSON_TYPE, cookie: 'loopstream.session=%00; a' },
];

/** Texts that are no id: odd characters, names of JavaScript, halves of surrogate pairs, and numbers that no type holds. */
const TEXTS = [
  '\u0000',
  'a\u0000b',
  '\ud83d',
  '\udc00x',
  '__proto__',
  'constructor',
  '..',
  '*',
  '%',
  "' or 1=1--",
  '\ufeff',
].concat(['-1', '0x10', '1e999', 'NaN', 'n9223372036854775808', '9'.repeat(400), 'x'.repeat(5_000)]);
const ODD_IDS = [
  ...TEXTS.map((text) => encodeURIComponent(text.toWellFormed())),
  ...['%00', '%ff', '%ed%a0%80', 'a%zz', '%', '%2e%2e%2f', '%0d%0a'],
];
/** Names of lists, with places that have the right form and a right checksum, but that no list holds. */
const CURSORS = [
  ...TEXTS.map((text) => text.toWellFormed()),
  ...['!', '====', 'bnVsbA', 'e30', 'WzFd', btoa('{"key":1,"id":[]}'), 'a'.repeat(5_000), 'led', '_-_-'],
  ...['led', 'str', 'dst', 'upl', 'pls', 'inv', 'dep', 'top', 'evt', 'ver', ''].flatMap((list) => [
    ...['0000-00-00T00:00:00Z', '9999-99-99T99:99:99Z', '2026-02-30T24:61:61Z', 'soon'].flatMap((key) =>
      ['none', 'n99999999999999999999'].map((id) => encodeCursor(list, { key, id })),
    ),
    ...['', '\u0000', 'a\u0000b', '9'.repeat(400)].flatMap((key) =>
      ['none', 'n999999999999999999', 'n9223372036854775808'].map((id) => encodeCursor(list, { key, id }, 'name')),
    ),
  ]),
];

describe('a request that is wrong is answered as such, and leaves no error in the log:', () => {
  test('each wrong value of each parameter and field of REST', async () => {
    const doc = (await mallory.call<OpenApi>('GET', '/v1/openapi.json')).body;
    const requests = listBadRequests(doc, {}, (example) => example);
    expect(requests.length).toBeGreaterThan(1_000);
    expect(await findFailures(requests)).toEqual([]);
    expect(errorLines()).toEqual([]);
  });

  test('bodies and headers that fit nowhere, at GraphQL, the agents’ tools and the webhook', async () => {
    const paths = ['/graphql', '/graphql?query=%7Bme%7Bid%7D%7D&variables=%5B', '/mcp', '/v1/webhooks/stripe'];
    const requests = paths.flatMap((path) =>
      HEADERS.flatMap((headers) => [
        ...BODIES.map((body) => ({ method: 'POST', path, headers, body })),
        ...['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'].map((method) => ({ method, path, headers })),
      ]),
    );
    expect(await findFailures(requests)).toEqual([]);
    expect(errorLines()).toEqual([]);
  });

  test('cursors of each list and ids of each path that nobody made, at REST and GraphQL', async () => {
    const doc = (await mallory.call<OpenApi>('GET', '/v1/openapi.json')).body;
    const rest = Object.entries(doc.paths).flatMap(([path, item]) =>
      Object.entries(item).flatMap(([verb, { parameters = [] }]): Sent[] => {
        const method = verb.toUpperCase();
        const isList = parameters.some(({ name }) => name === 'cursor');
        const placed = path.replace('{version}', '1');
        const at = placed.replace('{id}', 'none');
        return [
          ...(isList ? CURSORS.map((cursor) => ({ method, path: `${at}?cursor=${encodeURIComponent(cursor)}` })) : []),
          ...(path.includes('{id}') ? ODD_IDS.map((id) => ({ method, path: placed.replace('{id}', id) })) : []),
        ];
      }),
    );
    const fields = Object.values(buildSchema(schemaDocument()).getQueryType()?.getFields() ?? {});
    const graphql = fields.flatMap(({ name, args, type }) => {
      const selection = isObjectType(getNamedType(type)) ? '{__typename}' : '';
      const ask = (given: Record<string, string>): Sent => {
        const texts = Object.entries(given).map(([key, value]) => `${key}:${JSON.stringify(value)}`);
        const query = `{${name}(${texts.join()})${selection}}`;
        return { method: 'POST', path: '/graphql', headers: JSON_TYPE, body: JSON.stringify({ query }) };
      };
      const ids = args.filter((arg) => getNamedType(arg.type).name === 'ID').map((arg) => arg.name);
      const withIds = (id: string) => Object.fromEntries(ids.map((key) => [key, id]));
      const places = args.filter((arg) => getNamedType(arg.type).name === 'Cursor').map((arg) => arg.name);
      return [
        ...places.flatMap((place) => CURSORS.map((cursor) => ask({ ...withIds('none'), [place]: cursor }))),
        ...(ids.length > 0 ? TEXTS.map((text) => ask(withIds(text))) : []),
      ];
    });
    expect(rest.length).toBeGreaterThan(1_000);
    expect(graphql.length).toBeGreaterThan(1_000);
    expect(await findFailures([...rest, ...graphql])).toEqual([]);
    expect(errorLines()).toEqual([]);
  });

  test('the same at each path of signing in and OAuth', async () => {
    const requests = AUTH_PATHS.flatMap(({ path, methods }) =>
      methods.flatMap((method) =>
        [JSON_TYPE, { 'content-type': 'application/x-www-form-urlencoded' }].flatMap((type) => {
          const headers = { ...ownPage(api.config.publicUrl), ...type };
          const where = `/api/auth${path}`;
          return method === 'GET'
            ? QUERIES.map((query): Sent => ({ method, path: where + query, headers }))
            : BODIES.map((body): Sent => ({ method, path: where, headers, body }));
        }),
      ),
    );
    expect(await findFailures(requests)).toEqual([]);
    expect(errorLines()).toEqual([]);
  });

  test('a list of operations at GraphQL is malformed_request', async () => {
    const answer = await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { ...JSON_TYPE, 'x-api-key': mallory.key },
      body: '[{"query":"{__typename}"}]',
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ errors: [{ extensions: { code: 'malformed_request' } }] });
  });

  test('bytes that are no HTTP', async () => {
    const { hostname, port } = new URL(server.url);
    const texts = [
      '\u0016\u0003\u0001',
      'GET\r\n\r\n',
      'POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n',
    ];
    texts.push('POST /graphql HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n');
    for (const text of texts) {
      const socket = connect(Number(port), hostname).on('error', () => undefined);
      socket.end(text);
      await new Promise((resolve) => socket.resume().once('close', resolve));
    }
    expect(errorLines()).toEqual([]);
  });
});
