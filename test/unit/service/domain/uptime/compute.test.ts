import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AirChange } from '../../../../../src/service/domain/uptime/changes.ts';
import {
  choosePeriods,
  computeUptime,
  listPeriods,
  uptimeCsv,
} from '../../../../../src/service/domain/uptime/compute.ts';
import { UPTIME_SOURCES, type UptimeSource } from '../../../../../src/service/domain/uptime/record.ts';

const BEGIN = Date.parse('2027-01-31T18:00:00Z');
const at = (seconds: number) => new Date(BEGIN + seconds * 1000);
const CAUSE = { code: 'destination_reconnecting', message: 'Destination "tv" refuses it.', fix: 'Test it.' };

const change = (
  number: number,
  second: number,
  state: AirChange['state'],
  cause: AirChange['cause'] = null,
): AirChange => ({
  number,
  at: at(second),
  state,
  cause,
});
const range = (from: number, to: number) => ({ from: at(from), to: at(to) });
const compute = (changes: AirChange[], from: number, to: number) =>
  computeUptime(listPeriods(changes, range(from, to)), range(from, to));

describe('the uptime of a stream', () => {
  test('is its share of the time from the first media of a start until it was stopped', () => {
    const changes = [change(1, 100, 'onAir'), change(2, 190, 'offAir', CAUSE), change(3, 200, 'onAir')];
    expect(compute([...changes, change(4, 300, 'unwanted')], 0, 1000)).toEqual({
      from: '2027-01-31T18:00:00.000Z',
      to: '2027-01-31T18:16:40.000Z',
      by: 'ingest',
      wantedSeconds: 200,
      onAirSeconds: 190,
      offAirSeconds: 10,
      unknownSeconds: 0,
      uptimePercent: 95,
      outageCount: 1,
      outages: [{ startedAt: at(190).toISOString(), endedAt: at(200).toISOString(), seconds: 10, ...CAUSE }],
    });
  });

  test('is null where it was never meant to be on air', () => {
    expect(compute([], 0, 10)).toMatchObject({ wantedSeconds: 0, uptimePercent: null, outages: [] });
    expect(compute([change(1, 0, 'onAir'), change(2, 5, 'unwanted')], 5, 10).uptimePercent).toBeNull();
  });

  test('is never rounded up to 100', () =>
    expect(
      compute([change(1, 0, 'onAir'), change(2, 5, 'offAir'), change(3, 5.001, 'onAir')], 0, 1e7).uptimePercent,
    ).toBe(99.999));

  test('counts what goes on at the ends of the range within it alone', () => {
    const changes = [change(1, 0, 'onAir'), change(2, 10, 'offAir'), change(3, 30, 'onAir'), change(4, 50, 'offAir')];
    expect(compute(changes, 20, 60)).toMatchObject({
      onAirSeconds: 20,
      offAirSeconds: 20,
      outages: [
        { startedAt: at(50).toISOString(), endedAt: null, seconds: 10 },
        { startedAt: at(10).toISOString(), endedAt: at(30).toISOString(), seconds: 10 },
      ],
    });
  });

  test('takes an interruption that lasts for one outage, with the cause that was found later', () => {
    const first = { code: 'reconnecting', message: 'No destination accepts media.', fix: null };
    const changes = [change(1, 0, 'onAir'), change(2, 10, 'offAir', first), change(3, 15, 'offAir', CAUSE)];
    expect(compute(changes, 0, 20).outages).toEqual([
      { startedAt: at(10).toISOString(), endedAt: null, seconds: 10, ...CAUSE },
    ]);
    const unknown = { code: null, message: null, fix: null };
    expect(compute([...changes, change(4, 18, 'offAir', unknown)], 0, 20).outages).toMatchObject([CAUSE]);
  });

  test('ends an outage that was over before it was told when it was over', () => {
    const changes = [
      change(1, 0, 'onAir'),
      change(2, 10, 'offAir'),
      change(3, 15, 'offAir', CAUSE),
      change(4, 11, 'onAir'),
    ];
    expect(compute(changes, 0, 20)).toMatchObject({ onAirSeconds: 19, outages: [{ seconds: 1, ...CAUSE }] });
  });

  describe('is as it was after a change that says nothing of it,', () => {
    const count = (...changes: AirChange[]) => {
      const { onAirSeconds, offAirSeconds, unknownSeconds } = compute(changes, 0, 100);
      return { onAirSeconds, offAirSeconds, unknownSeconds };
    };

    test('such as the refusal of one destination', () => {
      const refusals = [change(2, 20, 'unchanged'), change(4, 60, 'unchanged')];
      expect(count(change(1, 10, 'onAir'), change(3, 50, 'offAir'), ...refusals)).toEqual({
        onAirSeconds: 40,
        offAirSeconds: 50,
        unknownSeconds: 0,
      });
      // The destination refused it before the stream was on air.
      expect(count(change(1, 5, 'unchanged'), change(2, 10, 'onAir'))).toMatchObject({
        onAirSeconds: 90,
        unknownSeconds: 0,
      });
    });

    test('and unknown where changes before it were lost', () =>
      expect(count(change(1, 10, 'onAir'), change(7, 20, 'unchanged'), change(8, 50, 'onAir'))).toEqual({
        onAirSeconds: 50,
        offAirSeconds: 0,
        unknownSeconds: 40,
      }));
  });

  test('does not join two outages between which it was stopped', () => {
    const stopped = [change(3, 20, 'unwanted'), change(4, 20, 'onAir'), change(5, 20, 'offAir')];
    expect(compute([change(1, 0, 'onAir'), change(2, 10, 'offAir'), ...stopped], 0, 30).outageCount).toBe(2);
  });

  test('counts nothing of the time in which changes were lost', () => {
    const changes = [
      change(1, 0, 'onAir'),
      change(2, 10, 'offAir'),
      change(9, 40, 'onAir'),
      change(10, 50, 'unwanted'),
    ];
    expect(compute(changes, 0, 60)).toMatchObject({ onAirSeconds: 20, offAirSeconds: 0, unknownSeconds: 30 });
  });

  test('does not know what came before the changes that were read', () => {
    const periods = listPeriods([change(100, 50, 'onAir')], range(0, 100), { isCut: true });
    expect(computeUptime(periods, range(0, 100))).toMatchObject({ onAirSeconds: 50, unknownSeconds: 50 });
  });
});

