/** Makes accounts of a local system, as the end-to-end tests have them, without a test runner. */
import { randomBytes } from 'node:crypto';
import { openAuth } from '../../../src/service/auth/open.ts';
import { giveCredit } from '../../kit/make/ledger.ts';
import type { System } from '../../kit/system/system.ts';
import { readSetting } from '../../kit/system/traces.ts';

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: each caller knows what it asked for.
  body: any;
}
/** Sends a request to the API with the account's key; refusals are answers too. */
export type Call = (method: string, path: string, body?: unknown) => Promise<Answer>;

export async function makeAccount(system: System, { credit }: { credit: boolean }): Promise<Call> {
  const databaseUrl = readSetting(system, 'api', 'LOOPSTREAM_DATABASE_URL');
  const { service, close } = openAuth({
    databaseUrl,
    authSecret: readSetting(system, 'api', 'LOOPSTREAM_AUTH_SECRET'),
  });
  try {
    const userId = await service.ensureUser({
      email: `${randomBytes(9).toString('hex')}@example.com`,
      firstName: 'Ada',
    });
    if (credit) await giveCredit(databaseUrl, userId);
    const { key } = await service.createApiKey(userId, 'bench');
    return async (method, path, body) => {
      const response = await fetch(system.facts.apiUrl + path, {
        method,
        headers: { 'x-api-key': key, ...(body !== undefined && { 'content-type': 'application/json' }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
    };
  } finally {
    await close();
  }
}
