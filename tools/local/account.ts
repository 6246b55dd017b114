/**
 * Creates the local account: migrates the database, and keeps an API key and a password that stay the same from start
 * to start.
 */
import { randomBytes } from 'node:crypto';
import { openAuth } from '../../src/service/auth/open.ts';
import type { AuthService } from '../../src/service/auth/service.ts';
import { createLedger, customer } from '../../src/service/billing/ledger/ledger.ts';
import type { Db } from '../../src/service/db/pool.ts';
import { migrate } from '../../src/service/server/migrate.ts';
import type { LocalMemory, LocalState } from './state.ts';

const LOCAL_USER = { email: 'local@loopstream.localhost', firstName: 'Local' };

export interface LocalAccount {
  apiKey: string;
  email: string;
  /** Null when its owner has chosen another one. */
  password: string | null;
}

/** The key and the password of the local account; new ones when there are none, a new key when the old one does not work. */
export async function ensureAccount(state: LocalState, databaseUrl: string): Promise<LocalAccount> {
  const memory = state.readMemory();
  // Written before it is used: sessions signed with a secret that nobody remembers would be lost.
  state.writeMemory(memory);
  await migrate({ databaseUrl, authSecret: memory.authSecret });
  const { service, db, close } = openAuth({ databaseUrl, authSecret: memory.authSecret });
  try {
    const userId = await service.ensureUser(LOCAL_USER);
    await ensureCredit(db, userId);
    const apiKey = await ensureKey(service, userId, memory);
    const password = memory.password ?? randomBytes(12).toString('base64url');
    // As above: a password that is set and forgotten would lock its owner out.
    state.writeMemory({ ...memory, apiKey, password });
    if (memory.password === undefined) await service.setPassword(userId, password);
    const isStill = memory.password === undefined || (await service.hasPassword(userId, password));
    return { apiKey, email: LOCAL_USER.email, password: isStill ? password : null };
  } finally {
    await close();
  }
}

/** Enough for many streams for years, once: what is on air here stays there. */
const CREDITS = 1_000_000_000n;

async function ensureCredit(db: Db, accountId: string): Promise<void> {
  const entries = [
    { account: customer(accountId), credits: CREDITS },
    { account: 'grants', credits: -CREDITS },
  ];
  const details = { reason: 'make run' };
  await createLedger(db).post({
    key: `grant:local:${accountId}`,
    kind: 'grant',
    accountId,
    entries,
    at: new Date(),
    details,
  });
}

async function ensureKey(service: AuthService, userId: string, { apiKey }: LocalMemory): Promise<string> {
  if (apiKey && (await works(service, apiKey))) return apiKey;
  return (await service.createApiKey(userId, 'make run')).key;
}

const works = (service: AuthService, apiKey: string): Promise<boolean> =>
  service.authenticate({ apiKey, authorization: undefined }).then(
    () => true,
    () => false,
  );
