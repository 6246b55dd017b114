/**
 * Serves the requests of programs to the authorization server where the auth library leaves something out. The client
 * is authenticated before anything is looked up (RFC 6749, section 5.2). Access tokens end with their grant. Revoking a
 * token that is gone is no error (RFC 7009, section 2.2). A repeated registration returns the same client.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import { decodeJwt } from 'jose';
import { sleep } from '../../core/lib/clock.ts';
import type { Db } from '../db/pool.ts';
import { type ClientCredentials, readClientCredentials } from './client-credentials.ts';
import type { Registration } from './requests.ts';
import {
  addAccessToken,
  addRegistration,
  endAccessToken,
  endAccessTokens,
  endGrant,
  findClientProof,
  findRefreshToken,
  findRegistration,
  isConsented,
  isReplayed,
  type RefreshRow,
  setRedirects,
} from './store.ts';

/** The auth library stores codes, tokens and secrets as this; they are random, so a plain hash suffices. */
const hashText = (text: string): string => hash('sha256', text, 'base64url');
const USER_ID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;
/** Error codes of the library that differ from RFC 6749, section 5.2. */
const INVALID_GRANTS =
  /code verification failed|session no longer exists|user may have been deleted|code_verifier required/;

interface OAuthError {
  error?: string;
  error_description?: string;
}

/** A form of a program, with its credentials in the header or not. */
export interface Form {
  fields: URLSearchParams;
  authorization: string | undefined;
}

/** Has the library answer. */
type ProgramRequest = () => Promise<Response>;

const refuse = (status: number, error: string, error_description: string, challenge?: string): Response =>
  Response.json(
    { error, error_description },
    { status, headers: { 'cache-control': 'no-store', ...(challenge && { 'www-authenticate': challenge }) } },
  );

const isSame = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));

/** Reads the claims of a JWT without verifying it; undefined for any other text. */
function decodeClaims(token: string): Record<string, unknown> | undefined {
  try {
    return decodeJwt(token);
  } catch {
    return undefined;
  }
}

const readError = async (answer: Response): Promise<OAuthError> =>
  (await answer
    .clone()
    .json()
    .catch(() => ({}))) ?? {};

/** The library's refusal with the status and the code of RFC 6749, section 5.2. */
async function settle(answer: Response, { fields, authorization }: Form): Promise<Response> {
  if (answer.status !== 400 && answer.status !== 401) return answer;
  const { error = 'invalid_request', error_description = 'The server failed to handle the request. Try again.' } =
    await readError(answer);
  if (error === 'invalid_client') {
    if (answer.status === 401) return answer;
    return refuse(401, error, error_description, authorization && 'Basic realm="loopstream"');
  }
  const isGrant = fields.has('grant_type') && INVALID_GRANTS.test(error_description);
  return answer.status === 400 && !isGrant ? answer : refuse(400, isGrant ? 'invalid_grant' : error, error_description);
}

/** Two registrations from one address with the same metadata are one client; `order` of fields and lists does not matter. */
function computeFingerprint(metadata: Registration, address: string): string {
  const sorted = Object.entries(metadata)
    .map(([name, value]) => [name, Array.isArray(value) ? [...value].sort() : value])
    .sort(([one], [other]) => (String(one) < String(other) ? -1 : 1));
  return hashText(`${address}\n${JSON.stringify(sorted)}`);
}

/**
 * Returns the registration for the library, which accepts fewer redirect URIs than we do; ours are inserted afterwards.
 */
export const registrationForLibrary = (metadata: Registration): object => ({
  ...metadata,
  application_type: 'native',
  redirect_uris: metadata.redirect_uris.map((_uri, index) => `loopstream.placeholder:/${index}`),
});

/** An exchange takes some milliseconds; each wait gives the other request time to end. */
const REPLAY_TRIES = 8;
const REPLAY_WAIT_MS = 100;

export type Programs = ReturnType<typeof createPrograms>;

