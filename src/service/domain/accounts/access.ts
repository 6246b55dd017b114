/** Lists and revokes the credentials of an account: API keys, sessions, connected apps. */

import { type Clock, kubeTime, systemClock } from '../../../core/lib/clock.ts';
import { isFresh } from '../../auth/freshness.ts';
import type { AuthService } from '../../auth/service.ts';
import { readKeyScopes } from '../../auth/store.ts';
import type { Db } from '../../db/pool.ts';
import { AppError, validationFailed } from '../../lib/errors.ts';
import { SelectorError } from '../../lib/label-selector.ts';
import type { Connection, FilteredArgs, PageArgs } from '../../lib/list-page.ts';
import type { Notice } from '../../lib/mail/notices.ts';
import { connect, inOrder } from '../../lib/paging/connection.ts';
import { pageRows } from '../../lib/paging/rows.ts';
import { readReach } from '../../lib/reach.ts';
import type { Principal } from '../../lib/scopes.ts';
import type { Quotas } from '../limits/quotas.ts';
import { KEY_LIST } from './key-list.ts';
import type {
  ApiKey,
  ApiKeyCreate,
  ApiKeyPolicy,
  ApiKeyUpdate,
  ConnectedApp,
  CreatedApiKey,
  OutsideSignIn,
  PasskeyRecord,
  PersonSession,
} from './record.ts';
import {
  type AppRow,
  countKeys,
  cutOff,
  endOtherSessions,
  endSession,
  findKey,
  findMaxKeyDays,
  findSession,
  type KeyRow,
  listApps,
  listKeys,
  listOutside,
  listPasskeys,
  listSessions,
  type SessionRow,
  setMaxKeyDays,
  updateKey,
} from './store.ts';

const DAY_SECONDS = 86_400;

type Service = Pick<AuthService, 'createApiKey' | 'revokeApiKey' | 'forgetAll' | 'forgetCredentials'>;
export type AccessService = ReturnType<typeof createAccessService>;

const iso = (date: Date | null): string | null => date?.toISOString() ?? null;

const showKey = ({
  id,
  name,
  labels,
  start,
  permissions,
  labelSelector,
  createdAt,
  expiresAt,
  lastRequest,
  lastAddress,
}: KeyRow): ApiKey => ({
  id,
  name: name ?? '',
  labels,
  hint: start ?? '',
  scopes: readKeyScopes(permissions),
  labelSelector,
  createdAt: createdAt.toISOString(),
  expiresAt: iso(expiresAt),
  lastUsedAt: iso(lastRequest),
  lastUsedAddress: lastAddress,
});

/** Returns the life of a new key in days; undefined for one that is valid until it is revoked. */
function chooseKeyDays(asked: number | undefined, allowed: number | null): number | undefined {
  if (allowed === null) return asked;
  if (asked !== undefined && asked > allowed)
    throw validationFailed([
      {
        path: '/expiresInDays',
        message: `must be at most ${allowed}, the longest life of a key that the account allows`,
      },
    ]);
  return asked ?? allowed;
}

/** Throws `validation_failed`. */
function checkSelector(labelSelector: string | undefined): void {
  try {
    if (labelSelector !== undefined) readReach(labelSelector);
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error;
    throw validationFailed([{ path: '/labelSelector', message: error.message }]);
  }
}

/** Returns the new expiry of a key; undefined where it stays. Throws `validation_failed` for one that would make it live longer. */
function bringForward(asked: string | null | undefined, { expiresAt }: KeyRow, now: Date): Date | undefined {
  if (asked === undefined || asked === iso(expiresAt)) return undefined;
  const until = asked === null ? null : new Date(asked);
  if (until?.getTime() === expiresAt?.getTime()) return undefined;
  const refuse = (message: string) => validationFailed([{ path: '/expiresAt', message }]);
  if (until === null || (expiresAt !== null && until > expiresAt))
    throw refuse(`must not be later than ${iso(expiresAt)}: a key cannot be made to live longer; create a new one`);
  if (until <= now) throw refuse('must be in the future; revoke the key to end it now');
  return until;
}

