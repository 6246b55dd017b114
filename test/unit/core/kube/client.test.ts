import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import manifest from '../../../../package.json' with { type: 'json' };
import { createKube } from '../../../../src/core/kube/client.ts';
import { loadAccess } from '../../../../src/core/kube/kubeconfig.ts';
import type { Kube, KubeError } from '../../../../src/core/kube/types.ts';
import { lines, parseEvent } from '../../../../src/core/kube/watch.ts';
import { within } from '../../../../src/core/lib/context.ts';
import { ConfigError } from '../../../../src/core/settings/settings.ts';
import { startServer, THINGS, thing, writeKubeconfig } from '../../../kit/real/kube.ts';
import { tempDir } from '../../../kit/temp-dir.ts';

let folder: string;
let server: Awaited<ReturnType<typeof startServer>>;
let kube: Kube;
let handle: (request: IncomingMessage, response: ServerResponse) => void;
let requests: string[];
const sockets = new Set<unknown>();

beforeEach(async () => {
  folder = tempDir();
  requests = [];
  sockets.clear();
  server = await startServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    sockets.add(request.socket);
    handle(request, response);
  });
  kube = createKube({ kubeconfig: await writeKubeconfig(join(folder, 'config'), server.url) });
});
afterEach(async () => {
  await kube.close();
  await server.close();
});

const answer = (response: ServerResponse, status: number, body: unknown, headers = {}) => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
};
const failure = async (call: Promise<unknown>): Promise<KubeError> =>
  call.then(
    (value) => Promise.reject(new Error(`answered ${JSON.stringify(value)}`)),
    (error: KubeError) => error,
  );

