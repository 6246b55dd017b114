/**
 * Runs anvil, a real EVM node, which package-lock.json has as an optional dependency. Blocks come on demand. A proxy before it can refuse
 * connections and lie about the height.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Hex } from 'viem';
import { anvilProgram } from '../../../tools/local/chain.ts';
import { TOKEN_CODE } from '../make/evm-token.ts';

/** Returns the reason why anvil is missing; undefined when it is there. */
export const whyNoAnvil = (): string | undefined =>
  anvilProgram()
    ? undefined
    : `anvil is not built for ${process.platform} on ${process.arch} in this project’s lock file`;

export interface Anvil {
  /** The proxy's address. */
  url: string;
  chainId: number;
  accounts: Hex[];
  faults: {
    shut: boolean;
    height: ((real: number) => number) | undefined;
    chainId: number | undefined;
    /** Called for each request before its answer. */
    onRequest: (() => void) | undefined;
  };
  rpc<T = unknown>(method: string, ...params: unknown[]): Promise<T>;
  /** Submits a transaction, which waits for a block. `value` is in wei. */
  send(to: string, value: bigint, more?: { data?: Hex | undefined; from?: Hex | undefined }): Promise<Hex>;
  /** Mines `blocks` blocks; the first takes all waiting transactions. Returns the height. */
  mine(blocks?: number): Promise<number>;
  height(): Promise<number>;
  /** Replaces the last `depth` blocks; each transaction goes into the block with its number, from 0. */
  reorg(depth: number, transactions?: [Hex, number][]): Promise<void>;
  /** Returns the transaction without its block, to be mined into another one. */
  readRaw(txid: Hex): Promise<unknown>;
  /** Deploys a token; returns its address. */
  token(): Promise<Hex>;
  stop(): Promise<void>;
}

const listening = (child: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    let said = '';
    child.stdout?.on('data', (part) => {
      said += part;
      const [, address] = /Listening on (\S+)/.exec(said) ?? [];
      if (address) resolve(`http://${address}`);
    });
    child.on('exit', (code) => reject(new Error(`anvil ended with ${code}: ${said}`)));
  });

async function ask(url: string, body: unknown): Promise<unknown> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return answer.json();
}

interface Call {
  id: number;
  method: string;
}

interface Answered {
  id: number;
  result?: unknown;
  error?: { message: string };
}

export async function startAnvil(): Promise<Anvil> {
  const path = anvilProgram();
  if (path === undefined) throw new Error(whyNoAnvil());
  const child = spawn(path, ['--port', '0', '--no-mining', '--timestamp', '1800000000', '--gas-limit', '300000000'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const node = await listening(child);
  const faults: Anvil['faults'] = { shut: false, height: undefined, chainId: undefined, onRequest: undefined };

  const applyDoor = ({ method }: Call, answer: Answered): Answered => {
    if (method === 'eth_blockNumber' && faults.height)
      return { ...answer, result: `0x${faults.height(Number(answer.result)).toString(16)}` };
    if (method === 'eth_chainId' && faults.chainId) return { ...answer, result: `0x${faults.chainId.toString(16)}` };
    return answer;
  };
  const server = createServer((request, response) => {
    if (faults.shut) return void request.socket.destroy();
    faults.onRequest?.();
    void (async () => {
      const parts = await request.toArray();
      const body = JSON.parse(Buffer.concat(parts).toString()) as Call | Call[];
      const answer = (await ask(node, body)) as Answered | Answered[];
      const one = (call: Call, answered: Answered) => applyDoor(call, answered);
      const result =
        Array.isArray(body) && Array.isArray(answer)
          ? answer.map((answered) => one(body.find(({ id }) => id === answered.id) as Call, answered))
          : one(body as Call, answer as Answered);
      response.setHeader('content-type', 'application/json').end(JSON.stringify(result));
    })().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  let id = 0;
  const rpc = async <T>(method: string, ...params: unknown[]): Promise<T> => {
    const { result, error } = (await ask(node, { jsonrpc: '2.0', id: ++id, method, params })) as Answered;
    if (error) throw new Error(`${method}: ${error.message}`);
    return result as T;
  };
  const accounts = await rpc<Hex[]>('eth_accounts');
  const height = async () => Number(await rpc('eth_blockNumber'));
  const mine = async (blocks = 1) => {
    await rpc('anvil_mine', `0x${blocks.toString(16)}`);
    return height();
  };
  const hex = (number: bigint) => `0x${number.toString(16)}`;
  const send: Anvil['send'] = (to, value, { data, from = accounts[0] } = {}) =>
    rpc('eth_sendTransaction', { from, to, value: hex(value), ...(data && { data, gas: hex(200_000_000n) }) });
  return {
    url: `http://127.0.0.1:${port}`,
    chainId: Number(await rpc('eth_chainId')),
    accounts,
    faults,
    rpc,
    send,
    mine,
    height,
    readRaw: (txid) => rpc('eth_getRawTransactionByHash', txid),
    reorg: async (depth, transactions = []) => {
      const raws = await Promise.all(
        transactions.map(async ([txid, n]) => [await rpc('eth_getRawTransactionByHash', txid), n]),
      );
      await rpc('anvil_reorg', depth, raws);
    },
    async token() {
      const txid = await rpc('eth_sendTransaction', { from: accounts[9], data: TOKEN_CODE, gas: hex(5_000_000n) });
      await mine();
      const receipt = await rpc<{ contractAddress: Hex; status: Hex }>('eth_getTransactionReceipt', txid);
      if (receipt.status !== '0x1') throw new Error('The token could not be made.');
      return receipt.contractAddress;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.removeAllListeners('exit');
      child.once('exit', () => undefined);
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await Promise.race([ended, gone]);
    },
  };
}
