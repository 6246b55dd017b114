/** Tests whether viewers see a stream, from what is known of each of its destinations. */
import { describe, expect, test } from 'vitest';
import { PLATFORM_CODES, type PlatformReason } from '../../../../../src/core/lib/codes/platforms.ts';
import type { Destination } from '../../../../../src/core/resources/destination/resource.ts';
import { judgeViewers, listViews } from '../../../../../src/core/resources/destination/views.ts';
import { at, destination, NOW } from '../../../../kit/make/operator.ts';
import { type Seen, watched } from '../../../../kit/make/watched.ts';

const judge = (...destinations: Destination[]) => judgeAt(NOW, ...destinations);
const judgeAt = (now: Date, ...destinations: Destination[]) => {
  const known = new Map(destinations.map((one) => [one.metadata.name, one]));
  return judgeViewers(listViews([...known.keys()], known, now));
};
const see = (name: string, seen?: Seen) => watched(name, seen, NOW);

const YES: Seen = { status: 'True' };
const NO: Seen = { status: 'False', reason: 'broadcast_ended' };
const PERHAPS: Seen = { status: 'Unknown', reason: 'quota_exhausted' };

describe('viewers see a stream', () => {
  test('where they see each destination that is watched, and others say nothing', () => {
    expect(judge(see('a', YES), see('b', YES), destination('c'))).toMatchObject({ status: 'True', reason: 'Seen' });
    expect(judge(see('a', { status: 'True', reason: 'limit_near' }))).toMatchObject({ status: 'True' });
  });

  test('not where one of them is not seen, whatever is known of the others', () => {
    for (const other of [YES, PERHAPS, undefined]) {
      expect(judge(see('a', other), see('b', NO))).toMatchObject({ status: 'False', reason: 'BroadcastEnded' });
    }
  });

  test('nobody knows where one of them is not known', () => {
    expect(judge(see('a', YES), see('b', PERHAPS))).toMatchObject({ status: 'Unknown', reason: 'QuotaExhausted' });
    expect(judge(see('a', YES), see('b'))).toMatchObject({ status: 'Unknown', reason: 'NotChecked' });
    expect(judgeAt(at(90), see('a', YES))).toMatchObject({ status: 'Unknown', reason: 'NotChecked' });
  });

  test('is no question where no destination is watched', () => {
    expect(judge(destination('a'))).toBeUndefined();
    expect(judge()).toBeUndefined();
  });
});

test.each(Object.keys(PLATFORM_CODES) as PlatformReason[])(
  '%s names the destination, the cause and the way on',
  (reason) => {
    const tv = see('tv', { status: 'False', reason });
    const called = { ...tv, spec: { ...tv.spec, displayName: 'Main channel' } };
    const { message = '' } = judge(called) ?? {};
    expect(message).toContain('Destination "Main channel" (tv): ');
    expect(message).toContain(PLATFORM_CODES[reason].meaning);
    expect(message.endsWith(PLATFORM_CODES[reason].fix)).toBe(true);
  },
);

test('a reason of a later release is no reason to believe that viewers see the stream', () => {
  const tv = see('tv', NO);
  const conditions = tv.status?.conditions?.map((one) =>
    one.type === 'PlatformLive' ? { ...one, reason: 'SomethingNew' } : one,
  );
  const newer = { ...tv, status: { ...tv.status, ...(conditions && { conditions }) } };
  expect(judge(newer)).toMatchObject({
    status: 'False',
    reason: 'NotSeen',
    message: 'Destination "tv": Viewers do not see the stream.',
  });
});
