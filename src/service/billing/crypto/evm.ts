/**
 * Reads an EVM chain by a node's JSON-RPC. Coins are found by reading blocks with their transactions, tokens by the
 * Transfer logs of each block, queried by its hash. So both are of the same block, or the block is not there.
 *
 * The limit: no transaction and no log shows coins that a contract sends on (an "internal" transfer, as some exchanges
 * and multisig wallets do). Nodes do not report them without tracing. They are not lost, since the address is ours. The
 * sweep plan compares each address's balance with its credits, and names the difference.
 */
import type { Hex } from 'viem';
import { decodeAbiParameters, hexToBigInt, hexToNumber, numberToHex } from 'viem/utils';
import { type Chain, type ChainBlock, ChainError, type FoundTransfer, type Transfer } from './chain.ts';
import { createRpc } from './rpc.ts';
import type { EvmNetwork } from './spec.ts';

/** Transfer(address,address,uint256) of ERC-20. The event of ERC-721 has one topic more. */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** Blocks read at the same time. */
const AT_ONCE = 5;
interface RpcTransaction {
  hash: Hex;
  to: Hex | null;
  value: Hex;
}

interface RpcBlock {
  number: Hex;
  hash: Hex;
  parentHash: Hex;
  timestamp: Hex;
  transactions: readonly RpcTransaction[];
}

interface RpcLog {
  address: Hex;
  topics: readonly Hex[];
  data: Hex;
  logIndex: Hex;
  transactionHash: Hex;
  blockHash: Hex;
}

interface RpcReceipt {
  transactionHash: Hex;
  blockHash: Hex;
  blockNumber: Hex;
  status: Hex;
  logs: readonly RpcLog[];
}

/** The address in a topic, in lower case; undefined for what is none. */
const addressIn = (topic: Hex | undefined): string | undefined =>
  topic !== undefined && /^0x0{24}[0-9a-f]{40}$/i.test(topic) ? `0x${topic.slice(26).toLowerCase()}` : undefined;

const readAmount = ({ data }: RpcLog): bigint | undefined =>
  data.length === 66 ? decodeAbiParameters([{ type: 'uint256' }], data)[0] : undefined;

const isTransfer = ({ topics }: RpcLog): boolean => topics.length === 3 && topics[0] === TRANSFER;

export function createEvmChain(network: EvmNetwork): Chain {
  const ask = createRpc(network);
  /** Receipts of `find`, for many transfers of one transaction; until the next `height`. */
  let requests = new Map<string, Promise<RpcReceipt | null>>();

  const header = ({ number, hash, parentHash, timestamp }: RpcBlock) => ({
    height: hexToNumber(number),
    hash,
    parentHash,
    time: new Date(hexToNumber(timestamp) * 1000),
  });
  const blockAt = async (height: number, full: boolean): Promise<RpcBlock | undefined> => {
    const block = await ask<RpcBlock | null>('eth_getBlockByNumber', [numberToHex(height), full]);
    // Some nodes return their highest block for a higher number.
    return block && hexToNumber(block.number) === height ? block : undefined;
  };
  const readReceipt = (txid: string) => ask<RpcReceipt | null>('eth_getTransactionReceipt', [txid]);

  /** undefined when the block has left the chain; another refusal of the node is one. */
  async function readLogs({ hash, number }: RpcBlock): Promise<RpcLog[] | undefined> {
    try {
      return await ask<RpcLog[]>('eth_getLogs', [{ blockHash: hash, topics: [TRANSFER] }]);
    } catch (error) {
      if ((await blockAt(hexToNumber(number), false))?.hash === hash) throw error;
      return undefined;
    }
  }

  /** Transfers to the addresses; undefined when the block has left the chain while it was read. */
  async function readTransfers(block: RpcBlock, addresses: ReadonlySet<string>): Promise<Transfer[] | undefined> {
    const coins = block.transactions.filter(
      ({ to, value }) => to !== null && addresses.has(to.toLowerCase()) && hexToBigInt(value) > 0n,
    );
    const logs = await readLogs(block);
    if (logs === undefined) return undefined;
    const tokens = logs.filter((log) => isTransfer(log) && addresses.has(addressIn(log.topics[2]) ?? ''));
    const txids = [...new Set([...coins.map(({ hash }) => hash), ...tokens.map((log) => log.transactionHash)])];
    const receipts = new Map<string, RpcReceipt>();
    for (const receipt of await Promise.all(txids.map(readReceipt))) {
      if (receipt === null || receipt.blockHash !== block.hash) return undefined;
      receipts.set(receipt.transactionHash, receipt);
    }
    const sent = coins.flatMap(({ hash, to, value }): Transfer[] => {
      if (receipts.get(hash)?.status !== '0x1' || to === null) return [];
      return [{ txid: hash, index: 'value', to: to.toLowerCase(), amount: hexToBigInt(value) }];
    });
    const moved = tokens.flatMap((log): Transfer[] => {
      const place =
        receipts.get(log.transactionHash)?.logs.findIndex(({ logIndex }) => logIndex === log.logIndex) ?? -1;
      const [to, amount] = [addressIn(log.topics[2]), readAmount(log)];
      if (place < 0 || to === undefined || amount === undefined || amount === 0n) return [];
      const contract = log.address.toLowerCase();
      return [{ txid: log.transactionHash, index: String(place), to, contract, amount }];
    });
    return [...sent, ...moved];
  }

  async function read(height: number, addresses: ReadonlySet<string>): Promise<ChainBlock | undefined> {
    const block = await blockAt(height, true);
    const transfers = block && (await readTransfers(block, addresses));
    return block && transfers && { ...header(block), transfers };
  }

  return {
    async height() {
      requests = new Map();
      // With each height: an address can be given to another node, and its chain would look like a reorganisation.
      const [chainId, height] = await Promise.all([ask<Hex>('eth_chainId', []), ask<Hex>('eth_blockNumber', [])]);
      if (hexToNumber(chainId) !== network.chainId)
        throw new ChainError(`The node of ${network.network} belongs to another chain (id ${hexToNumber(chainId)}).`);
      return hexToNumber(height);
    },
    async header(height) {
      const block = await blockAt(height, false);
      return block && header(block);
    },
    async read(from, to, addresses) {
      const blocks: ChainBlock[] = [];
      for (let height = from; height <= to; height += AT_ONCE) {
        const count = Math.min(AT_ONCE, to - height + 1);
        const some = await Promise.all(Array.from({ length: count }, (_, i) => read(height + i, addresses)));
        const missing = some.indexOf(undefined);
        blocks.push(...(some.slice(0, missing < 0 ? count : missing) as ChainBlock[]));
        if (missing >= 0) break;
      }
      return blocks;
    },
    async find({ txid, index, contract, amount }): Promise<FoundTransfer> {
      const asked = requests.get(txid) ?? readReceipt(txid);
      requests.set(txid, asked);
      const receipt = await asked;
      if (receipt === null) {
        const known = await ask<unknown>('eth_getTransactionByHash', [txid]);
        return known === null ? undefined : 'pending';
      }
      const log = receipt.logs[Number(index)];
      const isSame = log !== undefined && isTransfer(log) && log.address.toLowerCase() === contract;
      const isThere = index === 'value' ? receipt.status === '0x1' : isSame && readAmount(log) === amount;
      if (!isThere) return undefined;
      return { height: hexToNumber(receipt.blockNumber), hash: receipt.blockHash };
    },
  };
}
