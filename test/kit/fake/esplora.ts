/**
 * Answers as Esplora does (https://github.com/Blockstream/esplora/blob/master/API.md), from a chain of its own. The shapes are those of the
 * API's documentation, with the fields that the product never reads left in. Pages of an address have Esplora's sizes: up to 50
 * transactions of the mempool and 25 confirmed ones first, then 25 each.
 */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const FIRST_TIME = 1_800_000_000;
const PAGE = 25;

interface Block {
  id: string;
  height: number;
  previousblockhash: string | null;
  timestamp: number;
  txids: string[];
}

interface Output {
  address: string;
  value: number;
}

/** An answer: text is sent as it is, anything else as JSON. */
export interface Recorded {
  status: number;
  body: unknown;
}

export interface Esplora {
  url: string;
  /** Answers by path, which take the place of the chain's. */
  recorded: Map<string, Recorded>;
  /** `shut`: connections break. `height`: replaces the real height in answers. */
  faults: { shut: boolean; height: ((real: number) => number) | undefined };
  /** Hands a transaction to the mempool; returns its id. */
  pay(...outputs: Output[]): string;
  /** Mines `blocks` blocks; the first takes the mempool. Returns the height. */
  mine(blocks?: number): number;
  /** Replaces the last blocks by as many others. Their transactions return to the mempool, or are forgotten. */
  reorg(depth: number, options?: { forget?: string[] }): void;
  /** Removes the transaction from the network. */
  drop(txid: string): void;
  height(): number;
  requests: string[];
  stop(): Promise<void>;
}

const sha = (text: string): string => createHash('sha256').update(text).digest('hex');

