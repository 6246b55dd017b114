/** Tests that the top of a stream's page says of each cause what `kubectl loop diagnose` says, once, with a way on. */
import { describe, expect, test } from 'vitest';
import { listProblems } from '../../../../../src/core/kubectl/streams/problems.ts';
import { DESTINATION_ERRORS, type FailureCode } from '../../../../../src/core/lib/codes/destinations.ts';
import { DEGRADATIONS, READINESS_ISSUES, REFUSED_CHANGES } from '../../../../../src/core/lib/codes/streams.ts';
import type { LoopStream } from '../../../../../src/core/resources/stream/resource.ts';
import { listFindings, reachesNobody } from '../../../../../src/dashboard/features/streams/findings.ts';
import { exampleLiveStats, exampleStream } from '../../../../../src/service/domain/streams/examples.ts';
import { toReadiness, toStream } from '../../../../../src/service/domain/streams/view.ts';
import { NOW, stream } from '../../../../kit/make/operator.ts';

const since = '2026-06-01T12:00:00Z';
const NOTHING = { stats: undefined, readiness: undefined };
type Phase = NonNullable<LoopStream['status']>['phase'];

/** A stream with one condition that is not as it should be. */
const ill = (phase: Phase, type: string, status: 'True' | 'False', reason: string): LoopStream => ({
  ...stream({ readinessGates: type === 'CreditAvailable' ? [{ conditionType: type }] : [] }),
  status: {
    phase,
    observedGeneration: 1,
    conditions: [
      ...['DestinationReady', 'MediaReady', 'ScheduleValid'].flatMap((one) =>
        one === type
          ? []
          : [{ type: one, status: 'True' as const, reason: one, message: 'Fine.', lastTransitionTime: since }],
      ),
      { type, status, reason, message: `${reason}.`, lastTransitionTime: since },
    ],
  } as NonNullable<LoopStream['status']>,
});

const tellOnPage = (one: LoopStream) =>
  listFindings(toStream(one, NOW), one.status?.phase ?? '', { stats: undefined, readiness: toReadiness(one) }).map(
    ({ code, message, fix }) => ({ code, message, fix }),
  );
const tellInTerminal = (one: LoopStream) => listProblems(one).map(({ code, message, fix }) => ({ code, message, fix }));

describe('the words of each code are those of kubectl loop diagnose', () => {
  test.each(Object.keys(READINESS_ISSUES).filter((reason) => !/^(Pod|Quota|Unsched)/.test(reason)))(
    'what keeps a stream off air: %s',
    (reason) => {
      const one = ill('waiting', reason === 'InsufficientCredits' ? 'CreditAvailable' : 'MediaReady', 'False', reason);
      expect(tellOnPage(one)).toEqual(tellInTerminal(one));
      expect(tellOnPage(one)).toHaveLength(1);
    },
  );

  test.each(Object.keys(DEGRADATIONS))('what is wrong with one on air: %s', (reason) => {
    const one = ill('live', 'Degraded', 'True', reason);
    expect(tellOnPage(one)).toEqual(tellInTerminal(one));
  });

  test.each(Object.keys(REFUSED_CHANGES))('what Kubernetes refuses: %s', (reason) => {
    const one = ill('live', 'Progressing', 'False', reason);
    expect(tellOnPage(one)).toEqual(tellInTerminal(one));
  });
});

const failing = (code: string) => ({
  ...exampleLiveStats,
  destinations: exampleLiveStats.destinations.map((one) => ({
    ...one,
    connected: false,
    lastError: { code, message: DESTINATION_ERRORS[code as FailureCode].meaning },
  })),
});
const degraded = {
  code: 'destination_reconnecting',
  message: 'Destination "Main channel" does not accept the stream. It says why.',
  fix: 'Read on.',
  since,
};

test.each(Object.keys(DESTINATION_ERRORS))(
  'a destination that fails with %s is one finding, with its own fix',
  (code) => {
    const found = listFindings({ ...exampleStream, degraded }, 'reconnecting', {
      stats: failing(code),
      readiness: undefined,
    });
    expect(found).toEqual([
      {
        code,
        message: `Destination “Main channel” does not accept the stream. ${DESTINATION_ERRORS[code as FailureCode].meaning}`,
        fix: DESTINATION_ERRORS[code as FailureCode].fix,
        since,
        mend: 'editDestination',
        destinationID: exampleStream.destinationID,
      },
    ]);
    expect(found[0]?.message).not.toMatch(/[a-z]_[a-z]/);
  },
);

test('a missing credit is one cause, although media and stream both wait for it', () => {
  const issue = (code: string) => ({ code, message: `${code}.`, fix: 'Top up.', field: '', since });
  const readiness = {
    ready: false,
    issues: [issue('media_awaits_credit'), issue('insufficient_credits')],
    warnings: [],
    prepared: 0,
    estimatedReadyAt: null,
  };
  const found = listFindings({ ...exampleStream, degraded: null }, 'waiting', { stats: undefined, readiness });
  expect(found.map(({ code, mend }) => [code, mend])).toEqual([['insufficient_credits', 'addCredit']]);
});

test('a stream that starts, or that nobody wants on air, has no finding', () => {
  const calm = { ...exampleStream, degraded: null };
  for (const phase of ['starting', 'idle', 'stopped', 'ended', 'stopping', 'live'])
    expect(listFindings(calm, phase, NOTHING)).toEqual([]);
  expect(listFindings(calm, 'failed', NOTHING)).toMatchObject([{ code: 'failed', mend: 'tryAgain' }]);
});

test('a picture reaches nobody while no destination receives it', () => {
  expect(reachesNobody('live', exampleLiveStats)).toBe(false);
  expect(reachesNobody('live', failing('reset'))).toBe(true);
  expect(reachesNobody('live', undefined)).toBe(false);
  expect(reachesNobody('reconnecting', undefined)).toBe(true);
  expect(reachesNobody('stopped', undefined)).toBe(false);
});
