/** Adds an account to a running system, as it would be after the sign-up. */
import { randomBytes } from 'node:crypto';
import { openAuth } from '../../../src/service/auth/open.ts';
import { type Client, createClient } from '../../../src/service/client/index.ts';
import { giveCredit } from '../make/ledger.ts';
import type { Shared } from './system.ts';
import { readSetting } from './traces.ts';

export interface AddedAccount {
  apiKey: string;
  email: string;
  password: string;
  /** It never retries, so that no failure is hidden. */
  client: Client;
}

/** Without `credit` the account has never had any. */
export async function addAccount(system: Shared, { credit = true } = {}): Promise<AddedAccount> {
  const [databaseUrl = '', authSecret = ''] = ['DATABASE_URL', 'AUTH_SECRET'].map((name) =>
    readSetting(system, 'api', `LOOPSTREAM_${name}`),
  );
  const id = randomBytes(9).toString('base64url').toLowerCase();
  const [email, password] = [`${id}@example.com`, randomBytes(12).toString('base64url')];
  const { service, close } = openAuth({ databaseUrl, authSecret });
  try {
    const userId = await service.ensureUser({ email, firstName: 'Ada' });
    await service.setPassword(userId, password);
    if (credit) await giveCredit(databaseUrl, userId);
    const { key: apiKey } = await service.createApiKey(userId, 'tests');
    const client = createClient({ baseUrl: system.facts.apiUrl, apiKey, maxRetries: 0 });
    return { apiKey, email, password, client };
  } finally {
    await close();
  }
}
