/** Tests the query of the agents' address: which tools are listed, and that the others cannot be called. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describedTools } from '../../../src/service/server/mcp/tools.ts';
import { type Client, call, startTestApi, type TestApi } from '../../kit/system/api.ts';

let api: TestApi;
let ada: Client;

beforeAll(async () => {
  api = await startTestApi();
  ada = await api.client('ada');
});
afterAll(() => api?.stop());

interface Answer {
  result?: { tools: { name: string }[]; structuredContent?: unknown };
  error?: { code: number; message: string; data?: { code: string; errors: unknown[] } };
}
const ask = (query: string, method: string, params?: object) =>
  call<Answer>(
    `${api.url}/mcp${query}`,
    'POST',
    { jsonrpc: '2.0', id: 1, method, ...(params && { params }) },
    { accept: 'application/json', 'x-api-key': ada.key },
  );
const list = async (query: string) => (await ask(query, 'tools/list')).body.result?.tools.map(({ name }) => name) ?? [];
const all = [...describedTools().values()];

describe('tools', () => {
  test('are those of the toolsets and of the mode that the query selects', async () => {
    const select = (isWanted: (tool: (typeof all)[number]) => boolean) => all.filter(isWanted).map(({ name }) => name);
    const isReading = ({ listed }: (typeof all)[number]) => listed.annotations?.readOnlyHint === true;
    expect(await list('')).toEqual(select(() => true));
    expect(await list('?toolsets=streams,uploads')).toEqual(
      select(({ toolset }) => ['streams', 'uploads'].includes(toolset)),
    );
    expect(await list('?readOnly=true')).toEqual(select(isReading));
    const both = await list('?toolsets=streams&readOnly=true');
    expect(both).toEqual(select((tool) => tool.toolset === 'streams' && isReading(tool)));
    expect(both).toContain('get_stream');
    expect(both).not.toContain('start_stream');
  });

  test('that the query leaves out cannot be called', async () => {
    const wish = { name: 'Home', rtmpUrl: 'rtmp://127.0.0.1/live', rtmpKey: 'abcd-efgh-1234' };
    for (const query of ['?readOnly=true', '?toolsets=streams']) {
      const { body } = await ask(query, 'tools/call', { name: 'create_destination', arguments: wish });
      expect(body.error).toMatchObject({ code: -32602, message: expect.stringContaining('create_destination') });
    }
    expect((await ada.call('GET', '/v1/destinations')).body).toMatchObject({ data: [] });
    const { body } = await ask('?readOnly=true', 'tools/call', { name: 'list_destinations', arguments: {} });
    expect(body.result?.structuredContent).toMatchObject({ data: [] });
  });

  test('of an unknown set are refused with the list of sets', async () => {
    const { status, body } = await ask('?toolsets=streams,nonsense', 'tools/list');
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code: -32600, data: { code: 'validation_failed' } });
    expect(JSON.stringify(body.error?.data?.errors)).toContain('account, uploads, playlists, destinations, streams');
  });
});
