/**
 * Creates crypto deposits: an address of its own for each, with a quote. The scanner finds and credits payments
 * (follow-chain.ts, settle.ts), and this service never waits for it.
 */

import { type Clock, systemClock } from '../../../core/lib/clock.ts';
import { currentIntent } from '../../../core/lib/context.ts';
import type { Db } from '../../db/pool.ts';
import { newId } from '../../domain/limits/owned-resources.ts';
import { AppError, validationFailed } from '../../lib/errors.ts';
import type { Connection, FilteredArgs } from '../../lib/list-page.ts';
import { pageRecords } from '../../lib/paging/rows.ts';
import { creditsPerUnit, toCredits } from '../ledger/money.ts';
import { readCurrencyDigits } from '../ledger/store.ts';
import { amountFor, creditsFor, formatRate, formatUnits, MAX_CREDITS } from './amounts.ts';
import { explainDeposit, explainPayment } from './explanations.ts';
import { DEPOSIT_LIST } from './list.ts';
import type { Crypto } from './open.ts';
import { toPayment } from './payment-rows.ts';
import { buildDepositView, countConfirmations } from './payment-states.ts';
import type { CryptoAsset, CryptoDeposit, CryptoDepositCreate, CryptoPayment } from './record.ts';
import type { Network } from './settings.ts';
import { type AssetSetting, addressKey, listAssets, MAX_OPEN } from './spec.ts';
import type { AddressPlace, DepositRow, PaymentRow } from './store.ts';
import * as store from './store.ts';
import { paymentUri } from './uri.ts';

export interface CryptoServiceDeps {
  db: Db;
  /** undefined: the service takes no deposits. */
  crypto: Crypto | undefined;
  clock?: Clock;
}

export type CryptoService = ReturnType<typeof createCryptoService>;

const sum = (numbers: readonly bigint[]): bigint => numbers.reduce((total, one) => total + one, 0n);

