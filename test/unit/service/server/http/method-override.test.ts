import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { overrideMethod } from '../../../../../src/service/server/http/method-override.ts';
import { buildTestServer, type TestServer } from '../../../../kit/system/server.ts';

const UPLOAD = '/v1/uploads/resumable/upl-1';

test.each<[method: string, url: string, wanted: string, becomes: string]>([
  ['POST', UPLOAD, 'PATCH', 'PATCH'],
  ['POST', UPLOAD, 'delete', 'DELETE'],
  ['POST', UPLOAD, 'HEAD', 'HEAD'],
  ['GET', UPLOAD, 'HEAD', 'HEAD'],
  ['POST', '/v1/uploads/resumable', 'OPTIONS', 'OPTIONS'],
  ['PATCH', `${UPLOAD}?a=b`, 'POST', 'POST'],
  // Methods outside the protocol, a preflight, and other clients' requests stay the same.
  ['POST', UPLOAD, 'PUT', 'POST'],
  ['POST', UPLOAD, '', 'POST'],
  ['OPTIONS', UPLOAD, 'PATCH', 'OPTIONS'],
  ['POST', '/v1/uploads/resumable-not', 'DELETE', 'POST'],
  ['POST', '/v1/streams/str-1', 'DELETE', 'POST'],
  ['POST', '/v1/uploads/upl-1', 'DELETE', 'POST'],
])('%s %s that says %j is %s', (method, url, wanted, becomes) => {
  const request = { method, url, headers: { 'x-http-method-override': wanted } } as unknown as IncomingMessage;
  overrideMethod(request);
  expect(request.method).toBe(becomes);
});

let server: TestServer;
beforeAll(async () => {
  server = await buildTestServer({ scopes: ['read'], settings: { CORS_ORIGINS: 'https://app.example.com' } });
});
afterAll(() => server.app.close());

test('an overriding method needs the scope that it needs by itself', async () => {
  const answer = await server.app.inject({
    method: 'GET',
    url: UPLOAD,
    headers: { 'x-api-key': 'ann', 'x-http-method-override': 'DELETE', 'tus-resumable': '1.0.0' },
  });
  expect([answer.statusCode, answer.json().code]).toEqual([403, 'insufficient_scope']);
});

test('a page of an allowed origin may send all headers of tus, and can read the abilities of uploads', async () => {
  const origin = 'https://app.example.com';
  const asked = 'tus-resumable,upload-concat,upload-checksum,upload-defer-length,x-http-method-override';
  const preflight = await server.app.inject({
    method: 'OPTIONS',
    url: UPLOAD,
    headers: { origin, 'access-control-request-method': 'PATCH', 'access-control-request-headers': asked },
  });
  expect(preflight.headers).toMatchObject({
    'access-control-allow-origin': origin,
    'access-control-allow-headers': asked,
    'access-control-allow-methods': expect.stringContaining('PATCH'),
  });
  const options = await server.app.inject({ method: 'OPTIONS', url: '/v1/uploads/resumable', headers: { origin } });
  expect(options.headers).toMatchObject({
    'access-control-allow-origin': origin,
    'access-control-expose-headers': '*',
    'tus-extension': expect.stringContaining('creation'),
  });
});
