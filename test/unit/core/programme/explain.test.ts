import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CODES } from '../../../../src/core/lib/codes/codes.ts';
import { EXPLANATION_CODES } from '../../../../src/core/lib/codes/explanations.ts';
import type { ExplainAsked } from '../../../../src/core/programme/explain.ts';
import { explainStream, type ListExplanation } from '../../../../src/core/programme/explain-air.ts';
import { judgeRule } from '../../../../src/core/programme/judge.ts';
import { type GivenProgram, readOnAir } from '../../../../src/core/programme/on-air.ts';
import { judgeTurns, startStanding } from '../../../../src/core/programme/rules.ts';
import { ticksToMs } from '../../../../src/core/programme/ticks.ts';
import { anchorAt } from '../../../../src/core/programme/timeline.ts';
import type { PlayedRule, ProgramItem } from '../../../../src/core/resources/stream/playing.ts';
import type { LoopStream } from '../../../../src/core/resources/stream/resource.ts';
import type { Phase } from '../../../../src/core/resources/stream/spec.ts';
import type { Upload } from '../../../../src/core/resources/upload/resource.ts';
import { ruled } from './ruled.ts';

const item = (id: string, rendition = `r/${id}`): ProgramItem => ({ id, name: id.toUpperCase(), rendition });
const rule = (given: Partial<PlayedRule> & Pick<PlayedRule, 'when'>): PlayedRule => ({
  ...{ name: 'news', start: 'Border', lateSeconds: 120, after: 'Resume', count: 1, pick: 'Next', items: [item('n')] },
  ...given,
});
const hourly = { at: { cron: '0 * * * *', timeZone: 'UTC' } };
const daily = (time: string, timeZone = 'UTC') => ({
  at: { cron: `${time.split(':').reverse().map(Number).join(' ')} * * *`, timeZone },
});
const window = (cron: string, durationSeconds = 3600) => ({ window: { cron, timeZone: 'UTC', durationSeconds } });

/** Films of 10 minutes, and n, j and k of 20 seconds. */
const SECONDS: Record<string, number> = { a: 600, b: 600, c: 600, n: 20, j: 200, k: 20 };

interface Asking {
  asked?: ExplainAsked;
  at: string;
  rules?: PlayedRule[];
  items?: ProgramItem[];
  /** Begin of the programme. */
  since?: string;
  uploads?: Record<string, Partial<Upload> | undefined>;
  spec?: Partial<LoopStream['spec']>;
  status?: LoopStream['status'];
  phase?: Phase;
  now?: string;
  track?: 'audio';
}

function ask(asking: Asking): ListExplanation {
  const {
    asked = { rule: 'news' },
    rules = [],
    items = [item('a'), item('b')],
    since = '2026-03-01T08:55:00Z',
  } = asking;
  const { phase = 'live', now = since, track } = asking;
  const stream = {
    spec: { replicas: 1, ...asking.spec },
    status: {
      ...asking.status,
      anchors: { video: { version: 1, epoch: since, round: 0, turn: 0, startedAt: since, since } },
    },
  } as LoopStream;
  const findUpload = (id: string): Upload | undefined => {
    const durationSeconds = SECONDS[id];
    const made = { profile: '720p30', state: 'ready', key: `r/${id}`, durationSeconds };
    const upload = { spec: { track: 'video' }, status: { renditions: [made] }, ...asking.uploads?.[id] };
    return durationSeconds === undefined ? undefined : (upload as unknown as Upload);
  };
  const standing = {
    round: 0,
    turn: 0,
    items: 0,
    rules: rules.map(({ name }) => ({ name, round: 0, turn: 0, items: 0, since })),
  };
  const given: GivenProgram = {
    ...{ version: 1, epoch: since, seed: 1 },
    video: { mode: 'sequential', items, rules },
    ...(rules.length > 0 && { standings: { video: standing } }),
  };
  const isOnAir = phase === 'live';
  const list = isOnAir ? readOnAir(stream, given, 'video', { findUpload, now: new Date(now) }) : undefined;
  return explainStream(
    {
      stream,
      phase,
      lists: list ? { video: list } : {},
      track,
      asked,
      atMs: Date.parse(asking.at),
      now: new Date(now),
    },
    { findUpload },
  );
}
const short = (asking: Asking) => {
  const { code, message } = ask(asking);
  return `${code}: ${message}`;
};

