/** Queries users, keys and clients with SQL where the auth library has no function. */
import { sql } from 'kysely';
import type { Db } from '../db/pool.ts';
import type { CredentialCounts } from '../lib/mail/notices.ts';
import { SCOPES, type Scope } from '../lib/scopes.ts';
import type { KeyUse } from './usage.ts';

export interface ApiKeyRow {
  id: string;
  userId: string;
  enabled: boolean;
  /** The scopes, as `readKeyScopes` reads them. */
  permissions: string | null;
  /** The label selector that limits it; null for a key that is not limited. */
  labelSelector: string | null;
  expiresAt: Date | null;
  lastUsedAt: Date | null;
}

export interface UserRow {
  id: string;
  email: string;
  firstName: string;
  lastName: string | null;
  createdAt: Date;
}

/** The key with this hash, if its user exists. */
export const findKey = (db: Db, hash: string): Promise<ApiKeyRow | undefined> =>
  db
    .selectFrom('auth.apikey as k')
    .innerJoin('auth.user as u', (join) => join.on('u.id', '=', sql<string>`k."referenceId"::uuid`))
    .leftJoin('loopstream.key_policies as p', 'p.account_id', 'k.referenceId')
    .select([
      'k.id',
      'k.referenceId as userId',
      'k.enabled',
      'k.permissions',
      'k.labelSelector',
      'k.lastRequest as lastUsedAt',
    ])
    .select(KEY_EXPIRY.as('expiresAt'))
    .where('k.key', '=', hash)
    .executeTakeFirst();

/** When a key `k` of an account with the policy `p` expires: a policy holds for keys that were made before it, too. */
export const KEY_EXPIRY = sql<Date | null>`least(k."expiresAt", k."createdAt" + make_interval(days => p.max_key_days))`;

/** Returns the scopes of a key as it is stored; null for full access. */
export function readKeyScopes(permissions: string | null): Scope[] | null {
  if (permissions === null) return null;
  const { scopes } = JSON.parse(permissions) as { scopes?: unknown };
  return SCOPES.filter((scope) => Array.isArray(scopes) && scopes.includes(scope));
}

export interface KeyToAdd {
  id: string;
  userId: string;
  name: string;
  hint: string;
  hash: string;
  labels: Readonly<Record<string, string>>;
  scopes: readonly Scope[] | undefined;
  labelSelector: string | undefined;
  createdAt: Date;
  expiresAt: Date | null;
}

/** The auth library would delete expired keys with each new one, and nobody would learn why a key is refused. */
export async function addKey(
  db: Db,
  { userId, hint, hash, labels, scopes, labelSelector, createdAt, ...key }: KeyToAdd,
) {
  await db
    .insertInto('auth.apikey')
    .values({
      ...key,
      configId: 'default',
      referenceId: userId,
      start: hint,
      key: hash,
      enabled: true,
      labels: JSON.stringify(labels),
      permissions: scopes ? JSON.stringify({ scopes }) : null,
      labelSelector: labelSelector ?? null,
      createdAt,
      updatedAt: createdAt,
    })
    .execute();
}

/** The keys were used at that time, or a little before it. */
export async function markKeysUsed(db: Db, uses: readonly KeyUse[], at: Date): Promise<void> {
  await sql`update auth.apikey k set "lastRequest" = ${at}, "lastAddress" = u.address
    from unnest(${uses.map(({ id }) => id)}::uuid[], ${uses.map(({ address = null }) => address)}::text[]) u(id, address)
    where k.id = u.id and (k."lastRequest" is null or k."lastRequest" < ${at})`.execute(db);
}

/** A refresh token, by its hash. */
export interface RefreshRow {
  clientId: string;
  userId: string;
  revoked: Date | null;
  authorizationCodeId: string | null;
  /** Until when its answer is given again; null where it was not exchanged. */
  rotationReplayExpiresAt: Date | null;
}

export const findRefreshToken = (db: Db, hash: string): Promise<RefreshRow | undefined> =>
  db
    .selectFrom('auth.oauthRefreshToken')
    .select(['clientId', 'userId', 'revoked', 'authorizationCodeId', 'rotationReplayExpiresAt'])
    .where('token', '=', hash)
    .executeTakeFirst();

/** Whether a refresh token was exchanged so recently that its answer is repeated on request. */
export const isReplayed = ({ rotationReplayExpiresAt: until }: Pick<RefreshRow, 'rotationReplayExpiresAt'>): boolean =>
  until !== null && until.getTime() >= Date.now();

