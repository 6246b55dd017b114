/** Pays a deposit as the customer of the local chain: `make run ARGS="pay …"`. */
import { ConfigError } from '../../src/core/settings/settings.ts';
import type { Payment } from './payment.ts';
import type { LocalState } from './state.ts';

/** Answers the transaction. Throws ConfigError where no local chain runs; rejects with what the node says otherwise. */
export async function pay(state: Pick<LocalState, 'readFacts'>, { to, wei }: Payment): Promise<string> {
  const url = state.readFacts()?.chainUrl;
  if (!url) throw new ConfigError('No local chain is running. Start one with make run ARGS="--crypto".');
  const rpc = async <T>(method: string, ...params: unknown[]): Promise<T> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    const { result, error } = (await answer.json()) as { result?: T; error?: { message: string } };
    if (error) throw new ConfigError(`The local chain rejected the payment: ${error.message}.`);
    return result as T;
  };
  const [from] = await rpc<string[]>('eth_accounts');
  return rpc<string>('eth_sendTransaction', { from, to, value: `0x${wei.toString(16)}` });
}
