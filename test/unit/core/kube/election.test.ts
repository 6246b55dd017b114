import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { LeaseSpec } from '../../../../src/core/kube/core.ts';
import {
  buildHeldLease,
  buildReleasedLease,
  type LeaseSighting,
  microTime,
  recordSighting,
  waitMs,
} from '../../../../src/core/kube/election.ts';

const NOW = new Date('2026-01-02T03:04:05.678Z');
const held = (version: string, spec: LeaseSpec = {}) => ({
  version,
  spec: { holderIdentity: 'a', leaseDurationSeconds: 15, ...spec },
});

describe('a lease', () => {
  test('is waited for from the moment of its observed change, independent of the times in it', () => {
    const seen = recordSighting(undefined, held('1', { renewTime: '1999-01-01T00:00:00.000000Z' }), 1000);
    expect(waitMs(seen, 'b', 1000, 1)).toBe(15_000);
    expect(waitMs(seen, 'b', 15_999, 1)).toBe(1);
    expect(waitMs(seen, 'b', 16_000, 1)).toBe(0);
    expect(waitMs(recordSighting(seen, held('1'), 9000), 'b', 16_000, 1)).toBe(0);
    expect(waitMs(recordSighting(seen, held('2'), 9000), 'b', 16_000, 1)).toBe(8_000);
  });

  test('that was deleted by hand is still waited for; one that was handed back, or is ours, is not', () => {
    const seen = recordSighting(undefined, held('1'), 1000);
    expect(waitMs(recordSighting(seen, undefined, 2000), 'b', 2000, 1)).toBe(14_000);
    const back = recordSighting(seen, { version: '2', spec: buildReleasedLease(held('1').spec, NOW) }, 2000);
    expect(waitMs(back, 'b', 2000, 1)).toBe(0);
    expect(waitMs(seen, 'a', 2000, 1)).toBe(0);
    expect(waitMs(undefined, 'b', 0, 1)).toBe(0);
  });

  test('has its holder, its time and the number of its transitions, in Kubernetes’ MicroTime', () => {
    const first = buildHeldLease('a', undefined, NOW, 15_000);
    const time = '2026-01-02T03:04:05.678000Z';
    expect(first).toEqual({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: time,
      renewTime: time,
      leaseTransitions: 0,
    });
    const later = new Date(NOW.getTime() + 2000);
    const renewed = buildHeldLease('a', first, later, 15_000);
    expect(renewed).toEqual({ ...first, renewTime: microTime(later) });
    const back = buildReleasedLease(renewed, later);
    expect(back).not.toHaveProperty('holderIdentity');
    const other = buildHeldLease('b', back, later, 15_000);
    expect([other.acquireTime, other.leaseTransitions]).toEqual([microTime(later), 1]);
  });
});

/**
 * Simulates three processes with clocks that are years apart and run up to a seventh too fast or too slow, and a server that each may fail
 * to reach. Each leads only from the success of its write until its deadline after it was sent.
 */
test('no two lead at a time, however clocks differ and whichever process is cut off', () => {
  const turn = fc.record({
    who: fc.nat(2),
    pass: fc.integer({ min: 1, max: 4000 }),
    fate: fc.constantFrom('ok', 'ok', 'ok', 'lost request', 'lost answer'),
  });
  fc.assert(
    fc.property(
      fc.array(turn, { maxLength: 120 }),
      fc.array(fc.double({ min: 0.85, max: 1.15, noNaN: true }), { minLength: 3, maxLength: 3 }),
      (turns, rates) => {
        let version = 0;
        let lease: { version: string; spec: LeaseSpec } | undefined;
        let now = 0;
        const processes = rates.map((rate, i) => ({
          name: `p${i}`,
          clock: () => now * rate + i * 1e11,
          seen: undefined as LeaseSighting | undefined,
          until: Number.NEGATIVE_INFINITY,
        }));
        for (const { who, pass, fate } of turns) {
          now += pass;
          const me = processes[who];
          if (!me || fate === 'lost request') continue;
          me.seen = recordSighting(me.seen, lease && { ...lease }, me.clock());
          if (waitMs(me.seen, me.name, me.clock(), 15_000) > 0) continue;
          const sent = me.clock();
          lease = { version: String(++version), spec: buildHeldLease(me.name, lease?.spec, new Date(0), 15_000) };
          if (fate === 'ok') {
            me.seen = { ...lease, atMs: me.clock() };
            me.until = sent + 10_000;
          }
          expect(processes.filter((p) => p.clock() < p.until).length).toBeLessThanOrEqual(1);
        }
      },
    ),
    { numRuns: 500 },
  );
});