test('the times of a stream follow one another without a gap, whichever of its changes are lost, come twice, or are out of order', () => {
  const anyChange = fc.record({
    step: fc.integer({ min: -5, max: 60 }),
    state: fc.constantFrom<AirChange['state']>('onAir', 'offAir', 'unwanted', 'unchanged'),
    viewers: fc.constantFrom<AirChange['viewers']>(undefined, 'onAir', 'offAir', 'unknown'),
    isLost: fc.boolean(),
  });
  const given = fc.tuple(
    fc.array(anyChange, { maxLength: 40 }),
    fc.nat(500),
    fc.integer({ min: 1, max: 900 }),
    fc.nat(),
    fc.constantFrom(...UPTIME_SOURCES),
  );
  fc.assert(
    fc.property(given, ([steps, from, length, shuffle, by]) => {
      let second = 0;
      const all = steps.map(({ step, state, viewers, isLost }, i) => {
        second += step;
        return { isLost, change: { ...change(i + 1, second, state), ...(viewers && { viewers }) } };
      });
      const kept = all.filter(({ isLost }) => !isLost).map(({ change: one }) => one);
      const mixed = [...kept, ...kept.slice(0, shuffle % (kept.length + 1))].sort(
        (a, b) => ((a.number * shuffle) % 7) - ((b.number * shuffle) % 7),
      );
      const asked = range(from, from + length);
      const periods = listPeriods(mixed, asked, { by });
      expect(periods).toEqual(listPeriods(kept, asked, { by }));
      const uptime = computeUptime(periods, asked);
      const ms = (seconds: number) => Math.round(seconds * 1000);
      expect(ms(uptime.onAirSeconds) + ms(uptime.offAirSeconds)).toBe(ms(uptime.wantedSeconds));
      expect(uptime.outages.reduce((sum, { seconds }) => sum + ms(seconds), 0)).toBe(ms(uptime.offAirSeconds));
      const tracked = periods.reduce((sum, { ms: one }) => sum + one, 0);
      const unwanted = periods.reduce((sum, { state, ms: one }) => sum + (state === 'unwanted' ? one : 0), 0);
      expect(ms(uptime.wantedSeconds) + ms(uptime.unknownSeconds) + unwanted).toBe(tracked);
      // From the first change on, nothing is left out.
      const [first] = periods;
      if (first) expect(tracked).toBe(asked.to.getTime() - Math.max(asked.from.getTime(), first.startedAt.getTime()));
      for (const [i, { endedAt }] of periods.entries()) {
        const next = periods[i + 1];
        if (next) expect(next.startedAt).toEqual(endedAt);
      }
      if (by === 'ingest' && all.every(({ isLost }) => !isLost)) expect(uptime.unknownSeconds).toBe(0);
    }),
    { numRuns: 500 },
  );
});