describe('a rule', () => {
  test('that has the time has played, and says what it waited for', () => {
    expect(ask({ at: '2026-03-01T09:00:00Z', rules: [rule({ when: hourly, lateSeconds: 600 })] })).toMatchObject({
      code: 'played',
      message:
        'The rule "news" plays "N" from 2026-03-01T09:05:00Z on: it was due at 2026-03-01T09:00:00Z, and waited 300 s for the end of "A".',
      dueAt: '2026-03-01T09:00:00.000Z',
      turn: { id: 'n', rule: 'news', startAt: '2026-03-01T09:05:00.000Z' },
      by: { id: 'a' },
      exact: true,
      track: 'video',
    });
    expect(short({ at: '2026-03-01T09:05:10Z', rules: [rule({ when: hourly, start: 'Cut' })] })).toContain('not_due');
    expect(short({ at: '2026-03-01T09:00:10Z', rules: [rule({ when: hourly, start: 'Cut' })] })).toBe(
      'played: The rule "news" plays "N" from 2026-03-01T09:00:00Z on.',
    );
  });

  test('that was left out says what was on air, and how to have it play', () => {
    const rules = [rule({ when: hourly })];
    const late =
      'rule_late: The rule "news" was due at 2026-03-01T09:00:00Z and was left out: "A" played until 2026-03-01T09:05:00Z, and the rule ' +
      'may be 120 s late at most. Raise `lateSeconds` of the rule to at least 300, or set its `start` to `Cut`.';
    for (const at of ['2026-03-01T09:00:00Z', '2026-03-01T09:04:00Z', '2026-03-01T09:06:00Z'])
      expect(short({ at, rules })).toBe(late);
  });

  test('that a rule of higher priority has kept waiting for too long names that rule', () => {
    const rules = [
      rule({ name: 'jingle', when: { eachItems: 1 }, items: [item('j')] }),
      rule({ when: daily('09:04'), start: 'Cut', lateSeconds: 60 }),
    ];
    expect(short({ at: '2026-03-01T09:04:00Z', rules, since: '2026-03-01T08:53:00Z' })).toBe(
      'rule_late: The rule "news" was due at 2026-03-01T09:04:00Z and was left out: "J" of the rule "jingle" played until ' +
        '2026-03-01T09:06:20Z, and the rule may be 60 s late at most. Raise `lateSeconds` of the rule to at least 140.',
    );
    const both = [rule({ name: 'jingle', when: hourly, items: [item('j')] }), rule({ when: hourly, lateSeconds: 600 })];
    expect(short({ at: '2026-03-01T09:05:00Z', rules: both.map((one) => ({ ...one, lateSeconds: 600 })) })).toContain(
      'waited 500 s for the end of "J" of the rule "jingle"',
    );
  });

  test('that is not due says when it is, and when it has played', () => {
    const rules = [rule({ when: hourly, lateSeconds: 600 }), rule({ name: 'fifth', when: { eachItems: 5 } })];
    expect(ask({ at: '2026-03-01T09:30:00Z', rules })).toMatchObject({
      code: 'not_due',
      nextAt: '2026-03-01T10:00:00.000Z',
      lastAt: '2026-03-01T09:05:00.000Z',
      turn: null,
      by: null,
    });
    expect(short({ at: '2026-03-01T09:30:00Z', rules, asked: { rule: 'fifth' } })).toBe(
      'not_due: The rule "fifth" is not due at 2026-03-01T09:30:00Z: 2 more items have to play first. Change `when` of the rule if it is to play at this time.',
    );
    expect(short({ at: '2026-03-01T09:30:00Z', rules: [rule({ when: { everySeconds: 6000 } })] })).toContain(
      'it is due next at 2026-03-01T10:35:00Z',
    );
  });

  test('whose time never comes says that', () => {
    const never = rule({ when: { at: { cron: '0 0 30 2 *', timeZone: 'UTC' } } });
    expect(short({ at: '2026-03-01T09:00:00Z', rules: [never] })).toBe(
      'never_due: The time of the rule "news" never comes. Correct its cron expression or its time zone.',
    );
  });

  test('without an item that can be played says why', () => {
    const at = '2026-03-01T09:00:00Z';
    const empty = (items: ProgramItem[], uploads = {}) =>
      ask({ at, uploads, rules: [rule({ when: hourly, lateSeconds: 600, items })] });
    expect(empty([])).toMatchObject({ code: 'rule_empty', dueAt: '2026-03-01T09:00:00.000Z' });
    const held = { spec: { quarantine: { reason: 'A claim.' } } };
    expect(empty([item('n', '')], { n: held })).toMatchObject({
      code: 'upload_quarantined',
      message:
        '"N" is in quarantine: A claim. End the quarantine of the upload, or give the stream another upload to play.',
    });
    expect(empty([item('n', '')], { n: { status: {} } }).code).toBe('media_preparing');
    const stalled = { status: { conditions: [{ type: 'Stalled', status: 'True' }] } };
    expect(empty([item('n', '')], { n: stalled }).code).toBe('media_failed');
    expect(empty([item('gone', '')]).code).toBe('upload_not_found');
  });

  test('that the version on air does not have names those that it has', () => {
    expect(short({ at: '2026-03-01T09:00:00Z', rules: [rule({ when: hourly })], asked: { rule: 'weather' } })).toBe(
      'not_listed: The version on air has no rule "weather". It has "news". Publish a version of the playlist that has it.',
    );
  });
});

