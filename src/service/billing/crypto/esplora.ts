/**
 * Reads Bitcoin from an Esplora server (https://github.com/Blockstream/esplora/blob/master/API.md): the operator's own,
 * or a public one. Blocks are followed by their headers. Payments are queried by address, and count when their block is
 * the one that was read.
 */

import pMap from 'p-map';
import { type Static, type TSchema, Type } from 'typebox';
import { Value } from 'typebox/value';
import { trimEndOf } from '../../../core/lib/trim.ts';
import { type Chain, type ChainBlock, ChainError, type Header, type RecentTransfers, type Transfer } from './chain.ts';
import type { BtcNetwork } from './spec.ts';

const TIMEOUT_MS = 15_000;
/** Addresses queried at the same time. */
const AT_ONCE = 4;
/** The server's page size of an address's confirmed transactions. */
const PAGE = 25;
/** An answer is a page of transactions at most, which may have thousands of outputs each. */
const MAX_BYTES = 32 * 2 ** 20;

const Hash = Type.String({ pattern: '^[0-9a-f]{64}$' });
const Height = Type.Integer({ minimum: 0 });
const BlockAnswer = Type.Object({
  id: Hash,
  height: Height,
  timestamp: Type.Integer(),
  // The first block has none.
  previousblockhash: Type.Optional(Type.Union([Hash, Type.Null()])),
});
const Status = Type.Union([
  Type.Object({ confirmed: Type.Literal(true), block_height: Height, block_hash: Hash, block_time: Type.Integer() }),
  Type.Object({ confirmed: Type.Literal(false) }),
]);
const Output = Type.Object({
  scriptpubkey_address: Type.Optional(Type.String()),
  value: Type.Integer({ minimum: 0 }),
});
const BitcoinTransaction = Type.Object({ txid: Hash, vout: Type.Array(Output), status: Status });
type BitcoinTransaction = Static<typeof BitcoinTransaction>;
const Transactions = Type.Array(BitcoinTransaction);
const Unspent = Type.Array(
  Type.Object({ txid: Hash, vout: Height, value: Type.Integer({ minimum: 0 }), status: Status }),
);
export type Unspent = Static<typeof Unspent>;

/** Requests to the server, checked. Its address, which may hold a key, is in no error. */
export function createEsplora({ network, esploraUrl }: Pick<BtcNetwork, 'network' | 'esploraUrl'>) {
  const base = trimEndOf(esploraUrl, '/');

  async function text(path: string): Promise<string | undefined> {
    let status: number;
    try {
      const answer = await fetch(`${base}${path}`, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'error' });
      status = answer.status;
      if (Number(answer.headers.get('content-length') ?? 0) > MAX_BYTES) throw new Error('too much');
      const body = await answer.text();
      if (answer.ok) return body;
    } catch {
      throw new ChainError(`The Esplora server of ${network} does not respond.`);
    }
    if (status === 404) return undefined;
    throw new ChainError(`The Esplora server of ${network} responded with status ${status}.`);
  }

  async function json<T extends TSchema>(schema: T, path: string): Promise<Static<T> | undefined> {
    const body = await text(path);
    if (body === undefined) return undefined;
    try {
      const value: unknown = JSON.parse(body);
      if (Value.Check(schema, value)) return value;
    } catch {
      // Not JSON: said below.
    }
    throw new ChainError(`The Esplora server of ${network} returned an unexpected response.`);
  }

  return {
    async height(): Promise<number> {
      const height = Number(await text('/blocks/tip/height'));
      if (!Number.isSafeInteger(height) || height < 0)
        throw new ChainError(`The Esplora server of ${network} returned no block height.`);
      return height;
    },
    async header(height: number): Promise<Header | undefined> {
      const hash = (await text(`/block-height/${height}`))?.trim();
      if (hash === undefined) return undefined;
      const block = await json(BlockAnswer, `/block/${encodeURIComponent(hash)}`);
      if (block === undefined || block.height !== height || block.id !== hash) return undefined;
      const time = new Date(block.timestamp * 1000);
      return { height, hash, parentHash: block.previousblockhash ?? '', time };
    },
    /** Those in no block, and those in blocks from `from` on; pages are read until one begins below. */
    async transactions(address: string, from: number): Promise<BitcoinTransaction[]> {
      const path = `/address/${encodeURIComponent(address)}/txs`;
      const all = (await json(Transactions, path)) ?? [];
      let page = all.filter(({ status }) => status.confirmed);
      const isEnough = ({ status }: BitcoinTransaction) => status.confirmed && status.block_height < from;
      while (page.length >= PAGE && !page.some(isEnough)) {
        page = (await json(Transactions, `${path}/chain/${page.at(-1)?.txid}`)) ?? [];
        all.push(...page);
      }
      return all;
    },
    transaction: (txid: string) => json(BitcoinTransaction, `/tx/${encodeURIComponent(txid)}`),
    unspent: async (address: string): Promise<Unspent> =>
      (await json(Unspent, `/address/${encodeURIComponent(address)}/utxo`)) ?? [],
    /** Satoshi for a virtual byte, to be in one of the next so many blocks; undefined when the server does not say. */
    async feeRate(blocks: number): Promise<number | undefined> {
      const rates = await json(Type.Record(Type.String(), Type.Number()), '/fee-estimates');
      return rates?.[String(blocks)];
    },
  };
}

