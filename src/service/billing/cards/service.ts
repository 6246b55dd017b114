/**
 * Tops up accounts by card: the payment provider's page takes the money, and the received amount is credited. No card
 * data comes here. The state of a payment is never taken from the client or from an event: the provider is asked each
 * time.
 */
import { ulid } from 'ulid';
import { currentIntent } from '../../../core/lib/context.ts';
import type { Logger } from '../../../core/lib/log.ts';
import { AppError, validationFailed } from '../../lib/errors.ts';
import type { Connection, FilteredArgs } from '../../lib/list-page.ts';
import { pageRecords } from '../../lib/paging/rows.ts';
import type { Principal } from '../../lib/scopes.ts';
import { formatMinor } from '../ledger/money.ts';
import { readCurrencyDigits } from '../ledger/store.ts';
import { toCharge } from './currencies.ts';
import { type EventOutcome, handleEvent } from './events.ts';
import { computeBounds, type TopUpLimits } from './limits.ts';
import { TOP_UP_LIST } from './list.ts';
import { type PostDeps, settleTopUp } from './post-top-up.ts';
import type { TopUp, TopUpCreate } from './record.ts';
import * as store from './store.ts';
import type { Payments, StripeEvent } from './stripe.ts';

/** Stripe keeps a page open for a day at most. */
const OPEN_MS = 12 * 3_600_000;

export interface TopUpDeps extends PostDeps {
  /** Undefined where no card can be taken. */
  payments: Payments | undefined;
  /** False where nothing costs anything: no new payments. Earlier payments are still settled. */
  enabled?: boolean;
  limits: TopUpLimits;
  publicUrl: string;
  findEmail(userId: string): Promise<string>;
  log: Pick<Logger, 'warn'>;
}

export type TopUpService = ReturnType<typeof createTopUpService>;

const show = (row: store.TopUpRow, currencyDigits: number): TopUp => ({
  id: row.id,
  state: row.state,
  amountMinor: String(row.amountMinor),
  currency: row.currency,
  currencyDigits,
  paidMinor: String(row.paidMinor),
  refundedMinor: String(row.reversedMinor),
  checkoutUrl: row.checkoutUrl,
  createdAt: row.createdAt.toISOString(),
  expiresAt: row.expiresAt.toISOString(),
});

/** Throws `validation_failed` for another currency, and for an amount that cannot be charged exactly. */
function check({ amountMinor, currency }: TopUpCreate, limits: TopUpLimits, digits: number): bigint {
  const amount = BigInt(amountMinor);
  const refuse = (path: string, message: string) => validationFailed([{ path, message }]);
  if (currency.toUpperCase() !== limits.currency) throw refuse('/currency', `must be ${limits.currency}`);
  const { minMinor, maxMinor, stepMinor } = computeBounds(limits, digits);
  const write = (minor: bigint) => formatMinor(minor, limits.currency, digits);
  if (amount < minMinor || amount > maxMinor)
    throw refuse(
      '/amountMinor',
      `must be from ${minMinor} to ${maxMinor}, which is ${write(minMinor)} to ${write(maxMinor)}`,
    );
  if (amount % stepMinor !== 0n)
    throw refuse('/amountMinor', `must be a multiple of ${stepMinor}, which is ${write(stepMinor)}`);
  return amount;
}

export function createTopUpService(deps: TopUpDeps) {
  const { db, limits, enabled = true } = deps;
  const payments = (): Payments => {
    if (deps.payments) return deps.payments;
    throw new AppError('topups_disabled');
  };
  const showRow = async (row: store.TopUpRow) => show(row, await readCurrencyDigits(db, row.currency));
  const find = async (accountId: string, id: string): Promise<store.TopUpRow> => {
    const row = id.includes('\0') ? undefined : await store.findTopUp(db, id);
    if (row?.accountId === accountId) return row;
    throw new AppError('topup_not_found', `The account has no top-up ${id.slice(0, 100)}.`);
  };

  return {
    /**
     * A page to pay at. A request that is tried again with its Idempotency-Key has the same id, by which the provider knows
     * the page again that it made: there is one, also when the first answer was lost on its way.
     */
    async create({ accountId, userId }: Principal, wish: TopUpCreate): Promise<TopUp> {
      if (!enabled)
        throw new AppError('topups_disabled', 'Billing is off in this installation, so no card can be charged.');
      const provider = payments();
      const digits = await readCurrencyDigits(db, limits.currency);
      const amountMinor = check(wish, limits, digits);
      const intent = currentIntent();
      const id = intent?.newId('top') ?? `top-${ulid().toLowerCase()}`;
      const createdAt = intent?.since ?? new Date();
      const expiresAt = new Date(createdAt.getTime() + OPEN_MS);
      const row = await store.insertTopUp(db, {
        id,
        accountId,
        amountMinor,
        createdAt,
        expiresAt,
        currency: limits.currency,
      });
      if (row.sessionId !== null) return showRow(row);
      const looked = await provider.createSession({
        topUpId: id,
        accountId,
        charge: toCharge(amountMinor, row.currency, digits) ?? amountMinor,
        currency: row.currency,
        expiresAt: row.expiresAt,
        email: await deps.findEmail(userId),
        returnUrl: `${deps.publicUrl}/billing?topUp=${id}`,
      });
      return showRow((await settleTopUp(deps, id, looked, new Date())) ?? row);
    },

    async list(
      { accountId }: Pick<Principal, 'accountId'>,
      args: FilteredArgs,
      where?: (topUp: TopUp) => boolean,
    ): Promise<Connection<TopUp>> {
      const records = await Promise.all((await store.listTopUps(db, accountId)).map(showRow));
      return pageRecords(records, args, { name: 'top', list: TOP_UP_LIST, where });
    },

    get: async ({ accountId }: Pick<Principal, 'accountId'>, id: string): Promise<TopUp> =>
      showRow(await find(accountId, id)),

    /** Throws `webhook_forged` when these bytes are not the provider's. */
    readEvent: (raw: Buffer, signature: string | undefined): StripeEvent => payments().readEvent(raw, signature),

    /** How often, how late and in which order events come is all the same. */
    handleEvent: (event: StripeEvent): Promise<EventOutcome> => handleEvent({ ...deps, payments: payments() }, event),
  };
}
