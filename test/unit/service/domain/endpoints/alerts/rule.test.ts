/** Tests the rule that decides about messages to people: how many there are, when, and that they say what was so. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type AlertMessage,
  type AlertState,
  applyAlertRule,
  BACK_SECONDS,
  type RecordedEvent,
} from '../../../../../../src/service/domain/endpoints/alerts/rule.ts';
import {
  type AccountEventType,
  EVENT_TYPE_NAMES,
  NO_DATA,
} from '../../../../../../src/service/domain/events/record.ts';

const RULE = { offAirSeconds: 30, flappingCount: 3, flappingSeconds: 600 };
const NOON = Date.UTC(2026, 10, 29, 12);
const at = (seconds: number): Date => new Date(NOON + seconds * 1000);
const HOUR = 3600;
const TYPES = EVENT_TYPE_NAMES.filter((type) => !['stream.live', 'stream.stopped', 'upload.ready'].includes(type));

/** An event, and when it happens, in seconds after noon. */
interface Happening {
  at: number;
  type: AccountEventType;
  data?: Partial<RecordedEvent['data']>;
}

interface Circumstances {
  rule?: typeof RULE;
  types?: readonly string[];
  /** How far the operator's clock is ahead of the database's, in seconds. */
  clockAhead?: number;
  /** Nothing is recorded before this second. */
  recordedFrom?: number;
  /** Nothing is read before this second. */
  readFrom?: number;
  /** Each event comes twice. */
  isRepeated?: boolean;
  /** Numbers of events that are lost. */
  lost?: readonly number[];
}

const REFUSED = { code: 'publish_rejected', message: 'The server refuses the key.', fix: 'Enter the key again.' };

const outage = (from: number, seconds: number): Happening[] => [
  { at: from, type: 'stream.reconnecting' },
  ...(seconds >= 5 ? [{ at: from + 5, type: 'stream.off_air' as const, data: REFUSED }] : []),
  { at: from + seconds, type: 'stream.recovered', data: { offAirSeconds: seconds } },
];

function record(happenings: readonly Happening[], circumstances: Circumstances): RecordedEvent[] {
  const { clockAhead = 0, recordedFrom = 0, isRepeated = false, lost = [] } = circumstances;
  return happenings
    .map(
      ({ at: second, type, data }, i): RecordedEvent => ({
        type,
        timestamp: at(second + clockAhead).toISOString(),
        object: 'stream',
        objectID: 'str-1',
        seq: i + 1,
        data: { ...NO_DATA, name: 'Night loop', ...data },
        recordedAt: at(Math.max(second, recordedFrom)).toISOString(),
      }),
    )
    .filter(({ seq }) => !lost.includes(seq))
    .flatMap((event) => (isRepeated ? [event, event] : [event]));
}

/** Reads events as they are recorded, and applies the rule again when it asks for that, until nothing is awaited. */
function drive(happenings: readonly Happening[], circumstances: Circumstances = {}) {
  const { rule = RULE, types = TYPES, readFrom = 0 } = circumstances;
  const events = record(happenings, circumstances);
  const sent: { message: AlertMessage; second: number }[] = [];
  let state: AlertState | null = null;
  let wakeAt: Date | null = null;
  let read = 0;
  for (;;) {
    const next = events[read];
    const nextMs = next && Math.max(Date.parse(next.recordedAt), at(readFrom).getTime());
    const nowMs = Math.min(nextMs ?? Number.POSITIVE_INFINITY, wakeAt?.getTime() ?? Number.POSITIVE_INFINITY);
    if (nowMs === Number.POSITIVE_INFINITY) return { sent, kinds: sent.map(({ message }) => message.kind) };
    const due = events.filter(({ recordedAt }, i) => i >= read && Date.parse(recordedAt) <= nowMs && nextMs === nowMs);
    read += due.length;
    const outcome = applyAlertRule(state, due, new Date(nowMs), { rule, types });
    state = JSON.parse(JSON.stringify(outcome.state)) as AlertState;
    expect(outcome.wakeAt === null || outcome.wakeAt.getTime() > nowMs, 'a wait ends later').toBe(true);
    wakeAt = outcome.wakeAt;
    sent.push(...outcome.messages.map((message) => ({ message, second: (nowMs - NOON) / 1000 })));
  }
}

const rhythm = (outages: readonly { off: number; on: number }[]): Happening[] => {
  let second = 10;
  return outages.flatMap(({ off, on }) => {
    const from = second;
    second += off + on;
    return outage(from, off);
  });
};

