/**
 * Creates the table of the digits in which the ledger counts a currency. Its rows stay as they are, whatever a later
 * version knows of the currency: otherwise balances would change their meaning.
 */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Earlier versions counted these without digits, against ISO 4217. */
const WITHOUT_DIGITS = 'AFN ALL COP HUF IDR IQD IRR KPW LAK LBP MGA MMK PKR SLL SOS SYP YER'.split(' ');

const STATEMENTS = [
  `create table loopstream.ledger_currencies (
    code text primary key,
    digits smallint not null check (digits between 0 and 4)
  )`,
  `insert into loopstream.ledger_currencies (code, digits)
    select code, 0 from unnest(array[${WITHOUT_DIGITS.map((code) => `'${code}'`).join(', ')}]) as code
    where exists (select from loopstream.ledger_transactions) or exists (select from loopstream.topups)`,
  // Earlier versions booked the amounts of the payment provider as they were. Their refunds are counted in the same way.
  `alter table loopstream.topups add column paid_as_sent boolean not null default false`,
  `update loopstream.topups set paid_as_sent = true where paid_minor > 0`,
];

export const currencyMigrations: Record<string, Migration> = {
  '0018-ledger-currencies': {
    async up(db: Kysely<unknown>) {
      for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
    },
  },
};