describe('a window', () => {
  const rules = [
    rule({ name: 'first', when: window('0 10 * * *'), items: [item('k')] }),
    rule({ name: 'second', when: window('30 10 * * *'), items: [item('n')] }),
  ];
  const tell = (rule: string, at: string) => ask({ at, rules, asked: { rule }, since: '2026-03-01T09:50:00Z' });

  test('has the time, is not open, or is behind another one that stands before it', () => {
    const open = { startAt: '2026-03-01T10:00:00.000Z', endAt: '2026-03-01T11:00:00.000Z' };
    expect(tell('first', '2026-03-01T10:20:00Z')).toMatchObject({ code: 'played', window: open, turn: { id: 'k' } });
    expect(tell('first', '2026-03-01T09:55:00Z')).toMatchObject({
      code: 'outside_window',
      window: open,
      nextAt: open.startAt,
      message:
        'The window of the rule "first" is not open at 2026-03-01T09:55:00Z: it opens at 2026-03-01T10:00:00Z, until ' +
        '2026-03-01T11:00:00Z. Change the window of the rule if it is to play at this time.',
    });
    expect(tell('second', '2026-03-01T10:40:00Z')).toMatchObject({
      code: 'other_rule',
      by: { rule: 'first' },
      window: { startAt: '2026-03-01T10:30:00.000Z', endAt: '2026-03-01T11:30:00.000Z' },
      message:
        'The window of the rule "second" is open, and that of the rule "first", which stands before it, has the time. Move the rule ' +
        'before that one: the first rule has priority.',
    });
    expect(tell('second', '2026-03-01T11:10:00Z').code).toBe('played');
  });

  test('that is over before an item has ended was left out', () => {
    const short = rule({ when: window('1 9 * * *', 60) });
    expect(ask({ at: '2026-03-01T09:01:30Z', rules: [short] })).toMatchObject({
      code: 'rule_late',
      message:
        'The window of the rule "news" opened at 2026-03-01T09:01:00Z and was over before it could play: "A" played until ' +
        '2026-03-01T09:05:00Z. Give the rule a longer window, or set its `start` to `Cut`.',
    });
  });
});

test.each([
  [
    'Europe/Berlin',
    '02:30',
    '2026-03-29T01:30:00Z',
    'Clocks go forward, and skip 2026-03-29 02:30 in Europe/Berlin',
    '2026-03-29T01:00:00Z',
  ],
  [
    'Europe/Berlin',
    '02:30',
    '2026-03-29T00:30:00Z',
    'Clocks go forward, and skip 2026-03-29 02:30 in Europe/Berlin',
    '2026-03-29T01:00:00Z',
  ],
  [
    'Europe/Berlin',
    '02:30',
    '2026-10-25T01:30:00Z',
    'Clocks go back, and 2026-10-25 02:30 comes twice in Europe/Berlin',
    '2026-10-25T00:30:00Z',
  ],
  [
    'America/New_York',
    '02:30',
    '2026-03-08T06:30:00Z',
    'Clocks go forward, and skip 2026-03-08 02:30',
    '2026-03-08T07:00:00Z',
  ],
  [
    'Australia/Lord_Howe',
    '01:45',
    '2026-04-04T15:15:00Z',
    'Clocks go back, and 2026-04-05 01:45 comes twice',
    '2026-04-04T14:45:00Z',
  ],
  [
    'Europe/Berlin',
    '09:00',
    '2026-03-29T08:00:00Z',
    'Clocks change on this day in Europe/Berlin: 2026-03-29 09:00',
    '2026-03-29T07:00:00Z',
  ],
])('in %s, %s at %s was moved as clocks changed', (timeZone, time, at, words, due) => {
  const since = new Date(Date.parse(at) - 5 * 3_600_000).toISOString();
  const { code, message } = ask({ at, since, rules: [rule({ when: daily(time, timeZone), lateSeconds: 900 })] });
  expect(code).toBe('clock_change');
  expect(message).toContain(words);
  expect(message).toContain(due);
});