export function createCryptoService({ db, crypto, clock = systemClock }: CryptoServiceDeps) {
  const settings = crypto?.settings;
  /** Throws `crypto_disabled` where there are no deposits. */
  const open = () => {
    if (crypto) return crypto;
    throw new AppError('crypto_disabled');
  };

  function showPayment(row: PaymentRow, deposit: DepositRow, scans: ReadonlyMap<string, AddressPlace>): CryptoPayment {
    const verified = scans.get(row.network)?.height ?? 0;
    return {
      txid: row.txid,
      index: row.index,
      network: row.network,
      asset: row.asset,
      contract: row.contract,
      amount: String(row.amount),
      state: row.state,
      confirmations: row.height === null ? null : countConfirmations(row.height, verified),
      credits: row.state === 'credited' && row.credits !== null ? String(row.credits) : null,
      explanation: explainPayment(row, deposit, settings?.currency ?? ''),
      at: row.at.toISOString(),
    };
  }

  function show(
    row: DepositRow,
    payments: readonly PaymentRow[],
    scans: ReadonlyMap<string, AddressPlace>,
  ): CryptoDeposit {
    const isAsked = (one: PaymentRow) => one.asset === row.asset && one.network === row.network;
    const facts = payments.map((one) => ({ ...toPayment(one), isAsked: isAsked(one), amount: one.amount }));
    const deposit = { amount: row.amount, expiresAt: row.expires_at };
    const seen = buildDepositView(deposit, facts, scans.get(row.network)?.height ?? 0, clock.now());
    const network = settings?.networks.get(row.network)?.setting;
    const asset = network && listAssets(network).find(({ asset: name }) => name === row.asset);
    const expiresAt = row.expires_at.toISOString();
    const credited = payments.filter(({ state }) => state === 'credited').map(({ credits }) => credits ?? 0n);
    return {
      id: row.id,
      asset: row.asset,
      network: row.network,
      decimals: row.decimals,
      state: seen.state,
      confirmations: seen.confirmations,
      neededConfirmations: network?.confirmations ?? 0,
      address: row.address,
      paymentUri: network && asset ? paymentUri(network, asset, row.address, row.amount ?? undefined) : row.address,
      amount: row.amount === null ? null : String(row.amount),
      receivedAmount: String(seen.received),
      quote: {
        rate: formatRate(row.rate),
        currency: settings?.currency ?? '',
        expiresAt,
        credits: row.credits === null ? null : String(row.credits),
      },
      expiresAt,
      credits: String(sum(credited)),
      explanation: explainDeposit(row, seen),
      payments: payments.map((one) => showPayment(one, row, scans)),
      createdAt: row.created_at.toISOString(),
    };
  }

  async function showAll(on: Db, rows: readonly DepositRow[]): Promise<CryptoDeposit[]> {
    if (rows.length === 0) return [];
    const ids = rows.map(({ id }) => id);
    const [payments, scans] = [await store.listPayments(on, ids), await store.readScans(on)];
    const byDeposit = Map.groupBy(payments, ({ deposit_id }) => deposit_id);
    return rows.map((row) => show(row, byDeposit.get(row.id) ?? [], scans));
  }

  function pick({ network, asset }: CryptoDepositCreate): { network: Network; asset: AssetSetting } {
    const all = open().settings.networks;
    const found = all.get(network);
    if (!found) throw validationFailed([{ path: '/network', message: `must be one of ${[...all.keys()].join(', ')}` }]);
    const assets = listAssets(found.setting);
    const matches = assets.find((one) => one.asset === asset);
    if (matches) return { network: found, asset: matches };
    const names = assets.map((one) => one.asset).join(', ');
    throw validationFailed([{ path: '/asset', message: `must be one of ${names} on ${network}` }]);
  }

  /** Returns the requested amount and its worth; nulls where any amount may be paid. */
  function wished(input: CryptoDepositCreate, asset: AssetSetting, rate: bigint, digits: number) {
    const { amount: given, amountMinor: minor } = input;
    const path = minor === undefined ? '/amount' : '/amountMinor';
    if (given !== undefined && minor !== undefined)
      throw validationFailed([{ path, message: 'cannot be given together with amount' }]);
    const worth = { rate, decimals: asset.decimals, creditsPerUnit: creditsPerUnit(digits) };
    const amount = minor === undefined ? given && BigInt(given) : amountFor(toCredits(BigInt(minor)), worth);
    if (!amount) return { amount: null, credits: null };
    const least = BigInt(asset.minimum ?? 0);
    const credits = creditsFor(amount, worth);
    if (amount < least || credits === 0n) {
      const enough = amountFor(1n, worth) > least ? amountFor(1n, worth) : least;
      const coins = `${formatUnits(enough, asset.decimals)} ${asset.asset}`;
      throw validationFailed([{ path, message: `must be worth at least ${coins}, which is ${enough}` }]);
    }
    if (credits > MAX_CREDITS) throw validationFailed([{ path, message: 'exceeds the maximum of one deposit' }]);
    return { amount, credits };
  }

  const find = async (on: Db, accountId: string, id: string): Promise<CryptoDeposit | undefined> =>
    id.includes('\0') ? undefined : (await showAll(on, await store.listDeposits(on, accountId, id)))[0];

  return {
    /** Lists the accepted assets and their current rates. */
    async assets(): Promise<CryptoAsset[]> {
      const { settings, rates } = open();
      const all = [...settings.networks.values()].flatMap(({ setting }) =>
        listAssets(setting).map((asset) => ({ setting, asset })),
      );
      return Promise.all(
        all.map(async ({ setting, asset }) => ({
          asset: asset.asset,
          network: setting.network,
          contract: asset.contract ?? null,
          decimals: asset.decimals,
          minimumAmount: asset.minimum ?? '0',
          confirmations: setting.confirmations,
          rate: await rates.rate(asset.asset).then(formatRate, () => null),
          currency: settings.currency,
        })),
      );
    },

    /**
     * An address that nobody else was given or will be. Throws `crypto_unavailable` while its network is not followed yet,
     * `crypto_rate_unavailable`, `crypto_deposit_quota_exceeded` and `validation_failed`.
     */
    async create(accountId: string, input: CryptoDepositCreate): Promise<CryptoDeposit> {
      const { network, asset } = pick(input);
      const { setting, addresses } = network;
      // Blocks are read from the first run of the scanner on: what came before would never be found.
      if (!(await store.readScans(db)).has(setting.network))
        throw new AppError(
          'crypto_unavailable',
          `The service does not follow ${setting.network} yet. Try again in a minute.`,
        );
      const rate = await open().rates.rate(asset.asset);
      const wish = wished(input, asset, rate, await readCurrencyDigits(db, open().settings.currency));
      const intent = currentIntent();
      const id = intent?.newId('dep') ?? newId('dep');
      const now = clock.now();
      return db.transaction().execute(async (trx) => {
        // A request that is tried again is given what its first try has made.
        const earlier = intent && (await find(trx, accountId, id));
        if (earlier) return earlier;
        if ((await store.countOpen(trx, accountId, now)) >= MAX_OPEN)
          throw new AppError(
            'crypto_deposit_quota_exceeded',
            `The account has ${MAX_OPEN} deposits that wait for payment, the maximum. Pay one, or wait until one expires.`,
          );
        const index = await store.takeIndex(trx, addresses.keyId);
        const address = addresses.address(index);
        const row: DepositRow = {
          id,
          account_id: accountId,
          network: setting.network,
          asset: asset.asset,
          decimals: asset.decimals,
          address,
          address_key: addressKey(address),
          key_id: addresses.keyId,
          address_index: index,
          ...wish,
          rate,
          created_at: now,
          expires_at: new Date(now.getTime() + open().settings.quoteMs),
        };
        await store.insertDeposit(trx, row);
        return show(row, [], await store.readScans(trx));
      });
    },

    async list(
      accountId: string,
      args: FilteredArgs,
      where?: (deposit: CryptoDeposit) => boolean,
    ): Promise<Connection<CryptoDeposit>> {
      open();
      const records = await showAll(db, await store.listDeposits(db, accountId));
      return pageRecords(records, args, { name: 'dep', list: DEPOSIT_LIST, where });
    },

    /** All of them, for the account's own copy: also where none is taken any more. */
    everything: async (accountId: string): Promise<CryptoDeposit[]> =>
      showAll(db, await store.listDeposits(db, accountId)),

    async get(accountId: string, id: string): Promise<CryptoDeposit> {
      open();
      const deposit = await find(db, accountId, id);
      if (deposit) return deposit;
      throw new AppError('crypto_deposit_not_found', `The account has no crypto deposit ${id.slice(0, 100)}.`);
    },
  };
}
