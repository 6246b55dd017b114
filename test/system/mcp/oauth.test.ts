/**
 * Tests an agent that knows only an address, with the stock client alone: 401 → metadata → registration → PKCE → consent → tools. It has
 * exactly the permissions that the person has given.
 */
import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SCOPES, type Scope } from '../../../src/service/lib/scopes.ts';
import { describedTools } from '../../../src/service/server/mcp/tools.ts';
import { OPERATION_SCOPES } from '../../../src/service/server/operations/scopes.ts';
import { type Agent, connectAgent, REVISIONS, type Revision } from '../../kit/make/agents.ts';
import { consent, type Person, REDIRECT, startTestSite, type TestSite } from '../../kit/make/oauth.ts';
import { openForge } from '../../kit/make/oauth-forge.ts';
import { call } from '../../kit/system/api.ts';

let site: TestSite;
let ada: Person;
const cleanups: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  site = await startTestSite();
  ada = await site.person('ada');
});
afterAll(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
  await site?.stop();
});

interface Visit extends OAuthClientProvider {
  /** Addresses that it has opened in the browser. */
  opened: URL[];
  kept: {
    client?: StoredOAuthClientInformation;
    tokens?: StoredOAuthTokens;
    verifier?: string;
    discovery?: OAuthDiscoveryState;
  };
}

/** Makes the parts of a program on a person's machine: a store for its credentials, and a browser. */
function visitor(): Visit {
  const kept: Visit['kept'] = {};
  const opened: URL[] = [];
  const clientMetadata: OAuthClientMetadata = {
    client_name: 'An agent of a test',
    redirect_uris: [REDIRECT],
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  };
  return {
    opened,
    kept,
    clientMetadata,
    redirectUrl: REDIRECT,
    state: () => 'as it was given',
    clientInformation: () => kept.client,
    saveClientInformation(client) {
      kept.client = client;
    },
    tokens: () => kept.tokens,
    saveTokens(tokens) {
      kept.tokens = tokens;
    },
    redirectToAuthorization: (url) => void opened.push(url),
    saveCodeVerifier(verifier) {
      kept.verifier = verifier;
    },
    codeVerifier: () => kept.verifier ?? '',
    saveDiscoveryState(discovery) {
      kept.discovery = discovery;
    },
    discoveryState: () => kept.discovery,
  };
}

/** Acts as the browser in which Ada is signed in: consents to the request, or to `scope` of it. */
async function browse(url: URL, scope?: string): Promise<URL> {
  const response = await fetch(url, { redirect: 'manual', headers: { cookie: ada.cookie } });
  const location = new URL(response.headers.get('location') ?? '', site.url);
  const back =
    location.pathname === '/consent' ? await consent(site.url, ada, location, { ...(scope && { scope }) }) : location;
  expect(back.href.startsWith(REDIRECT), back.href).toBe(true);
  return back;
}

async function connect(authProvider: Visit, revision: Revision, allowed?: string): Promise<Agent> {
  await expect(connectAgent(site.url, { revision, authProvider })).rejects.toBeInstanceOf(UnauthorizedError);
  const back = await browse(authProvider.opened.at(-1) as URL, allowed);
  expect(back.searchParams.get('state')).toBe('as it was given');
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', site.url), { authProvider });
  await transport.finishAuth(back.searchParams);
  const agent = await connectAgent(site.url, { revision, authProvider });
  cleanups.push(agent.close);
  return agent;
}

const readClaims = ({ kept }: Visit) =>
  JSON.parse(Buffer.from(kept.tokens?.access_token.split('.')[1] ?? '', 'base64url').toString());

