/** Reads the settings of the database. Pure: no I/O, no clock. */
import { common } from '../../core/settings/common.ts';
import type { Env } from '../../core/settings/settings.ts';
import { reader } from '../settings/settings.ts';

export const databaseConfig = (env: Env) => {
  const { text } = reader(env);
  return Object.freeze({ ...common(env), databaseUrl: text('DATABASE_URL'), authSecret: text('AUTH_SECRET') });
};
export type DatabaseConfig = ReturnType<typeof databaseConfig>;
