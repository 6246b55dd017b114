/** Tests the checks of an outside provider: its documents, its ID tokens, and its claims about a user. */
import { describe, expect, test } from 'vitest';
import { findOutsideFailure } from '../../../../src/service/auth/addresses.ts';
import {
  checkIdToken,
  discoveryUrl,
  joinClaims,
  readDiscovery,
  readUser,
} from '../../../../src/service/auth/oidc-claims.ts';

const issuer = 'https://id.example.com';
const document = {
  issuer,
  authorization_endpoint: `${issuer}/auth`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/jwks`,
  id_token_signing_alg_values_supported: ['none', 'HS256', 'RS256'],
};

describe('a discovery document', () => {
  test('is fetched from below the issuer', () => {
    for (const one of [issuer, `${issuer}/`])
      expect(discoveryUrl(one)).toBe(`${issuer}/.well-known/openid-configuration`);
    expect(discoveryUrl(`${issuer}/realms/a`)).toBe(`${issuer}/realms/a/.well-known/openid-configuration`);
  });

  test('gives the signatures that hold, and how the secret is sent', () => {
    expect(readDiscovery(document, issuer)).toMatchObject({ algorithms: ['RS256'], basic: true, namesIssuer: false });
    const post = { ...document, token_endpoint_auth_methods_supported: ['client_secret_post'] };
    expect(readDiscovery(post, issuer).basic).toBe(false);
  });

  test.each([
    ['another issuer', { issuer: `${issuer}/` }],
    ['an endpoint without TLS', { token_endpoint: 'http://id.example.com/token' }],
    ['no endpoint', { authorization_endpoint: undefined }],
    ['keys that are no address', { jwks_uri: 'javascript:1' }],
    ['user info that is no address', { userinfo_endpoint: 7 }],
    ['no signature that holds', { id_token_signing_alg_values_supported: ['none', 'HS512'] }],
  ])('is refused with %s', (_what, change) => {
    expect(() => readDiscovery({ ...document, ...change }, issuer)).toThrow(
      /^The (issuer in the|discovery document|provider)/,
    );
  });

  test('is refused when it is no document', () => {
    for (const wrong of [null, 'x', [], 7]) expect(() => readDiscovery(wrong, issuer)).toThrow(/is not exactly/);
  });
});

test('an ID token must answer this request, and be for this client', () => {
  const expected = { clientId: 'us', nonce: 'n' };
  const good = { sub: 's', nonce: 'n', aud: 'us' };
  expect(() => checkIdToken(good, expected)).not.toThrow();
  expect(() => checkIdToken({ ...good, aud: ['us', 'them'], azp: 'us' }, expected)).not.toThrow();
  expect(() => checkIdToken({ ...good, nonce: undefined }, { ...expected, nonce: undefined })).toThrow(/nonce/);
  expect(() => checkIdToken({ ...good, sub: 7 }, expected)).toThrow(/sub/);
  expect(() => checkIdToken({ ...good, aud: ['us', 'them'] }, expected)).toThrow(/azp/);
  expect(() => joinClaims(good, { sub: 'other' })).toThrow(/different users/);
  expect(joinClaims(good, { sub: 's', nonce: 'x', email: 'e' })).toMatchObject({ nonce: 'n', email: 'e' });
});

describe('a person', () => {
  const read = (claims: object, trustsEmail = false) => readUser({ ...claims }, { trustsEmail });

  test('has an address only where the provider has confirmed it, or all of its are trusted', () => {
    const email = 'Ada@Example.com';
    expect(read({ email, email_verified: true })).toMatchObject({ email: 'ada@example.com', emailVerified: true });
    expect(read({ email, email_verified: 'true' }).email).toBe('ada@example.com');
    expect(read({ email, xms_edov: true }).email).toBe('ada@example.com');
    expect(read({ email, xms_edov: true, email_verified: false }).email).toBeNull();
    for (const email_verified of [false, 'false', 'TRUE', 1, undefined])
      expect(read({ email, email_verified }).email).toBeNull();
    expect(read({ email }, true).email).toBe('ada@example.com');
    for (const wrong of [undefined, 7, ['a@b.c'], 'ada', 'a b@c.de', 'a@b.c\u202e', `${'x'.repeat(252)}@b.c`])
      expect(read({ email: wrong, email_verified: true }, true).email).toBeNull();
  });

  test('has the address of the claims that a setting names, which email_verified does not confirm', () => {
    const entra = { sub: 's', preferred_username: 'Ada@Example.com', upn: 'ada.l@example.com' };
    const readBy = (claims: object, emailClaims: string[], trustsEmail = true) =>
      readUser({ ...claims }, { trustsEmail, emailClaims }).email;
    expect(readBy(entra, ['email'])).toBeNull();
    expect(readBy(entra, ['email', 'preferred_username', 'upn'])).toBe('ada@example.com');
    expect(readBy({ ...entra, preferred_username: '+49 30 1' }, ['preferred_username', 'upn'])).toBe(
      'ada.l@example.com',
    );
    expect(readBy({ ...entra, email_verified: true }, ['preferred_username'], false)).toBeNull();
    expect(readBy({ ...entra, email: 'a@b.example', email_verified: true }, ['upn', 'email'], false)).toBe(
      'a@b.example',
    );
  });

  test('has a name from the available claims, without invisible characters', () => {
    const email = { email: 'ada@example.com', email_verified: true };
    expect(read({ ...email, given_name: 'Ada', family_name: 'Lovelace' })).toMatchObject({ name: 'Ada Lovelace' });
    expect(read({ ...email, name: 'Ada  King\u0000 Lovelace' })).toMatchObject({
      firstName: 'Ada',
      lastName: 'King Lovelace',
    });
    expect(read({ ...email, name: '\u200b' })).toMatchObject({ firstName: 'ada', name: 'ada' });
    expect(read({}).firstName).toBe('You');
    expect(read({ ...email, given_name: 'x'.repeat(5000) }).firstName).toHaveLength(100);
  });
});

test('a refused person comes to the sign-in page with a code, and with nothing else from the provider', () => {
  const site = 'https://loop.example';
  expect(findOutsideFailure(`${site}/consent?error=state_mismatch`, site)).toBe(`${site}/sign-in?error=state_mismatch`);
  expect(findOutsideFailure('/sign-in?client_id=a&sig=b&error=access_denied&error_description=call+me', site)).toBe(
    `${site}/sign-in?client_id=a&sig=b&error=access_denied`,
  );
  expect(findOutsideFailure(`${site}/sign-in?error=%3Cb%3E`, site)).toBe(`${site}/sign-in?error=failed`);
  for (const fine of [`${site}/streams`, 'https://app.example/cb?error=x', '', 'http://['])
    expect(findOutsideFailure(fine, site)).toBeUndefined();
});