/** Whether a refresh token with this hash was exchanged, or given back, and may not be used again. */
export async function wasRefreshTokenUsed(db: Db, hash: string): Promise<boolean> {
  const row = await findRefreshToken(db, hash);
  return row !== undefined && row.revoked !== null && !isReplayed(row);
}

/** An access token that was given out. `grantId` is the same for all that came of one code. */
export interface IssuedToken {
  jti: string;
  grantId: string;
  userId: string;
  clientId: string;
  /** In seconds since 1970. */
  expiresAt: number;
}

export async function addAccessToken(db: Db, token: IssuedToken): Promise<void> {
  const { jti, grantId, userId, clientId, expiresAt } = token;
  await sql`insert into loopstream.access_tokens (jti, grant_id, user_id, client_id, expires_at)
    values (${jti}, ${grantId}, ${userId}, ${clientId}, to_timestamp(${expiresAt}))
    on conflict (jti) do nothing`.execute(db);
}

/** Ends one access token of the client. False when there is no such token. */
export async function endAccessToken(db: Db, jti: string, clientId: string): Promise<boolean> {
  const { rows } = await sql`update loopstream.access_tokens set ended = true
    where jti = ${jti} and client_id = ${clientId} returning jti`.execute(db);
  return rows.length > 0;
}

/** Ends the access tokens that came, or are yet to come, of one code. */
export async function endGrant(db: Db, grantId: string): Promise<void> {
  await sql`insert into loopstream.ended_grants (grant_id) values (${grantId}) on conflict do nothing`.execute(db);
}

/** Ends all access tokens by which the client acts for the user. */
export async function endAccessTokens(db: Db, userId: string, clientId: string): Promise<void> {
  await sql`update loopstream.access_tokens set ended = true
    where user_id = ${userId} and client_id = ${clientId}`.execute(db);
}

/** How a client proves that it is itself. */
export interface ClientProof {
  method: string | null;
  /** Base64url of the secret's SHA-256. */
  secret: string | null;
  disabled: boolean | null;
}

export const findClientProof = (db: Db, clientId: string): Promise<ClientProof | undefined> =>
  db
    .selectFrom('auth.oauthClient')
    .select(['tokenEndpointAuthMethod as method', 'clientSecret as secret', 'disabled'])
    .where('clientId', '=', clientId)
    .executeTakeFirst();

/** The redirect URIs of a client that has just registered, which the auth library would not all have taken. */
export async function setRedirects(
  db: Db,
  clientId: string,
  { redirectUris, applicationType }: { redirectUris: readonly string[]; applicationType: string },
): Promise<void> {
  await db
    .updateTable('auth.oauthClient')
    .set({ redirectUris: JSON.stringify(redirectUris), applicationType })
    .where('clientId', '=', clientId)
    .execute();
}

/**
 * The answer to an earlier equal registration, while its client exists. The client then counts as registered now, so
 * that it is not deleted before use.
 */
export async function findRegistration(db: Db, fingerprint: string): Promise<object | undefined> {
  const { rows } = await sql<{ answer: object }>`update auth."oauthClient" c set "createdAt" = now()
    from loopstream.registrations r
    where r.fingerprint = ${fingerprint} and c."clientId" = r.client_id and c.disabled is not true
    returning r.answer`.execute(db);
  return rows[0]?.answer;
}

/** Keeps an answer for who registers the same again. Resolves to the one to give: of two at once, the first. */
export async function addRegistration(
  db: Db,
  { fingerprint, clientId, answer }: { fingerprint: string; clientId: string; answer: object },
): Promise<object> {
  const { rows } = await sql<{
    answer: object;
  }>`insert into loopstream.registrations as r (fingerprint, client_id, answer)
    values (${fingerprint}, ${clientId}, ${JSON.stringify(answer)}::jsonb)
    on conflict (fingerprint) do update
      set client_id = case when exists (select from auth."oauthClient" c where c."clientId" = r.client_id
            and c.disabled is not true) then r.client_id else excluded.client_id end,
          answer = case when exists (select from auth."oauthClient" c where c."clientId" = r.client_id
            and c.disabled is not true) then r.answer else excluded.answer end,
          at = now()
    returning answer`.execute(db);
  return rows[0]?.answer ?? answer;
}

/** A public key of ours, as a JWK; `retiredAt` is since when, or from when on, it signs no more. */
export interface SigningKeyRow {
  id: string;
  publicKey: string;
  alg: string | null;
  retiredAt: Date | null;
}

