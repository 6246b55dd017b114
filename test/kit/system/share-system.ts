/** Shares the running system with test files that need none of their own. */
import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { inject } from 'vitest';
import { openAuth } from '../../../src/auth/open.ts';
import { createClient } from '../../../src/client/index.ts';
import { putOnAir } from '../../../tools/local/demo.ts';
import { giveCredit } from '../make/ledger.ts';
import { ROOT, type Shared, type System } from './system.ts';
import { readSetting } from './traces.ts';

/** The system outlives its users. */
export type SharedSystem = Pick<System, keyof Shared | 'client'>;

/**
 * Returns the system that files share (shared-system.ts), with a new account: the facts have its key, email address and password. Without
 * `credit` the account has never had any.
 */
export async function shareSystem({ credit = true } = {}): Promise<SharedSystem> {
  const shared = inject('system');
  const { facts, stateDir } = shared;
  const [databaseUrl = '', authSecret = ''] = ['DATABASE_URL', 'AUTH_SECRET'].map((name) =>
    readSetting(shared, 'api', `LOOPSTREAM_${name}`),
  );
  const id = randomBytes(9).toString('base64url').toLowerCase();
  const [email, password] = [`${id}@example.com`, randomBytes(12).toString('base64url')];
  const { service, close } = openAuth({ databaseUrl, authSecret });
  try {
    const userId = await service.ensureUser({ email, firstName: 'Ada' });
    await service.setPassword(userId, password);
    if (credit) await giveCredit(databaseUrl, userId);
    const { key: apiKey } = await service.createApiKey(userId, 'tests');
    const own = { ...facts, apiKey, email, password, pageUrl: new URL(`#key=${apiKey}`, facts.pageUrl).href };
    const client = createClient({ baseUrl: facts.apiUrl, apiKey, maxRetries: 0 });
    return { facts: own, stateDir, client };
  } finally {
    await close();
  }
}

/** Returns the same, with that account's demo on air until `close`. */
export async function shareSystemOnAir(): Promise<SharedSystem & { close(): Promise<void> }> {
  const system = await shareSystem();
  const { facts, client } = system;
  const server = createServer((_request, response) => {
    createReadStream(join(ROOT, 'tools/local/demo/bigbuckbunny.mp4')).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const mediaUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/bigbuckbunny.mp4`;
  const { apiUrl, apiKey, rtmpUrl } = facts;
  const wish = { apiUrl, apiKey, mediaUrl, name: 'Big Buck Bunny', rtmpUrl, rtmpKey: randomBytes(9).toString('hex') };
  try {
    const id = await putOnAir(wish, { detail: () => {}, signal: AbortSignal.timeout(300_000) });
    const close = () => client.streams.delete(id);
    return { ...system, facts: { ...facts, demoStreamId: id }, close };
  } finally {
    server.close();
  }
}