describe('an outage', () => {
  test('that lasts is one message, and its end another, with the length and the cause', () => {
    const { sent } = drive(outage(0, 252));
    expect(sent.map(({ message: { kind }, second }) => [kind, second])).toEqual([
      ['off_air', 30],
      ['back', 252 + BACK_SECONDS],
    ]);
    expect(sent[0]?.message).toMatchObject({
      type: 'stream.off_air',
      object: 'stream',
      objectID: 'str-1',
      name: 'Night loop',
      at: at(0).toISOString(),
      ...REFUSED,
      outage: { from: at(0).toISOString(), to: null, outages: 1 },
    });
    expect(sent[1]?.message).toMatchObject({
      type: 'stream.recovered',
      at: at(252).toISOString(),
      ...REFUSED,
      outage: { from: at(0).toISOString(), to: at(252).toISOString(), offAirSeconds: 252 },
    });
  });

  test('shorter than the rule is none', () => {
    expect(drive(outage(0, 29)).kinds).toEqual([]);
  });

  test('is told at once where the rule says 0', () => {
    const { sent } = drive(outage(7, 29), { rule: { ...RULE, offAirSeconds: 0 } });
    expect(sent.map(({ message: { kind }, second }) => [kind, second])).toEqual([
      ['off_air', 7],
      ['back', 7 + 29 + BACK_SECONDS],
    ]);
  });

  test('that a short pause interrupts is one outage', () => {
    const { sent } = drive([...outage(0, 100), ...outage(110, 90)]);
    expect(sent.map(({ message }) => message.kind)).toEqual(['off_air', 'back']);
    expect(sent[1]?.message.outage).toMatchObject({ outages: 2, offAirSeconds: 190 });
  });

  test('that somebody ends by a stop is one more message only where there was one', () => {
    expect(drive([...outage(0, 100).slice(0, 2), { at: 40, type: 'stream.stopped' }]).kinds).toEqual([
      'off_air',
      'stopped',
    ]);
    expect(drive([...outage(0, 100).slice(0, 2), { at: 20, type: 'stream.stopped' }]).kinds).toEqual([]);
  });

  test('is over for good where somebody stops the stream right after it', () => {
    const { sent } = drive([...outage(0, 100), { at: 105, type: 'stream.stopped' }]);
    expect(sent.map(({ message: { kind, at: time }, second }) => [kind, second, time])).toEqual([
      ['off_air', 30, at(0).toISOString()],
      ['back', 105, at(100).toISOString()],
    ]);
  });

  test('that begins after a stop has nothing to do with the ones before', () => {
    const stopped: Happening[] = [
      { at: 60, type: 'stream.stopped' },
      { at: 70, type: 'stream.live' },
    ];
    expect(drive([...outage(0, 3), ...outage(40, 3), ...stopped, ...outage(80, 3)]).kinds).toEqual([]);
  });
});

describe('a stream that flaps', () => {
  test('is one message at the third outage, however short they are, and one when it is calm', () => {
    const { sent } = drive([...outage(0, 2), ...outage(200, 2), ...outage(500, 2)]);
    expect(sent.map(({ message: { kind }, second }) => [kind, second])).toEqual([
      ['flapping', 500],
      ['calm', 502 + 600],
    ]);
    expect(sent[1]?.message.outage).toMatchObject({
      from: at(0).toISOString(),
      to: at(502).toISOString(),
      outages: 3,
      offAirSeconds: 6,
    });
  });

  test('is none with outages that are further apart', () => {
    expect(drive([...outage(0, 2), ...outage(300, 2), ...outage(600, 2), ...outage(901, 2)]).kinds).toEqual([]);
  });

  test('and then stays off air is told to be off air', () => {
    const { sent } = drive([...rhythm(Array.from({ length: 5 }, () => ({ off: 5, on: 25 }))), ...outage(200, 5000)]);
    expect(sent.map(({ message: { kind }, second }) => [kind, second])).toEqual([
      ['flapping', 70],
      ['off_air', 800],
      ['calm', 5800],
    ]);
  });

  test('and is stopped is at peace', () => {
    const flapping = rhythm(Array.from({ length: 5 }, () => ({ off: 5, on: 25 })));
    expect(drive([...flapping, { at: 200, type: 'stream.stopped' }]).kinds).toEqual(['flapping', 'calm']);
  });

  test.each([0, 1, 5, 15, 29, 30, 100, 3600])(
    'with 20 outages in 10 minutes has two messages, by the rule of %s seconds',
    (offAirSeconds) => {
      for (let off = 1; off < 30; off += 1) {
        const steady = rhythm(Array.from({ length: 20 }, () => ({ off, on: 30 - off })));
        const { kinds, sent } = drive(steady, { rule: { ...RULE, offAirSeconds } });
        expect(kinds.length, `${off} of 30 s off air: ${kinds}`).toBe(2);
        expect(sent.at(-1)?.message.outage).toMatchObject({ outages: 20, offAirSeconds: 20 * off });
      }
    },
  );

  const outages = fc.array(fc.record({ off: fc.integer({ min: 1, max: 60 }), on: fc.integer({ min: 1, max: 60 }) }), {
    minLength: 20,
    maxLength: 20,
  });

  test('in any rhythm without a long pause on air has two messages, and never more than six', () => {
    fc.assert(
      fc.property(outages, fc.integer({ min: 0, max: 90 }), (rhythmic, offAirSeconds) => {
        const { kinds } = drive(rhythm(rhythmic), { rule: { ...RULE, offAirSeconds } });
        const isSteady = rhythmic.every(({ on }) => on < BACK_SECONDS);
        // Two outages may have seemed to be over before the third one makes it flapping.
        if (isSteady) expect(kinds.length).toBe(2);
        else expect(kinds.length).toBeLessThanOrEqual(6);
        expect(kinds.at(-1)).toBe('calm');
      }),
    );
  });

  test('has the outages and their time in its last message', () => {
    fc.assert(
      fc.property(outages, (rhythmic) => {
        const steady = rhythmic.map(({ off, on }) => ({ off, on: on % BACK_SECONDS || 1 }));
        const { sent } = drive(rhythm(steady));
        const offAirSeconds = steady.reduce((sum, { off }) => sum + off, 0);
        expect(sent.at(-1)?.message).toMatchObject({ kind: 'calm', outage: { outages: 20, offAirSeconds } });
      }),
    );
  });
});