export const findSigningKeys = (db: Db): Promise<SigningKeyRow[]> =>
  db.selectFrom('auth.jwks').select(['id', 'publicKey', 'alg', 'expiresAt as retiredAt']).execute();

/** Retires all signing keys; their tokens stay valid until they expire. A new key signs the next token. */
export async function retireSigningKeys(db: Db): Promise<void> {
  await sql`update auth.jwks set "expiresAt" = now() where "expiresAt" is null or "expiresAt" > now()`.execute(db);
}

/** Tokens signed with them become invalid as soon as servers read the keys again. */
export async function dropSigningKeys(db: Db): Promise<void> {
  await sql`delete from auth.jwks`.execute(db);
}

/** So long is an expired key listed, and refused as expired; later it is unknown. */
const EXPIRED_KEY_DAYS = 90;

/**
 * Deletes expired sessions, codes and refresh tokens, and keys that were retired `overlapSeconds` ago. Also deletes
 * unverified clients that registered `unusedClientDays` ago and that nobody has allowed.
 */
export async function forgetOldAccess(
  db: Db,
  { unusedClientDays, overlapSeconds }: { unusedClientDays: number; overlapSeconds: number },
): Promise<void> {
  await sql`delete from auth.session where "expiresAt" < now()`.execute(db);
  await sql`delete from auth.verification where "expiresAt" < now()`.execute(db);
  await sql`delete from auth.apikey where "expiresAt" < now() - make_interval(days => ${EXPIRED_KEY_DAYS})`.execute(db);
  await sql`delete from auth."oauthRefreshToken" where "expiresAt" < now()`.execute(db);
  await sql`delete from loopstream.sign_ups where at < now() - interval '2 days'`.execute(db);
  await sql`delete from loopstream.sign_up_links where at < now() - interval '2 days'`.execute(db);
  await sql`delete from auth.jwks where "expiresAt" < now() - make_interval(secs => ${overlapSeconds})`.execute(db);
  await sql`delete from auth."oauthClient" c
    where c."createdAt" < now() - make_interval(days => ${unusedClientDays})
      and not exists (select from loopstream.verified_clients v where v.client_id = c."clientId")
      and not exists (select from auth."oauthConsent" o where o."clientId" = c."clientId")
      and not exists (select from auth."oauthRefreshToken" r where r."clientId" = c."clientId")`.execute(db);
  await sql`delete from loopstream.registrations g
    where not exists (select from auth."oauthClient" c where c."clientId" = g.client_id)`.execute(db);
  await sql`delete from loopstream.access_tokens where expires_at < now() - interval '1 hour'`.execute(db);
  await sql`delete from loopstream.ended_grants e where e.at < now() - interval '1 hour'
    and not exists (select from loopstream.access_tokens t where t.grant_id = e.grant_id)`.execute(db);
}

/** Whether the user's consent to this client covers this access token now. */
export async function isConsented(db: Db, userId: string, clientId: string, jti: string): Promise<boolean> {
  const row = await db
    .selectFrom('auth.oauthConsent as c')
    .innerJoin('auth.user as u', 'u.id', 'c.userId')
    .innerJoin('auth.oauthClient as o', 'o.clientId', 'c.clientId')
    .select('c.id')
    .where('c.userId', '=', userId)
    .where('c.clientId', '=', clientId)
    .where((where) => where.or([where('o.disabled', 'is', null), where('o.disabled', '=', false)]))
    .where(
      sql<boolean>`not exists (select from loopstream.access_tokens t where t.jti = ${jti}
        and (t.ended or exists (select from loopstream.ended_grants g where g.grant_id = t.grant_id)))`,
    )
    .executeTakeFirst();
  return row !== undefined;
}

