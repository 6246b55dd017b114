/**
 * Signs users in at an outside provider (OpenID Connect Core 1.0, the code flow with PKCE, state and nonce). The auth
 * library stores the state and makes the session. The provider's documents are fetched and checked here each time, so
 * that a provider that is away when a server starts works again as soon as it is back.
 */
import { createHash } from 'node:crypto';
import type { BetterAuthPlugin } from 'better-auth';
import { APIError, createAuthMiddleware } from 'better-auth/api';
import { createRemoteJWKSet, type JWTVerifyGetKey, errors as joseErrors, jwtVerify } from 'jose';
import { type Clock, systemClock } from '../lib/clock.ts';
import {
  checkIdToken,
  discoveryUrl,
  type IdTokenClaims,
  joinClaims,
  type OidcEndpoints,
  OidcError,
  type OidcProvider,
  readDiscovery,
  readUser,
} from './oidc-claims.ts';

/** The provider's id in addresses; there is one provider. */
export const OIDC_PROVIDER_ID = 'oidc';
export const OIDC_CALLBACK_PATH = `/callback/${OIDC_PROVIDER_ID}`;

const ANSWER_MS = 10_000;
const MAX_ANSWER = 256 * 1024;
/** How long its discovery document is taken to be as it was. */
const KEEP_MS = 3_600_000;
/** Clocks of two servers differ by less. */
const LEEWAY_SECONDS = 30;
const SCOPE = 'openid email profile';

interface KnownDiscovery extends OidcEndpoints {
  jwks: JWTVerifyGetKey;
}

interface TokenAnswer {
  idToken: string;
  accessToken: string;
}

/** The JSON of its answer. Rejects with an OidcError, whatever is wrong. */
async function ask(url: string, init: RequestInit = {}): Promise<unknown> {
  const where = new URL(url).host;
  let response: Response;
  let body: string;
  try {
    // An answer that leads elsewhere would be sent the secret too.
    response = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(ANSWER_MS) });
    body = await response.text();
  } catch {
    throw new OidcError(`${where} did not answer.`);
  }
  if (!response.ok) throw new OidcError(`${where} answered with the status ${response.status}.`);
  if (body.length > MAX_ANSWER) throw new OidcError(`${where} answered with too much.`);
  try {
    return JSON.parse(body);
  } catch {
    throw new OidcError(`${where} did not answer with JSON.`);
  }
}

/** RFC 6749, section 2.3.1: both are written as in a form before they are joined. */
const encodeBasic = (id: string, secret: string): string => {
  const encode = (value: string) => new URLSearchParams({ '': value }).toString().slice(1);
  return `Basic ${Buffer.from(`${encode(id)}:${encode(secret)}`).toString('base64')}`;
};

function createConversation({ issuer, clientId, clientSecret }: OidcProvider, clock: Clock) {
  let known: { value: Promise<KnownDiscovery>; untilMs: number } | undefined;

  async function discover(): Promise<KnownDiscovery> {
    const endpoints = readDiscovery(await ask(discoveryUrl(issuer)), issuer);
    const jwks = createRemoteJWKSet(new URL(endpoints.keys), { timeoutDuration: ANSWER_MS });
    return { ...endpoints, jwks };
  }

  /** One that failed is not kept. */
  function endpoints(): Promise<KnownDiscovery> {
    if (known && known.untilMs > clock.monotonicMs()) return known.value;
    const value = discover();
    known = { value, untilMs: clock.monotonicMs() + KEEP_MS };
    value.catch(() => {
      if (known?.value === value) known = undefined;
    });
    return value;
  }

  async function redeem(code: string, codeVerifier: string, redirectURI: string): Promise<TokenAnswer> {
    const { token, basic } = await endpoints();
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectURI, code_verifier: codeVerifier };
    const isBasic = basic && clientSecret !== undefined;
    const body = new URLSearchParams({
      ...form,
      ...(!isBasic && { client_id: clientId }),
      ...(!isBasic && clientSecret !== undefined && { client_secret: clientSecret }),
    });
    const headers = {
      accept: 'application/json',
      ...(isBasic && { authorization: encodeBasic(clientId, clientSecret) }),
    };
    const { id_token: idToken, access_token: accessToken } = ((await ask(token, { method: 'POST', headers, body })) ??
      {}) as Record<string, unknown>;
    if (typeof idToken !== 'string' || typeof accessToken !== 'string')
      throw new OidcError('It answered a code without an ID token.');
    return { idToken, accessToken };
  }

  async function readClaims({ idToken, accessToken }: TokenAnswer, nonce: string | undefined): Promise<IdTokenClaims> {
    const { jwks, algorithms, userInfo } = await endpoints();
    const requiredClaims = ['iss', 'sub', 'aud', 'exp', 'iat'];
    const options = { issuer, audience: clientId, algorithms, requiredClaims, clockTolerance: LEEWAY_SECONDS };
    const { payload } = await jwtVerify(idToken, jwks, { ...options, currentDate: clock.now() }).catch((error) => {
      const why = error instanceof joseErrors.JOSEError ? error.code : 'its keys could not be had';
      throw new OidcError(`Its ID token is not valid (${why}).`);
    });
    checkIdToken(payload, { clientId, nonce });
    if (payload.email !== undefined || userInfo === undefined) return payload;
    const headers = { accept: 'application/json', authorization: `Bearer ${accessToken}` };
    return joinClaims(payload, ((await ask(userInfo, { headers })) ?? {}) as IdTokenClaims);
  }

  return { endpoints, redeem, readClaims };
}