test('CSV has a line for each time, whose seconds add up to those of JSON, and no formula', () => {
  const formula = { code: 'destination_reconnecting', message: '=HYPERLINK("evil")', fix: null };
  const changes = [
    change(1, 0, 'onAir'),
    change(2, 10, 'offAir', CAUSE),
    change(3, 20, 'unwanted'),
    change(4, 30, 'offAir', formula),
  ];
  expect(uptimeCsv(listPeriods(changes, range(0, 40)))).toBe(
    [
      'state,startedAt,endedAt,seconds,code,message',
      'on_air,2027-01-31T18:00:00.000Z,2027-01-31T18:00:10.000Z,10,,',
      'off_air,2027-01-31T18:00:10.000Z,2027-01-31T18:00:20.000Z,10,destination_reconnecting,"Destination ""tv"" refuses it."',
      'off_air,2027-01-31T18:00:30.000Z,,10,destination_reconnecting,"\'=HYPERLINK(""evil"")"',
      '',
    ].join('\r\n'),
  );
});

describe('the uptime by what viewers see', () => {
  const ENDED = { code: 'broadcast_ended', message: 'The broadcast has ended.', fix: 'Start a new one.' };
  const see = (number: number, second: number, viewers: AirChange['viewers'], cause: AirChange['cause'] = null) => ({
    ...change(number, second, 'unchanged', cause),
    ...(viewers && { viewers }),
  });
  const start = (number: number, second: number): AirChange => ({
    ...change(number, second, 'onAir'),
    viewers: 'unknown',
  });
  const choose = (changes: AirChange[], from: number, to: number, asked?: UptimeSource) => {
    const { by, periods } = choosePeriods(changes, range(from, to), false, asked);
    return computeUptime(periods, range(from, to), by);
  };
  const DARK = [
    start(1, 0),
    see(2, 10, 'onAir'),
    see(3, 50, 'offAir', ENDED),
    see(4, 80, 'onAir'),
    change(5, 100, 'offAir', CAUSE),
    change(6, 110, 'onAir'),
    change(7, 200, 'unwanted'),
  ];

  test('counts what viewers do not see as off air, with its cause, and what is not known as nothing', () => {
    expect(choose(DARK, 0, 300)).toMatchObject({
      by: 'viewers',
      wantedSeconds: 190,
      onAirSeconds: 150,
      offAirSeconds: 40,
      unknownSeconds: 10,
      outages: [
        { startedAt: at(100).toISOString(), seconds: 10, ...CAUSE },
        { startedAt: at(50).toISOString(), endedAt: at(80).toISOString(), seconds: 30, ...ENDED },
      ],
    });
  });

  test('is never mixed with that of ingest, which can be asked for', () => {
    const ingest = { by: 'ingest', onAirSeconds: 190, offAirSeconds: 10, unknownSeconds: 0 };
    expect(choose(DARK, 0, 300, 'ingest')).toMatchObject(ingest);
    expect(
      choose(
        DARK.filter(({ state }) => state !== 'unchanged'),
        0,
        300,
      ),
    ).toMatchObject({ by: 'ingest' });
    // Nothing was known of the viewers in this range.
    expect(choose(DARK, 0, 10)).toMatchObject({ by: 'ingest', onAirSeconds: 10, unknownSeconds: 0 });
    expect(choose(DARK, 0, 10, 'viewers')).toMatchObject({ by: 'viewers', onAirSeconds: 0, unknownSeconds: 10 });
  });

  test('does not go on with an answer of before a time in which nobody knew', () => {
    const changes = [start(1, 0), see(2, 10, 'onAir'), see(3, 30, 'unknown'), see(4, 70, 'onAir')];
    expect(choose(changes, 0, 100)).toMatchObject({ onAirSeconds: 50, unknownSeconds: 50, uptimePercent: 100 });
    const again = [...changes, change(5, 100, 'unwanted'), start(6, 120), see(7, 130, 'onAir')];
    expect(choose(again, 100, 150)).toMatchObject({ onAirSeconds: 20, unknownSeconds: 10 });
  });

  test('is one outage from what viewers did not see to what no destination took', () => {
    const changes = [start(1, 0), see(2, 10, 'onAir'), see(3, 50, 'offAir', ENDED), change(4, 60, 'offAir', CAUSE)];
    expect(choose(changes, 0, 100)).toMatchObject({ offAirSeconds: 50, outageCount: 1 });
  });

  test('is not known where changes were lost', () => {
    const changes = [start(1, 0), see(2, 10, 'onAir'), see(9, 60, 'onAir'), change(10, 100, 'unwanted')];
    expect(choose(changes, 0, 100)).toMatchObject({ by: 'ingest', unknownSeconds: 90 });
    const known = [...changes.slice(0, 3), change(10, 70, 'onAir'), see(11, 80, 'onAir')];
    expect(choose(known, 0, 100)).toMatchObject({ by: 'viewers', onAirSeconds: 30, unknownSeconds: 70 });
  });
});
