/** A system that is there already, for a file of tests that needs none of its own. */
import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { openAuth } from '../../src/auth/open.ts';
import { createClient } from '../../src/client/index.ts';
import { giveCredit } from './ledger.ts';
import type { Shared, System } from './system.ts';
import { settingOf } from './traces.ts';

/** It goes on after whoever shares it. */
export type SharedSystem = Pick<System, keyof Shared | 'client'>;

/**
 * The system that all files share which need none of their own (shared-system.ts), with an account that nobody has used: the
 * facts say its key, e-mail address and password.
 */
export async function shareSystem(): Promise<SharedSystem> {
  const shared = inject('system');
  const { facts, stateDir } = shared;
  const [databaseUrl = '', authSecret = ''] = ['DATABASE_URL', 'AUTH_SECRET'].map((name) =>
    settingOf(shared, 'api', `LOOPSTREAM_${name}`),
  );
  const id = randomBytes(9).toString('base64url').toLowerCase();
  const [email, password] = [`${id}@example.com`, randomBytes(12).toString('base64url')];
  const { service, close } = openAuth({ databaseUrl, authSecret });
  try {
    const userId = await service.ensureUser({ email, firstName: 'Ada' });
    await service.setPassword(userId, password);
    await giveCredit(databaseUrl, userId);
    const { key: apiKey } = await service.createApiKey(userId, 'tests');
    const own = { ...facts, apiKey, email, password, pageUrl: new URL(`#key=${apiKey}`, facts.pageUrl).href };
    const client = createClient({ baseUrl: facts.apiUrl, apiKey, maxRetries: 0 });
    return { facts: own, stateDir, client };
  } finally {
    await close();
  }
}
