/**
 * Runs a chain whose node is killed while it carries payments. A real EVM node mines a block a second and keeps its state in a file, from
 * which the next one continues. Unsaved transactions are lost, as with any node that loses power; the sender submits them again, as wallets
 * do.
 */
import { existsSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type Hex, keccak256 } from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import type { EvmNetwork } from '../../src/service/billing/crypto/spec.ts';
import { claimPort } from '../../tools/process/ports.ts';
import { ETHEREUM } from '../kit/make/crypto-settings.ts';
import { until } from '../kit/wait.ts';
import { keep } from './parts.ts';

/** The default mnemonic of such a node, worthless anywhere else. */
const MNEMONIC = 'test test test test test test test test test test test junk';
const GAS_PRICE = 10n ** 10n;
/** A killed node loses at most this much. */
const SAVE_MS = 1500;

export interface Sent {
  txid: Hex;
  to: string;
  wei: bigint;
  raw: Hex;
}

export interface Chain {
  network: EvmNetwork;
  sent: readonly Sent[];
  /** Submits a transaction; while the node is away, it is kept and submitted later. */
  send(to: string, wei: bigint): Promise<void>;
  /** Submits again all transactions that the node does not know. */
  repeat(): Promise<void>;
  /** Resolves when all transactions are in blocks, with the service's number of confirmations. */
  settled(): Promise<void>;
  kill(): boolean;
  stop(): Promise<void>;
}

const binary = (): string =>
  join(dirname(createRequire(import.meta.url).resolve('@foundry-rs/anvil-linux-amd64/package.json')), 'bin/anvil');

export async function startChain(dir: string): Promise<Chain> {
  const port = await claimPort('anvil', 0);
  const url = `http://127.0.0.1:${port}`;
  let id = 0;
  const rpc = async <T>(method: string, ...params: unknown[]): Promise<T> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params });
    const signal = AbortSignal.timeout(5000);
    const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body, signal });
    const { result, error } = (await answer.json()) as { result: T; error?: { message: string } };
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  };
  const height = async () => Number(await rpc('eth_blockNumber'));
  const state = join(dir, 'anvil.json');
  const part = await keep({
    command: binary(),
    args: () => [
      ...['--port', String(port), '--block-time', '1', '--chain-id', '31337', '--silent'],
      ...(existsSync(state) ? ['--load-state', state] : []),
    ],
    env: { PATH: process.env.PATH ?? '', HOME: dir },
    logFile: join(dir, 'anvil.log'),
  });
  /** The file is replaced atomically: a partial one would lose the chain. */
  const save = async () => {
    const dumped = await rpc<Hex>('anvil_dumpState');
    await writeFile(`${state}.new`, gunzipSync(Buffer.from(dumped.slice(2), 'hex')));
    await rename(`${state}.new`, state);
  };
  const saving = setInterval(() => void save().catch(() => undefined), SAVE_MS);
  await until('the node of the chain answers', () =>
    height()
      .then((n) => n > 0)
      .catch(() => false),
  );

  const account = mnemonicToAccount(MNEMONIC);
  const network = { ...ETHEREUM, chainId: 31_337, rpcUrl: url, confirmations: 3 };
  const sent: Sent[] = [];
  /** Returns the block number of a transaction; undefined without a block. */
  const findBlock = async ({ txid }: Sent): Promise<number | undefined> => {
    const receipt = await rpc<{ blockNumber: Hex } | null>('eth_getTransactionReceipt', txid);
    return receipt ? Number(receipt.blockNumber) : undefined;
  };
  /** The order is that of their nonces: a missing one blocks all after it. */
  const repeat = async () => {
    for (const one of sent.slice(-50))
      if ((await findBlock(one)) === undefined) await rpc('eth_sendRawTransaction', one.raw).catch(() => undefined);
  };
  return {
    network,
    sent,
    repeat,
    async send(to, wei) {
      const raw = await account.signTransaction({
        type: 'legacy',
        chainId: network.chainId,
        nonce: sent.length,
        to: to as Hex,
        value: wei,
        gas: 21_000n,
        gasPrice: GAS_PRICE,
      });
      // The transaction is recorded before it is submitted: it is sent once, however often it is submitted.
      sent.push({ txid: keccak256(raw), to, wei, raw });
      await rpc('eth_sendRawTransaction', raw).catch(() => undefined);
    },
    settled: async () => {
      const isDeep = async () => {
        await repeat();
        const blocks = await Promise.all(sent.map(findBlock));
        const top = await height();
        return blocks.every((block) => block !== undefined && block + network.confirmations <= top);
      };
      await until('all that was sent is in blocks', () => isDeep().catch(() => false), 60_000);
    },
    kill: () => part.kill(),
    stop: () => {
      clearInterval(saving);
      return part.stop();
    },
  };
}
