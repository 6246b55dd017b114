import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../../../../src/core/settings/settings.ts';
import { billingConfig } from '../../../../../src/service/billing/setup/settings.ts';
import { apiConfig } from '../../../../../src/service/server/setup/settings.ts';
import { listNamespaces } from '../../../../../src/service/settings/settings.ts';
import { localEnvironment } from '../../../../../tools/process/environment.ts';
import { tempDir } from '../../../../kit/temp-dir.ts';

const required = { LOOPSTREAM_DATABASE_URL: 'postgres://none', LOOPSTREAM_AUTH_SECRET: 's' };
const api = (name: string, value: string) => apiConfig({ ...required, [`LOOPSTREAM_${name}`]: value });

describe('the settings of the API server', () => {
  test('proxies are trusted by their addresses, and none are unless they are named', () => {
    expect(apiConfig(required).trustProxy).toBe(false);
    expect(api('TRUST_PROXY', '10.0.0.0/8, loopback,fd00::/8,192.0.2.1').trustProxy).toEqual([
      ...['10.0.0.0/8', 'loopback', 'fd00::/8', '192.0.2.1'],
    ]);
    for (const wrong of ['1', 'true', '10.0.0.0/33', '10.0.0.0/8/8', 'proxy.example.com', '::1/129'])
      expect(() => api('TRUST_PROXY', wrong), wrong).toThrow(ConfigError);
  });

  test('origins are origins, not addresses of pages', () => {
    expect(apiConfig(required).corsOrigins).toEqual([]);
    expect(api('CORS_ORIGINS', 'https://a.example.com, http://localhost:3000').corsOrigins).toHaveLength(2);
    for (const wrong of ['https://a.example.com/', 'a.example.com', 'null', 'https://*.example.com/x'])
      expect(() => api('CORS_ORIGINS', wrong), wrong).toThrow(ConfigError);
  });

  test('users are sent for help to a mailbox or to a page over TLS, and to no script', () => {
    expect(apiConfig(required).supportUrl).toBeUndefined();
    for (const right of ['mailto:help@example.com', 'https://example.com/help?from=loops'])
      expect(api('SUPPORT_URL', right).supportUrl).toBe(right);
    for (const wrong of [
      'help@example.com',
      'http://example.com',
      'javascript:alert(1)',
      'mailto:',
      'mailto:a@b@c',
      'x',
    ])
      expect(() => api('SUPPORT_URL', wrong), wrong).toThrow(/LOOPSTREAM_SUPPORT_URL must be/);
  });

  test('a new account gets no credit unless the operators say so', () => {
    expect(apiConfig(required).welcomeGrant).toEqual({ amountMinor: 0n, perDay: 100 });
    expect(api('WELCOME_GRANT_MINOR', '500').welcomeGrant.amountMinor).toBe(500n);
    for (const wrong of ['-1', '5.5', 'five'])
      expect(() => api('WELCOME_GRANT_MINOR', wrong), wrong).toThrow(ConfigError);
  });

  test('the address of Redis is not repeated where it is wrong: it holds a password', () => {
    expect(api('REDIS_URL', 'rediss://:word@cache:6380/1').redisUrl).toBe('rediss://:word@cache:6380/1');
    for (const wrong of ['http://:word@cache', 'cache:word', ':word@'])
      expect(() => api('REDIS_URL', wrong)).toThrow(/^(?!.*word).*LOOPSTREAM_REDIS_URL/s);
  });

  test('mail is sent where a server and a sender are named, and the password of the server is not repeated', () => {
    const set = (url: string, from?: string) =>
      apiConfig({ ...required, LOOPSTREAM_SMTP_URL: url, LOOPSTREAM_MAIL_FROM: from }).mail;
    expect(apiConfig(required).mail).toBeUndefined();
    for (const from of ['a@example.com', 'Loops <a@example.com>'])
      expect(set('smtps://u:word@mail.example.com', from)).toEqual({
        smtpUrl: 'smtps://u:word@mail.example.com',
        from,
      });
    for (const wrong of ['http://u:hidden@mail', 'mail:hidden', 'smtp://'])
      expect(() => set(wrong, 'a@example.com')).toThrow(/^(?!.*hidden).*LOOPSTREAM_SMTP_URL/s);
    for (const wrong of [undefined, 'nobody', 'A <b', 'a@b\r\nBcc: c@d'])
      expect(() => set('smtp://mail', wrong), wrong).toThrow(/LOOPSTREAM_MAIL_FROM/);
  });

  test('money is no part of it unless it is turned on', () => {
    expect(apiConfig(required).billing).toBe(false);
    expect(api('BILLING', 'true').billing).toBe(true);
    expect(() => api('BILLING', 'yes')).toThrow(/LOOPSTREAM_BILLING/);
  });

  test('cards are taken with a key and a signing secret, each a text or in a file, neither of which is repeated', () => {
    const cards = (env: Record<string, string>) => apiConfig({ ...required, ...env }).cards;
    const both = { LOOPSTREAM_STRIPE_KEY: 'sk_hidden', LOOPSTREAM_STRIPE_WEBHOOK_SECRET_FILE: '/run/secret' };
    expect(cards({}).stripe).toBeUndefined();
    expect(cards(both).stripe).toEqual({
      key: { text: 'sk_hidden' },
      webhookSecret: { file: '/run/secret' },
      url: 'https://api.stripe.com',
    });
    for (const wrong of [
      { LOOPSTREAM_STRIPE_KEY: 'sk_hidden' },
      { ...both, LOOPSTREAM_STRIPE_KEY_FILE: '/run/key' },
      { ...both, LOOPSTREAM_STRIPE_URL: 'api.stripe.com' },
    ])
      expect(() => cards(wrong)).toThrow(/^(?!.*hidden).*LOOPSTREAM_STRIPE/s);
    expect(() => api('CURRENCY', 'usd')).toThrow(/LOOPSTREAM_CURRENCY/);
  });

  test('the seller of the invoices is JSON, inline or in a file', () => {
    const seller = '{"name":"Loops","address":["Dublin"],"country":"IE"}';
    expect(apiConfig(required).seller).toBeUndefined();
    expect(api('SELLER', seller).seller).toEqual({ text: seller });
    expect(api('SELLER_FILE', '/run/seller.json').seller).toEqual({ file: '/run/seller.json' });
    expect(() => api('SELLER', '{"name":"Loops"}')).toThrow(/LOOPSTREAM_SELLER is not valid: the value at/);
    expect(() => apiConfig({ ...required, LOOPSTREAM_SELLER: seller, LOOPSTREAM_SELLER_FILE: '/x' })).toThrow(
      /not both/,
    );
  });

  test('a font for invoices is a file, which is read at the start; without it there is none', () => {
    expect(apiConfig(required).invoiceFont).toBeUndefined();
    expect(api('INVOICE_FONT', '/fonts/cjk.ttc#One').invoiceFont).toBe('/fonts/cjk.ttc#One');
  });

  test('networks of crypto deposits are JSON, of which nothing is repeated, and none are there unless they are named', () => {
    expect(apiConfig(required).crypto).toEqual({
      networks: undefined,
      rates: undefined,
      ratesUrl: undefined,
      quoteSeconds: 900,
      currency: 'USD',
    });
    expect(api('CRYPTO_NETWORKS', '[{"network":"ethereum"}]').crypto.networks).toEqual([{ network: 'ethereum' }]);
    for (const name of ['CRYPTO_NETWORKS', 'CRYPTO_RATES'])
      expect(() => api(name, '[hidden'), name).toThrow(/^(?!.*hidden).*LOOPSTREAM_CRYPTO/s);
    expect(() => api('CRYPTO_QUOTE_SECONDS', '59')).toThrow(/LOOPSTREAM_CRYPTO_QUOTE_SECONDS/);
  });

  test('each time-out has a value, and one that a network decides is given in seconds', () => {
    const defaults = {
      headersMs: 15_000,
      bodyMs: 30_000,
      requestMs: 3_600_000,
      keepAliveMs: 65_000,
      connectionMs: 120_000,
    };
    expect(apiConfig(required).timeouts).toEqual(defaults);
    expect(api('REQUEST_TIMEOUT_SECONDS', '5').timeouts).toEqual({ ...defaults, requestMs: 5_000 });
    expect(() => api('REQUEST_TIMEOUT_SECONDS', '0')).toThrow(/LOOPSTREAM_REQUEST_TIMEOUT_SECONDS/);
    // A setting that is none any more stops no start.
    expect(api('BODY_TIMEOUT_SECONDS', 'soon').timeouts).toEqual(defaults);
  });
});