export async function startEsplora(): Promise<Esplora> {
  let serial = 0;
  const transactions = new Map<string, Output[]>();
  const mempool = new Set<string>();
  const genesis = { id: sha('genesis'), height: 0, previousblockhash: null, timestamp: FIRST_TIME, txids: [] };
  const blocks: Block[] = [genesis];
  const faults: Esplora['faults'] = { shut: false, height: undefined };
  const requests: string[] = [];
  const recorded: Esplora['recorded'] = new Map();
  const tip = () => blocks.at(-1) as Block;

  const mine = (count = 1) => {
    for (let i = 0; i < count; i += 1) {
      const before = tip();
      serial += 1;
      const id = sha(`block ${serial}`);
      const height = before.height + 1;
      const timestamp = before.timestamp + 60;
      blocks.push({ id, height, previousblockhash: before.id, timestamp, txids: [...mempool] });
      mempool.clear();
    }
    return tip().height;
  };

  const buildTransaction = (txid: string) => {
    const block = blocks.find(({ txids }) => txids.includes(txid));
    const outputs = transactions.get(txid) ?? [];
    return {
      txid,
      version: 2,
      locktime: 0,
      size: 222,
      weight: 561,
      fee: 1410,
      vin: [
        {
          txid: sha(`in ${txid}`),
          vout: 0,
          scriptsig: '',
          scriptsig_asm: '',
          is_coinbase: false,
          sequence: 4294967293,
          witness: ['30440220', '02'],
          prevout: {
            scriptpubkey: '0014',
            scriptpubkey_asm: 'OP_0 OP_PUSHBYTES_20',
            scriptpubkey_type: 'v0_p2wpkh',
            scriptpubkey_address: 'bc1qsender',
            value: 9,
          },
        },
      ],
      vout: [
        ...outputs.map(({ address, value }) => ({
          scriptpubkey: '0014',
          scriptpubkey_asm: 'OP_0 OP_PUSHBYTES_20',
          scriptpubkey_type: 'v0_p2wpkh',
          scriptpubkey_address: address,
          value,
        })),
        // Esplora leaves the address out of an output that has none.
        { scriptpubkey: '6a00', scriptpubkey_asm: 'OP_RETURN OP_0', scriptpubkey_type: 'op_return', value: 0 },
      ],
      status: block
        ? { confirmed: true, block_height: block.height, block_hash: block.id, block_time: block.timestamp }
        : { confirmed: false },
    };
  };
  const listKnown = () =>
    [...transactions.keys()].filter((txid) => mempool.has(txid) || blocks.some((b) => b.txids.includes(txid)));
  const ofAddress = (address: string) =>
    listKnown()
      .filter((txid) => transactions.get(txid)?.some((output) => output.address === address))
      .map(buildTransaction)
      .sort((a, b) => (b.status.block_height ?? 1e9) - (a.status.block_height ?? 1e9) || (a.txid < b.txid ? -1 : 1));

  const routes: [RegExp, (...values: string[]) => unknown][] = [
    [/^\/blocks\/tip\/height$/, () => String(faults.height?.(tip().height) ?? tip().height)],
    [/^\/block-height\/(\d+)$/, (height) => blocks[Number(height)]?.id],
    [
      /^\/block\/([0-9a-f]{64})$/,
      (id) => {
        const block = blocks.find((one) => one.id === id);
        if (block === undefined) return undefined;
        const { txids, ...header } = block;
        const mined = { version: 536870912, mediantime: block.timestamp, merkle_root: sha(`root ${id}`) };
        const work = { nonce: 2, bits: 545259519, difficulty: 4.6565423739069247e-10 };
        return { ...header, ...mined, ...work, tx_count: 1 + txids.length, size: 285, weight: 1140 };
      },
    ],
    [
      /^\/address\/([^/]+)\/txs$/,
      (address = '') => {
        const all = ofAddress(address);
        const waiting = all.filter(({ status }) => !status.confirmed).slice(0, 50);
        return [...waiting, ...all.filter(({ status }) => status.confirmed).slice(0, PAGE)];
      },
    ],
    [
      /^\/address\/([^/]+)\/txs\/chain\/([0-9a-f]{64})$/,
      (address = '', last) => {
        const all = ofAddress(address).filter(({ status }) => status.confirmed);
        const from = all.findIndex(({ txid }) => txid === last) + 1;
        return all.slice(from, from + PAGE);
      },
    ],
    [
      /^\/address\/([^/]+)\/utxo$/,
      (address = '') =>
        ofAddress(address).flatMap(({ txid, vout, status }) =>
          vout.flatMap((output, n) =>
            'scriptpubkey_address' in output && output.scriptpubkey_address === address
              ? [{ txid, vout: n, status, value: output.value }]
              : [],
          ),
        ),
    ],
    [/^\/tx\/([0-9a-f]{64})$/, (txid = '') => (listKnown().includes(txid) ? buildTransaction(txid) : undefined)],
    [/^\/fee-estimates$/, () => ({ '1': 87.882, '2': 87.882, '3': 20.5, '6': 4.051, '144': 1.027 })],
  ];

  const answerTo = (path: string): Recorded => {
    for (const [pattern, answer] of routes) {
      const match = pattern.exec(path);
      const body = match && answer(...match.slice(1));
      if (body !== null && body !== undefined) return { status: 200, body };
    }
    return { status: 404, body: path.startsWith('/tx/') ? 'Transaction not found' : 'Block not found' };
  };

  const server = createServer((request, response) => {
    if (faults.shut) return void request.socket.destroy();
    const path = (request.url ?? '').replace(/^\/api/, '');
    requests.push(path);
    const { status, body } = recorded.get(path) ?? answerTo(path);
    const isText = typeof body === 'string';
    response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json' });
    response.end(isText ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  mine();

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`,
    faults,
    mine,
    requests,
    recorded,
    height: () => tip().height,
    pay: (...outputs) => {
      serial += 1;
      const txid = sha(`transaction ${serial}`);
      transactions.set(txid, outputs);
      mempool.add(txid);
      return txid;
    },
    reorg: (depth, { forget = [] } = {}) => {
      const back = blocks.splice(-depth).flatMap(({ txids }) => txids);
      mine(depth);
      for (const txid of back) if (!forget.includes(txid)) mempool.add(txid);
    },
    drop: (txid) => void mempool.delete(txid),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
