/** Tests when a write that Kubernetes has refused is tried again. */
import { describe, expect, it } from 'vitest';
import { type Attempt, computePauseMs, createRetries } from '../../../../../src/core/operator/runtime/retries.ts';
import { at } from '../../../../kit/make/operator.ts';

const attempt = (name = 'bunny', version = 'pod 1'): Attempt => ({ key: `tv/${name}`, namespace: 'tv', version });
const FORBIDDEN = { reason: 'Forbidden' };
const seconds = (from: Date, to: Date): number => (to.getTime() - from.getTime()) / 1000;

/** The pauses of a write that is refused for so long. */
function refuseFor(durationSeconds: number, reason: string, words = 'No.'): number[] {
  const retries = createRetries(() => undefined);
  const pauses: number[] = [];
  for (let now = at(0); now < at(durationSeconds); ) {
    expect(retries.find(attempt(), now)).toBeUndefined();
    const { retryAt } = retries.add(attempt(), { reason }, words, now);
    expect(retries.find(attempt(), new Date(retryAt.getTime() - 1))).toMatchObject({ message: words, retryAt });
    pauses.push(seconds(now, retryAt));
    now = retryAt;
  }
  return pauses;
}

describe('a write that Kubernetes refuses', () => {
  it.each([
    ['Forbidden', 60],
    ['Invalid', 600],
    ['BadRequest', 60],
  ])('is tried again for as long as it is refused: %s with pauses of at most %i s in the end', (reason, longest) => {
    const pauses = refuseFor(14_400, reason);
    expect(pauses[0]).toBeLessThan(5);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(longest);
    expect(Math.max(...pauses)).toBeGreaterThan(longest * 0.75);
  });

  it('that is accepted after a minute is done within half a minute more, whatever it was refused with', () => {
    for (const reason of ['Forbidden', 'Invalid']) {
      const last = refuseFor(60, reason).at(-1) ?? 0;
      expect(last).toBeLessThan(30);
    }
  });

  it('has pauses that differ from those of others', () => {
    const given = { lastedMs: 90_000, longestMs: 60_000 };
    expect([0, 0.5, 0.999].map((random) => computePauseMs(given, random))).toEqual([22_500, 30_000, 37_485]);
  });

  it('is tried at once when it is edited or asked for, and its pauses are short again', () => {
    const retries = createRetries(() => undefined);
    retries.add(attempt(), FORBIDDEN, 'No.', at(0));
    retries.add(attempt(), FORBIDDEN, 'No.', at(180));
    expect(retries.find(attempt(), at(190))).toBeDefined();
    expect(retries.find(attempt('bunny', 'pod 2'), at(190))).toBeUndefined();
    const again = retries.add(attempt('bunny', 'pod 2'), FORBIDDEN, 'No.', at(190));
    expect(seconds(at(190), again.retryAt)).toBeLessThan(5);
  });

  it('that passes by itself is tried each second, until it has not passed for half a minute', () => {
    const words = 'error looking up service account tv/default: serviceaccount "default" not found';
    const pauses = refuseFor(120, 'Forbidden', words);
    expect(pauses.slice(0, 30)).toEqual(Array(30).fill(1));
    expect(Math.min(...pauses.slice(30))).toBeGreaterThan(2);
    const retries = createRetries(() => undefined);
    expect(retries.add(attempt(), FORBIDDEN, words, at(0)).passesSoon).toBe(true);
    expect(retries.add(attempt(), FORBIDDEN, words, at(31)).passesSoon).toBe(false);
  });

  it('is known from the status after a restart, and tried within the pause that it may have reached', () => {
    const known = { message: 'No.', since: at(-3600) };
    const waits = Array.from({ length: 200 }, () => {
      const found = createRetries(() => undefined).find(attempt(), at(0), known);
      expect(found?.message).toBe('No.');
      return seconds(at(0), found?.retryAt ?? at(0));
    });
    expect(Math.max(...waits)).toBeLessThanOrEqual(60);
    expect(Math.max(...waits) - Math.min(...waits)).toBeGreaterThan(20);
  });

  it('that is done lets the others of its namespace be tried soon, and none of another namespace', () => {
    const enqueued: string[] = [];
    const retries = createRetries((key) => enqueued.push(key));
    const others = ['a', 'b', 'c'].map((name) => attempt(name));
    const elsewhere = { key: 'radio/x', namespace: 'radio', version: 'pod 1' };
    for (const one of [attempt(), ...others, elsewhere]) {
      retries.add(one, FORBIDDEN, 'No.', at(0));
      retries.add(one, FORBIDDEN, 'No.', at(600));
    }
    retries.succeed('tv', 'tv/bunny', at(601));
    expect(enqueued).toEqual(['tv/a', 'tv/b', 'tv/c']);
    for (const one of others) expect(retries.find(one, at(602))).toBeUndefined();
    expect(retries.find(elsewhere, at(602))).toBeDefined();
    // A write that was never refused says nothing of the others.
    retries.succeed('tv', 'tv/new', at(603));
    expect(enqueued).toHaveLength(3);
  });
});

describe('ten thousand streams of one namespace', () => {
  /** Runs the streams for so many seconds, and returns how many are tried in each second. */
  function run(duration: number, accepts: (second: number) => boolean) {
    const dueAtMs = new Map<string, number>();
    const retries = createRetries((key, ms) => dueAtMs.set(key, Math.min(dueAtMs.get(key) ?? 1e99, nowMs + ms)));
    let nowMs = at(0).getTime();
    const names = Array.from({ length: 10_000 }, (_, n) => `s${n}`);
    for (const name of names) dueAtMs.set(`tv/${name}`, nowMs);
    const tries: number[] = [];
    for (let second = 0; second < duration; second++) {
      tries.push(0);
      for (let part = 0; part < 10; part++, nowMs += 100) {
        for (const [key, dueMs] of dueAtMs) {
          if (dueMs > nowMs) continue;
          const now = new Date(nowMs);
          const one = { key, namespace: 'tv', version: 'pod 1' };
          const waiting = retries.find(one, now, { message: 'No.', since: at(-7200) });
          if (waiting) {
            dueAtMs.set(key, waiting.retryAt.getTime());
            continue;
          }
          tries[second] = (tries[second] ?? 0) + 1;
          if (accepts(second)) {
            dueAtMs.delete(key);
            retries.succeed('tv', key, now);
          } else dueAtMs.set(key, retries.add(one, FORBIDDEN, 'No.', now).retryAt.getTime());
        }
      }
    }
    return { tries, left: dueAtMs.size };
  }

  it('never retry in one second, also after a restart, and all are accepted in the end', () => {
    const { tries } = run(60, () => false);
    expect(Math.max(...tries)).toBeLessThanOrEqual(20);
    expect(tries.reduce((sum, n) => sum + n, 0)).toBeGreaterThan(300);
    expect(run(1200, (second) => second >= 60).left).toBe(0);
  });
});