/** False when there is no such key. */
export async function disableKey(db: Db, id: string): Promise<boolean> {
  const result = await db.updateTable('auth.apikey').set({ enabled: false }).where('id', '=', id).executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

const userColumns = ['id', 'email', 'firstName', 'lastName', 'createdAt'] as const;

export const findUser = (db: Db, id: string): Promise<UserRow | undefined> =>
  db.selectFrom('auth.user').select(userColumns).where('id', '=', id).executeTakeFirst();

/** Whether the user has shown that this address is theirs. */
export async function isOwnEmail(db: Db, id: string, email: string): Promise<boolean> {
  const found = await db
    .selectFrom('auth.user')
    .select('id')
    .where('id', '=', id)
    .where('email', '=', email.toLowerCase())
    .where('emailVerified', '=', true)
    .executeTakeFirst();
  return found !== undefined;
}

export const findUserByEmail = (db: Db, email: string): Promise<UserRow | undefined> =>
  db.selectFrom('auth.user').select(userColumns).where('email', '=', email.toLowerCase()).executeTakeFirst();

/** One browser's sign-up for an address, which waits until somebody who reads the address's mail confirms it. */
export interface SignUpRow {
  /** In lower case, as addresses of users are. */
  email: string;
  /** SHA-256 of the secret that the browser keeps. */
  browser: string;
  /** Its hash. */
  password: string;
  firstName: string;
  lastName: string | null;
}

/** Browsers that may have signed up with one address; the newest are kept. */
const BROWSERS = 20;

/** Replaces an earlier sign-up of the same browser. The statements are the same whether the address is known or not. */
export async function keepSignUp(db: Db, { email, browser, password, firstName, lastName }: SignUpRow): Promise<void> {
  await sql`insert into loopstream.sign_ups (email, browser, password, first_name, last_name)
    values (${email}, ${browser}, ${password}, ${firstName}, ${lastName})
    on conflict (email, browser) do update
      set password = excluded.password, first_name = excluded.first_name, last_name = excluded.last_name, at = now()`.execute(
    db,
  );
  await sql`delete from loopstream.sign_ups where email = ${email} and browser not in
    (select browser from loopstream.sign_ups where email = ${email} order by at desc limit ${BROWSERS})`.execute(db);
}

/** Finds the sign-up of this browser in the last `seconds`. */
export async function findSignUp(
  db: Db,
  { email, browser, seconds }: Pick<SignUpRow, 'email' | 'browser'> & { seconds: number },
): Promise<SignUpRow | undefined> {
  const { rows } =
    await sql<SignUpRow>`select email, browser, password, first_name as "firstName", last_name as "lastName"
    from loopstream.sign_ups
    where email = ${email} and browser = ${browser} and at > now() - make_interval(secs => ${seconds})`.execute(db);
  return rows[0];
}

/** Whether anybody has signed up with the address in the last `seconds`, and it has no account yet. */
export async function isSignUpOpen(db: Db, email: string, seconds: number): Promise<boolean> {
  const { rows } = await sql`select from loopstream.sign_ups where email = ${email}
    and at > now() - make_interval(secs => ${seconds})
    and not exists (select from auth."user" u where u.email = ${email}) limit 1`.execute(db);
  return rows.length > 0;
}

/** `token`: the SHA-256 of the one in the mail. */
export async function addSignUpLink(db: Db, email: string, token: string): Promise<void> {
  await sql`insert into loopstream.sign_up_links (token, email) values (${token}, ${email})`.execute(db);
}

/** The address to which a link was sent in the last `seconds`, and which nobody has confirmed since. */
export async function findSignUpLink(db: Db, token: string, seconds: number): Promise<string | undefined> {
  const { rows } = await sql<{ email: string }>`select email from loopstream.sign_up_links
    where token = ${token} and at > now() - make_interval(secs => ${seconds})`.execute(db);
  return rows[0]?.email;
}

/** The address has an account from now on: other sign-ups with it, and their links, are good no more. */
export async function forgetSignUps(db: Db, email: string): Promise<void> {
  await sql`delete from loopstream.sign_up_links where email = ${email}`.execute(db);
  await sql`delete from loopstream.sign_ups where email = ${email}`.execute(db);
}

/**
 * Takes back what lets somebody into the account besides its password: links of
 * mails; with `sessions` all of them, with `keys` API keys and connected apps, with `passkeys` those. Resolves to what was taken, and what is left.
 */
export async function revokeAccess(
  db: Db,
  userId: string,
  what: { keys: boolean; passkeys: boolean; sessions: boolean },
): Promise<{ revoked: CredentialCounts; kept: CredentialCounts }> {
  // Sessions first, and committed. A new key's creator checks its session afterwards (domain/accounts/access.ts), so
  // that a key is either seen here or dropped there.
  if (what.sessions) await db.deleteFrom('auth.session').where('userId', '=', userId).execute();
  return db.transaction().execute(async (tx) => {
    const before = await countWays(tx, userId);
    await tx.deleteFrom('auth.verification').where('value', '=', userId).execute();
    if (what.keys) {
      // The consent first: it is what a refresh at the same moment asks for.
      for (const table of ['auth.oauthConsent', 'auth.oauthAccessToken', 'auth.oauthRefreshToken'] as const)
        await tx.deleteFrom(table).where('userId', '=', userId).execute();
      await tx.updateTable('auth.apikey').set({ enabled: false }).where('referenceId', '=', userId).execute();
    }
    if (what.passkeys) await tx.deleteFrom('auth.passkey').where('userId', '=', userId).execute();
    const remaining = await countWays(tx, userId);
    const revoked = {
      apiKeys: before.apiKeys - remaining.apiKeys,
      apps: before.apps - remaining.apps,
      passkeys: before.passkeys - remaining.passkeys,
    };
    return { revoked, kept: remaining };
  });
}

/** Counts the credentials that are valid now. */
async function countWays(db: Db, userId: string): Promise<CredentialCounts> {
  const { rows } = await sql<CredentialCounts>`select
    (select count(*)::int4 from auth.apikey where "referenceId" = ${userId} and enabled
      and ("expiresAt" is null or "expiresAt" > now())) as "apiKeys",
    (select count(distinct "clientId")::int4 from auth."oauthConsent" where "userId" = ${userId}) as apps,
    (select count(*)::int4 from auth.passkey where "userId" = ${userId}) as passkeys`.execute(db);
  return rows[0] ?? { apiKeys: 0, apps: 0, passkeys: 0 };
}

/** The name of a client, and the scopes that the user has allowed it; none without consent. */
export async function findConsent(
  db: Db,
  userId: string,
  clientId: string,
): Promise<{ name: string | null; scopes: unknown } | undefined> {
  return await db
    .selectFrom('auth.oauthConsent as c')
    .innerJoin('auth.oauthClient as o', 'o.clientId', 'c.clientId')
    .select(['o.name', 'c.scopes'])
    .where('c.userId', '=', userId)
    .where('c.clientId', '=', clientId)
    .executeTakeFirst();
}

/** The address of a user who had another way to sign in before this provider; undefined for whom the provider has brought. */
export async function findEmailOfJoined(db: Db, userId: string, providerId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('auth.user as u')
    .innerJoin('auth.account as a', 'a.userId', 'u.id')
    .select('u.email')
    .where('u.id', '=', userId)
    .where('a.providerId', '!=', providerId)
    .executeTakeFirst();
  return row?.email;
}

/** Lists as the auth library keeps them: JSON, or the list itself. */
export function readList(stored: unknown): string[] {
  const list: unknown = typeof stored === 'string' ? JSON.parse(stored) : stored;
  return Array.isArray(list) ? list.map(String) : [];
}

/** A registered OAuth client. */
export interface ClientRow {
  clientId: string;
  name: string | null;
  uri: string | null;
  createdAt: Date | null;
  /** The auth library's encoding of a list: JSON, or the list itself. */
  redirectUris: unknown;
  verifiedAt: Date | null;
  /** The number of its users. */
  people: number;
}

const clients = (db: Db) =>
  db
    .selectFrom('auth.oauthClient as c')
    .leftJoin('loopstream.verified_clients as v', 'v.client_id', 'c.clientId')
    .select(['c.clientId', 'c.name', 'c.uri', 'c.createdAt', 'c.redirectUris', 'v.verified_at as verifiedAt'])
    .select((from) =>
      from
        .selectFrom('auth.oauthConsent as o')
        .select(sql<number>`count(distinct o."userId")::int4`.as('n'))
        .whereRef('o.clientId', '=', 'c.clientId')
        .as('people'),
    )
    .$castTo<ClientRow>();

/** Newest first. */
export const listClients = (db: Db, limit: number): Promise<ClientRow[]> =>
  clients(db).orderBy('c.createdAt', 'desc').limit(limit).execute();

export const findClient = (db: Db, clientId: string): Promise<ClientRow | undefined> =>
  clients(db).where('c.clientId', '=', clientId).executeTakeFirst();

/** Marks the client as one that somebody here has looked into, or takes the mark away. */
export async function setVerified(db: Db, clientId: string, isVerified: boolean): Promise<void> {
  if (isVerified)
    await db
      .insertInto('loopstream.verified_clients')
      .values({ client_id: clientId })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  else await db.deleteFrom('loopstream.verified_clients').where('client_id', '=', clientId).execute();
}

/** Whether somebody here has looked into the client. */
export async function isVerified(db: Db, clientId: string): Promise<boolean> {
  const row = await db
    .selectFrom('loopstream.verified_clients')
    .select('client_id')
    .where('client_id', '=', clientId)
    .executeTakeFirst();
  return row !== undefined;
}