describe.each(Object.keys(REVISIONS) as Revision[])('in %s', (revision) => {
  test('an agent comes in by a person’s consent, with a token for the tools alone', async () => {
    const visit = visitor();
    const agent = await connect(visit, revision);
    expect(await agent.done('get_me')).toMatchObject({ id: ada.accountId, email: ada.email });
    const [asked] = visit.opened;
    expect(asked?.searchParams.get('code_challenge_method')).toBe('S256');
    expect(asked?.searchParams.get('resource')).toBe(`${site.url}/mcp`);
    expect([readClaims(visit).aud].flat()).toContain(`${site.url}/mcp`);
    const wish = { name: 'Home', rtmpUrl: 'rtmp://127.0.0.1/live', rtmpKey: 'abcd-efgh-1234' };
    const { id } = await agent.done('create_destination', wish);
    expect(await agent.done('get_destination', { id })).toMatchObject({ name: 'Home' });
    // The token is for the tools, and for no other API.
    const authorization = `Bearer ${visit.kept.tokens?.access_token}`;
    expect((await call(`${site.url}/v1/me`, 'GET', undefined, { authorization })).status).toBe(401);
  });

  test('and asks for more when a tool needs more', async () => {
    const visit = visitor();
    const agent = await connect(visit, revision, 'service:read service:write');
    expect(visit.kept.tokens?.scope).toBe('service:read service:write');
    const wish = { name: 'Home', rtmpUrl: 'rtmp://127.0.0.1/live', rtmpKey: 'abcd-efgh-1234' };
    const { id } = await agent.done('create_destination', wish);
    const seen = visit.opened.length;
    await expect(agent.call('delete_destination', { id })).rejects.toBeInstanceOf(UnauthorizedError);
    const more = visit.opened.at(-1) as URL;
    expect(visit.opened).toHaveLength(seen + 1);
    const scopes = ['service:read', 'service:write', 'service:destructive'];
    expect(more.searchParams.get('scope')?.split(' ')).toEqual(expect.arrayContaining(scopes));
    const transport = new StreamableHTTPClientTransport(new URL('/mcp', site.url), { authProvider: visit });
    await transport.finishAuth((await browse(more)).searchParams);
    expect(await agent.done('delete_destination', { id })).toEqual({ id, done: true });
  });
});

test('every tool, with every kind of credentials, follows the table of scopes', async () => {
  const resource = `${site.url}/mcp`;
  const bearer = async (...scopes: Scope[]) => {
    const scope = scopes.map((one) => `service:${one}`).join(' ');
    return { authorization: `Bearer ${await site.token('ada', scope, { resource })}` };
  };
  const revoked = await site.auth.createApiKey(ada.accountId, 'revoked');
  await site.auth.revokeApiKey(revoked.id);
  const whole = await bearer(...SCOPES);
  const forge = await openForge(site, whole.authorization.split(' ')[1] ?? '');
  const over = Math.floor(Date.now() / 1000) - 3600;
  const cases: [Record<string, string>, readonly Scope[] | undefined][] = [
    [{}, undefined],
    [{ 'x-api-key': revoked.key }, undefined],
    [{ 'x-api-key': 'lsk_nobodys' }, undefined],
    [{ authorization: 'Bearer nothing' }, undefined],
    // The token's time alone is wrong.
    [{ authorization: `Bearer ${await forge.sign({ iat: over - 900, exp: over })}` }, undefined],
    [{ authorization: `Bearer ${await forge.sign({})}` }, SCOPES],
    [{ 'x-api-key': ada.key }, SCOPES],
    [{ authorization: `Bearer ${ada.key}` }, SCOPES],
    [{ authorization: `Bearer ${revoked.key}` }, undefined],
    [whole, SCOPES],
  ];
  for (const scope of SCOPES) cases.push([await bearer(scope), [scope]]);
  for (const [headers, scopes] of cases)
    for (const [name, { operations }] of describedTools()) {
      const params = { name, arguments: { nonsense: true } };
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
      const answer = await call(resource, 'POST', body, { accept: 'application/json, text/event-stream', ...headers });
      const isAllowed = operations.every((one) => (scopes as readonly unknown[])?.includes(OPERATION_SCOPES[one]));
      const status = scopes === undefined ? 401 : isAllowed ? 200 : 403;
      expect({ name, scopes, status: answer.status }).toEqual({ name, scopes, status });
    }
});

test('a token that is wrong, in the query, or for somebody else is refused', async () => {
  const token = await site.token('ada', 'service:read');
  const other = await site.token('ada', 'service:read', { resource: `${site.url}/mcp` });
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const ask = (path: string, authorization?: string) =>
    call(`${site.url}${path}`, 'POST', body, {
      accept: 'application/json, text/event-stream',
      ...(authorization && { authorization }),
    });
  expect((await ask('/mcp', `Bearer ${other}`)).status).toBe(200);
  // A token for the whole API is for its tools as well.
  expect((await ask('/mcp', `Bearer ${token}`)).status).toBe(200);
  expect((await ask('/graphql', `Bearer ${other}`)).status).toBe(401);
  for (const refused of [
    await ask('/mcp'),
    await ask('/mcp', `Bearer ${other.slice(0, -2)}`),
    await ask(`/mcp?access_token=${other}`),
  ]) {
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toContain(
      `resource_metadata="${site.url}/.well-known/oauth-protected-resource/mcp"`,
    );
  }
});
