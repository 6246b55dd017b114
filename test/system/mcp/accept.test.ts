/** Tests that each client is answered in a form that it accepts, whatever revision of the protocol it speaks. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type StreamsApi, startStreamsApi } from '../../kit/make/streams.ts';

let started: StreamsApi;
beforeAll(async () => {
  started = await startStreamsApi();
});
afterAll(() => started?.api.stop());

const ask = async (accept: string | undefined, method: string, params: object) => {
  const answer = await fetch(new URL('/mcp', started.api.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': started.ada.key, accept: accept ?? '' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }),
  });
  return { status: answer.status, type: answer.headers.get('content-type')?.split(';')[0], text: await answer.text() };
};
const JSON_TYPE = 'application/json';
const EVENTS = 'text/event-stream';

const FORMS = [
  [JSON_TYPE, [JSON_TYPE]],
  ['application/*', [JSON_TYPE]],
  [`${JSON_TYPE}, ${EVENTS};q=0`, [JSON_TYPE]],
  [EVENTS, [EVENTS]],
  ['text/*;q=0.5', [EVENTS]],
  ['*/*', [JSON_TYPE, EVENTS]],
  [undefined, [JSON_TYPE, EVENTS]],
  [`${JSON_TYPE}, ${EVENTS}`, [JSON_TYPE, EVENTS]],
  ['text/html', [JSON_TYPE, EVENTS]],
] as const;

test.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])('in revision %s', async (protocolVersion) => {
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'client', version: '1' } };
  for (const [accept, types] of FORMS)
    for (const [method, wanted] of [
      ['initialize', { protocolVersion }],
      ['tools/list', { tools: expect.any(Array) }],
      ['tools/call', { isError: false }],
    ] as const) {
      const given = { initialize: params, 'tools/list': {}, 'tools/call': { name: 'get_me', arguments: {} } }[method];
      const { status, type, text } = await ask(accept, method, given);
      expect({ accept, method, status, isAccepted: (types as readonly unknown[]).includes(type) }, text).toEqual({
        ...{ accept, method, status: 200, isAccepted: true },
      });
      const data = type === EVENTS ? (/^data: (.*)$/m.exec(text)?.[1] ?? '') : text;
      const { id, result } = JSON.parse(data);
      expect(id).toBe(7);
      if (method === 'tools/call') expect(result.structuredContent).toMatchObject({ firstName: 'ada' });
      else expect(result).toMatchObject(wanted);
    }
});
