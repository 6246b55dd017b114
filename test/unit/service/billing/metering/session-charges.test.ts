import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lastNumber, type Session } from '../../../../../src/core/resources/stream/sessions.ts';
import { dayAt } from '../../../../../src/service/billing/ledger/days.ts';
import { parsePrices } from '../../../../../src/service/billing/ledger/prices.ts';
import {
  type CountedSession,
  type CountInput,
  countEntry,
  findAcknowledgeable,
  isKnownOf,
  type Played,
  type SessionCharge,
} from '../../../../../src/service/billing/metering/session-charges.ts';

const START = Date.parse('2026-03-01T00:00:00Z');
const at = (seconds: number) => new Date(START + seconds * 1000);
const session = (more: Partial<Session> = {}): Session => ({
  number: 1,
  podUID: 'pod',
  startedAt: at(0).toISOString(),
  onAirSeconds: 0,
  ...more,
});
const PRICES = parsePrices();
/** 1080p30 costs 3600 an hour, a credit a second, and twice as much from the second hour of the day. */
const DEARER = parsePrices(
  JSON.stringify(
    ['720p', '1080p', '1440p', '2160p'].flatMap((quality) =>
      [24, 25, 30, 60].flatMap((framerate) => [
        { quality, framerate, creditsPerHour: quality === '720p' ? 1800 : 3600 },
        { quality, framerate, creditsPerHour: quality === '720p' ? 3600 : 7200, from: at(3600).toISOString() },
      ]),
    ),
  ),
);
const buildInput = (more: Partial<CountInput>): CountInput => ({
  entry: session(),
  known: [],
  played: [],
  fallback: '1080p30',
  prices: DEARER,
  now: at(100_000),
  ...more,
});
const listCharges = (charges: readonly SessionCharge[] = []) =>
  charges.map(({ n, tenths, credits, profile }) => [n, tenths / 10, Number(credits), profile]);

