/** The local account: the database brought up to date, and an API key that stays the same from start to start. */
import { openAuth } from '../auth/open.ts';
import type { AuthService } from '../auth/service.ts';
import { migrate } from '../db/migrate.ts';
import type { LocalState } from './state.ts';

const LOCAL_USER = { email: 'local@loopstream.localhost', firstName: 'Local' };

/** The key of the local account; a new one when the remembered one does not work any more. */
export async function ensureApiKey(state: LocalState, databaseUrl: string): Promise<string> {
  const memory = state.readMemory();
  // Written before it is used: sessions signed with a secret that nobody remembers would be lost.
  state.writeMemory(memory);
  await migrate({ databaseUrl, authSecret: memory.authSecret });
  const { service, close } = openAuth({ databaseUrl, authSecret: memory.authSecret });
  try {
    if (memory.apiKey && (await works(service, memory.apiKey))) return memory.apiKey;
    const { key } = await service.createApiKey(await service.ensureUser(LOCAL_USER), 'make run');
    state.writeMemory({ ...memory, apiKey: key });
    return key;
  } finally {
    await close();
  }
}

const works = (service: AuthService, apiKey: string): Promise<boolean> =>
  service.authenticate({ apiKey, authorization: undefined }).then(
    () => true,
    () => false,
  );
