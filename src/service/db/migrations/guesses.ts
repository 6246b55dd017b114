/** Creates the tables of tried passwords, and of the places in which people have signed in. */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const STATEMENTS = [
  // Passwords tried within an hour. Many accounts share a bucket, so the number of rows has a bound.
  `create table loopstream.guesses (
    bucket integer primary key,
    since timestamptz not null,
    attempts integer not null
  )`,
  // `source` is the keyed hash of an address, or of a browser's cookie.
  `create table loopstream.sign_in_sources (
    user_id uuid not null references auth."user" (id) on delete cascade,
    source text not null,
    at timestamptz not null default now(),
    primary key (user_id, source)
  )`,
];

export const guessMigrations: Record<string, Migration> = {
  '0019-guesses': {
    async up(db: Kysely<unknown>) {
      for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
    },
  },
};
