/** Connects agents in tests: the stock client of the protocol, in both revisions that the server speaks. */
import {
  Client,
  StreamableHTTPClientTransport,
  type StreamableHTTPClientTransportOptions,
} from '@modelcontextprotocol/client';
import { PROBLEM_META } from '../../../src/service/server/mcp/results.ts';

export const REVISIONS = { '2026-07-28': 'auto', '2025-11-25': 'legacy' } as const;
export type Revision = keyof typeof REVISIONS;

type CallOptions = Parameters<Client['callTool']>[1];

export interface Told {
  isError: boolean;
  /** The answer, or the problem. */
  // biome-ignore lint/suspicious/noExplicitAny: answers are what the other side says they are.
  output: any;
  text: string;
}

export interface Agent {
  client: Client;
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<Told>;
  /** The answer of a call that succeeds. */
  // biome-ignore lint/suspicious/noExplicitAny: answers are what the other side says they are.
  done(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<any>;
  close(): Promise<void>;
}

type How = { revision?: Revision } & StreamableHTTPClientTransportOptions;

/** `base` is the server's address. The client lists the tools first, so that it checks every answer against its schema. */
export async function connectAgent(base: string, { revision = '2026-07-28', ...options }: How): Promise<Agent> {
  const client = new Client(
    { name: 'an agent of a test', version: '1' },
    { versionNegotiation: { mode: REVISIONS[revision] } },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', base), options));
  await client.listTools();
  const call: Agent['call'] = async (name, args = {}, more) => {
    const {
      isError = false,
      structuredContent,
      content,
      _meta,
    } = await client.callTool({ name, arguments: args }, more);
    const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
    return { isError, output: isError ? _meta?.[PROBLEM_META] : structuredContent, text };
  };
  return {
    client,
    call,
    async done(name, args, more) {
      const { isError, output, text } = await call(name, args, more);
      if (isError) throw new Error(`${name} failed: ${text}`);
      return output;
    },
    close: () => client.close(),
  };
}

/** Connects an agent with an API key. */
export const withKey = (key: string): StreamableHTTPClientTransportOptions => ({
  requestInit: { headers: { 'x-api-key': key } },
});
