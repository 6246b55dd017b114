/**
 * better-auth, kept to what is needed: people and their API keys in Postgres. Its HTTP routes are not mounted; the
 * issuing of keys goes through it, so that sign-in pages and OAuth can be added around the same tables.
 */
import { apiKey } from '@better-auth/api-key';
import { betterAuth } from 'better-auth';
import type { Pool } from 'pg';

export const API_KEY_PREFIX = 'lsk_';
export const MAX_KEY_NAME = 64;

/** `pool` must have the search_path `auth`. Keys are stored as SHA-256 only; the first characters are kept as a hint. */
export const createAuth = (pool: Pool, secret: string) =>
  betterAuth({
    database: pool,
    secret,
    telemetry: { enabled: false },
    logger: { disabled: true },
    advanced: { database: { generateId: 'uuid' } },
    user: {
      additionalFields: {
        firstName: { type: 'string', required: true },
        lastName: { type: 'string', required: false },
      },
    },
    plugins: [
      apiKey({
        defaultPrefix: API_KEY_PREFIX,
        apiKeyHeaders: 'x-api-key',
        requireName: true,
        maximumNameLength: MAX_KEY_NAME,
        startingCharactersConfig: { shouldStore: true, charactersLength: API_KEY_PREFIX.length + 4 },
        // Our own rate limit counts by principal. Sessions for keys stay off: they would echo the key.
        rateLimit: { enabled: false },
      }),
    ],
  });

export type Auth = ReturnType<typeof createAuth>;
