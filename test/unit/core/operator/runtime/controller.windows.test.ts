/** Tests schedules over time: a virtual clock, an operator that is there or not, and the stream's state. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../../src/core/kube/core.ts';
import { kubeTime } from '../../../../../src/core/lib/clock.ts';
import { computeLateness } from '../../../../../src/core/operator/metrics/lateness.ts';
import { clockHealth } from '../../../../../src/core/operator/runtime/clock-health.ts';
import { requeueAt } from '../../../../../src/core/operator/runtime/controller.ts';
import { startAfter } from '../../../../../src/core/resources/stream/recurrence.ts';
import type { LoopStream } from '../../../../../src/core/resources/stream/resource.ts';
import type { Schedule } from '../../../../../src/core/resources/stream/spec.ts';
import { at, makePod, step, stream, world } from '../../../../kit/make/operator.ts';

const HOURLY: Schedule = { recurrence: { cron: '0 * * * *', timeZone: 'UTC', durationSeconds: 1200 } };
const time = (seconds: number): string => at(seconds).toISOString();

/** A stream, its pod and its operator; `NOW` is 12:00 UTC, second 0. */
class Channel {
  stream: LoopStream;
  pod: Pod | undefined;
  now: number;
  /** The time of the operator's next reconcile; undefined while it is away. */
  next: number | undefined;
  readonly late: number[] = [];

  constructor(schedule: Schedule, from: number) {
    this.stream = stream({ schedule });
    // The stream is older than the test.
    this.stream.metadata.creationTimestamp = kubeTime(at(-86_400 * 365));
    this.now = from;
    this.look();
  }
  /** Reconciles until nothing is left to do. */
  look(): void {
    for (let rounds = 0; rounds < 5; rounds++) {
      const before = this.stream;
      const seen = world({ now: at(this.now), ...(this.pod && { pod: this.pod }) });
      const { decision, stream: after } = step(before, seen);
      this.stream = after;
      const wait = requeueAt(decision.requeueAt, at(this.now))?.requeueAfterMs;
      this.next = wait === undefined ? Number.POSITIVE_INFINITY : this.now + wait / 1000;
      if (decision.action.do === 'create') {
        const seconds = computeLateness(before, at(this.now));
        if (seconds !== undefined) this.late.push(seconds);
        this.pod = makePod(after, { ready: true });
      } else if (decision.action.do === 'delete') this.pod = undefined;
      else return;
    }
  }
  /** Moves the clock; a running operator reconciles at its requested times. */
  until(seconds: number): this {
    while (this.next !== undefined && this.next <= seconds) {
      this.now = this.next;
      this.look();
    }
    this.now = seconds;
    return this;
  }
  away(until: number): this {
    this.next = undefined;
    this.now = until;
    return this;
  }
  back(): this {
    this.look();
    return this;
  }
  edit(schedule: Schedule | undefined): this {
    const { schedule: _, ...spec } = this.stream.spec;
    const generation = (this.stream.metadata.generation ?? 1) + 1;
    const metadata = { ...this.stream.metadata, generation };
    this.stream = { ...this.stream, metadata, spec: { ...spec, ...(schedule && { schedule }) } };
    this.look();
    return this;
  }
  get onAir(): boolean {
    return this.pod !== undefined;
  }
}

describe('a schedule goes by', () => {
  it('on air from each start to each end, a tenth of a second after it at the latest', () => {
    const channel = new Channel(HOURLY, -1800);
    for (const start of [0, 3600, 7200]) {
      expect(channel.until(start - 1).onAir).toBe(false);
      expect(channel.until(start + 0.2).onAir).toBe(true);
      expect(channel.until(start + 1199).onAir).toBe(true);
      expect(channel.until(start + 1200.2).onAir).toBe(false);
    }
    expect(channel.late).toHaveLength(3);
    for (const seconds of channel.late) expect(seconds).toBeLessThanOrEqual(0.1);
  });

  it('over the start without an operator: it begins late when there is one again, which is measured', () => {
    const channel = new Channel(HOURLY, -1800).away(300).back();
    expect(channel.onAir).toBe(true);
    expect(channel.late).toEqual([300]);
    expect(channel.until(1200.2).onAir).toBe(false);
  });

  it('over the start and its deadline: the window is left out and the next one is not', () => {
    const channel = new Channel({ ...HOURLY, startingDeadlineSeconds: 60 }, -1800).away(300).back();
    expect(channel.onAir).toBe(false);
    expect(channel.late).toEqual([]);
    expect(channel.until(3600.2).onAir).toBe(true);
  });

  it('over the end: it goes when there is an operator again, and over a whole window nothing happens', () => {
    const channel = new Channel(HOURLY, -1800).until(60).away(2000);
    expect(channel.onAir).toBe(true);
    expect(channel.back().onAir).toBe(false);
    expect(channel.away(5000).back().onAir).toBe(false);
    expect(channel.until(7200.2).onAir).toBe(true);
  });

  it('over an end and the next start: it stays on air, in the window that is open', () => {
    const channel = new Channel(HOURLY, -1800).until(60).away(3700).back();
    expect(channel.onAir).toBe(true);
    expect(channel.stream.status?.lastScheduleTime).toBe(time(3600));
    expect(channel.until(4800.2).onAir).toBe(false);
  });

  it('through any number of missed starts, in one reconcile', () => {
    const channel = new Channel({ recurrence: { cron: '* * * * *', timeZone: 'UTC', durationSeconds: 60 } }, -30);
    expect(channel.until(1).onAir).toBe(true);
    const began = performance.now();
    expect(channel.away(10 * 365 * 86_400).back().onAir).toBe(true);
    // A loop over single occurrences takes minutes.
    expect(performance.now() - began).toBeLessThan(10_000);
  });
});