describe('events that are read late', () => {
  const LATE = { recordedFrom: HOUR } as const;

  test.each([
    ['that were recorded late', LATE],
    ['that were recorded in time', { readFrom: HOUR }],
  ])('%s are one message that says when it was', (_, circumstances) => {
    const { sent } = drive(outage(60, 300), circumstances);
    expect(sent.map(({ message }) => message.kind)).toEqual(['was_off_air']);
    expect(sent[0]?.message.outage).toMatchObject({
      from: at(60).toISOString(),
      to: at(360).toISOString(),
      outages: 1,
      offAirSeconds: 300,
    });
  });

  test.each([
    ['that were recorded late', LATE],
    ['that were recorded in time', { readFrom: HOUR }],
  ])('%s, of many outages, are one message about all', (_, circumstances) => {
    const { sent } = drive(rhythm(Array.from({ length: 20 }, () => ({ off: 10, on: 20 }))), circumstances);
    expect(sent.map(({ message }) => message.kind)).toEqual(['was_off_air']);
    expect(sent[0]?.message.outage).toMatchObject({ outages: 20, offAirSeconds: 200, to: at(590).toISOString() });
  });

  test('are nothing of an outage that was short', () => {
    expect(drive(outage(60, 8), LATE).kinds).toEqual([]);
  });

  test('say since when a stream is off air that still is, and what was before', () => {
    const { sent } = drive([...outage(60, 300), ...outage(1200, 9000).slice(0, 2)], LATE);
    expect(sent.map(({ message }) => message.kind)).toEqual(['off_air']);
    expect(sent[0]?.message.outage).toMatchObject({
      from: at(60).toISOString(),
      offSince: at(1200).toISOString(),
      outages: 2,
      offAirSeconds: 300,
    });
  });

  test('end what was told before', () => {
    const { sent } = drive([...outage(60, 300)], { recordedFrom: 0 });
    const [first] = sent;
    expect(first?.message.kind).toBe('off_air');
    const later = drive([...outage(60, 300), { at: 2000, type: 'stream.stopped' }], LATE);
    expect(later.kinds).toEqual(['was_off_air']);
  });
});

const anything = fc.array(
  fc.record({
    pause: fc.integer({ min: 0, max: 1000 }),
    type: fc.constantFrom(...EVENT_TYPE_NAMES),
    offAirSeconds: fc.option(fc.integer({ min: 0, max: 5000 })),
  }),
  { maxLength: 40 },
);
const happen = (list: { pause: number; type: AccountEventType; offAirSeconds: number | null }[]): Happening[] => {
  let second = 0;
  return list.map(({ pause, type, offAirSeconds }) => {
    second += pause;
    return { at: second, type, data: { offAirSeconds } };
  });
};