const showSession = (
  { id, userAgent, ipAddress, createdAt, expiresAt }: SessionRow,
  current?: string,
): PersonSession => ({
  id,
  isCurrent: id === current,
  userAgent: userAgent || null,
  address: ipAddress || null,
  createdAt: createdAt.toISOString(),
  expiresAt: expiresAt.toISOString(),
});

const parseScopes = (stored: unknown): string[] => {
  const list: unknown = typeof stored === 'string' ? JSON.parse(stored) : stored;
  return Array.isArray(list) ? list.map(String) : [];
};

/** Returns an address that is safe to open. The app's author wrote it, so nothing but https passes. */
const checkPage = (uri: string | null): string | null =>
  uri !== null && URL.canParse(uri) && new URL(uri).protocol === 'https:' ? uri : null;

/** Merges the consents of each client: it is connected since the first, with the scopes of all. */
function showApps(rows: readonly AppRow[]): { id: string; createdAt: Date; app: ConnectedApp }[] {
  const byClient = new Map<string, AppRow[]>();
  for (const row of rows) byClient.set(row.clientId, [...(byClient.get(row.clientId) ?? []), row]);
  return [...byClient.values()].flatMap((consents) => {
    const [first] = consents.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
    if (!first) return [];
    const app: ConnectedApp = {
      id: first.clientId,
      name: first.name,
      uri: checkPage(first.uri),
      isVerified: first.verifiedAt !== null,
      scopes: [...new Set(consents.flatMap(({ scopes }) => parseScopes(scopes)))],
      connectedAt: first.createdAt.toISOString(),
      lastUsedAt: iso(first.lastUsedAt),
    };
    return [{ id: first.id, createdAt: first.createdAt, app }];
  });
}

const newestFirst = <T extends { id: string; createdAt: Date }, R>(
  name: string,
  rows: readonly T[],
  args: PageArgs,
  show: (row: T) => R,
): Connection<R> => {
  const place = ({ id, createdAt }: T) => ({ key: kubeTime(createdAt), id });
  return connect(name, inOrder(rows, place), args, place, show);
};

/** Postgres rejects text with U+0000, which no id contains. */
const mayBeId = (id: string): boolean => !id.includes('\0');

export interface AccessDeps {
  db: Db;
  auth: Service;
  quotas: Pick<Quotas, 'makeCounted'>;
  /** Notifies the owner of a new or removed credential. */
  sendNotice?: (userId: string, notice: Notice) => Promise<void>;
  clock?: Clock;
}