/** `report` is told, in words without secrets, why nobody could sign in. */
export function oidcSignIn(
  provider: OidcProvider,
  report: (reason: string) => void,
  clock = systemClock,
): BetterAuthPlugin {
  const { clientId, issuer } = provider;
  const { endpoints, redeem, readClaims } = createConversation(provider, clock);
  /** Says why something failed, and has `otherwise` done. */
  const failing = <T>(otherwise: () => T) => {
    return (error: unknown): T => {
      report(error instanceof OidcError ? error.message : 'Something failed that should not.');
      return otherwise();
    };
  };
  const away = () => {
    throw new APIError('SERVICE_UNAVAILABLE', { code: 'PROVIDER_UNAVAILABLE', message: 'The provider is away.' });
  };

  const library = {
    id: OIDC_PROVIDER_ID,
    name: provider.name,
    issuer,
    requiresIdTokenNonce: true,
    options: { disableSignUp: !provider.signUp },
    async createAuthorizationURL(asked: {
      state: string;
      codeVerifier: string;
      redirectURI: string;
      idTokenNonce?: string;
    }) {
      const { authorization } = await endpoints().catch(failing(away));
      const url = new URL(authorization);
      const parameters = {
        response_type: 'code',
        client_id: clientId,
        redirect_uri: asked.redirectURI,
        scope: SCOPE,
        state: asked.state,
        nonce: asked.idTokenNonce ?? '',
        code_challenge_method: 'S256',
        code_challenge: createHash('sha256').update(asked.codeVerifier).digest('base64url'),
      };
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      return url;
    },
    // The library would store these tokens in the database; nothing needs them after this.
    validateAuthorizationCode: ({ code = '', codeVerifier = '', redirectURI = '' }) =>
      redeem(code, codeVerifier, redirectURI).then(
        (answer) => ({ raw: { ...answer } }),
        failing(() => null),
      ),
    getUserInfo: async ({ raw, expectedIdTokenNonce }: { raw?: object; expectedIdTokenNonce?: string }) =>
      readClaims(raw as TokenAnswer, expectedIdTokenNonce).then(
        (data) => ({ user: readUser(data, provider), data }),
        failing(() => null),
      ),
    accountSubject: ({ profile }: { profile: IdTokenClaims }) => String(profile.sub),
  };

  return {
    id: 'outside-sign-in',
    init: (context) => ({ context: { socialProviders: [library as never, ...context.socialProviders] } }),
    hooks: {
      before: [
        {
          matcher: ({ path }) => path === '/callback/:id',
          // One that names itself in each answer must have done so (RFC 9207, section 2.4); that it is right the library checks.
          handler: createAuthMiddleware(async ({ query, redirect, context }) => {
            if (query?.code === undefined || query.iss !== undefined) return;
            const { namesIssuer } = await endpoints().catch(failing(() => ({ namesIssuer: true })));
            if (namesIssuer) throw redirect(`${context.options.onAPIError?.errorURL}?error=issuer_missing`);
          }),
        },
      ],
    },
  };
}
