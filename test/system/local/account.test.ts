import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openAuth } from '../../../src/service/auth/open.ts';
import { ensureAccount } from '../../../tools/local/account.ts';
import { openState } from '../../../tools/local/state.ts';
import { startTestPostgres, type TestPostgres } from '../../kit/real/postgres.ts';
import { tempDir } from '../../kit/temp-dir.ts';

let postgres: TestPostgres;
const dir = tempDir();

beforeAll(async () => {
  postgres = await startTestPostgres();
});

afterAll(() => postgres?.stop());

describe('the local account', () => {
  test('has a key and a password that stay the same, in a file for its owner alone', async () => {
    const state = openState(dir);
    const first = await ensureAccount(state, postgres.url);
    expect(first).toMatchObject({ apiKey: expect.stringMatching(/^lsk_/), password: expect.stringMatching(/^.{16}$/) });
    expect(await ensureAccount(openState(dir), postgres.url)).toEqual(first);
    expect((await stat(join(dir, 'memory.json'))).mode & 0o777).toBe(0o600);
  });

  test('keeps the password that its owner has chosen, and shows it to nobody else', async () => {
    const state = openState(dir);
    const { email } = await ensureAccount(state, postgres.url);
    const { authSecret } = state.readMemory();
    const { service, close } = openAuth({ databaseUrl: postgres.url, authSecret });
    try {
      const userId = await service.ensureUser({ email, firstName: 'Local' });
      await service.setPassword(userId, 'one that I remember');
      expect((await ensureAccount(state, postgres.url)).password).toBeNull();
      expect(await service.hasPassword(userId, 'one that I remember')).toBe(true);
    } finally {
      await close();
    }
  });
});
