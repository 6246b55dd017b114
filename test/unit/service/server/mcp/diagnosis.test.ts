import { describe, expect, test } from 'vitest';
import { READINESS_ISSUES } from '../../../../../src/core/lib/codes/streams.ts';
import { PHASES } from '../../../../../src/core/resources/stream/spec.ts';
import type { Destination } from '../../../../../src/service/domain/destinations/record.ts';
import { NOT_LIVE } from '../../../../../src/service/domain/stats/view.ts';
import { exampleLiveStats, exampleStream } from '../../../../../src/service/domain/streams/examples.ts';
import type { ReadinessIssue } from '../../../../../src/service/domain/streams/record.ts';
import { diagnose } from '../../../../../src/service/server/mcp/diagnosis.ts';
import { describedTools } from '../../../../../src/service/server/mcp/tools.ts';

const live = { ...exampleLiveStats };
const onAir = exampleStream;
const ready = { ready: true, issues: [], warnings: [], prepared: 1, estimatedReadyAt: null };
const since = '2027-01-31T18:00:02Z';

const NOT_SEEN: NonNullable<Destination['platformLive']> = {
  status: 'false',
  code: null,
  message: '',
  fix: null,
  since,
  checkedAt: since,
  lastSeenAt: null,
  viewers: null,
  issues: [],
  repairStalled: false,
};

type Facts = Parameters<typeof diagnose>[0];
const getContext = (facts: Partial<Facts>) =>
  diagnose({ stream: onAir, readiness: ready, liveStats: live, events: [], ...facts });
const findIssue = ({ code, field, fix }: Omit<ReadinessIssue, 'message' | 'since'>): ReadinessIssue => ({
  code,
  field,
  fix,
  since,
  message: 'It is not so.',
});

describe('a diagnosis', () => {
  test('of a stream that is as it should be finds nothing, and says how it is in every state', () => {
    for (const status of PHASES.filter((phase) => phase !== 'failed')) {
      const { summary, findings } = getContext({
        stream: { ...onAir, status },
        liveStats: status === 'live' ? live : NOT_LIVE,
      });
      const expected = status === 'reconnecting' ? ['no_numbers'] : [];
      expect(findings.map(({ code }) => code)).toEqual(expected);
      expect(summary).toMatch(new RegExp(`^Stream "Night fireplace" is ${status}\\. [A-Z].*\\.$`));
    }
  });

  test('finds every issue of readiness, with its fix and a tool that there is', () => {
    for (const issue of Object.values(READINESS_ISSUES).map(findIssue)) {
      const stream = { ...onAir, status: 'idle' as const };
      const { findings, summary } = getContext({
        stream,
        liveStats: NOT_LIVE,
        readiness: { ...ready, ready: false, issues: [issue] },
      });
      const { code, message, fix } = issue;
      expect(findings).toMatchObject([{ code, message, fix }]);
      expect(summary).toContain(message);
      const [{ tool } = { tool: null }] = findings;
      // A fix without a field says that no tool can help.
      if (issue.field || code === 'insufficient_credits') expect(describedTools().has(tool ?? ''), code).toBe(true);
    }
  });

  test('finds first that viewers do not see it, with what the platform says, and also that nobody knows', () => {
    const code = 'broadcast_ended';
    const degraded = { code, message: 'It has ended.', fix: 'Start another.', since };
    const issue = { code: 'audio_codec', message: 'It is not AAC.', fix: null };
    const issues = [
      { ...issue, severity: 'error' as const },
      { ...issue, severity: 'info' as const },
    ];
    const view = { ...NOT_SEEN, code, message: 'It has ended.', fix: 'Start another.', issues };
    const find = (platformLive: typeof NOT_SEEN | null, stream: Facts['stream'] = { ...onAir, degraded }) =>
      diagnose({ stream, readiness: ready, liveStats: live, events: [] }, [{ name: 'Main', platformLive }]).findings;
    expect(find(view)).toEqual([
      { code, message: 'Destination "Main": It has ended.', fix: 'Start another.', tool: 'get_destination' },
      expect.objectContaining({ code: 'audio_codec', message: 'Destination "Main": It is not AAC.' }),
    ]);
    const unknown = { ...view, status: 'unknown' as const, code: 'quota_exhausted', issues: [] };
    expect(find(unknown, onAir)).toMatchObject([{ code: 'quota_exhausted' }]);
    expect(find({ ...unknown, code: 'starting' }, onAir)).toEqual([]);
    expect(find({ ...unknown, status: 'true', code: null } as never, onAir)).toEqual([]);
    expect(find(view, { ...onAir, status: 'stopped' })).toEqual([]);
    expect(find(null, onAir)).toEqual([]);
    expect(describedTools().has('get_destination')).toBe(true);
  });

  test('finds the destination that refuses the stream, and the question for the platform', () => {
    const [first] = live.destinations;
    if (!first) throw new Error('the example has no destination');
    const lastError = { code: 'publish_rejected', message: 'The key is not accepted.' };
    const refused = { ...first, connected: false, lastError };
    const stream = { ...onAir, status: 'reconnecting' as const };
    const { findings } = getContext({ stream, liveStats: { ...live, live: false, destinations: [refused, first] } });
    expect(findings).toEqual([
      {
        code: 'publish_rejected',
        message: 'Destination "Main channel" does not accept the stream. The key is not accepted.',
        fix: 'Copy the key from the platform again, and check whether the platform expects a stream now.',
        tool: 'update_destination',
      },
    ]);
  });

  test('finds left-out items, and the stream’s own message', () => {
    const broken = {
      id: 'upl-1',
      name: 'a.mp4',
      playlistID: null,
      index: 0,
      track: 'video' as const,
      code: 'unreadable',
      message: 'It broke off.',
    };
    const reconnecting = { code: 'destination_reconnecting', message: 'It is not reached.', fix: 'Mend it.', since };
    const codes = (facts: Partial<Facts>) => getContext(facts).findings.map(({ code }) => code);
    const withItem = { ...live, brokenItems: [broken] };
    expect(codes({ stream: { ...onAir, degraded: reconnecting } })).toEqual(['destination_reconnecting']);
    // A summary of the items is left out; the fact that nothing can be played comes first.
    const item = { code: 'items_left_out', message: 'One is left out.', fix: 'Mend it.', since };
    expect(codes({ stream: { ...onAir, degraded: item }, liveStats: withItem })).toEqual(['unreadable']);
    const nothing = { code: 'nothing_playable', message: 'No item can be played.', fix: 'Mend it.', since };
    const all = codes({ stream: { ...onAir, degraded: nothing }, liveStats: withItem });
    expect(all).toEqual(['nothing_playable', 'unreadable']);
    expect(getContext({ stream: { ...onAir, status: 'failed' } }).findings).toMatchObject([{ tool: 'start_stream' }]);
  });
});
