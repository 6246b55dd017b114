/** Attacks the secrets of endpoints: addresses of chats, headers of templates, passwords and signing secrets are in no answer and no log. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Endpoint, EndpointSecret } from '../../src/service/domain/endpoints/record.ts';
import { type Client, call, startTestApi, type TestApi } from '../kit/system/api.ts';
import { type ApiProcess, startApiProcess } from '../kit/system/api-process.ts';

let api: TestApi;
let server: ApiProcess;
let mallory: Client;
beforeAll(async () => {
  api = await startTestApi();
  server = await startApiProcess({ ...api.environment, LOOPSTREAM_LOG_LEVEL: 'debug' });
  mallory = await api.client('secretive');
});
afterAll(async () => {
  server?.signal('SIGTERM');
  await server?.ended;
  await api?.stop();
});

const ask = <T = unknown>(method: string, path: string, body?: unknown, headers = {}) =>
  call<T>(`${server.url}${path}`, method, body, { 'x-api-key': mallory.key, ...headers });

const HOST = 'https://hooks.example.invalid';
const SECRETS = /SuperSecret|whsec_/;

test('they are in no answer of any API, no error and no log, and what is shown can be sent back', async () => {
  const template = {
    headers: [{ name: 'Authorization', value: 'Bearer SuperSecretHeader' }],
    body: '{"token": "SuperSecretBody", "text": "{{text}}"}',
  };
  const wishes = [
    { kind: 'slack', url: `${HOST}/services/T0/SuperSecretPath/wxyz` },
    { kind: 'discord', url: `${HOST}/api/webhooks/1/SuperSecretPath-wxyz` },
    { kind: 'template', url: `${HOST}/botSuperSecretPath/send`, template },
    { kind: 'webhook', url: 'https://SuperSecretUser:SuperSecretPass@hooks.example.invalid/in?key=SuperSecretKey' },
  ];
  const answers: { status: number; body: unknown }[] = [];
  for (const wish of wishes) {
    const made = await ask<Endpoint>('POST', '/v1/endpoints', wish);
    const path = `/v1/endpoints/${made.body.id}`;
    answers.push(made, await ask('GET', path), await ask('GET', `${path}/deliveries`));
    // The form sends the address back as it is shown, with another name.
    const renamed = await ask<Endpoint>('PATCH', path, { name: 'y', url: made.body.target });
    expect(renamed.body, wish.kind).toMatchObject({ name: 'y', target: made.body.target });
    // A hidden part cannot be sent to another server.
    const moved = await ask<{ code: string }>('PATCH', path, { url: made.body.target.replace('hooks.', 'other.') });
    expect([moved.status, moved.body.code]).toEqual([422, 'validation_failed']);
    answers.push(renamed);
    if (wish.kind !== 'webhook') continue;
    const { secret } = (await ask<EndpointSecret>('GET', `${path}/secret`)).body;
    expect(secret).toMatch(/^whsec_/);
    answers.push(await ask('POST', `${path}/rotate-secret`));
  }
  const tool = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'list_endpoints', arguments: {} },
  };
  answers.push(
    await ask('GET', '/v1/endpoints'),
    await ask('POST', '/graphql', { query: '{ endpoints { edges { node { id name target } } } }' }),
    await ask('POST', '/mcp', tool, { accept: 'application/json, text/event-stream' }),
  );
  for (const { status, body } of answers) {
    expect(status).toBeLessThan(300);
    expect(JSON.stringify(body)).not.toMatch(SECRETS);
  }
  for (const { body } of answers.slice(-3)) expect(JSON.stringify(body)).toContain('hooks.example.invalid');
  const refused = [
    await ask('POST', '/v1/endpoints', { kind: 'slack', url: 'http://10.0.0.1/SuperSecretPath' }),
    await ask('POST', '/v1/endpoints', { kind: 'slack', url: 'ftp://example.com/SuperSecretPath' }),
    await ask('POST', '/v1/endpoints', {
      kind: 'template',
      url: `${HOST}/`,
      template: { ...template, body: '{"SuperSecret' },
    }),
  ];
  for (const { status, body } of refused) {
    expect(status).toBe(422);
    expect(JSON.stringify(body)).not.toMatch(SECRETS);
  }
  expect(server.logs()).toContain('/v1/endpoints');
  expect(server.logs()).not.toMatch(SECRETS);
});
