/**
 * Tests old and new MCP clients of others: each lists the tools, calls one that succeeds and some that fail. A client may check a result
 * against the tool's output schema or not: the agent reads our sentence either way.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { environment } from '../../../src/core/settings/environment.ts';
import { run } from '../../../tools/process/run.ts';
import { installNpm, installPython } from './install.ts';
import { ADA, serveTools, type Tools } from './mcp/serve.ts';

const DIRECTORY = join(import.meta.dirname, 'mcp');
const PATHS = ['/mcp', '/mcp/'];
const NOT_FOUND = /The account has no stream str-nope\.[\s\S]*Code: stream_not_found/;
const INVALID = /is not known[\s\S]*Code: validation_failed/;

let tools: Tools;
let modules: string;

beforeAll(async () => {
  [tools, modules] = await Promise.all([serveTools(), installNpm('mcp', DIRECTORY)]);
  modules = join(modules, 'node_modules');
});

afterAll(() => tools?.stop());

interface Result {
  isError?: boolean;
  structuredContent?: unknown;
  content: { text?: string }[];
}

/** A client of any version of the TypeScript SDK. */
interface Sdk {
  connect(transport: unknown): Promise<void>;
  listTools(): Promise<{ tools: unknown[] }>;
  callTool(call: { name: string; arguments: object }): Promise<Result>;
  close(): Promise<void>;
}

const getText = ({ content }: Result): string => content.map(({ text }) => text).join('\n');
const withKey = { requestInit: { headers: { 'x-api-key': 'ada' } } };

/** Every client lists first, and so has the output schemas. */
async function useTools(client: Sdk, transport: unknown): Promise<void> {
  await client.connect(transport);
  try {
    expect((await client.listTools()).tools.length).toBeGreaterThan(40);
    expect((await client.callTool({ name: 'get_me', arguments: {} })).structuredContent).toEqual(ADA);
    const missing = await client.callTool({ name: 'get_stream', arguments: { id: 'str-nope' } });
    expect(missing).toMatchObject({ isError: true });
    expect(getText(missing)).toMatch(NOT_FOUND);
    const wrong = await client.callTool({ name: 'start_stream', arguments: { id: 'str-nope', nonsense: 1 } });
    expect(wrong).toMatchObject({ isError: true });
    expect(getText(wrong)).toMatch(INVALID);
  } finally {
    await client.close();
  }
}

describe.each(['sdk-1.12', 'sdk-1.20', 'sdk-1.32'])('the TypeScript SDK, %s', (version) => {
  test.each(PATHS)('reads results and refusals at %s', async (path) => {
    const load = (file: string) => import(pathToFileURL(join(modules, version, 'dist/esm/client', file)).href);
    const [sdk, http] = await Promise.all([load('index.js'), load('streamableHttp.js')]);
    const client: Sdk = new sdk.Client({ name: 'a client of a test', version: '1' });
    await useTools(client, new http.StreamableHTTPClientTransport(new URL(path, tools.url), withKey));
  });
});

describe.each(['auto', 'legacy'] as const)('the TypeScript client 2.x, %s', (mode) => {
  test.each(PATHS)('reads results and refusals at %s', async (path) => {
    const client = new Client({ name: 'a client of a test', version: '1' }, { versionNegotiation: { mode } });
    await useTools(client as unknown as Sdk, new StreamableHTTPClientTransport(new URL(path, tools.url), withKey));
  });
});

describe('the Inspector’s command line', () => {
  const inspect = (...args: string[]) => {
    const program = join(modules, '@modelcontextprotocol/inspector/clients/launcher/build/index.js');
    const where = ['--cli', `${tools.url}/mcp`, '--transport', 'http', '--header', 'X-API-Key: ada'];
    return run(process.execPath, [program, ...where, ...args], { env: environment(), timeoutMs: 60_000 });
  };

  test('lists the tools without a remark on their schemas', async () => {
    const { ok, stdout, stderr } = await inspect('--method', 'tools/list');
    expect({ ok, stderr }).toMatchObject({ ok: true });
    expect(JSON.parse(stdout).tools.length).toBeGreaterThan(40);
  });

  test('shows the sentence of a refusal', async () => {
    const { stdout, stderr } = await inspect(
      ...['--method', 'tools/call', '--tool-name', 'get_stream', '--tool-arg', 'id=str-nope'],
    );
    expect(`${stdout}${stderr}`).toContain('The account has no stream str-nope.');
    expect(`${stdout}${stderr}`).not.toContain('output schema');
  });
});

describe.each(['python-1.12', 'python-1.30'])('the Python SDK, %s', (version) => {
  test.each(PATHS)('reads results and refusals at %s', async (path) => {
    const python = await installPython(`mcp-${version}`, join(DIRECTORY, version));
    const args = [join(DIRECTORY, 'use_tools.py'), `${tools.url}${path}`, version];
    const { ok, stdout, stderr } = await run(join(python, 'bin', 'python3'), args, {
      env: environment(),
      timeoutMs: 120_000,
    });
    expect({ ok, stderr: ok ? '' : stderr }).toEqual({ ok: true, stderr: '' });
    for (const told of JSON.parse(stdout)) {
      expect(told).toMatchObject({ tools: expect.any(Number), me: ADA });
      expect(told.missing).toMatch(NOT_FOUND);
      expect(told.wrong).toMatch(INVALID);
    }
  });
});
