/**
 * Tests the client with recorded answers of real Esplora servers (esplora-recorded.json names them). The client understands them unchanged,
 * and the server of all other Bitcoin tests answers in their shape.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createBtcChain, createEsplora } from '../../../../../src/service/billing/crypto/esplora.ts';
import { type Esplora, type Recorded, startEsplora } from '../../../../kit/fake/esplora.ts';

type Answer = Recorded & { path: string };
const { answers } = JSON.parse(readFileSync(join(import.meta.dirname, 'esplora-recorded.json'), 'utf8')) as {
  answers: Record<string, Answer>;
};
const recorded = (name: string): Answer => {
  const answer = answers[name];
  if (answer === undefined) throw new Error(`There is no recorded ${name}.`);
  return answer;
};
/** Returns the value below these names. */
const within = (value: unknown, ...path: (string | number)[]): never =>
  path.reduce((at, name) => (at as Record<string | number, unknown>)[name], value) as never;
const [confirmed, pending] = [recorded('confirmed').body, recorded('pending').body];
const readTxid = (transaction: unknown): string => within(transaction, 'txid');

let server: Esplora;
let esplora: ReturnType<typeof createEsplora>;
let chain: ReturnType<typeof createBtcChain>;
beforeAll(async () => {
  server = await startEsplora();
  const asked = { network: 'bitcoin', esploraUrl: server.url };
  esplora = createEsplora(asked);
  chain = createBtcChain({ ...asked, kind: 'btc', chain: 'testnet', xpub: '', confirmations: 2 });
});
afterAll(() => server?.stop());
beforeEach(() => server.recorded.clear());

const serve = (path: string, answer: Recorded) => server.recorded.set(path, answer);
const serveAll = () => {
  for (const answer of Object.values(answers)) serve(answer.path, answer);
};

describe('recorded answers are understood', () => {
  beforeEach(serveAll);

  test('a height, a block and its time', async () => {
    expect(await esplora.height()).toBe(1_808_100);
    expect(await esplora.header(363_366)).toEqual({
      height: 363_366,
      hash: '000000000000000015dc777b3ff2611091336355d3f0ee9766a2cf3be8e4b1ce',
      parentHash: '000000000000000010c545b6fa3ef1f7cf45a2a8760b1ee9f2e89673218207ce',
      time: new Date('2015-07-01T16:06:11Z'),
    });
  });

  test('the first block, which has none before it', async () => {
    const id = '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f';
    const first = { ...(recorded('block').body as object), id, height: 0, previousblockhash: null };
    serve('/block-height/0', { status: 200, body: id });
    serve(`/block/${id}`, { status: 200, body: first });
    expect(await esplora.header(0)).toMatchObject({ height: 0, hash: id, parentHash: '' });
  });

  test('payments to an address: pending ones first, confirmed ones with their place and time', async () => {
    const address = (transaction: unknown): string => within(transaction, 'vout', 0, 'scriptpubkey_address');
    // The scanner's form of addresses: ours are in lower case, these have other letters too.
    const [paid, waits] = [confirmed, pending].map((one) => address(one).toLowerCase());
    for (const path of [paid, waits]) serve(`/address/${path}/txs`, { status: 200, body: [pending, confirmed] });
    const found = await chain.recent?.(new Set([paid, waits] as string[]));
    expect(found).toEqual([
      { txid: readTxid(pending), index: '0', to: waits, amount: 49_040n, block: undefined },
      {
        txid: readTxid(confirmed),
        index: '0',
        to: paid,
        amount: 100_000n,
        block: {
          height: 1_574_469,
          hash: '000000000000015df12c1a2656f4284edc7c8130d68112d5e522b5d22f79b2b0',
          time: new Date('2019-08-14T10:06:39Z'),
        },
      },
    ]);
  });

  test('a transaction by its id, in a block and waiting for one', async () => {
    const find = (txid: string) => chain.find({ txid, index: '0', amount: 1n, contract: undefined });
    expect(await find(readTxid(confirmed))).toEqual({
      height: 1_574_469,
      hash: '000000000000015df12c1a2656f4284edc7c8130d68112d5e522b5d22f79b2b0',
    });
    expect(await find(readTxid(pending))).toBe('pending');
    // Servers report a missing transaction with this status.
    expect(await find(recorded('noTransaction').path.slice('/tx/'.length))).toBeUndefined();
    expect(await esplora.header(9_999_999)).toBeUndefined();
  });

  test('unspent outputs and fees', async () => {
    expect(await esplora.unspent('tb1qt2mpt38wmgw3j0hnr9mp5hsa7kxf2a3ktdxaeu')).toMatchObject([{ value: 28_019 }]);
    expect([await esplora.feeRate(5), await esplora.feeRate(7)]).toEqual([10, undefined]);
  });

  test('a refusal is recognized, with any text', async () => {
    await expect(esplora.transactions('bc1qsomething', 0)).rejects.toThrow(
      'The Esplora server of bitcoin responded with status 400.',
    );
  });
});

describe("the tests' server answers in the shape of the recorded answers", () => {
  /** Lists each field with its type; for a list, the fields of all its elements. */
  function fields(value: unknown, path = ''): string[] {
    if (Array.isArray(value)) return value.flatMap((one) => fields(one, `${path}[]`));
    if (typeof value !== 'object' || value === null) return [`${path}: ${value === null ? 'null' : typeof value}`];
    return Object.entries(value).flatMap(([name, one]) => fields(one, `${path}.${/^\d+$/.test(name) ? 'n' : name}`));
  }
  const shape = (...values: unknown[]) => [...new Set(values.flatMap((value) => fields(value)))].sort();
  /** Fields that servers leave out when empty, or that only some of them send. */
  const isOptional = (field: string) => /\.(inner_\w+|witness\[\]|sigops): /.test(field);
  const must = (fields: string[]) => fields.filter((field) => !isOptional(field));

  const ask = async (path: string) => {
    const answer = await fetch(`${server.url}${path}`);
    const type = answer.headers.get('content-type');
    return { status: answer.status, body: type === 'text/plain' ? await answer.text() : await answer.json() };
  };

  test('blocks, transactions, outputs and fees, field by field; and missing objects', async () => {
    const txid = server.pay({ address: 'bcrt1qours', value: 5 });
    const waiting = await ask(`/tx/${txid}`);
    expect(must(shape(waiting.body))).toEqual(must(shape(pending)));
    const height = server.mine();
    const mined = await ask(`/tx/${txid}`);
    expect(must(shape(mined.body))).toEqual(must(shape(confirmed)));
    const known = shape(confirmed, pending);
    expect(shape(waiting.body, mined.body).filter((field) => !known.includes(field))).toEqual([]);
    expect((await ask('/address/bcrt1qours/txs')).body).toEqual([mined.body]);
    expect(shape((await ask('/address/bcrt1qours/utxo')).body)).toEqual(shape(recorded('unspent').body));

    const { body: id } = await ask(`/block-height/${height}`);
    expect(shape((await ask(`/block/${id}`)).body)).toEqual(shape(recorded('block').body));
    expect(shape((await ask('/blocks/tip/height')).body)).toEqual(shape(recorded('tip').body));
    expect(shape((await ask('/fee-estimates')).body)).toEqual(shape(recorded('fees').body));
    for (const name of ['noBlock', 'noTransaction']) {
      const { path, status, body } = recorded(name);
      expect(await ask(path)).toEqual({ status, body });
    }
  });
});