export function createAccessService({ db, auth, quotas, sendNotice, clock = systemClock }: AccessDeps) {
  /** A key outlives the session, and a cookie that was stolen once must not become access without an end. Throws `not_confirmed`. */
  async function requireFresh(userId: string, sessionId: string, what: string): Promise<void> {
    const session = await findSession(db, userId, sessionId);
    if (!session || isFresh(session.createdAt, clock.now())) return;
    throw new AppError(
      'not_confirmed',
      `${what} needs a sign-in within the last hour. Sign out, sign in again, and come back.`,
    );
  }

  async function getKey(accountId: string, id: string): Promise<KeyRow> {
    const row = mayBeId(id) ? await findKey(db, accountId, id) : undefined;
    if (!row) throw new AppError('api_key_not_found', `The account has no API key ${id.slice(0, 100)}.`);
    return row;
  }

  return {
    async keys({ accountId }: Principal, args: FilteredArgs): Promise<Connection<ApiKey>> {
      const rows = await listKeys(db, accountId);
      return pageRows(rows, args, { name: 'key', list: KEY_LIST, now: clock.now(), show: showKey });
    },

    /** The key is in this response only. */
    async createKey(
      { accountId, userId, sessionId }: Principal,
      { name, labels, expiresInDays, scopes, labelSelector }: ApiKeyCreate,
    ): Promise<CreatedApiKey> {
      if (sessionId !== undefined) await requireFresh(userId, sessionId, 'A new API key');
      const days = chooseKeyDays(expiresInDays, await findMaxKeyDays(db, accountId));
      const count = () => countKeys(db, accountId);
      checkSelector(labelSelector);
      const bounds = {
        labels,
        scopes,
        labelSelector,
        expiresInSeconds: days === undefined ? undefined : days * DAY_SECONDS,
      };
      const make = () => auth.createApiKey(userId, name, bounds);
      const { id, key } = await quotas.makeCounted(accountId, 'apiKeys', count, make);
      // A key must not outlive a session that ends, with all keys, at this moment.
      if (sessionId !== undefined && !(await findSession(db, userId, sessionId))) {
        await auth.revokeApiKey(id);
        throw new AppError('unauthenticated', 'The session has ended. Sign in again.');
      }
      const row = await findKey(db, accountId, id);
      if (!row) throw new AppError('conflict', 'Another request revoked the key at the same moment.');
      await sendNotice?.(userId, { kind: 'apiKey', what: name, at: row.createdAt });
      return { ...showKey(row), key };
    },

    /** Neither its access nor its life grows, so a session that has lasted longer may do it too. */
    async updateKey({ accountId }: Principal, id: string, { name, labels, ...given }: ApiKeyUpdate): Promise<ApiKey> {
      const expiresAt = bringForward(given.expiresAt, await getKey(accountId, id), clock.now());
      await updateKey(db, accountId, id, { name, labels, expiresAt });
      if (expiresAt) auth.forgetAll();
      return showKey(await getKey(accountId, id));
    },

    /** The key stops working at once on this server, and within a second on others. */
    async revokeKey({ accountId }: Principal, id: string): Promise<void> {
      await getKey(accountId, id);
      await auth.revokeApiKey(id);
    },

    async keyPolicy({ accountId }: Principal): Promise<ApiKeyPolicy> {
      return { maxKeyDays: await findMaxKeyDays(db, accountId) };
    },

    /** Existing keys obey at once on this server, and within a second on others. */
    async updateKeyPolicy({ accountId, userId, sessionId }: Principal, policy: ApiKeyPolicy): Promise<ApiKeyPolicy> {
      if (sessionId !== undefined) await requireFresh(userId, sessionId, 'A change of the policy');
      await setMaxKeyDays(db, accountId, policy.maxKeyDays);
      auth.forgetAll();
      return policy;
    },

    async sessions({ userId, sessionId }: Principal, args: PageArgs): Promise<Connection<PersonSession>> {
      return newestFirst('ses', await listSessions(db, userId), args, (row) => showSession(row, sessionId));
    },

    async endSession({ userId }: Principal, id: string): Promise<void> {
      const ended = mayBeId(id) && (await endSession(db, userId, id));
      auth.forgetCredentials();
      if (!ended) throw new AppError('session_not_found', `The user has no session ${id.slice(0, 100)}.`);
    },

    /** Keeps the session that makes the request. */
    async endOtherSessions({ userId, sessionId = '' }: Principal): Promise<void> {
      await endOtherSessions(db, userId, sessionId);
      auth.forgetCredentials();
    },

    async apps({ userId }: Principal, args: PageArgs): Promise<Connection<ConnectedApp>> {
      return newestFirst('app', showApps(await listApps(db, userId)), args, ({ app }) => app);
    },

    /** Lists the sign-in methods besides a password. */
    async waysIn({ userId }: Principal): Promise<{ passkeys: PasskeyRecord[]; outsideSignIns: OutsideSignIn[] }> {
      const [passkeys, outside] = await Promise.all([listPasskeys(db, userId), listOutside(db, userId)]);
      return {
        passkeys: passkeys.map(({ id, name, backedUp, createdAt }) => ({
          id,
          name,
          isSynced: backedUp,
          createdAt: iso(createdAt),
        })),
        outsideSignIns: outside.map(({ providerId, accountId, createdAt }) => ({
          provider: providerId,
          subject: accountId,
          createdAt: createdAt.toISOString(),
        })),
      };
    },

    /** The app gets no more tokens; existing ones fail at their next check. */
    async disconnectApp({ userId }: Principal, id: string): Promise<void> {
      const wasThere = mayBeId(id) && (await cutOff(db, userId, id));
      auth.forgetCredentials();
      if (!wasThere)
        throw new AppError('connected_app_not_found', `The user has no connected app ${id.slice(0, 100)}.`);
    },
  };
}
