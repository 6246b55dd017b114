/**
 * Creates the tables about OAuth clients that the auth library does not have: clients that a user here has reviewed,
 * the address that registered a client, and access tokens that ended early. The library's own tables stay as it makes
 * them.
 */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const clientMigrations: Record<string, Migration> = {
  '0011-verified-clients': {
    async up(db: Kysely<unknown>) {
      await sql`create table loopstream.verified_clients (
        client_id text primary key,
        verified_at timestamptz not null default now()
      )`.execute(db);
    },
  },
  '0016-client-tokens': {
    async up(db: Kysely<unknown>) {
      await sql`create table loopstream.registrations (
        fingerprint text primary key,
        client_id text not null,
        answer jsonb not null,
        at timestamptz not null default now()
      )`.execute(db);
      await sql`create index registrations_client_id on loopstream.registrations (client_id)`.execute(db);
      await sql`create table loopstream.access_tokens (
        jti text primary key,
        grant_id text not null,
        user_id text not null,
        client_id text not null,
        ended boolean not null default false,
        expires_at timestamptz not null
      )`.execute(db);
      await sql`create index access_tokens_owner on loopstream.access_tokens (user_id, client_id)`.execute(db);
      await sql`create index access_tokens_expires_at on loopstream.access_tokens (expires_at)`.execute(db);
      await sql`create table loopstream.ended_grants (
        grant_id text primary key,
        at timestamptz not null default now()
      )`.execute(db);
    },
  },
};
