/**
 * Signs users in at an outside provider (OpenID Connect Core 1.0, the code flow with PKCE, state and nonce). The auth
 * library stores the state and makes the session. The provider's documents are fetched and checked here each time, so
 * that a provider that is away when a server starts works again as soon as it is back.
 */
import type { BetterAuthPlugin } from 'better-auth';
import { APIError, createAuthMiddleware } from 'better-auth/api';
import * as openid from 'openid-client';
import { type Clock, systemClock } from '../../core/lib/clock.ts';
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
  config: openid.Configuration;
}

interface TokenAnswer {
  claims: IdTokenClaims;
  accessToken: string;
}

/** Fetches the text of a JSON document. Rejects with an OidcError, whatever is wrong. */
async function fetchText(url: string, init: Partial<openid.CustomFetchOptions> = {}): Promise<string> {
  const where = new URL(url).host;
  let response: Response;
  let body: string;
  try {
    // A redirect would send the secret elsewhere.
    response = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(ANSWER_MS) } as RequestInit);
    body = await response.text();
  } catch {
    throw new OidcError(`${where} did not respond.`);
  }
  if (!response.ok) throw new OidcError(`${where} responded with status ${response.status}.`);
  if (body.length > MAX_ANSWER) throw new OidcError(`The response of ${where} is too large.`);
  try {
    JSON.parse(body);
  } catch {
    throw new OidcError(`The response of ${where} is not JSON.`);
  }
  return body;
}

/** openid-client insists on the content type; any JSON is accepted here. */
const fetchForClient: openid.CustomFetch = async (url, init) =>
  new Response(await fetchText(url, init), { headers: { 'content-type': 'application/json' } });

/** RFC 6749, section 2.3.1: both are written as in a form before they are joined. */
const encodeBasic = (id: string, secret: string): string => {
  const encode = (value: string) => new URLSearchParams({ '': value }).toString().slice(1);
  return `Basic ${Buffer.from(`${encode(id)}:${encode(secret)}`).toString('base64')}`;
};

function authenticate({ clientId, clientSecret }: OidcProvider, isBasic: boolean): openid.ClientAuth {
  if (clientSecret === undefined) return openid.None();
  if (!isBasic) return openid.ClientSecretPost(clientSecret);
  // openid.ClientSecretBasic also encodes hyphens and dots, which some providers do not decode.
  return (_server, _client, _body, headers) => headers.set('authorization', encodeBasic(clientId, clientSecret));
}

/** Rejects with the OidcError behind an error of openid-client, or with one that holds only its code. */
function rethrow(error: unknown): never {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof OidcError) throw cause;
  const { code } = error as { code?: unknown };
  throw new OidcError(`The ID token is not valid (${typeof code === 'string' ? code : 'unknown reason'}).`);
}

function createConversation(provider: OidcProvider, clock: Clock) {
  const { issuer, clientId } = provider;
  let known: { value: Promise<KnownDiscovery>; untilMs: number } | undefined;

  async function discover(): Promise<KnownDiscovery> {
    // openid.discovery() compares issuers as URLs; here they must be equal letter for letter.
    const endpoints = readDiscovery(JSON.parse(await fetchText(discoveryUrl(issuer))), issuer);
    const server: openid.ServerMetadata = {
      issuer,
      authorization_endpoint: endpoints.authorization,
      token_endpoint: endpoints.token,
      jwks_uri: endpoints.keys,
      id_token_signing_alg_values_supported: endpoints.algorithms,
      ...(endpoints.userInfo !== undefined && { userinfo_endpoint: endpoints.userInfo }),
    };
    const client = { [openid.clockTolerance]: LEEWAY_SECONDS };
    const config = new openid.Configuration(server, clientId, client, authenticate(provider, endpoints.basic));
    config[openid.customFetch] = fetchForClient;
    if (new URL(issuer).protocol === 'http:') openid.allowInsecureRequests(config);
    // Verifies the signature of ID tokens, which openid-client leaves to TLS otherwise.
    openid.enableNonRepudiationChecks(config);
    return { ...endpoints, config };
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

  // Not authorizationCodeGrant(): it wants the nonce, which the auth library has only for readClaims.
  async function redeem(code: string, codeVerifier: string, redirectURI: string): Promise<TokenAnswer> {
    const { config } = await endpoints();
    const form = { code, redirect_uri: redirectURI, code_verifier: codeVerifier };
    const answer = await openid.genericGrantRequest(config, 'authorization_code', form).catch(rethrow);
    const claims = answer.claims();
    if (claims === undefined) throw new OidcError('The token response has no ID token.');
    return { claims, accessToken: answer.access_token };
  }

  async function readClaims({ claims, accessToken }: TokenAnswer, nonce: string | undefined): Promise<IdTokenClaims> {
    const { config, userInfo } = await endpoints();
    checkIdToken(claims, { clientId, nonce });
    if (claims.email !== undefined || userInfo === undefined) return claims;
    // joinClaims compares the subjects.
    return joinClaims(claims, await openid.fetchUserInfo(config, accessToken, openid.skipSubjectCheck).catch(rethrow));
  }

  return { endpoints, redeem, readClaims };
}

/** `report` receives the reason why nobody could sign in, without secrets. */
export function oidcSignIn(
  provider: OidcProvider,
  report: (reason: string) => void,
  clock = systemClock,
): BetterAuthPlugin {
  const { endpoints, redeem, readClaims } = createConversation(provider, clock);
  /** Says why something failed, and has `otherwise` done. */
  const failing = <T>(otherwise: () => T) => {
    return (error: unknown): T => {
      report(error instanceof OidcError ? error.message : 'The sign-in failed unexpectedly.');
      return otherwise();
    };
  };
  const away = () => {
    throw new APIError('SERVICE_UNAVAILABLE', {
      code: 'PROVIDER_UNAVAILABLE',
      message: 'The sign-in provider did not respond. Try again.',
    });
  };

  const library = {
    id: OIDC_PROVIDER_ID,
    name: provider.name,
    issuer: provider.issuer,
    requiresIdTokenNonce: true,
    options: { disableSignUp: !provider.signUp },
    async createAuthorizationURL(asked: {
      state: string;
      codeVerifier: string;
      redirectURI: string;
      idTokenNonce?: string;
    }) {
      const { config } = await endpoints().catch(failing(away));
      return openid.buildAuthorizationUrl(config, {
        redirect_uri: asked.redirectURI,
        scope: SCOPE,
        state: asked.state,
        nonce: asked.idTokenNonce ?? '',
        code_challenge_method: 'S256',
        code_challenge: await openid.calculatePKCECodeChallenge(asked.codeVerifier),
      });
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
