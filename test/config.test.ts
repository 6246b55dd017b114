import { describe, expect, test } from 'vitest';
import { apiConfig, billingConfig, ConfigError } from '../src/config.ts';

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
      ...{ key: { text: 'sk_hidden' }, webhookSecret: { file: '/run/secret' }, url: 'https://api.stripe.com' },
    });
    for (const wrong of [
      { LOOPSTREAM_STRIPE_KEY: 'sk_hidden' },
      { ...both, LOOPSTREAM_STRIPE_KEY_FILE: '/run/key' },
      { ...both, LOOPSTREAM_STRIPE_URL: 'api.stripe.com' },
    ])
      expect(() => cards(wrong)).toThrow(/^(?!.*hidden).*LOOPSTREAM_STRIPE/s);
    expect(() => api('TOP_UP_MIN_MINOR', '100001')).toThrow(/LOOPSTREAM_TOP_UP_MAX_MINOR/);
    expect(() => api('CURRENCY', 'usd')).toThrow(/LOOPSTREAM_CURRENCY/);
  });

  test('each time-out has a default, and is told in seconds', () => {
    const defaults = {
      headersMs: 15_000,
      bodyMs: 30_000,
      requestMs: 3_600_000,
      keepAliveMs: 65_000,
      connectionMs: 120_000,
    };
    expect(apiConfig(required).timeouts).toEqual(defaults);
    expect(api('BODY_TIMEOUT_SECONDS', '5').timeouts).toEqual({ ...defaults, bodyMs: 5_000 });
    expect(() => api('BODY_TIMEOUT_SECONDS', '0')).toThrow(/LOOPSTREAM_BODY_TIMEOUT_SECONDS/);
  });
});

test('billing needs a database, and no secret of sessions', () => {
  const { databaseUrl, namespace, opsPort } = billingConfig({ LOOPSTREAM_DATABASE_URL: 'postgres://none' });
  expect({ databaseUrl, namespace, opsPort }).toEqual({
    ...{ databaseUrl: 'postgres://none', namespace: 'loopstream', opsPort: 9404 },
  });
  expect(() => billingConfig({})).toThrow(/LOOPSTREAM_DATABASE_URL/);
});