/** Returns the transfers of a transaction to the addresses. */
const transfersTo = ({ txid, vout }: BitcoinTransaction, addresses: ReadonlySet<string>): Transfer[] =>
  vout.flatMap(({ scriptpubkey_address, value }, index): Transfer[] => {
    const to = scriptpubkey_address?.toLowerCase();
    if (to === undefined || !addresses.has(to) || value === 0) return [];
    return [{ txid, index: String(index), to, amount: BigInt(value) }];
  });

export function createBtcChain(network: BtcNetwork): Chain {
  const esplora = createEsplora(network);

  /** Each once, though it pays several of the addresses. */
  async function readTransactions(addresses: ReadonlySet<string>, from: number): Promise<BitcoinTransaction[]> {
    const all = await pMap(addresses, (address) => esplora.transactions(address, from), { concurrency: AT_ONCE });
    return [...new Map(all.flat().map((transaction) => [transaction.txid, transaction])).values()];
  }

  return {
    height: esplora.height,
    header: esplora.header,
    async read(from, to, addresses) {
      const blocks: ChainBlock[] = [];
      for (let height = from; height <= to; height++) {
        const header = await esplora.header(height);
        if (header === undefined) break;
        blocks.push({ ...header, transfers: [] });
      }
      const byHeight = new Map(blocks.map((block) => [block.height, block]));
      let end = Number.POSITIVE_INFINITY;
      for (const transaction of await readTransactions(addresses, from)) {
        const { status } = transaction;
        const block = status.confirmed ? byHeight.get(status.block_height) : undefined;
        if (!status.confirmed || block === undefined) continue;
        // The chain changed between the two questions: the block is read anew in the next run.
        if (status.block_hash !== block.hash) end = Math.min(end, block.height);
        else block.transfers.push(...transfersTo(transaction, addresses));
      }
      return blocks.filter(({ height }) => height < end);
    },
    async find({ txid }) {
      const transaction = await esplora.transaction(txid);
      if (transaction === undefined) return undefined;
      const { status } = transaction;
      return status.confirmed ? { height: status.block_height, hash: status.block_hash } : 'pending';
    },
    async recent(addresses) {
      const all = await readTransactions(addresses, Number.POSITIVE_INFINITY);
      return all.flatMap((transaction) => {
        const { status } = transaction;
        const block = status.confirmed
          ? { height: status.block_height, hash: status.block_hash, time: new Date(status.block_time * 1000) }
          : undefined;
        return transfersTo(transaction, addresses).map((transfer): RecentTransfers => ({ ...transfer, block }));
      });
    },
  };
}