/** `onEnded`: called when tokens were ended before their time. */
export function createPrograms({ db, onEnded }: { db: Db; onEnded: () => void }) {
  /**
   * Returns the authenticated client of a form, or a refusal if its proof is wrong; undefined where the library
   * decides.
   */
  async function authenticate(form: Form): Promise<string | Response | undefined> {
    const given: ClientCredentials | undefined = readClientCredentials(form.fields, form.authorization);
    if (!given) return undefined;
    const { clientId, secret, method } = given;
    const known = await findClientProof(db, clientId);
    const challenge = method === 'client_secret_basic' ? 'Basic realm="loopstream"' : undefined;
    const wrong = (why: string) => refuse(401, 'invalid_client', why, challenge);
    if (!known || known.disabled) return wrong('The client does not exist, or is disabled. Register the client again.');
    const asked = known.method ?? 'client_secret_basic';
    if (asked !== method) return wrong(`The client must authenticate with ${asked}, not with ${method}.`);
    if (asked !== 'none' && !isSame(hashText(secret ?? ''), known.secret ?? ''))
      return wrong('The client secret is wrong.');
    return clientId;
  }

  async function remember(answer: Response, grantId: string): Promise<void> {
    const { access_token: token = '' } = (await answer.clone().json()) as { access_token?: string };
    const { jti, sub, client_id: clientId, exp } = decodeClaims(token) ?? {};
    if (typeof jti !== 'string') throw new Error('The auth library issued an access token without an id.');
    await addAccessToken(db, {
      jti,
      grantId,
      userId: String(sub),
      clientId: String(clientId),
      expiresAt: Number(exp),
    });
  }

  const endOwn = async ({ userId, clientId }: RefreshRow): Promise<void> => {
    await endAccessTokens(db, userId, clientId);
    onEnded();
  };

  async function exchangeCode(form: Form, ask: ProgramRequest): Promise<Response> {
    const grantId = hashText(form.fields.get('code') ?? '');
    const answer = await settle(await ask(), form);
    if (answer.ok) await remember(answer, grantId);
    // The code was used before, maybe by a thief: its tokens end (RFC 6749, section 4.1.2).
    else if ((await readError(answer)).error === 'invalid_grant') {
      await endGrant(db, grantId);
      onEnded();
    }
    return answer;
  }

  async function exchangeRefreshToken(
    form: Form,
    clientId: string | undefined,
    ask: ProgramRequest,
  ): Promise<Response> {
    const tokenHash = hashText(form.fields.get('refresh_token') ?? '');
    const before = await findRefreshToken(db, tokenHash);
    const answer = await askAgain(tokenHash, async () => settle(await ask(), form));
    if (answer.ok) {
      if (before) await remember(answer, before.authorizationCodeId ?? `${before.userId} ${before.clientId}`);
      return answer;
    }
    const isRefused = (await readError(answer)).error === 'invalid_grant' && before?.clientId === clientId;
    // The library has ended the refresh tokens of that consent.
    if (before && isRefused) {
      const after = await findRefreshToken(db, tokenHash);
      if (!after || (after.revoked !== null && !isReplayed(after))) await endOwn(before);
    }
    return answer;
  }

  /** Asks until the answer is there that the other one of two concurrent requests of a refresh token gets. */
  async function askAgain(tokenHash: string, ask: () => Promise<Response>): Promise<Response> {
    for (let tries = 1; ; tries++) {
      const answer = await ask();
      if (answer.ok || tries >= REPLAY_TRIES || (await readError(answer)).error !== 'invalid_grant') return answer;
      const row = await findRefreshToken(db, tokenHash);
      if (!row || !isReplayed(row)) return answer;
      await sleep(REPLAY_WAIT_MS);
    }
  }

  return {
    /** The token endpoint. */
    async exchange(form: Form, ask: ProgramRequest): Promise<Response> {
      const client = await authenticate(form);
      if (client instanceof Response) return client;
      return form.fields.get('grant_type') === 'refresh_token'
        ? exchangeRefreshToken(form, client, ask)
        : exchangeCode(form, ask);
    },

    /** The revocation endpoint. A token that is not known, or another client's, is none that anybody could use: 200. */
    async revoke(form: Form, ask: ProgramRequest): Promise<Response> {
      const client = await authenticate(form);
      if (client instanceof Response) return client;
      const [token, ...more] = form.fields.getAll('token');
      if (client === undefined || !token || more.length > 0) return settle(await ask(), form);
      const done = () => Response.json({}, { headers: { 'cache-control': 'no-store' } });
      const claims = decodeClaims(token);
      if (claims) {
        if (await endAccessToken(db, String(claims.jti), client)) onEnded();
        return done();
      }
      const before = await findRefreshToken(db, hashText(token));
      if (before?.clientId !== client) return done();
      const answer = await ask();
      if (answer.status >= 500) return answer;
      if (before.revoked || before.authorizationCodeId === null) await endOwn(before);
      else {
        await endGrant(db, before.authorizationCodeId);
        onEnded();
      }
      return done();
    },

    /** The userinfo endpoint, with the token however it was sent; `ask` is given it in the header. */
    async readPerson(token: string | undefined, ask: ProgramRequest): Promise<Response> {
      if (token === undefined)
        return refuse(
          401,
          'invalid_token',
          'The request has no access token. Send one in the header Authorization.',
          'Bearer',
        );
      const { sub, client_id: clientId, jti } = decodeClaims(token) ?? {};
      const isGood = USER_ID.test(String(sub)) && (await isConsented(db, String(sub), String(clientId), String(jti)));
      const answer = isGood ? await ask() : undefined;
      if (answer && answer.status !== 400 && answer.status !== 401) return answer;
      const { error } = answer ? await readError(answer) : {};
      if (error === 'invalid_scope')
        return refuse(
          403,
          'insufficient_scope',
          'The access token lacks the scope openid.',
          'Bearer error="insufficient_scope", scope="openid"',
        );
      const why = 'The access token is not valid, or has expired. Request a new one.';
      return refuse(401, 'invalid_token', why, `Bearer error="invalid_token", error_description="${why}"`);
    },

    /** The registration endpoint. `count` throws where the address has registered too many clients. */
    async register(
      metadata: Registration,
      address: string,
      { count, ask }: { count: () => Promise<void>; ask: ProgramRequest },
    ): Promise<Response> {
      // A secret is shown once, so that a client with one is always a new one.
      const fingerprint =
        metadata.token_endpoint_auth_method === 'none' ? computeFingerprint(metadata, address) : undefined;
      const headers = { 'cache-control': 'no-store' };
      const known = fingerprint === undefined ? undefined : await findRegistration(db, fingerprint);
      if (known) return Response.json(known, { status: 201, headers });
      await count();
      const answer = await ask();
      if (!answer.ok) return answer;
      const { redirect_uris: redirectUris, application_type: type } = metadata;
      const made = (await answer.json()) as { client_id: string };
      // Clients assume RS256 by default (OpenID Connect Registration 1.0, section 2).
      const declared = { id_token_signed_response_alg: 'ES256', redirect_uris: redirectUris, application_type: type };
      const registered = { ...made, ...declared };
      const clientId = made.client_id;
      await setRedirects(db, clientId, { redirectUris, applicationType: String(type) });
      const stored =
        fingerprint === undefined
          ? registered
          : await addRegistration(db, { fingerprint, clientId, answer: registered });
      return Response.json(stored, { status: 201, headers });
    },
  };
}
