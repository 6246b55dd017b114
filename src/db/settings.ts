/** Reads the settings of the database. Pure: no I/O, no clock. */
import { common } from '../settings/common.ts';
import { reader } from '../settings/service/settings.ts';
import type { Env } from '../settings/settings.ts';

export const databaseConfig = (env: Env) => {
  const { text } = reader(env);
  return Object.freeze({ ...common(env), databaseUrl: text('DATABASE_URL'), authSecret: text('AUTH_SECRET') });
};
export type DatabaseConfig = ReturnType<typeof databaseConfig>;