test('namespaces of accounts are further ones, and one of all of them takes new accounts', () => {
  expect(apiConfig(required)).toMatchObject({ namespace: 'loopstream', cellNamespaces: [], fullNamespaces: [] });
  const cells = {
    ...required,
    LOOPSTREAM_CELL_NAMESPACES: 'cell-2,loopstream',
    LOOPSTREAM_FULL_NAMESPACES: 'loopstream',
  };
  expect(listNamespaces(apiConfig(cells))).toEqual(['loopstream', 'cell-2']);
  expect(() => apiConfig({ ...required, LOOPSTREAM_FULL_NAMESPACES: 'loopstream' })).toThrow(
    /LOOPSTREAM_FULL_NAMESPACES/,
  );
  const billing = billingConfig({ LOOPSTREAM_DATABASE_URL: 'postgres://none', LOOPSTREAM_CELL_NAMESPACES: 'cell-2' });
  expect(listNamespaces(billing)).toEqual(['loopstream', 'cell-2']);
});

test('billing needs a database, and no secret of sessions', () => {
  const { databaseUrl, namespace, opsPort } = billingConfig({ LOOPSTREAM_DATABASE_URL: 'postgres://none' });
  expect({ databaseUrl, namespace, opsPort }).toEqual({
    databaseUrl: 'postgres://none',
    namespace: 'loopstream',
    opsPort: 9404,
  });
  expect(() => billingConfig({})).toThrow(/LOOPSTREAM_DATABASE_URL/);
});

