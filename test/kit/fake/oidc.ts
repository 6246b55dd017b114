/**
 * Starts identity providers for tests: a real one, with two buttons on its sign-in page, and one that returns any answer a test sets. Close
 * them afterwards.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import Provider from 'oidc-provider';
import type { OidcProvider } from '../../../src/service/auth/oidc-claims.ts';

export const CLIENT = { clientId: 'loopstream', clientSecret: 'secret: with + & signs' };

export interface TestOidc {
  /** The provider as a setting. */
  settings: OidcProvider;
  close(): Promise<void>;
}

/** A provider's claims about a person. */
export type Profile = { email?: string; email_verified?: boolean; name?: string } & Record<string, unknown>;

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const shut = (server: Server) =>
  new Promise<void>((resolve) => {
    server.closeAllConnections();
    server.close(() => resolve());
  });

const buildSettings = (issuer: string): OidcProvider => ({
  issuer,
  name: 'Example Company',
  signUp: true,
  emailClaims: ['email'],
  trustsEmail: false,
  ...CLIENT,
});

export interface RealOidc extends TestOidc {
  /** People by subject; a test adds them. */
  people: Map<string, Profile>;
  /** The subject that the page's button signs in. */
  next: string;
}

/** `redirectUri` belongs to the provider's one client. */
export async function startOidc(redirectUri: string): Promise<RealOidc> {
  const people: RealOidc['people'] = new Map();
  const oidc = { next: '' };
  let handle: (request: IncomingMessage, response: ServerResponse) => unknown = () => undefined;
  const server = createServer((request, response) => void handle(request, response));
  const issuer = await listen(server);
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const provider = new Provider(issuer, {
    clients: [{ client_id: CLIENT.clientId, client_secret: CLIENT.clientSecret, redirect_uris: [redirectUri] }],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig', kid: 'test' }] },
    cookies: { keys: ['a key of the test'] },
    claims: { email: ['email', 'email_verified'], profile: ['name', 'given_name', 'family_name'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_context: unknown, sub: string) => ({
      accountId: sub,
      claims: () => ({ sub, ...people.get(sub) }),
    }),
    loadExistingGrant: async ({ oidc: { session, client } }: { oidc: never & { session: never; client: never } }) => {
      const grant = new provider.Grant({
        accountId: (session as { accountId: string }).accountId,
        clientId: (client as { clientId: string }).clientId,
      });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
    // Sessions expire at once, so that a test chooses the person each time.
    ttl: { Session: 1, Interaction: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
  });
  const callback = provider.callback();
  handle = async (request, response) => {
    const [, uid, choice] = /^\/interaction\/([^/]+)(?:\/(yes|no))?$/.exec(request.url ?? '') ?? [];
    if (uid === undefined) return callback(request, response);
    if (choice === undefined) {
      const buttons = ['yes', 'no'].map((word) => `<p><a href="/interaction/${uid}/${word}">${word}</a></p>`).join('');
      return response
        .setHeader('content-type', 'text/html')
        .end(`<title>Example Company</title><h1>Sign in?</h1>${buttons}`);
    }
    const no = { error: 'access_denied', error_description: '<b>call +1-555-0100</b>' };
    return provider.interactionFinished(request, response, choice === 'no' ? no : { login: { accountId: oidc.next } });
  };
  return Object.assign(oidc, { people, settings: buildSettings(issuer), close: () => shut(server) });
}

/** Wrong parts of a lying provider's answer; each field replaces the right value. */
export interface Lies {
  discovery?: Record<string, unknown>;
  /** Claims of the ID token; undefined removes a claim. */
  claims?: Record<string, unknown>;
  userInfo?: Record<string, unknown>;
  /** Signs the ID token in another way. */
  sign?: (claims: JWTPayload) => string | Promise<string>;
  token?: { status?: number; body?: unknown };
}

export interface LyingOidc extends TestOidc {
  lies: Lies;
  /** The nonce of the latest request. */
  nonce: string;
  /** The form and the header of the latest code exchange. */
  redeemed: { form: URLSearchParams; authorization: string | undefined };
}

/** The provider has no page: a test goes to the callback itself, with any code. */
export async function startLyingOidc(): Promise<LyingOidc> {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const oidc = {
    lies: {} as Lies,
    nonce: '',
    redeemed: { form: new URLSearchParams(), authorization: undefined },
  } as LyingOidc;
  const server = createServer(async (request, response) => {
    const chunks = await request.toArray();
    const [status, body] = await answer(
      new URL(request.url ?? '', issuer).pathname,
      String(Buffer.concat(chunks)),
      request,
    );
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  const issuer = await listen(server);
  const person = { sub: 'someone', email: 'someone@example.com', email_verified: true, name: 'Some One' };

  async function answer(path: string, body: string, { headers }: IncomingMessage): Promise<[number, unknown]> {
    const { lies } = oidc;
    if (path === '/.well-known/openid-configuration')
      return [
        200,
        {
          issuer,
          authorization_endpoint: `${issuer}/auth`,
          token_endpoint: `${issuer}/token`,
          userinfo_endpoint: `${issuer}/me`,
          jwks_uri: `${issuer}/jwks`,
          id_token_signing_alg_values_supported: ['ES256'],
          authorization_response_iss_parameter_supported: true,
          ...lies.discovery,
        },
      ];
    if (path === '/jwks') return [200, { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256', kid: 'test' }] }];
    if (path === '/me') return [200, { ...person, ...lies.userInfo }];
    oidc.redeemed = { form: new URLSearchParams(body), authorization: headers.authorization };
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      iss: issuer,
      aud: CLIENT.clientId,
      iat: now,
      exp: now + 60,
      nonce: oidc.nonce,
      ...person,
      ...lies.claims,
    } as JWTPayload;
    const sign =
      lies.sign ?? ((all) => new SignJWT(all).setProtectedHeader({ alg: 'ES256', kid: 'test' }).sign(privateKey));
    const id_token = await sign(claims);
    return [lies.token?.status ?? 200, lies.token?.body ?? { access_token: 'x', token_type: 'Bearer', id_token }];
  }
  return Object.assign(oidc, { settings: buildSettings(issuer), close: () => shut(server) });
}
