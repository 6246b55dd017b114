/** Tests the table of limits, an installation's overrides, and the limits that an account sees. */
import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../../../src/core/settings/settings.ts';
import { apiConfig } from '../../../../src/service/server/setup/settings.ts';
import {
  formatLimit,
  LIMIT_NAMES,
  LIMIT_ROWS,
  limitExceeded,
  parseLimits,
  withOverrides,
} from '../../../../src/service/settings/limits.ts';

const required = { LOOPSTREAM_DATABASE_URL: 'postgres://x', LOOPSTREAM_AUTH_SECRET: 'x'.repeat(32) };
const readLimits = (env: Record<string, string>) => apiConfig({ ...required, ...env }).limits;

describe('the table of limits', () => {
  test('gives no account on trial more than one that has paid', () => {
    for (const name of LIMIT_NAMES) expect(LIMIT_ROWS[name].trial, name).toBeLessThanOrEqual(LIMIT_ROWS[name].full);
  });

  test('is overridden row by row by LOOPSTREAM_LIMITS, which wins over the older settings', () => {
    const limits = readLimits({
      LOOPSTREAM_LIMITS: '{"trial":{"streams":3},"full":{"uploads":7}}',
      LOOPSTREAM_UPLOAD_QUOTA_COUNT: '9',
      LOOPSTREAM_UPLOAD_QUOTA_BYTES: '10',
      LOOPSTREAM_MAX_SOURCE_BYTES: '11',
    });
    expect(limits.trial).toMatchObject({ streams: 3, destinations: LIMIT_ROWS.destinations.trial });
    expect(limits.full).toMatchObject({ streams: 1000, uploads: 7, uploadBytes: 10, largestUploadBytes: 11 });
    expect(readLimits({})).toEqual(withOverrides());
  });

  test.each([
    ['[]', 'must be JSON such as'],
    ['{"gold":{}}', 'has the unknown class "gold"; the classes are trial and full'],
    ['{"trial":3}', 'must have an object at trial'],
    ['{"trial":{"stream":3}}', 'has the unknown limit "stream"; the limits are streams, '],
    ['{"full":{"streams":-1}}', 'must have a whole number of 0 or more at full.streams'],
    ['{"full":{"streams":"3"}}', 'must have a whole number of 0 or more at full.streams'],
    ['{"full":', 'must be JSON'],
  ])('names the fault of %s', (text, problem) => {
    expect(() => readLimits({ LOOPSTREAM_LIMITS: text })).toThrow(ConfigError);
    expect(() => readLimits({ LOOPSTREAM_LIMITS: text })).toThrow(problem);
  });

  test('accepts its own output', () => expect(parseLimits({ full: { streams: 0 } })).toEqual({ full: { streams: 0 } }));
});

test('a trial account’s error names the limit, its usage, and how to lift it', () => {
  const facts = { name: 'streams', used: 5, wanted: 1, allowed: 5, class: 'trial', full: 1000 } as const;
  const { code, status, message, extras } = limitExceeded(facts);
  expect([code, status]).toEqual(['quota_exceeded', 403]);
  expect(message).toBe(
    'The account may have 5 streams, and has 5. Delete streams that are no longer needed. ' +
      'Buying credit once raises this limit to 1,000 permanently.',
  );
  expect(extras).toEqual({ limit: 'streams', used: 5, allowed: 5, class: 'trial' });
  expect(limitExceeded({ ...facts, class: 'full', allowed: 1000, used: 1000 }).message).not.toContain('credit');
});

test.each([
  [0, '0 bytes'],
  [1023, '1023 bytes'],
  [1536, '1.5 KiB'],
  [20 * 2 ** 30, '20 GiB'],
  [4096 * 2 ** 40, '4096 TiB'],
])('%d bytes are said as %s', (bytes, words) => expect(formatLimit('uploadBytes', bytes)).toBe(words));