describe('requests', () => {
  test('carry the token, go over kept connections, and come back without managedFields', async () => {
    handle = (request, response) => {
      expect(request.headers.authorization).toBe('Bearer open-sesame');
      const object = thing('a', 1);
      answer(response, 200, { ...object, metadata: { ...object.metadata, managedFields: [{ manager: 'x' }] } });
    };
    for (let i = 0; i < 5; i++) expect(await kube.get(THINGS, 'ns', 'a')).toEqual(thing('a', 1));
    await Promise.all(Array.from({ length: 200 }, () => kube.get(THINGS, 'ns', 'a')));
    expect(sockets.size).toBeLessThanOrEqual(32);
    expect(requests[0]).toBe('GET /apis/loopstream.dev/v1beta1/namespaces/ns/things/a');
  });

  test('carry the trace of the request on whose behalf they are made', async () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const told: unknown[] = [];
    handle = (request, response) => {
      told.push(request.headers.traceparent);
      answer(response, 200, thing('a', 1));
    };
    await within({ trace: { traceparent } }, () => kube.get(THINGS, 'ns', 'a'));
    await kube.get(THINGS, 'ns', 'a');
    expect(told).toEqual([traceparent, undefined]);
  });

  test('name the product, its version and the part of it that asks', async () => {
    const told: unknown[] = [];
    handle = (request, response) => {
      told.push(request.headers['user-agent']);
      answer(response, 200, thing('a', 1));
    };
    const operator = createKube({ kubeconfig: join(folder, 'config'), role: 'operator' });
    await operator.get(THINGS, 'ns', 'a');
    await operator.close();
    await kube.get(THINGS, 'ns', 'a');
    expect(told).toEqual([`loopstream/${manifest.version} (operator)`, `loopstream/${manifest.version}`]);
  });

  test('end after their time, also while the response trickles', async () => {
    const statuses: number[] = [];
    const hasty = createKube({
      kubeconfig: join(folder, 'config'),
      timeoutMs: 300,
      onRequest: ({ status }) => statuses.push(status),
    });
    handle = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const drip = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(drip));
    };
    const late = { status: 0, reason: 'Unreachable', message: /TimeoutError/ };
    expect(await failure(hasty.create(THINGS, 'ns', thing('a', 1)))).toMatchObject(late);
    handle = () => undefined;
    expect(await failure(hasty.create(THINGS, 'ns', thing('a', 1)))).toMatchObject(late);
    expect(statuses).toEqual([200, 0]);
    await hasty.close();
  });

  test('that waited for a connection until their time was over are never sent', async () => {
    const waiting: ServerResponse[] = [];
    handle = (_, response) => void waiting.push(response);
    const busy = Array.from({ length: 32 }, () => kube.get(THINGS, 'ns', 'a'));
    await expect.poll(() => waiting.length).toBe(32);
    expect(await failure(kube.page(THINGS, { limit: 1, timeoutMs: 200 }))).toMatchObject({ message: /TimeoutError/ });
    handle = (_, response) => answer(response, 200, thing('a', 1));
    for (const response of waiting) answer(response, 200, thing('a', 1));
    await Promise.all([...busy, kube.get(THINGS, 'ns', 'a')]);
    expect(new Set(requests)).toEqual(new Set(['GET /apis/loopstream.dev/v1beta1/namespaces/ns/things/a']));
  });

  test('that read are tried again when the server says wait or fails, at least as long as it asks', async () => {
    const script = [
      (r: ServerResponse) => answer(r, 429, { kind: 'Status', reason: 'TooManyRequests' }, { 'retry-after': '1' }),
      (r: ServerResponse) => answer(r, 503, 'busy'),
      (r: ServerResponse) => void r.socket?.destroy(),
      (r: ServerResponse) => answer(r, 200, thing('a', 1)),
    ];
    handle = (_, response) => script.shift()?.(response);
    const began = performance.now();
    expect((await kube.get(THINGS, 'ns', 'a')).metadata.name).toBe('a');
    expect(performance.now() - began).toBeGreaterThanOrEqual(1000);
    expect(requests).toHaveLength(4);
  });

  test('that read give up after four times, or at once when the wait would be long', async () => {
    handle = (_, response) =>
      answer(response, 500, { kind: 'Status', reason: 'InternalError', message: 'etcd is away' });
    expect(await failure(kube.get(THINGS, 'ns', 'a'))).toMatchObject({
      status: 500,
      reason: 'InternalError',
      message: 'etcd is away',
    });
    expect(requests).toHaveLength(4);
    handle = (_, response) => answer(response, 429, {}, { 'retry-after': '60' });
    expect(await failure(kube.get(THINGS, 'ns', 'b'))).toMatchObject({
      status: 429,
      reason: '',
      retryAfterSeconds: 60,
    });
    expect(requests).toHaveLength(5);
  });

  test('that write are never sent twice', async () => {
    handle = (_, response) => answer(response, 503, 'busy', { 'retry-after': '1' });
    expect(await failure(kube.create(THINGS, 'ns', thing('a', 1)))).toMatchObject({
      status: 503,
      retryAfterSeconds: 1,
    });
    handle = (_, response) => void response.socket?.destroy();
    expect(await failure(kube.mergePatch(THINGS, 'ns', 'a', {}))).toMatchObject({ status: 0, reason: 'Unreachable' });
    expect(requests).toHaveLength(2);
  });

  test('of a list begin again when its continue token is too old', async () => {
    let pages = 0;
    handle = (request, response) => {
      pages++;
      if (pages === 2) return answer(response, 410, { kind: 'Status', reason: 'Expired', message: 'too old' });
      const more = pages < 4 && !request.url?.includes('continue=next');
      const metadata = { resourceVersion: '9', ...(more ? { continue: 'next' } : {}) };
      answer(response, 200, { metadata, items: [thing(`p${pages}`, pages)] });
    };
    expect((await kube.list(THINGS)).map((o) => o.metadata.name)).toEqual(['p3', 'p4']);
  });

  test('fail without a word of the token', async () => {
    handle = (_, response) =>
      answer(response, 401, { kind: 'Status', reason: 'Unauthorized', message: 'Unauthorized' });
    const refused = await failure(kube.get(THINGS, 'ns', 'a'));
    await server.close();
    const unreachable = await failure(kube.create(THINGS, 'ns', thing('a', 1)));
    expect(unreachable.message).toMatch(
      /^The API server at 127\.0\.0\.1:\d+ did not respond \((ECONNREFUSED|UND_ERR_SOCKET)\)\.$/,
    );
    for (const error of [refused, unreachable]) {
      const { inspect } = await import('node:util');
      expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('open-sesame');
    }
  });
});

