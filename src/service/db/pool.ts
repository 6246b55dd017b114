/**
 * Opens one pool of Postgres connections a process, with Kysely over it. Our tables are in the schema `loopstream`.
 * Those of the auth library are in `auth`, reached through a pool with its own search_path.
 */
import { type ColumnType, type Generated, Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';

/** Answers of POSTs that carried an Idempotency-Key. `status` is null while the first request runs. */
export interface IdempotencyTable {
  account_id: string;
  key: string;
  fingerprint: string;
  status: number | null;
  headers: ColumnType<Record<string, string>, string, string>;
  body: string | null;
  created_at: Generated<Date>;
  /** Until then the running request counts as alive. */
  claimed_until: Generated<Date>;
}

export interface Database {
  'loopstream.idempotency': IdempotencyTable;
  'auth.user': {
    id: string;
    email: string;
    emailVerified: boolean;
    name: string;
    firstName: string;
    lastName: string | null;
    createdAt: Date;
  };
  'auth.apikey': {
    id: string;
    key: string;
    referenceId: string;
    enabled: boolean;
    expiresAt: Date | null;
    name: string | null;
    /** First characters of the key. */
    start: string | null;
    /** Its scopes, as JSON; null for a key with full access. */
    permissions: string | null;
    configId: string;
    createdAt: Date;
    updatedAt: Date;
    lastRequest: ColumnType<Date | null, undefined, Date>;
    /** Ours: whence the last request came. */
    lastAddress: ColumnType<string | null, undefined, string>;
    labels: ColumnType<Record<string, string>, string, string>;
    /** Limits the key to objects with such labels. */
    labelSelector: ColumnType<string | null, string | null, never>;
  };
  'loopstream.key_policies': { account_id: string; max_key_days: number };
  'auth.session': {
    id: string;
    userId: string;
    ipAddress: string | null;
    userAgent: string | null;
    createdAt: Date;
    expiresAt: Date;
    /** `passkey`, or nothing. */
    begunBy: string | null;
  };
  /** `accountId`: who it is at the provider; `credential` is the provider of those who have a password here. */
  'auth.account': {
    id: string;
    userId: string;
    providerId: string;
    accountId: string;
    password: string | null;
    createdAt: Date;
  };
  'auth.passkey': { id: string; userId: string; name: string | null; backedUp: boolean; createdAt: Date | null };
  'auth.verification': { id: string; value: string };
  'auth.oauthAccessToken': { id: string; clientId: string; userId: string | null };
  'auth.jwks': { id: string; publicKey: string; alg: string | null; createdAt: Date; expiresAt: Date | null };
  'auth.oauthClient': {
    id: string;
    clientId: string;
    disabled: boolean | null;
    createdAt: Date | null;
    name: string | null;
    uri: string | null;
    redirectUris: unknown;
    applicationType: string | null;
    /** Base64url of its SHA-256; null for a public client. */
    clientSecret: string | null;
    tokenEndpointAuthMethod: string | null;
  };
  'loopstream.verified_clients': { client_id: string; verified_at: Generated<Date> };
  'auth.oauthConsent': { id: string; clientId: string; userId: string; scopes: unknown; createdAt: Date };
  'auth.oauthRefreshToken': {
    id: string;
    /** Base64url of its SHA-256. */
    token: string;
    clientId: string;
    userId: string;
    createdAt: Date;
    expiresAt: Date | null;
    /** Since when it is exchanged, or given back. */
    revoked: Date | null;
    /** Until when its answer is given again; null where it was not exchanged. */
    rotationReplayExpiresAt: Date | null;
    /** Base64url of the SHA-256 of the code that it came from, however often it was exchanged since. */
    authorizationCodeId: string | null;
  };
}

export type Db = Kysely<Database>;

const INT8 = 20;
const NUMERIC = 1700;

/** int8 and numeric as BigInt: money and counters must not lose digits. A numeric with a fraction stays a string. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (oid === INT8 || oid === NUMERIC) return (text: string) => (/^-?\d+$/.test(text) ? BigInt(text) : text);
    return pg.types.getTypeParser(oid, format as 'text');
  }) as pg.CustomTypesConfig['getTypeParser'],
};

/** A pool that fails after `waitMs` without a free connection, instead of holding requests for ever. */
export function createPool(url: string, options: { searchPath: string; max?: number; waitMs?: number }): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    options: `-c search_path=${options.searchPath}`,
    max: options.max ?? 10,
    connectionTimeoutMillis: options.waitMs ?? 5_000,
    query_timeout: 30_000,
    types,
  });
  // An idle connection that breaks (a restart of the database) is replaced with the next query; without a listener
  // Node would end the process.
  pool.on('error', () => undefined);
  // A connection that breaks in use fails its query, and then emits an error that the pool does not handle meanwhile.
  pool.on('connect', (client) => void client.on('error', () => undefined));
  return pool;
}

export const createDb = (pool: pg.Pool): Db => new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });

const CONNECTION_CODES = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'ETIMEDOUT', 'EPIPE', 'EAI_AGAIN']);

/** Whether an error came from Postgres or from the way to it. The driver's own time-outs have nothing but their words. */
export function isDatabaseError(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return true;
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError) return error.errors.some(isDatabaseError);
  const { code } = error as NodeJS.ErrnoException;
  return (
    (code !== undefined && CONNECTION_CODES.has(code)) ||
    /^(timeout exceeded|Query read timeout|Connection terminated)/.test(error.message)
  );
}

/**
 * Returns whether Postgres refuses a value of a request: class 22, data exception, such as U+0000 in a text or a number out of range.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
export const isDataException = (error: unknown): error is pg.DatabaseError =>
  error instanceof pg.DatabaseError && error.code?.startsWith('22') === true;

/** Resolves to true; rejects when the database does not answer. */
export async function pingDb(db: Db): Promise<boolean> {
  await sql`select 1`.execute(db);
  return true;
}
