/** The authorization server as clients meet it: from what they read first to what they can do with what they got. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call } from '../support/api.ts';
import { authorize, begin, consent, getCode, register, startTestSite, type TestSite } from '../support/oauth.ts';

let site: TestSite;

beforeAll(async () => {
  site = await startTestSite();
});

afterAll(() => site?.stop());

const withToken = (token: string, path: string, method = 'GET', body?: unknown) =>
  call(`${site.url}${path}`, method, body, { authorization: `Bearer ${token}` });

describe('a program', () => {
  test('is let in by a person, with the scopes that were asked for and no other', async () => {
    const ada = await site.person('ada');
    const client = await register(site.url);
    const { access_token: token, scope, expires_in } = await authorize(site.url, ada, client);
    expect({ scope, expires_in }).toEqual({ scope: 'service:read', expires_in: 900 });
    expect(await withToken(token, '/v1/me')).toMatchObject({ status: 200, body: { id: ada.accountId } });
    const refused = await withToken(token, '/v1/destinations', 'POST', {});
    expect(refused).toMatchObject({ status: 403, body: { code: 'insufficient_scope', scope: 'service:write' } });
    expect(refused.headers.get('www-authenticate')).toBe(
      `Bearer error="insufficient_scope", scope="service:write", resource_metadata="${site.url}/.well-known/oauth-protected-resource"`,
    );
  });
});