test('a time that clocks have not moved is due as it says, on the day of a change, too', () => {
  const rules = [rule({ when: daily('09:00', 'Europe/Berlin'), start: 'Cut' })];
  expect(ask({ at: '2026-03-29T07:00:01Z', since: '2026-03-29T06:00:00Z', rules }).code).toBe('played');
  expect(ask({ at: '2026-03-30T08:00:00Z', since: '2026-03-30T06:00:00Z', rules }).code).toBe('not_due');
});

describe('an item', () => {
  const at = '2026-03-01T09:00:00Z';
  const of = (upload: string, more: Partial<Asking> = {}) => ask({ at, asked: { upload }, ...more });

  test('that plays then, and one that has its turn later', () => {
    expect(of('a')).toMatchObject({ code: 'played', turn: { id: 'a', startAt: '2026-03-01T08:55:00.000Z' } });
    expect(of('b')).toMatchObject({
      code: 'not_its_turn',
      nextAt: '2026-03-01T09:05:00.000Z',
      by: { id: 'a' },
      message:
        '"A" plays from 2026-03-01T08:55:00Z to 2026-03-01T09:05:00Z; "B" plays next at 2026-03-01T09:05:00Z. Change the order of the ' +
        'list, or add a rule that plays the item at this time.',
    });
  });

  test('that takes no time says why, and one that is not listed, too', () => {
    const items = [item('a'), item('b', '')];
    expect(of('b', { items, uploads: { b: { spec: { quarantine: { reason: 'A claim.' } } } as never } }).code).toBe(
      'upload_quarantined',
    );
    expect(of('b', { items, uploads: { b: { status: {} } } }).code).toBe('media_preparing');
    const broken = { unplayable: { items: [{ upload: 'b', field: 'playlistNames' }] } } as never;
    expect(of('b', { status: broken }).code).toBe('media_failed');
    expect(of('c').code).toBe('not_listed');
    expect(of('a', { items: [item('b', '')], asked: { upload: 'b' }, uploads: { b: { status: {} } } }).code).toBe(
      'media_preparing',
    );
  });

  test('whose time a rule has names that rule', () => {
    const night = rule({ name: 'night', when: window('0 9 * * *'), items: [item('k')] });
    expect(of('b', { at: '2026-03-01T09:30:00Z', rules: [night] })).toMatchObject({
      code: 'other_rule',
      by: { rule: 'night' },
    });
  });

  test('of a rule is explained by the decision on that rule', () => {
    const rules = [rule({ when: hourly, items: [item('n'), item('k')], lateSeconds: 600 })];
    expect(of('n', { rules: [rule({ when: hourly })] }).code).toBe('rule_late');
    expect(of('k', { at: '2026-03-01T09:05:10Z', rules })).toMatchObject({ code: 'not_its_turn', by: { id: 'n' } });
  });
});