describe('clocks, repetitions and losses', () => {
  test('a clock that is ten minutes wrong neither delays a message nor causes one', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ off: fc.integer({ min: 1, max: 400 }), on: fc.integer({ min: 1, max: 400 }) }), {
          minLength: 1,
          maxLength: 10,
        }),
        fc.constantFrom(-600, 600),
        (rhythmic, clockAhead) => {
          // Some recordings show how the clocks differ.
          const before: Happening[] = [1, 2, 3].map((second) => ({ at: second, type: 'stream.live' }));
          const happenings = [...before, ...rhythm(rhythmic)];
          const right = drive(happenings);
          const wrong = drive(happenings, { clockAhead });
          expect(wrong.sent.map(({ message, second }) => [message.kind, second])).toEqual(
            right.sent.map(({ message, second }) => [message.kind, second]),
          );
        },
      ),
    );
  });

  test('an event that comes again changes nothing', () => {
    fc.assert(
      fc.property(anything, (list) => {
        const happenings = happen(list);
        expect(drive(happenings, { isRepeated: true }).sent).toEqual(drive(happenings).sent);
      }),
    );
  });

  test('whatever comes or is lost, messages about trouble and about its end alternate', () => {
    fc.assert(
      fc.property(
        anything,
        fc.array(fc.integer({ min: 1, max: 40 })),
        fc.constantFrom(0, 5000),
        fc.integer({ min: -600, max: 600 }),
        (list, lost, recordedFrom, clockAhead) => {
          const { sent } = drive(happen(list), { lost, recordedFrom, clockAhead });
          const isOpen = { stream: false, viewers: false };
          for (const { message } of sent) {
            if (message.kind === 'note') continue;
            const whose = message.isForViewers ? 'viewers' : 'stream';
            const opens = message.kind === 'off_air' || message.kind === 'flapping';
            const closes = message.kind === 'back' || message.kind === 'calm';
            if (closes) expect(isOpen[whose], 'an end without a beginning').toBe(true);
            if (message.kind === 'flapping') expect(isOpen[whose], 'flapping while something is open').toBe(false);
            isOpen[whose] = opens;
            expect(message.outage?.outages).toBeGreaterThan(0);
            expect(message.outage?.offAirSeconds).toBeGreaterThanOrEqual(0);
          }
        },
      ),
    );
  });

  test('an outage whose begin was lost has the length that its end says', () => {
    const { sent } = drive([{ at: 5, type: 'stream.live' }, ...outage(100, 300)], { lost: [2, 3] });
    expect(sent.map(({ message }) => message.kind)).toEqual(['was_off_air']);
    expect(sent[0]?.message.outage).toMatchObject({
      from: at(100).toISOString(),
      offAirSeconds: 300,
      isApproximate: true,
    });
  });

  test('an outage whose end was lost ends when the stream is live', () => {
    const { sent } = drive([...outage(0, 100), { at: 200, type: 'stream.live' }], { lost: [3] });
    expect(sent.map(({ message }) => message.kind)).toEqual(['off_air', 'back']);
    expect(sent[1]?.message.outage).toMatchObject({ isApproximate: true, to: at(200).toISOString() });
  });
});

describe('another event', () => {
  const failed = (second: number, code: string): Happening => ({
    at: second,
    type: 'upload.failed',
    data: { ...REFUSED, code },
  });

  test('is a message with its cause and fix', () => {
    const { sent } = drive([failed(5, 'media_unreadable')]);
    expect(sent[0]?.message).toMatchObject({
      kind: 'note',
      type: 'upload.failed',
      at: at(5).toISOString(),
      code: 'media_unreadable',
      message: REFUSED.message,
      fix: REFUSED.fix,
      outage: null,
    });
  });

  test('is at most one message in an hour for the same code', () => {
    const many = [0, 10, 3599, 3601].map((second) => failed(second, 'media_unreadable'));
    expect(drive([...many, failed(3602, 'url_not_found')]).sent.map(({ second }) => second)).toEqual([0, 3601, 3602]);
  });

  test('is none where the endpoint does not want it', () => {
    expect(drive([failed(0, 'media_unreadable')], { types: ['stream.off_air'] }).kinds).toEqual([]);
    expect(drive(outage(0, 100), { types: ['upload.failed'] }).kinds).toEqual([]);
    expect(drive([{ at: 0, type: 'stream.live' }], { types: ['stream.live'] }).kinds).toEqual(['note']);
  });

  test('is all that an endpoint gets that wants outages no longer, also during one', () => {
    const events = record(outage(0, 100).slice(0, 2), {});
    const begun = applyAlertRule(null, events, at(6), { rule: RULE, types: TYPES });
    expect(begun.wakeAt).toEqual(at(30));
    const later = applyAlertRule(begun.state, [], at(30), { rule: RULE, types: ['upload.failed'] });
    expect(later).toMatchObject({ messages: [], wakeAt: null });
  });

  test('about a problem of a stream that is off air is part of that outage', () => {
    const degraded: Happening = { at: 12, type: 'stream.degraded', data: REFUSED };
    expect(drive([...outage(0, 10), degraded, ...outage(14, 60)]).kinds).toEqual(['off_air', 'back']);
    expect(drive([degraded]).kinds).toEqual(['note']);
  });
});