describe('the charges of a session', () => {
  it('are its usage beyond the counted part, to the tenth of a second, in whole credits and rounded down', () => {
    const first = countEntry(buildInput({ entry: session({ onAirSeconds: 61.9, endedAt: at(70).toISOString() }) }));
    expect(listCharges(first?.charges)).toEqual([[1, 61.9, 61, '1080p30']]);
    expect(first?.charges[0]).toMatchObject({ from: at(0), to: at(70) });
    const known = first ? [first.counted] : [];
    expect(countEntry(buildInput({ entry: session({ onAirSeconds: 61.9 }), known }))).toBeUndefined();
    // An older record: another meter has been ahead of it.
    expect(countEntry(buildInput({ entry: session({ onAirSeconds: 30 }), known }))).toBeUndefined();
    expect(
      listCharges(countEntry(buildInput({ entry: session({ onAirSeconds: 70 }), known, now: at(80) }))?.charges),
    ).toEqual([[2, 8.1, 9, '1080p30']]);
  });

  it('wait for a whole credit: a smaller cost is counted, and is in the next charge', () => {
    const cheap = (onAirSeconds: number, known: CountedSession[] = []) =>
      countEntry(buildInput({ prices: PRICES, entry: session({ onAirSeconds }), known }));
    const one = cheap(11);
    expect(one).toMatchObject({ charges: [], counted: { tenths: 110, chargedTenths: 0, charges: 0 } });
    const two = cheap(25, one ? [one.counted] : []);
    // 300 an hour are 12 s a credit.
    expect(listCharges(two?.charges)).toEqual([[1, 25, 2, '1080p30']]);
  });

  it('are divided where the price changes, at the exact times', () => {
    const whole = session({ onAirSeconds: 5000, endedAt: at(7200).toISOString() });
    expect(listCharges(countEntry(buildInput({ entry: whole }))?.charges)).toEqual([
      [1, 2500, 2500, '1080p30'],
      [2, 2500, 5000, '1080p30'],
    ]);
    // The last count was half an hour before: a quarter of the rest had the old price.
    const counted = countEntry(buildInput({ entry: session({ onAirSeconds: 1800 }), now: at(1800) }))?.counted;
    expect(counted).toMatchObject({ tenths: 18_000, until: at(1800) });
    const rest = buildInput({
      entry: { ...whole, onAirSeconds: 5800, endedAt: at(9000).toISOString() },
      known: counted ? [counted] : [],
    });
    expect(listCharges(countEntry(rest)?.charges)).toEqual([
      [2, 1000, 1000, '1080p30'],
      [3, 2000, 4000, '1080p30'],
      [4, 1000, 2000, '1080p30'],
    ]);
  });

  it('are of one day, in any zone: each second in its own day, and none lost', () => {
    // From 17:30 UTC: midnight in Yangon, then in Kathmandu, in Kolkata and at whole hours.
    const [from, seconds] = [17.5 * 3600, 2 * 3600];
    const entry = session({
      startedAt: at(from).toISOString(),
      endedAt: at(from + seconds).toISOString(),
      onAirSeconds: seconds,
    });
    const charges = countEntry(buildInput({ entry }))?.charges ?? [];
    expect(charges.map((one) => [one.from.toISOString().slice(11, 16), one.tenths / 10])).toEqual([
      ['17:30', 1800],
      ['18:00', 900],
      ['18:15', 900],
      ['18:30', 1800],
      ['19:00', 1800],
    ]);
    for (const zone of ['Asia/Yangon', 'Asia/Kathmandu', 'Asia/Kolkata', 'Europe/Moscow', 'UTC']) {
      for (const one of charges) expect(dayAt(one.from, zone), zone).toBe(dayAt(new Date(one.to.getTime() - 1), zone));
    }
    // A clock that is far off has no known price.
    const mad = countEntry(buildInput({ entry: session({ onAirSeconds: 100 }), now: at(1e10) }));
    expect(mad?.charges).toHaveLength(1);
  });

  it('are of the profile in which its pod was seen, from that time on; a later request counts for nothing', () => {
    const entry = session({ onAirSeconds: 3000, endedAt: at(3000).toISOString() });
    const buildPlayed = (podUID: string, seconds: number, profile: Played['profile']) => ({
      podUID,
      since: at(seconds),
      profile,
    });
    const count = (...played: Played[]) => listCharges(countEntry(buildInput({ entry, played }))?.charges);
    // The first pod is seen shortly after its beginning, and before another pod in another profile.
    expect(count(buildPlayed('pod', 5, '720p30'), buildPlayed('next', 2900, '1080p60'))).toEqual([
      [1, 3000, 1500, '720p30'],
    ]);
    expect(count(buildPlayed('pod', 5, '720p30'), buildPlayed('pod', 1000, '1080p30'))).toEqual([
      [1, 1000, 500, '720p30'],
      [2, 2000, 2000, '1080p30'],
    ]);
    expect(count()).toEqual([[1, 3000, 3000, '1080p30']]);
  });

  it('do not depend on the clock of the meter where that cannot be right', () => {
    const open = session({ onAirSeconds: 3000 });
    // The clock was set back by a day: a stream cannot be on air for longer than it exists.
    expect(countEntry(buildInput({ entry: open, now: at(-86_400) }))?.charges[0]).toMatchObject({
      from: at(0),
      to: at(3000),
    });
    // The clock was set ahead by a day and back: later time is not tomorrow's.
    const ahead = countEntry(buildInput({ entry: open, now: at(90_000) }))?.counted;
    const next = countEntry(
      buildInput({ entry: session({ onAirSeconds: 3500 }), known: ahead ? [ahead] : [], now: at(3510) }),
    );
    expect(next?.charges[0]).toMatchObject({ tenths: 5000, from: at(3000), to: at(3510) });
  });
});

it('is not charged again by a meter with an older record, in which sessions have not been joined yet', () => {
  const joined = session({ number: 1, through: 2, onAirSeconds: 150, endedAt: at(200).toISOString() });
  const { counted } = countEntry(buildInput({ entry: joined })) ?? {};
  expect(counted).toMatchObject({ number: 2, first: 1, tenths: 1500 });
  const known = counted ? [counted] : [];
  for (const [number, onAirSeconds] of [
    [1, 100],
    [2, 50],
  ] as const) {
    const entry = session({ number, onAirSeconds, endedAt: at(100 * number).toISOString() });
    expect(known.filter((row) => isKnownOf(entry, row))).toEqual(known);
    expect(countEntry(buildInput({ entry, known }))).toBeUndefined();
  }
  // A session that is still open is another one, though a later one is counted.
  expect(isKnownOf(session({ number: 3 }), counted as CountedSession)).toBe(false);
});