describe('the settings about people', () => {
  const dir = tempDir();
  const file = (name: string, text: string) => {
    writeFileSync(join(dir, name), text);
    return join(dir, name);
  };

  test('limits are whole numbers of at least one, and strangers may sign up by default', () => {
    const { authLimits, unusedClientDays, signUp } = apiConfig(required);
    expect({ ...authLimits, unusedClientDays, signUp }).toEqual({
      attempts: 20,
      registrations: 20,
      mails: 5,
      unusedClientDays: 30,
      signUp: true,
    });
    expect(api('SIGN_IN_ATTEMPTS', '3').authLimits.attempts).toBe(3);
    expect(api('CLIENT_REGISTRATIONS', '3').authLimits.registrations).toBe(3);
    expect(api('MAILS_PER_HOUR', '3').authLimits.mails).toBe(3);
    expect(api('UNUSED_CLIENT_DAYS', '3').unusedClientDays).toBe(3);
    expect(api('SIGN_UP', 'false').signUp).toBe(false);
    for (const name of ['SIGN_IN_ATTEMPTS', 'CLIENT_REGISTRATIONS', 'MAILS_PER_HOUR', 'UNUSED_CLIENT_DAYS'])
      for (const wrong of ['0', '-1', '1.5', 'many', '1e400'])
        expect(() => api(name, wrong)).toThrow(`LOOPSTREAM_${name}`);
    expect(() => api('SIGN_UP', 'yes')).toThrow('LOOPSTREAM_SIGN_UP');
  });

  test('a secret may stand in a file, of which an error says no more than why it cannot be read', () => {
    const from = { ...required, LOOPSTREAM_MAIL_FROM: 'a@example.com' };
    const set = (path: string, more = {}) => apiConfig({ ...from, LOOPSTREAM_SMTP_URL_FILE: path, ...more }).mail;
    expect(set(file('smtp', 'smtps://u:word@mail\n'))?.smtpUrl).toBe('smtps://u:word@mail');
    expect(() => set(join(dir, 'nothing'))).toThrow(/LOOPSTREAM_SMTP_URL_FILE.*ENOENT/);
    expect(() => set(dir)).toThrow(/LOOPSTREAM_SMTP_URL_FILE.*EISDIR/);
    expect(() => set(file('empty', ' \n'))).toThrow(/LOOPSTREAM_SMTP_URL_FILE.*empty/);
    expect(() => set(file('wrong', 'http://u:hidden@mail'))).toThrow(/^(?!.*hidden).*LOOPSTREAM_SMTP_URL/s);
    expect(() => set(file('both', 'smtp://mail'), { LOOPSTREAM_SMTP_URL: 'smtp://mail' })).toThrow(/either/);
  });

  test('an outside provider has an issuer that cannot be listened to, a client id, and a name of its own or its host’s', () => {
    const oidc = (more: Record<string, string> = {}) => {
      const set = { ISSUER: 'https://id.example.com/', CLIENT_ID: 'us', ...more };
      const named = Object.entries(set).map(([name, value]) => [`LOOPSTREAM_OIDC_${name}`, value]);
      return apiConfig({ ...required, ...Object.fromEntries(named) }).outside;
    };
    expect(apiConfig(required).outside).toBeUndefined();
    expect(oidc()).toEqual({
      issuer: 'https://id.example.com/',
      clientId: 'us',
      clientSecret: undefined,
      name: 'id.example.com',
      signUp: true,
      emailClaims: ['email'],
      trustsEmail: false,
    });
    expect(oidc({ EMAIL_CLAIMS: ' email, upn,' })?.emailClaims).toEqual(['email', 'upn']);
    expect(() => oidc({ EMAIL_CLAIMS: 'e mail' })).toThrow(/LOOPSTREAM_OIDC_EMAIL_CLAIMS/);
    expect(oidc({ CLIENT_SECRET_FILE: file('oidc', 'word\n'), NAME: 'Example', SIGN_UP: 'false' })).toMatchObject({
      clientSecret: 'word',
      name: 'Example',
      signUp: false,
    });
    expect(oidc({ ISSUER: 'http://127.0.0.1:9000' })?.issuer).toBe('http://127.0.0.1:9000');
    for (const ISSUER of ['http://id.example.com', 'id.example.com', 'https://a.example/?x', 'https://u:p@a.example'])
      expect(() => oidc({ ISSUER }), ISSUER).toThrow('LOOPSTREAM_OIDC_ISSUER');
    expect(() => oidc({ CLIENT_ID: '' })).toThrow('LOOPSTREAM_OIDC_CLIENT_ID is not set');
    for (const NAME of ['x'.repeat(41), 'a\u0007b']) expect(() => oidc({ NAME })).toThrow('LOOPSTREAM_OIDC_NAME');
  });
});

test('the local system hands settings on to its roles, and nothing of its own or of its tests', () => {
  const own = { LOOPSTREAM_TO: 'rtmp://a/b/key', LOOPSTREAM_TEST_SERVERS: 'processes', LOOPSTREAM_NODE_CONTAINER: 'x' };
  const settings = { LOOPSTREAM_MAX_SOURCE_BYTES: '1000', LOOPSTREAM_BILLING: 'false', OTEL_SERVICE_NAME: 'x' };
  expect(localEnvironment({ ...own, ...settings, PATH: '/bin', LOOPSTREAM_SELLER: '' }).settings).toEqual(settings);
});
