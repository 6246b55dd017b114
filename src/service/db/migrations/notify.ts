/**
 * Notifies API servers (billing/ledger/events.ts) of each change of an account's money by any writer: a scanner, a webhook or
 * staff. Triggers send `<noun> <change> <id> <account>` on the channel loopstream_money when the change is committed.
 *
 * Postgres commits transactions that notify one after the other. There are thousands of charges a second, so a charge
 * alone sends nothing. The meter's own books notify once for all that was charged together.
 */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Builds a trigger's function that notifies of the rows of `query`: noun, change, id and account. */
const telling = (name: string, query: string): string =>
  `create function loopstream.${name}() returns trigger language plpgsql as $$
  begin
    perform pg_notify('loopstream_money', concat_ws(' ', t.noun, t.change, t.id, t.account_id))
      from (${query}) t (noun, change, id, account_id);
    return null;
  end $$`;

const CHANGE = `case tg_op when 'INSERT' then 'created' else 'updated' end`;

const trigger = (on: string, name: string, when: string, call: string): string =>
  `create trigger ${name} after ${on} for each row ${when && `when (${when})`} execute function loopstream.${call}()`;

/** Selects the accounts of sessions whose charges have changed. */
const charged = (before: string): string =>
  `select distinct 'balance', 'updated', s.account_id, s.account_id from now_charged n
    join loopstream.meter_streams s on s.stream_uid = n.stream_uid ${before}`;

const STATEMENTS = [
  telling('tell_balance', `select 'balance', 'updated', new.account_id, new.account_id`),
  trigger(
    'insert on loopstream.ledger_transactions',
    'tell',
    `new.account_id <> '' and new.kind <> 'charge'`,
    'tell_balance',
  ),
  telling('tell_first_charges', `${charged('')} where n.charges > 0`),
  `create trigger tell_first after insert on loopstream.meter_sessions referencing new table as now_charged
    for each statement execute function loopstream.tell_first_charges()`,
  telling(
    'tell_charges',
    charged(`join was_charged b on (b.stream_uid, b.session) = (n.stream_uid, n.session) and b.charges <> n.charges`),
  ),
  `create trigger tell after update on loopstream.meter_sessions
    referencing old table as was_charged new table as now_charged
    for each statement execute function loopstream.tell_charges()`,
  telling('tell_topup', `select 'topUp', ${CHANGE}, new.id, new.account_id`),
  trigger('insert on loopstream.topups', 'tell_new', '', 'tell_topup'),
  // A mere check of a deposit is no event.
  trigger(
    'update on loopstream.topups',
    'tell',
    `(old.state, old.paid_minor, old.review, old.checkout_url)
      is distinct from (new.state, new.paid_minor, new.review, new.checkout_url)`,
    'tell_topup',
  ),
  telling('tell_invoice', `select 'invoice', 'created', new.id, new.account_id`),
  trigger('insert on loopstream.invoices', 'tell', '', 'tell_invoice'),
  telling('tell_new_deposit', `select 'deposit', 'created', new.id, new.account_id`),
  trigger('insert on loopstream.crypto_deposits', 'tell', '', 'tell_new_deposit'),
  telling(
    'tell_deposit',
    `select 'deposit', 'updated', d.id, d.account_id from loopstream.crypto_deposits d where d.id = new.deposit_id`,
  ),
  trigger('insert or update on loopstream.crypto_payments', 'tell', '', 'tell_deposit'),
  // Each block adds a confirmation to pending payments.
  telling(
    'tell_confirmations',
    `select distinct 'deposit', 'updated', d.id, d.account_id from loopstream.crypto_payments p
      join loopstream.crypto_deposits d on d.id = p.deposit_id
      where p.network = new.network and p.state = 'confirming'`,
  ),
  trigger('update on loopstream.crypto_scans', 'tell', 'old.height <> new.height', 'tell_confirmations'),
];

export const notifyMigrations: Record<string, Migration> = {
  '0013-money-news': {
    async up(db: Kysely<unknown>) {
      for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
    },
  },
};
