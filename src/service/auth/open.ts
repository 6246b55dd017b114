/** Opens the service of users and keys on the database; the caller closes it. */

import { createDb, createPool, type Db } from '../db/pool.ts';
import type { DatabaseConfig } from '../db/settings.ts';
import { AUTH_CONNECTIONS, type Auth, type AuthSite, beginLazily, createAuth } from './better-auth.ts';
import { type ClientDocuments, createClientDocuments } from './client-documents.ts';
import type { AuthMails } from './mails.ts';
import { type AuthService, createAuthService } from './service.ts';
import { isVerified } from './store.ts';

/** Authorizing a program takes a dozen statements: during a rush, waiting is better than a refusal. */
const WAIT_MS = 20_000;

export interface OpenAuth<Mails extends AuthMails = AuthMails> {
  service: AuthService;
  /** The result of `openMails`. */
  mails: Mails | undefined;
  /** The auth library, whose paths mount.ts serves. */
  library: () => Promise<Auth>;
  /** Documents of clients. Each is loaded before the library handles the request. */
  documents: ClientDocuments;
  db: Db;
  /** By their search path, for metrics. */
  pools: Record<'auth' | 'loopstream', ReturnType<typeof createPool>>;
  close(): Promise<void>;
}

export type OpenAuthConfig<Mails extends AuthMails = AuthMails> = Pick<DatabaseConfig, 'databaseUrl' | 'authSecret'> &
  Partial<Omit<AuthSite, 'mails' | 'onRevoked'>> & {
    /** Whether documents of clients may come from private networks: where links may, too. */
    allowPrivateLinks?: boolean;
    /** Without it no mails are sent. They are counted in the database. */
    openMails?: ((db: Db) => Mails) | undefined;
  };

/**
 * Nothing is sent before the first call, so a database that is away does not keep a process from starting. Without a
 * `publicUrl` there are people and keys, and neither sessions nor tokens.
 */
export function openAuth<Mails extends AuthMails>({ openMails, ...config }: OpenAuthConfig<Mails>): OpenAuth<Mails> {
  const { publicUrl, scopePrefix = 'service' } = config;
  const authPool = createPool(config.databaseUrl, { searchPath: 'auth', max: AUTH_CONNECTIONS, waitMs: WAIT_MS });
  const pool = createPool(config.databaseUrl, { searchPath: 'loopstream' });
  const db = createDb(pool);
  const mails = openMails?.(db);
  const documents = config.documents ?? createClientDocuments({ allowPrivate: config.allowPrivateLinks ?? false });
  const library = beginLazily(() =>
    createAuth(authPool, config.authSecret, {
      isVerified: (id) => isVerified(db, id),
      ...config,
      documents,
      mails,
      onRevoked: () => service.forgetAll(),
    }),
  );
  const site = publicUrl === undefined ? undefined : { publicUrl, scopePrefix };
  const service = createAuthService({ library, db, site });
  return {
    service,
    mails,
    library,
    documents,
    db,
    pools: { auth: authPool, loopstream: pool },
    close: async () => {
      await Promise.all([db.destroy(), authPool.end()]);
    },
  };
}
