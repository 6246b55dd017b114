/** Tests what the status of a destination says of its viewers, and when it is written. */
import { expect, test } from 'vitest';
import { PLATFORM_CODES, type PlatformReason } from '../../../../src/core/lib/codes/platforms.ts';
import type { PlatformVerdict } from '../../../../src/core/platform/common/verdict.ts';
import { buildCondition, computeHoldMs, planWrite, type Statement } from '../../../../src/core/platform/statement.ts';
import { readPlatformView } from '../../../../src/core/resources/destination/platform.ts';
import type { Destination } from '../../../../src/core/resources/destination/resource.ts';
import { destination, NOW } from '../../../kit/make/operator.ts';

const WATCHED: Destination = {
  ...destination(),
  spec: {
    secretName: 'tv-secret',
    platform: { kind: 'watch', policy: 'Observe', url: 'https://tv.example/live.m3u8' },
  },
};
const SEEN: PlatformVerdict = { status: 'True', lastSeenMs: NOW.getTime(), viewers: 3, issues: [] };
const VALID_MS = 60_000;
const after = (ms: number) => new Date(NOW.getTime() + ms);

const say = (verdict: PlatformVerdict, at = NOW, validMs = VALID_MS): Statement => ({
  uid: WATCHED.metadata.uid,
  verdict,
  checkedMs: at.getTime(),
  validMs,
  isInformed: true,
});

/** The destination after a statement is written. */
function write(of: Destination, statement: Statement, now: Date, destinations = 1): Destination {
  const plan = planWrite(of, statement, now, destinations);
  if (plan.kind !== 'write') throw new Error(`The plan is ${plan.kind}.`);
  return { ...of, status: { ...of.status, platform: plan.platform, conditions: plan.conditions } };
}
const plan = (of: Destination, statement: Statement, now: Date, destinations = 1) =>
  planWrite(of, statement, now, destinations).kind;

test('the first statement is written at once, beside the conditions of the operator', () => {
  const written = write(WATCHED, say(SEEN), NOW);
  expect(written.status?.conditions?.map(({ type, status, reason }) => [type, status, reason])).toEqual([
    ['Ready', 'True', 'Ready'],
    ['PlatformLive', 'True', 'Seen'],
  ]);
  expect(readPlatformView(written, NOW)).toMatchObject({ status: 'True', viewers: 3, since: '2026-06-01T12:00:00Z' });
});

test('a change of status, reason, issues or broadcast is written at once', () => {
  const written = write(WATCHED, say(SEEN), NOW);
  for (const change of [
    { status: 'False', reason: 'frozen' },
    { status: 'True', reason: 'limit_near' },
    { broadcastId: 'b1' },
    { issues: [{ code: 'gopSizeLong', severity: 'warning', meaning: 'm', fix: 'f' }] },
  ] as Partial<PlatformVerdict>[])
    expect(plan(written, say({ ...SEEN, ...change }, after(1)), after(1)), JSON.stringify(change)).toBe('write');
});

test('viewers and times wait for the next confirmation', () => {
  const written = write(WATCHED, say(SEEN), NOW);
  const next = say({ ...SEEN, viewers: 4, lastSeenMs: after(9000).getTime() }, after(10_000));
  expect(planWrite(written, next, after(10_000), 1)).toEqual({ kind: 'wait', ms: 20_000 });
  expect(plan(written, next, after(30_000))).toBe('write');
});

test('the same report again confirms nothing', () => {
  const written = write(WATCHED, say(SEEN), NOW);
  expect(plan(written, say(SEEN), after(31_000))).toBe('none');
});

test('the transition time is kept while the status stays, and changes with it', () => {
  let written = write(WATCHED, say(SEEN), NOW);
  written = write(written, say({ ...SEEN, reason: 'limit_near' }, after(1000)), after(1000));
  expect(readPlatformView(written, after(1000))?.since).toBe('2026-06-01T12:00:00Z');
  written = write(written, say({ status: 'False', reason: 'black', issues: [] }, after(2000)), after(2000));
  expect(readPlatformView(written, after(2000))).toMatchObject({ status: 'False', since: '2026-06-01T12:00:02Z' });
});

test('the time at which viewers were last seen outlives a fault', () => {
  let written = write(WATCHED, say(SEEN), NOW);
  written = write(written, say({ status: 'False', reason: 'black', issues: [] }, after(2000)), after(2000));
  expect(readPlatformView(written, after(2000))?.lastSeenAt).toBe('2026-06-01T12:00:00Z');
});

test('a statement that had expired begins anew: meanwhile it was Unknown to all', () => {
  const written = write(WATCHED, say(SEEN), NOW);
  expect(readPlatformView(written, after(VALID_MS))?.status).toBe('Unknown');
  const again = write(written, say(SEEN, after(90_000)), after(90_000));
  expect(readPlatformView(again, after(90_000))).toMatchObject({ status: 'True', since: '2026-06-01T12:01:30Z' });
});

test('a process that has just begun leaves the word of the last one, until its time is over', () => {
  const fresh = (at: Date): Statement => ({
    ...say({ status: 'Unknown', reason: 'unconfirmed', issues: [] }, at),
    isInformed: false,
  });
  const written = write(WATCHED, say(SEEN), NOW);
  expect(planWrite(written, fresh(after(10_000)), after(10_000), 1)).toEqual({ kind: 'wait', ms: 50_000 });
  expect(plan(written, fresh(after(VALID_MS)), after(VALID_MS))).toBe('write');
  expect(plan(WATCHED, fresh(NOW), NOW)).toBe('write');
});

test('a time ahead of the clock is replaced: it would hold for too long', () => {
  const written = write(WATCHED, say(SEEN, after(3_600_000)), after(3_600_000));
  expect(plan(written, say(SEEN), NOW)).toBe('write');
});

test('True and False need no other reader: what gives no reason and is not True is Unknown', () => {
  expect(buildCondition({ status: 'False', issues: [] })).toMatchObject({ status: 'Unknown', reason: 'Unconfirmed' });
  for (const reason of Object.keys(PLATFORM_CODES) as PlatformReason[]) {
    const { message } = buildCondition({ status: 'False', reason, issues: [] });
    expect(message).toContain(PLATFORM_CODES[reason].fix);
  }
});

test('a process that goes on to report lets no statement expire, and writes at most five a second', () => {
  for (const [destinations, everyMs, validMs] of [
    [1, 10_000, 30_000],
    [40, 10_000, 30_000],
    [2000, 15_000, 45_000],
    [3, 600_000, 900_000],
  ] as const) {
    let of = write(WATCHED, say(SEEN, NOW, validMs), NOW, destinations);
    let writes = 0;
    const lastMs = 40 * computeHoldMs(validMs, destinations);
    // A report comes; its wait ends before the next report where that is due first.
    for (let ms = everyMs; ms <= lastMs; ms += everyMs) {
      const statement = say({ ...SEEN, viewers: ms }, after(ms), validMs);
      const planned = planWrite(of, statement, after(ms), destinations);
      const at = planned.kind === 'wait' && planned.ms < everyMs ? after(ms + planned.ms) : after(ms);
      expect(readPlatformView(of, at)?.status).toBe('True');
      if (planWrite(of, statement, at, destinations).kind !== 'write') continue;
      of = write(of, statement, at, destinations);
      writes++;
    }
    expect(writes * destinations).toBeLessThanOrEqual(Math.max((5 * lastMs) / 1000, destinations * (lastMs / 15_000)));
  }
});