const ENDED = { code: 'broadcast_ended', message: 'The broadcast has ended.', fix: 'Start a new broadcast.' };
const dark = (second: number, destinationID = 'dst-1'): Happening => ({
  at: second,
  type: 'platform.ended',
  data: { ...ENDED, destinationID },
});
const seen = (second: number, destinationID = 'dst-1'): Happening => ({
  at: second,
  type: 'platform.live',
  data: { destinationID },
});

describe('a stream that is sent, and that viewers do not see', () => {
  test('is off air for viewers once that lasts, and on air again for them, with the cause and the length', () => {
    const { sent } = drive([dark(0), { at: 0, type: 'stream.degraded', data: ENDED }, seen(252)]);
    expect(sent.map(({ message: { kind, type, isForViewers }, second }) => [kind, type, isForViewers, second])).toEqual(
      [
        ['off_air', 'platform.ended', true, 30],
        ['back', 'platform.live', true, 252 + BACK_SECONDS],
      ],
    );
    expect(sent[0]?.message).toMatchObject(ENDED);
    expect(sent[1]?.message.outage).toMatchObject({ offAirSeconds: 252, outages: 1 });
  });

  test('is told in one message however often it flaps, until it is calm', () => {
    const happenings = Array.from({ length: 20 }, (_, i) => [dark(30 * i), seen(30 * i + 10)]).flat();
    expect(drive(happenings).kinds).toEqual(['flapping', 'calm']);
  });

  test('is off air until viewers of all its destinations see it', () => {
    const { sent } = drive([dark(0, 'a'), dark(60, 'b'), seen(120, 'a'), seen(300, 'b')]);
    expect(sent.map(({ message: { kind }, second }) => [kind, second])).toEqual([
      ['off_air', 30],
      ['back', 300 + BACK_SECONDS],
    ]);
  });

  test('is stopped while it was off air for viewers, and begins anew', () => {
    const happenings: Happening[] = [
      dark(0),
      { at: 100, type: 'stream.stopped' },
      { at: 500, type: 'stream.live' },
      seen(560),
    ];
    expect(drive(happenings).kinds).toEqual(['off_air', 'stopped']);
  });

  test('is not told to those who want no such types, nor twice by what degrades it', () => {
    const happenings: Happening[] = [dark(0), { at: 0, type: 'stream.degraded', data: ENDED }, seen(252)];
    expect(drive(happenings, { types: ['stream.off_air'] }).kinds).toEqual([]);
    expect(drive(happenings, { types: ['stream.degraded'] }).kinds).toEqual(['note']);
    expect(drive(happenings, { types: ['platform.ended'] }).kinds).toEqual(['off_air', 'back']);
  });

  test('has outages of its own beside those in which no destination takes media, each message once', () => {
    const happenings = [dark(0), ...outage(100, 60), seen(300)];
    const { sent } = drive(happenings, { isRepeated: true });
    expect(sent.map(({ message: { kind, isForViewers = false } }) => [kind, isForViewers])).toEqual([
      ['off_air', true],
      ['off_air', false],
      ['back', false],
      ['back', true],
    ]);
    expect(new Set(sent.map(({ message }) => message.key)).size).toBe(4);
  });

  test('goes on with the memory of a release that knew nothing of viewers', () => {
    const [event] = record([dark(0)], {});
    const memory = applyAlertRule(null, [], at(0), { rule: RULE, types: TYPES }).state;
    expect('viewers' in memory).toBe(false);
    expect(applyAlertRule(memory, event ? [event] : [], at(30), { rule: RULE, types: TYPES }).messages).toMatchObject([
      { kind: 'off_air', isForViewers: true },
    ]);
  });
});

test('a warning of a platform is one message an hour', () => {
  const near = { code: 'limit_near', message: 'The end is near.', fix: 'Stop and start the stream.' };
  const warn = (second: number): Happening[] => [
    { at: second, type: 'platform.health', data: near },
    { at: second, type: 'stream.degraded', data: near },
  ];
  expect(drive([...warn(0), ...warn(60), ...warn(2 * HOUR)]).kinds).toEqual(['note', 'note']);
});
