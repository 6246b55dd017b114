import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  judgeTwitch,
  LIMIT_NEAR_MS,
  planStreams,
  readStreams,
  readTwitchFailure,
} from '../../../../../src/core/platform/twitch/judge.ts';
import { startHelix } from '../../../../kit/fake/helix.ts';

const HOUR_MS = 3_600_000;
const clock = { nowMs: Date.parse('2026-07-15T12:00:00Z') };
let helix: Awaited<ReturnType<typeof startHelix>>;
let token = '';

async function getToken(): Promise<void> {
  const body = new URLSearchParams({ client_id: 'client', client_secret: 'secret', grant_type: 'client_credentials' });
  const response = await fetch(`${helix.url}/oauth2/token`, { method: 'POST', body });
  token = ((await response.json()) as { access_token: string }).access_token;
}
beforeAll(async () => {
  helix = await startHelix({ nowMs: () => clock.nowMs });
  await getToken();
});
afterAll(() => helix.stop());

async function ask(userIds: readonly string[]) {
  const query = new URLSearchParams([['first', '100'], ...userIds.map((id): [string, string] => ['user_id', id])]);
  const headers = { authorization: `Bearer ${token}`, 'client-id': 'client' };
  const response = await fetch(`${helix.url}/helix/streams?${query}`, { headers });
  return { status: response.status, body: (await response.json()) as unknown };
}
async function look(userId: string) {
  const { body } = await ask([userId]);
  const stream = readStreams(body)?.streams.find((one) => one.userId === userId);
  return { atMs: clock.nowMs, ...(stream ? { stream } : {}) };
}

describe('what viewers see on Twitch', () => {
  test('is a live channel with its viewers, and its end is near before 48 hours', async () => {
    helix.start('1', 7);
    expect(judgeTwitch({ answer: await look('1') }, clock.nowMs)).toEqual({
      status: 'True',
      viewers: 7,
      lastSeenMs: clock.nowMs,
      issues: [],
    });
    clock.nowMs += 48 * HOUR_MS - LIMIT_NEAR_MS;
    expect(judgeTwitch({ answer: await look('1') }, clock.nowMs)).toMatchObject({
      status: 'True',
      reason: 'limit_near',
    });
    clock.nowMs += LIMIT_NEAR_MS;
    const absentSinceMs = clock.nowMs;
    clock.nowMs += 30_000;
    expect(judgeTwitch({ answer: await look('1'), absentSinceMs, lastSeenMs: 1 }, clock.nowMs)).toMatchObject({
      status: 'False',
      reason: 'broadcast_ended',
    });
  });

  test('is nothing only after two answers, and after the time in which a start is listed', () => {
    const { nowMs } = clock;
    const answer = { atMs: nowMs };
    const unconfirmed = { status: 'Unknown', reason: 'unconfirmed' };
    expect(judgeTwitch({ answer, absentSinceMs: nowMs }, nowMs)).toMatchObject(unconfirmed);
    const later = { answer, absentSinceMs: nowMs - 30_000 };
    expect(judgeTwitch({ ...later, publishedSinceMs: nowMs - 60_000 }, nowMs)).toMatchObject(unconfirmed);
    expect(judgeTwitch({ ...later, publishedSinceMs: nowMs - 180_000 }, nowMs)).toMatchObject({
      status: 'False',
      reason: 'no_broadcast',
    });
  });

  test('is not known once answers are old or fail', () => {
    const { nowMs } = clock;
    const answer = { atMs: nowMs - 90_001, stream: { userId: '1' } };
    expect(judgeTwitch({ answer }, nowMs)).toMatchObject({ status: 'Unknown', reason: 'not_checked' });
    const failure = { atMs: nowMs, failure: readTwitchFailure(401) };
    expect(judgeTwitch({ answer, failure }, nowMs)).toMatchObject({ status: 'Unknown', reason: 'unauthorized' });
  });

  test('is asked of a hundred channels at once, and all that are live are in the answer', async () => {
    const ids = Array.from({ length: 100 }, (_, n) => String(1_000 + n));
    for (const id of ids) helix.start(id);
    expect(readStreams((await ask(ids)).body)?.streams).toHaveLength(100);
    expect(planStreams([...ids, ...ids, 'more']).map((chunk) => chunk.length)).toEqual([100, 1]);
  });

  test('is asked with a new token once the old one was revoked', async () => {
    helix.start('2');
    helix.revokeTokens();
    expect(readTwitchFailure((await ask(['2'])).status)).toBe('unauthorized');
    await getToken();
    expect(judgeTwitch({ answer: await look('2') }, clock.nowMs)).toMatchObject({ status: 'True' });
  });

  test('is not taken from entries of another type, or from what is no answer', () => {
    const data = [{ user_id: '1', type: '', started_at: '' }, null, { user_id: 5 }];
    expect(readStreams({ data })).toEqual({ streams: [], unreadableIds: ['1'] });
    expect(readStreams(null)).toBeUndefined();
    expect(readStreams({ data: {} })).toBeUndefined();
  });
});