describe('the acknowledged part of a session', () => {
  const closed = (number: number, through?: number) =>
    session({ number, endedAt: at(1).toISOString(), ...(through !== undefined && { through }) });
  it('ends at the first open session, and is reported once', () => {
    expect(findAcknowledgeable([], undefined)).toBeUndefined();
    expect(findAcknowledgeable([session()], undefined)).toBeUndefined();
    const book = [closed(1, 4), closed(5), session({ number: 6 }), closed(7)];
    expect(findAcknowledgeable(book, undefined)).toBe(5);
    expect(findAcknowledgeable(book, 5)).toBeUndefined();
    // A meter with older records reported this: the report is repeated.
    expect(findAcknowledgeable(book, 4)).toBe(5);
  });
});

/** Records as an operator keeps them: sessions grow, close, and merge; the meter reads now and then, and forgets nothing. */
const step = fc.oneof(
  fc.record({ do: fc.constant('grow' as const), seconds: fc.double({ min: 0, max: 9000, noNaN: true }) }),
  fc.record({ do: fc.constant('close' as const), gap: fc.integer({ min: 0, max: 4000 }) }),
  fc.record({ do: fc.constant('join' as const) }),
  fc.record({
    do: fc.constant('count' as const),
    stale: fc.integer({ min: 0, max: 3 }),
    jump: fc.integer({ min: -90_000, max: 90_000 }),
  }),
);

it('for any growth, closing, merging, delay, repetition or clock: the count is the time on air, never more', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let clock = 0;
      const book: Session[] = [session()];
      const versions: Session[][] = [structuredClone(book)];
      const rows = new Map<number, CountedSession>();
      const keys = new Set<string>();
      let charged = 0n;
      const count = (sessions: readonly Session[], now: Date) => {
        for (const entry of sessions) {
          const known = [...rows.values()].filter((row) => isKnownOf(entry, row));
          const posting = countEntry(buildInput({ entry, known, now }));
          if (!posting) continue;
          rows.set(posting.counted.number, posting.counted);
          for (const { n, credits, tenths } of posting.charges) {
            const key = `${posting.counted.number}:${n}`;
            expect(keys.has(key)).toBe(false);
            keys.add(key);
            expect(credits > 0n && tenths > 0).toBe(true);
            charged += credits;
          }
        }
      };
      for (const one of steps) {
        const last = book.at(-1) as Session;
        if (one.do === 'grow') {
          clock += one.seconds;
          last.onAirSeconds = Math.round((last.onAirSeconds + one.seconds) * 10) / 10;
        } else if (one.do === 'close') {
          last.endedAt = at(clock).toISOString();
          clock += one.gap;
          book.push(session({ number: lastNumber(last) + 1, startedAt: at(clock).toISOString() }));
        } else if (one.do === 'join' && book.length > 2) {
          const [a, b] = book.splice(0, 2) as [Session, Session];
          const onAirSeconds = Math.round((a.onAirSeconds + b.onAirSeconds) * 10) / 10;
          book.unshift({ ...b, number: a.number, through: lastNumber(b), startedAt: a.startedAt, onAirSeconds });
        } else if (one.do === 'count') count(versions.at(-1 - one.stale) ?? book, at(clock + one.jump));
        versions.push(structuredClone(book));
      }
      count(book, at(clock));
      const seconds = [...rows.values()].reduce((sum, row) => sum + row.tenths, 0) / 10;
      const onAir = book.reduce((sum, { onAirSeconds }) => sum + onAirSeconds, 0);
      expect(seconds).toBeLessThanOrEqual(onAir + 1e-6);
      expect(onAir - seconds).toBeLessThanOrEqual(1e-6);
      // The charge is between the two prices, and in whole credits for each session.
      expect(Number(charged)).toBeLessThanOrEqual(2 * seconds + 1e-6);
      expect(Number(charged)).toBeGreaterThan(seconds - book.length - rows.size);
      expect([...rows.values()].reduce((sum, row) => sum + row.credits, 0n)).toBe(charged);
      // Each session that has ended is kept with its end, also one of no time at all, and no old record opens it again.
      for (const entry of book.filter(({ endedAt }) => endedAt !== undefined))
        expect(rows.get(lastNumber(entry))?.endedAt).toEqual(new Date(entry.endedAt ?? ''));
    }),
    { numRuns: 300 },
  );
});