describe('a stream', () => {
  const off = {
    phase: 'stopped',
    rules: [rule({ when: hourly })],
    at: '2026-03-01T09:00:00Z',
    now: '2026-03-01T08:00:00Z',
  } as const;
  const asking = (more: Partial<Asking>): Asking => ({ ...off, rules: [...off.rules], ...more });

  test('that is stopped, off air by its schedule, or off air without either', () => {
    expect(short(asking({ spec: { replicas: 0 } }))).toBe('stream_stopped: The stream is stopped. Start the stream.');
    expect(short(asking({ phase: 'waiting' }))).toContain('stream_off_air: The stream is waiting');
    const schedule = { recurrence: { cron: '0 10 * * *', timeZone: 'UTC', durationSeconds: 3600 } };
    expect(ask(asking({ phase: 'scheduled', spec: { schedule } }))).toMatchObject({
      code: 'not_scheduled',
      nextAt: '2026-03-01T10:00:00.000Z',
    });
    const later = asking({
      phase: 'live',
      spec: { schedule },
      since: '2026-03-01T10:00:00Z',
      now: '2026-03-01T10:30:00Z',
    });
    expect(ask({ ...later, at: '2026-03-01T11:30:00Z' }).code).toBe('not_scheduled');
    expect(ask({ ...later, at: '2026-03-02T10:30:00Z' }).code).toBe('not_known');
    expect(short(asking({ phase: 'scheduled', spec: { schedule: { endAt: '2026-03-01T08:00:00Z' } } }))).toContain(
      'is over',
    );
  });

  test('of the past says whether it was on air, and that what played is not known', () => {
    const session = { number: 1, podUID: 'x', startedAt: '2026-03-01T06:00:00Z', onAirSeconds: 3600 };
    const past = (endedAt?: string) =>
      asking({ now: '2026-03-01T10:00:00Z', status: { sessions: [{ ...session, ...(endedAt && { endedAt }) }] } });
    expect(ask(past('2026-03-01T07:00:00Z')).code).toBe('stream_off_air');
    expect(ask(past('2026-03-01T09:30:00Z')).code).toBe('not_known');
    expect(ask(past()).code).toBe('not_known');
    expect(ask({ at: '2026-03-01T08:00:00Z' }).code).toBe('not_known');
  });

  test('of which nothing can be played, and one without such a list', () => {
    const rules = [rule({ when: hourly })];
    expect(ask({ at: '2026-03-01T09:00:00Z', rules, items: [item('a', '')] }).code).toBe('nothing_plays');
    expect(short({ at: '2026-03-01T09:00:00Z', rules, track: 'audio' })).toContain(
      'not_listed: The stream has no audio list.',
    );
  });
});

test('each code has a page that says what it means and what to do', () => {
  expect(
    EXPLANATION_CODES.filter((code) => !CODES.some((one) => one.code === code && one.places.includes('explanation'))),
  ).toEqual([]);
});

test('the decision on a rule is that of the fold, of whatever rules and at whatever time', () => {
  const epochMs = Date.parse('2026-03-28T20:00:00Z');
  const kinds = new Set<string>();
  fc.assert(
    fc.property(ruled, fc.nat(3_600_000), fc.nat(3), (one, afterMs, nth) => {
      const rules = one.rules ?? [];
      const asked = nth % rules.length;
      const atMs = epochMs + afterMs;
      const decision = judgeRule(one, anchorAt(epochMs), asked, atMs);
      kinds.add(decision.kind);
      const toMs = (ticks: number) => epochMs + ticksToMs(ticks);
      const turns = [];
      for (const turn of judgeTurns(one, startStanding(one, epochMs), epochMs)) {
        if (toMs(turn.startTicks) > atMs + 2 * 3_600_000) break;
        turns.push(turn);
      }
      const played = turns.filter((turn) => turn.rule === asked && turn.endTicks > turn.startTicks);
      const starts = played.map((turn) => toMs(turn.startTicks));
      const onAir = turns.find((turn) => toMs(turn.startTicks) <= atMs && toMs(turn.endTicks) > atMs);
      expect(decision.kind === 'nothing').toBe(!onAir);
      if (onAir?.rule === asked)
        expect(decision).toMatchObject({ kind: 'played', turn: { startMs: toMs(onAir.startTicks) } });
      if (decision.kind === 'played') expect(starts).toContain(decision.turn?.startMs);
      if (decision.kind === 'late' || (decision.kind === 'empty' && rules[asked]?.windowMs === undefined))
        expect(turns.flatMap(({ dropped }) => dropped)).toContainEqual({
          rule: asked,
          dueMs: decision.dueMs,
          reason: decision.kind,
        });
      if (decision.kind === 'waiting') {
        expect(decision.nextMs ?? Number.POSITIVE_INFINITY).toBeGreaterThan(atMs + 100);
        const dueThen = played.filter(
          ({ before, startTicks }) => (before.next?.dueMs ?? 0) <= atMs + 100 && toMs(startTicks) > atMs,
        );
        expect(dueThen).toEqual([]);
      }
    }),
    { numRuns: 200 },
  );
  expect([...kinds]).toEqual(expect.arrayContaining(['late', 'played', 'waiting']));
});
