/**
 * Creates the tables of sign-ups that wait for their address to be confirmed, and of the number of mails sent to each
 * mailbox.
 */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const STATEMENTS = [
  // A sign-up is no account: one browser's password and names for an address. `browser` is the SHA-256 of its cookie.
  `create table loopstream.sign_ups (
    email text not null,
    browser text not null,
    password text not null,
    first_name text not null,
    last_name text,
    at timestamptz not null default now(),
    primary key (email, browser)
  )`,
  `create index sign_ups_at on loopstream.sign_ups (at)`,
  // Links of mails, by the SHA-256 of their token.
  `create table loopstream.sign_up_links (
    token text primary key,
    email text not null,
    at timestamptz not null default now()
  )`,
  `create index sign_up_links_email on loopstream.sign_up_links (email)`,
  `create table loopstream.mail_budgets (
    mailbox text not null,
    kind text not null,
    sent timestamptz[] not null,
    primary key (mailbox, kind)
  )`,
  // Notices that account owners have yet to receive.
  `create table loopstream.notices (
    id bigint generated always as identity primary key,
    email text not null,
    kind text not null,
    what text not null,
    at timestamptz not null
  )`,
  `create index notices_email on loopstream.notices (email)`,
  // A password set for an unconfirmed address may be anybody's. Nobody could sign in with it.
  `delete from auth.account a using auth."user" u
    where a."userId" = u.id and a."providerId" = 'credential' and not u."emailVerified"
      and not exists (select from auth.session s where s."userId" = u.id)`,
  `delete from auth."user" u where not u."emailVerified"
    and not exists (select from auth.account a where a."userId" = u.id)
    and not exists (select from auth.apikey k where k."referenceId" = u.id::text)
    and not exists (select from auth.session s where s."userId" = u.id)`,
];

export const signUpMigrations: Record<string, Migration> = {
  '0014-sign-ups-and-letters': {
    async up(db: Kysely<unknown>) {
      for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
    },
  },
};
