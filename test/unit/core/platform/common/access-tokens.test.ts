import { expect, test } from 'vitest';
import { createAccessTokens } from '../../../../../src/core/platform/common/access-tokens.ts';
import type { ApiAnswer } from '../../../../../src/core/platform/common/http.ts';

const HOUR_MS = 3_600_000;

function setUp(answer: () => Partial<ApiAnswer> | undefined) {
  const clock = { nowMs: Date.parse('2026-07-15T12:00:00Z') };
  let sent = 0;
  const send = async () => {
    sent++;
    const given = answer();
    return given && { status: 200, body: undefined, headers: {}, ...given };
  };
  const now = { now: () => new Date(clock.nowMs), monotonicMs: () => clock.nowMs };
  const tokens = createAccessTokens(send, 'http://127.0.0.1:9/token', now);
  const get = (id = 'one') => tokens.get(id, async () => ({ grant_type: 'refresh_token' }));
  return { clock, tokens, get, count: () => sent };
}

test('a token is got once for many, and again before it expires', async () => {
  const { clock, get, count } = setUp(() => ({ body: { access_token: 'a', expires_in: 3600 } }));
  expect(await Promise.all([get(), get(), get()])).toEqual([{ token: 'a' }, { token: 'a' }, { token: 'a' }]);
  clock.nowMs += HOUR_MS - 61_000;
  await get();
  expect(count()).toBe(1);
  clock.nowMs += 2_000;
  await get();
  expect(count()).toBe(2);
  await get('another grant');
  expect(count()).toBe(3);
});

test('a token that the API refuses is forgotten, and not the one that came after it', async () => {
  let n = 0;
  const { get, tokens, count } = setUp(() => ({ body: { access_token: `token-${++n}`, expires_in: 3600 } }));
  await get();
  tokens.forget('one', 'token-1');
  expect(await get()).toEqual({ token: 'token-2' });
  tokens.forget('one', 'token-1');
  await get();
  expect(count()).toBe(2);
});

test('a grant that is refused is not asked for again within a minute', async () => {
  const { clock, get, count } = setUp(() => ({ status: 400, body: { error: 'invalid_grant' } }));
  for (let n = 0; n < 5; n++) expect(await get()).toEqual({ failure: 'unauthorized' });
  expect(count()).toBe(1);
  clock.nowMs += 61_000;
  await get();
  expect(count()).toBe(2);
});

test.each([
  [undefined, 'platform_failed'],
  [{ status: 503 }, 'platform_failed'],
  [{ status: 200, body: '<html>' }, 'platform_failed'],
  [{ status: 200, body: { access_token: 7 } }, 'platform_failed'],
  [{ status: 429 }, 'rate_limited'],
  [{ status: 401 }, 'unauthorized'],
])('an answer %j fails, and is asked for again', async (answer, failure) => {
  const { get } = setUp(() => answer);
  expect(await get()).toEqual({ failure });
});