describe('a watch', () => {
  const collect = async (options: { stallMs?: number } = {}) => {
    const events: string[] = [];
    for await (const event of kube.watch(THINGS, { namespace: 'ns', resourceVersion: '1', ...options }))
      events.push(event.type);
    return events;
  };
  const event = (type: string, object: unknown) => `${JSON.stringify({ type, object })}\n`;

  test('asks for bookmarks and an end, and ends with the server', async () => {
    handle = (_, response) => {
      response.write(event('ADDED', thing('a', 2)));
      response.end(event('BOOKMARK', { metadata: { resourceVersion: '5' } }));
    };
    expect(await collect()).toEqual(['ADDED', 'BOOKMARK']);
    const query = new URL(requests[0]?.split(' ')[1] ?? '', server.url).searchParams;
    expect(Object.fromEntries(query)).toEqual({
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: '1',
      timeoutSeconds: '290',
    });
  });

  test('throws the message of an ERROR event, an interruption, and a silence', async () => {
    handle = (_, response) => void response.end(event('ERROR', { kind: 'Status', code: 410, reason: 'Expired' }));
    expect(await failure(collect())).toMatchObject({ status: 410, reason: 'Expired' });
    handle = (_, response) => void response.end('{"type":"ADDED","object":{"meta');
    expect(await failure(collect())).toMatchObject({ reason: 'Unreachable', message: /in the middle of an event/ });
    handle = (_, response) => void response.write(event('ADDED', thing('a', 2)));
    expect(await failure(collect({ stallMs: 300 }))).toMatchObject({
      reason: 'Unreachable',
      message: /UND_ERR_BODY_TIMEOUT/,
    });
  });

  test('ends quietly when it is no longer wanted', async () => {
    const abort = new AbortController();
    handle = (_, response) => void response.write(event('ADDED', thing('a', 2)));
    const events: string[] = [];
    for await (const { type } of kube.watch(THINGS, { resourceVersion: '1', signal: abort.signal })) {
      events.push(type);
      abort.abort();
    }
    expect(events).toEqual(['ADDED']);
  });

  test('puts characters together that were split between packets', async () => {
    const bytes = Buffer.from('{"a":"é€😀"}\n\n{"b":1}\n');
    const single = async function* () {
      for (const byte of bytes) yield Uint8Array.of(byte);
    };
    const read: string[] = [];
    for await (const line of lines(single())) read.push(line);
    expect(read).toEqual(['{"a":"é€😀"}', '', '{"b":1}']);
    expect(parseEvent('')).toBeUndefined();
    expect(parseEvent('{"type":"NEWS","object":{}}')).toBeUndefined();
    expect(() => parseEvent('<html>')).toThrow('not JSON');
  });
});