describe('an edit in the middle of a window', () => {
  const inside = () => new Channel(HOURLY, -1800).until(600);

  it('that moves its end: later it stays, sooner it goes at once', () => {
    const longer = { recurrence: { cron: '0 * * * *', timeZone: 'UTC', durationSeconds: 2400 } };
    const channel = inside().edit(longer);
    expect(channel.until(1300).onAir).toBe(true);
    expect(channel.until(2400.2).onAir).toBe(false);
    const shorter = { recurrence: { cron: '0 * * * *', timeZone: 'UTC', durationSeconds: 300 } };
    expect(inside().edit(shorter).onAir).toBe(false);
  });

  it('that moves it to another time takes the stream off air until then', () => {
    const later = { recurrence: { cron: '30 * * * *', timeZone: 'UTC', durationSeconds: 1200 } };
    const channel = inside().edit(later);
    expect(channel.onAir).toBe(false);
    expect(channel.until(1800.2).onAir).toBe(true);
    expect(channel.late).toHaveLength(2);
  });

  it('that removes the schedule leaves the stream on air, and an invalid one too', () => {
    expect(inside().edit(undefined).until(5000).onAir).toBe(true);
    const channel = inside().edit({ recurrence: { cron: '0 * * * *', timeZone: 'Mars/Base', durationSeconds: 60 } });
    expect(channel.onAir).toBe(true);
    expect(channel.stream.status).toMatchObject({ phase: 'live', canStart: false });
  });

  it('that gives a stream which is on air a window that is open changes nothing on air, and nothing is late', () => {
    const channel = new Channel({}, 0);
    const { uid } = channel.pod?.metadata ?? {};
    channel.until(600).edit(HOURLY);
    expect(channel.pod?.metadata.uid).toBe(uid);
    expect(channel.late).toEqual([]);
    expect(channel.until(1200.2).onAir).toBe(false);
  });
});

describe('whenever the operator is there', () => {
  const crons = ['*/20 * * * *', '0 * * * *', '30 2 * * *', '15,45 1-3 * * *'];
  /** Zones, and days on which their clocks change: from 14:00 UTC the day before to 08:00 UTC. */
  const changes = [
    ['Europe/Berlin', '2026-03-29'],
    ['Europe/Berlin', '2026-10-25'],
    ['America/New_York', '2026-03-08'],
    ['America/New_York', '2026-11-01'],
    ['Australia/Lord_Howe', '2026-04-05'],
    ['Australia/Lord_Howe', '2026-10-04'],
  ] as const;

  it('the stream is on air exactly in its windows, in three zones, over both changes of the clock', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...crons),
        fc.constantFrom(...changes),
        fc.integer({ min: 60, max: 5400 }),
        fc.array(fc.record({ hours: fc.double({ min: 0.1, max: 7, noNaN: true }), away: fc.boolean() }), {
          minLength: 3,
          maxLength: 8,
        }),
        (cron, [timeZone, day], durationSeconds, parts) => {
          const recurrence = { cron, timeZone, durationSeconds };
          const from = (Date.parse(`${day}T00:00:00Z`) - 10.5 * 3_600_000 - at(0).getTime()) / 1000;
          const channel = new Channel({ recurrence }, from);
          for (const { hours, away } of parts) {
            const then = channel.now + hours * 3600;
            if (away) channel.away(then).back();
            else channel.until(then);
            // An occurrence a tenth of a second later is not found within that tenth.
            const opened = startAfter(recurrence, at(channel.now - durationSeconds));
            const edge = [opened, startAfter(recurrence, at(channel.now - durationSeconds - 0.2))].map(String);
            const next = startAfter(recurrence, at(channel.now - 0.2));
            if (edge[0] !== edge[1] || (next && next <= at(channel.now))) continue;
            expect(channel.onAir).toBe(opened !== undefined && opened <= at(channel.now));
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('a wall clock that jumps', () => {
  const clock = { wall: 0, mono: 0, now: () => at(clock.wall), monotonicMs: () => clock.mono * 1000 };

  it('fails liveness, forward and back; an adjusted one does not', () => {
    const jump = clockHealth(clock);
    clock.wall = clock.mono = 86_400;
    expect(jump()).toBeUndefined();
    clock.wall += 59;
    expect(jump()).toBeUndefined();
    clock.wall += 2;
    expect(jump()).toBe(61_000);
    clock.wall -= 3600;
    expect(jump()).toBe(61_000 - 3_600_000);
  });

  it('back over a start leaves a stream on air only if its window is open; forward it begins at the next reconcile', () => {
    const channel = new Channel(HOURLY, -1800).until(60);
    channel.now = -60;
    channel.look();
    expect(channel.onAir).toBe(false);
    // The timer follows the other clock; no timer is longer than ten minutes.
    expect((channel.next ?? 0) - channel.now).toBeLessThanOrEqual(600.1);
    expect(kubeTime(at(channel.next ?? 0))).toBe(kubeTime(at(0)));
  });
});
