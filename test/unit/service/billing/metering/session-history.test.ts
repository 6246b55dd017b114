import { describe, expect, it } from 'vitest';
import type { Session } from '../../../../../src/core/resources/stream/sessions.ts';
import type { LoopStreamStatus } from '../../../../../src/core/resources/stream/spec.ts';
import { parsePrices } from '../../../../../src/service/billing/ledger/prices.ts';
import { type CountedSession, countEntry } from '../../../../../src/service/billing/metering/session-charges.ts';
import { buildHistory, sessionsCsv } from '../../../../../src/service/billing/metering/session-history.ts';
import { at, NOW, stream } from '../../../../kit/make/operator.ts';

const PRICE = 3600n;
const PRICES = parsePrices(
  JSON.stringify(
    ['720p', '1080p', '1440p', '2160p'].flatMap((quality) =>
      [24, 25, 30, 60].map((framerate) => ({ quality, framerate, creditsPerHour: Number(PRICE) })),
    ),
  ),
);
const time = (seconds: number) => at(seconds).toISOString();
const session = (number: number, more: Partial<Session> = {}): Session => ({
  number,
  podUID: 'pod',
  startedAt: time(number * 1000),
  endedAt: time(number * 1000 + 100),
  onAirSeconds: 90.5,
  endReason: 'Stopped',
  ...more,
});
const history = (sessions: Session[], rows: CountedSession[] = [], status: LoopStreamStatus = {}, now = at(100_000)) =>
  buildHistory({ stream: stream({}, { status: { ...status, sessions } }), rows, creditsPerHour: PRICE, now });
const count = (sessions: readonly Session[], rows: readonly CountedSession[] = []): CountedSession[] => {
  const known = new Map(rows.map((row) => [row.number, row]));
  for (const entry of sessions) {
    const own = [...known.values()].filter(
      (row) => row.number >= entry.number && row.number <= (entry.through ?? entry.number),
    );
    const given = { entry, known: own, played: [], fallback: '720p30', prices: PRICES, now: at(100_000) } as const;
    const posting = countEntry(given);
    if (posting) known.set(posting.counted.number, posting.counted);
  }
  return [...known.values()];
};
const withoutEstimate = (sessions: ReturnType<typeof history>) =>
  sessions.map(({ creditsEstimated: _, ...rest }) => rest).sort((a, b) => a.number - b.number);

describe('the history of a stream', () => {
  const ended = [session(1), session(2, { endReason: 'NodeLost', onAirSeconds: 0 }), session(3)];

  it('is the same before its sessions are counted, afterwards, and when its status has forgotten them', () => {
    const before = history(ended);
    const rows = count(ended);
    expect(before.map(({ creditsEstimated }) => creditsEstimated)).toEqual([true, false, true]);
    expect(history(ended, rows).every(({ creditsEstimated }) => !creditsEstimated)).toBe(true);
    for (const sessions of [ended, ended.slice(2), []])
      expect(withoutEstimate(history(sessions, rows))).toEqual(withoutEstimate(before));
    expect(before[1]).toEqual({
      number: 2,
      startedAt: time(2000),
      endedAt: time(2100),
      onAirSeconds: 0,
      credits: '0',
      creditsEstimated: false,
      end: expect.objectContaining({ code: 'node_lost' }),
    });
    expect(before[0]).toMatchObject({ onAirSeconds: 90.5, credits: '90', end: { code: 'stream_stopped' } });
  });

  it('has the session on air first, with its time and its cost so far, and no end', () => {
    const open: Session = { number: 4, podUID: 'pod', startedAt: time(4000), onAirSeconds: 3600, endReason: 'Stopped' };
    const live = { phase: 'live', podUID: 'pod', liveSince: time(4000) } as const;
    const [first] = history([open], count([open]), live, at(4000 + 7200)).sort((a, b) => b.number - a.number);
    const shown = { number: 4, endedAt: null, end: null, onAirSeconds: 7200, credits: '7200', creditsEstimated: true };
    expect(first).toMatchObject(shown);
    expect(history([open], count([open]), { phase: 'reconnecting' }, at(12_000))[0]).toMatchObject({
      onAirSeconds: 3600,
      creditsEstimated: false,
    });
  });

  it('does not say twice what was counted before several became one', () => {
    const rows = count([session(1)]);
    const joined: Session = {
      ...{ number: 1, through: 3, podUID: 'pod', onAirSeconds: 271.5 },
      ...{ startedAt: time(1000), endedAt: time(3100) },
    };
    const shown = history([joined], rows).sort((a, b) => a.number - b.number);
    expect(shown).toMatchObject([
      { number: 1, onAirSeconds: 90.5, endedAt: time(1100) },
      { number: 3, onAirSeconds: 181, startedAt: time(1100), endedAt: time(3100), end: { code: 'end_unknown' } },
    ]);
    expect(withoutEstimate(history([], count([joined], rows)))).toEqual(withoutEstimate(shown));
  });

  it('costs what was paid: not what was written off, and nothing where nothing costs anything', () => {
    const rows = count([session(1)]).map((row) => ({ ...row, writtenOff: 40n }));
    expect(history([], rows)[0]?.credits).toBe('50');
    const free = { stream: stream({}, { status: { sessions: [session(1)] } }), rows: [], now: NOW };
    expect(buildHistory({ ...free, creditsPerHour: undefined })[0]).toMatchObject({
      credits: null,
      creditsEstimated: false,
    });
  });

  it('has an end also where a release before this one counted it', () => {
    const [row] = count([session(1)]) as [CountedSession];
    const old = { ...row, endedAt: undefined, endReason: undefined };
    expect(history([], [old])[0]).toMatchObject({ endedAt: time(1100), end: { code: 'end_unknown' } });
  });

  it('is CSV with a line for each session', () => {
    const { endedAt: _, ...open } = session(2);
    expect(sessionsCsv(history([session(1), open], count([session(1)])))).toBe(
      'number,startedAt,endedAt,onAirSeconds,credits,creditsEstimated,endCode\r\n' +
        `1,${time(1000)},${time(1100)},90.5,90,false,stream_stopped\r\n` +
        `2,${time(2000)},,90.5,90,true,\r\n`,
    );
    expect(sessionsCsv([])).toBe('number,startedAt,endedAt,onAirSeconds,credits,creditsEstimated,endCode\r\n');
  });
});