describe('kubeconfig', () => {
  const write = async (name: string, config: unknown) => {
    const file = join(folder, name);
    await writeFile(file, JSON.stringify(config));
    return file;
  };

  test('joins several files, takes paths from where each file lies, and reads a renewed token', async () => {
    await mkdir(join(folder, 'deep'));
    await writeFile(join(folder, 'deep', 'token'), 'from-file\n');
    await writeFile(join(folder, 'ca.pem'), 'the CA');
    const first = await write('first', {
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'one', user: 'u' } }],
      clusters: [{ name: 'one', cluster: { server: 'https://one:6443/base', 'certificate-authority': 'ca.pem' } }],
    });
    const second = await write('deep/second', {
      'current-context': 'other',
      users: [{ name: 'u', user: { tokenFile: 'token' } }],
    });
    const access = loadAccess({ kubeconfig: [first, second].join(delimiter) });
    expect(access.server.href).toBe('https://one:6443/base');
    expect(String(access.tls.ca)).toBe('the CA');
    expect(await access.credentials()).toEqual({ headers: { authorization: 'Bearer from-file' } });
  });

  test('runs an exec plug-in', async () => {
    const plugin = join(folder, 'plugin');
    const credential = {
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { token: 'fresh' },
    };
    await writeFile(plugin, `#!/bin/sh\necho '${JSON.stringify(credential)}'\n`);
    await chmod(plugin, 0o700);
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: plugin, interactiveMode: 'Never' };
    const file = await writeKubeconfig(join(folder, 'exec'), 'https://127.0.0.1:1', { exec });
    expect((await loadAccess({ kubeconfig: file }).credentials()).headers).toEqual({ authorization: 'Bearer fresh' });
    await writeFile(plugin, '#!/bin/sh\nexit 3\n');
    const broken = createKube({ kubeconfig: file });
    expect(await failure(broken.get(THINGS, 'ns', 'a'))).toMatchObject({
      message: /^The credentials .* could not be read/,
    });
    await broken.close();
  });

  test('runs an exec plug-in as kubectl does: of the first file that names it, from its folder, told of the cluster', async () => {
    await mkdir(join(folder, 'deep'));
    const plugin = join(folder, 'deep', 'plugin');
    await writeFile(join(folder, 'ca.pem'), 'the CA');
    await writeFile(
      plugin,
      `#!/bin/sh
echo "$KUBERNETES_EXEC_INFO" > '${join(folder, 'told')}'
echo '{"status":{"token":"'"$OF"'"}}'
`,
    );
    await chmod(plugin, 0o700);
    const apiVersion = 'client.authentication.k8s.io/v1';
    const exec = { apiVersion, command: './plugin', provideClusterInfo: true };
    const extensions = [{ name: 'client.authentication.k8s.io/exec', extension: { audience: 'a' } }];
    const clusters = [
      { name: 'one', cluster: { server: 'http://one:8001', 'certificate-authority': 'ca.pem', extensions } },
    ];
    const first = await write('first', {
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'one', user: 'u' } }],
      clusters,
    });
    const user = (of: string) => ({ name: 'u', user: { exec: { ...exec, env: [{ name: 'OF', value: of }] } } });
    const second = await write('deep/second', { clusters, users: [user('second')] });
    const third = await write('third', { clusters, users: [user('third')] });
    const access = loadAccess({ kubeconfig: [first, second, third].join(delimiter) });
    expect((await access.credentials()).headers).toEqual({ authorization: 'Bearer second' });
    expect(JSON.parse(await readFile(join(folder, 'told'), 'utf8'))).toEqual({
      apiVersion,
      kind: 'ExecCredential',
      spec: {
        interactive: false,
        cluster: {
          server: 'http://one:8001',
          'certificate-authority-data': Buffer.from('the CA').toString('base64'),
          config: { audience: 'a' },
        },
      },
    });
  });

  test('acts as the user and the groups that it names, and as nobody where it names no user', async () => {
    let told: string[] = [];
    handle = (request, response) => {
      told = request.rawHeaders;
      answer(response, 200, thing('a', 1));
    };
    const ask = async (kubeconfig: string) => {
      const client = createKube({ kubeconfig });
      await client.get(THINGS, 'ns', 'a');
      await client.close();
      const pairs = told.flatMap((name, i) => (i % 2 ? [] : [`${name.toLowerCase()}: ${told[i + 1]}`]));
      return pairs.filter((pair) => /^(authorization|impersonate)/.test(pair));
    };
    const as = { as: 'jane', 'as-uid': '7', 'as-groups': ['dev', 'ops'], 'as-user-extra': { 'a/b': ['x', 'y'] } };
    const file = await writeKubeconfig(join(folder, 'as'), server.url, { token: 'open-sesame', ...as });
    expect(await ask(file)).toEqual([
      'authorization: Bearer open-sesame',
      'impersonate-user: jane',
      'impersonate-uid: 7',
      'impersonate-group: dev',
      'impersonate-group: ops',
      'impersonate-extra-a%2fb: x',
      'impersonate-extra-a%2fb: y',
    ]);
    const clusters = [{ name: 'one', cluster: { server: server.url } }];
    const contexts = [{ name: 'c', context: { cluster: 'one' } }];
    expect(await ask(await write('anonymous', { 'current-context': 'c', clusters, contexts }))).toEqual([]);
  });

  test('that is wrong has an error of one sentence, which shows nothing of its content', async () => {
    const broken = join(folder, 'broken');
    await writeFile(broken, 'users: [{token: geheim');
    const nowhere = await write('nowhere', { 'current-context': 'c', contexts: [] });
    for (const [kubeconfig, context, message] of [
      [join(folder, 'none'), undefined, /cannot be read \(ENOENT\)/],
      [broken, undefined, /cannot be read/],
      [nowhere, undefined, /has no context "c"/],
      [join(folder, 'config'), 'x', /has no context "x"/],
    ] as const) {
      const load = () => createKube({ kubeconfig, context });
      expect(load).toThrow(ConfigError);
      expect(load).toThrow(message);
      expect(load).not.toThrow(/geheim/);
    }
  });
});
