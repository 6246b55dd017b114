/** Sends JSON-RPC requests to an EVM node, many in one HTTP request. */
import { createClient, http } from 'viem';
import { ChainError } from './chain.ts';
import type { EvmNetwork } from './spec.ts';

const TIMEOUT_MS = 15_000;
/** Questions in one request. */
const BATCH = 100;

export type CallRpc = <T>(method: string, params: readonly unknown[]) => Promise<T>;

/** Rejects with ChainError; the library's own errors have the node's address in them, which may hold a key. */
export function createRpc({ network, rpcUrl }: Pick<EvmNetwork, 'network' | 'rpcUrl'>): CallRpc {
  const client = createClient({
    transport: http(rpcUrl, { batch: { batchSize: BATCH }, timeout: TIMEOUT_MS, retryCount: 1 }),
  });
  return async <T>(method: string, params: readonly unknown[]) => {
    try {
      return (await client.request({ method, params } as never)) as T;
    } catch (error) {
      const code = (error as { code?: unknown }).code;
      const why = typeof code === 'number' ? `error ${code}` : (error as Error).name;
      throw new ChainError(`The node of ${network} did not respond to ${method} (${why}).`);
    }
  };
}
