import { expect, test } from 'vitest';
import { createLogger, REDACTED } from '../../../../src/core/lib/log.ts';

const SECRETS = [
  'rtmpKey',
  'rtmpUser',
  'rtmpPassword',
  'refreshToken',
  'apiKey',
  'secretAccessKey',
  'databaseUrl',
  'redisUrl',
  'smtpUrl',
  'authSecret',
  'clientSecret',
  'accessToken',
].concat(['rpcUrl', 'esploraUrl', 'ratesUrl']);
const HEADERS = ['authorization', 'x-api-key', 'cookie'];
const getSecret = (name: string) => `the-secret-of-${name}`;

/** One line for each place that may log a secret, by the path that redacts it. */
const LINES: Record<string, object> = Object.fromEntries([
  ...SECRETS.flatMap((name) => [
    [name, { [name]: getSecret(name) }],
    [`*.${name}`, { config: { [name]: getSecret(name), rest: 'shown' } }],
  ]),
  ...['input', 'body'].map((name) => [`${name}.key`, { [name]: { key: getSecret('key'), rest: 'shown' } }]),
  ...HEADERS.map((name) => [
    name.includes('-') ? `headers["${name}"]` : `headers.${name}`,
    { headers: { [name]: getSecret(name), host: 'shown' } },
  ]),
]);

function log(line: object): string {
  const chunks: string[] = [];
  createLogger('test', 'info', { write: (chunk) => void chunks.push(chunk) }).info(line, 'a line');
  return chunks.join('');
}

test.each(Object.entries(LINES))('%s is in no line', (_path, line) => {
  const text = log(line);
  expect(text).not.toContain('the-secret-of-');
  expect(text).toContain('[redacted]');
  expect(JSON.parse(text)).toMatchObject({ role: 'test', msg: 'a line' });
});

test('each redacted path has been tried, and other fields are shown', () => {
  expect(Object.keys(LINES).sort()).toEqual([...REDACTED].sort());
  expect(log({ config: { rest: 'shown' } })).toContain('shown');
});
