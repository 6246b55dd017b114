/** Tests what a stream tells of its viewers: its conditions, its Events and its transitions. */
import { describe, expect, test } from 'vitest';
import { exactTime } from '../../../../../src/core/lib/clock.ts';
import { judgeDegraded } from '../../../../../src/core/operator/stream/conditions.ts';
import { followPlatforms } from '../../../../../src/core/operator/stream/platforms.ts';
import { buildStreamEvents } from '../../../../../src/core/operator/stream/status.ts';
import { recordTransitions } from '../../../../../src/core/operator/stream/transitions.ts';
import type { Destination } from '../../../../../src/core/resources/destination/resource.ts';
import type { LoopStreamSpec, LoopStreamStatus, Phase } from '../../../../../src/core/resources/stream/spec.ts';
import type { Transition } from '../../../../../src/core/resources/stream/transitions.ts';
import { at, destination, stream } from '../../../../kit/make/operator.ts';
import { type Seen, watched } from '../../../../kit/make/watched.ts';

type Step = { tv?: Seen | 'unwatched'; web?: Seen; phase?: Phase; spec?: Partial<LoopStreamSpec> };

const YES: Seen = { status: 'True' };
const NO: Seen = { status: 'False', reason: 'broadcast_ended' };
const PERHAPS: Seen = { status: 'Unknown', reason: 'unreachable' };
const STARTING: Seen = { status: 'Unknown', reason: 'starting' };

/** The transitions about platforms, step by step, thirty seconds each. */
function walk(steps: readonly Step[]): { told: Transition[]; status: LoopStreamStatus } {
  let status: LoopStreamStatus = { phase: 'starting' };
  for (const [i, { tv, web, phase = 'live', spec = {} }] of steps.entries()) {
    const now = at(30 * i);
    const destinations = new Map<string, Destination>([
      ['tv', tv === 'unwatched' ? destination('tv') : watched('tv', tv, now)],
      ...(web ? [['web', watched('web', web, now)] as const] : []),
    ]);
    const one = stream({ destinationNames: web ? ['tv', 'web'] : ['tv'], ...spec }, { status });
    const { platforms, told } = followPlatforms(one, phase, { destinations, now });
    const next: LoopStreamStatus = { phase, ...(platforms.length > 0 && { platforms }) };
    status = { ...next, transitions: recordTransitions(status, next, now, undefined, told) };
  }
  const told = (status.transitions ?? []).filter(({ kind }) => kind.startsWith('Platform'));
  return { told, status };
}
const listKinds = (steps: readonly Step[]) =>
  walk(steps).told.map(({ kind, destination: name, onAirForViewers, reason }) =>
    [kind, name, onAirForViewers, reason].filter((text) => text !== undefined).join(' '),
  );

describe('what viewers see', () => {
  test('is told when they see the stream, when they do not, and when they do again', () => {
    expect(listKinds([{ tv: STARTING }, { tv: YES }, { tv: YES }, { tv: NO }, { tv: NO }, { tv: YES }])).toEqual([
      'PlatformLive tv True',
      'PlatformEnded tv False BroadcastEnded',
      'PlatformLive tv True',
    ]);
  });

  test('is told where they never saw it', () => {
    expect(listKinds([{ tv: STARTING }, { tv: NO }])).toEqual(['PlatformEnded tv False BroadcastEnded']);
  });

  test('is no news where it was not known for a while, and uptime learns of it', () => {
    expect(listKinds([{ tv: YES }, { tv: PERHAPS }, { tv: YES }, { tv: PERHAPS }, { tv: NO }])).toEqual([
      'PlatformLive tv True',
      'PlatformView tv Unknown Unreachable',
      'PlatformView tv True',
      'PlatformView tv Unknown Unreachable',
      'PlatformEnded tv False BroadcastEnded',
    ]);
    expect(listKinds([{ tv: NO }, { tv: PERHAPS }, { tv: NO }]).at(-1)).toBe('PlatformView tv False BroadcastEnded');
  });

  test('another cause of the same outage is no second one', () => {
    expect(listKinds([{ tv: NO }, { tv: { status: 'False', reason: 'no_broadcast' } }])).toHaveLength(1);
  });

  test('is told of the health of what they see, once for each cause', () => {
    const bad: Seen = { status: 'True', reason: 'health_bad' };
    const near: Seen = { status: 'True', reason: 'limit_near' };
    expect(listKinds([{ tv: YES }, { tv: bad }, { tv: bad }, { tv: near }, { tv: YES }, { tv: bad }])).toEqual([
      'PlatformLive tv True',
      'PlatformHealth tv True HealthBad',
      'PlatformHealth tv True LimitNear',
      'PlatformHealth tv True HealthBad',
    ]);
  });

  test('is told of each destination, with what it is for all of them', () => {
    expect(
      listKinds([
        { tv: YES, web: YES },
        { tv: YES, web: NO },
        { tv: PERHAPS, web: NO },
        { tv: YES, web: YES },
      ]),
    ).toEqual([
      'PlatformLive tv True',
      'PlatformLive web True',
      'PlatformEnded web False BroadcastEnded',
      'PlatformView tv False Unreachable',
      'PlatformView tv True',
      'PlatformLive web True',
    ]);
  });

  test('is not told while no destination takes media, and goes on where it was', () => {
    const steps: Step[] = [{ tv: YES }, { tv: NO, phase: 'reconnecting' }, { tv: STARTING }, { tv: YES }];
    expect(listKinds(steps)).toEqual([
      'PlatformLive tv True',
      'PlatformView tv Unknown Starting',
      'PlatformView tv True',
    ]);
  });

  test('is not known in an outage after which it is told anew', () => {
    expect(listKinds([{ tv: YES }, { phase: 'waiting' }, { phase: 'waiting' }, { tv: STARTING }, { tv: YES }])).toEqual(
      ['PlatformLive tv True', 'PlatformView tv Unknown', 'PlatformLive tv True'],
    );
  });

  test('begins anew with the next start', () => {
    expect(listKinds([{ tv: YES }, { phase: 'stopping' }, { tv: YES }])).toEqual([
      'PlatformLive tv True',
      'PlatformLive tv True',
    ]);
  });

  test('ends where nobody looks any more', () => {
    expect(listKinds([{ tv: NO }, { tv: 'unwatched' }, { tv: 'unwatched' }])).toEqual([
      'PlatformEnded tv False BroadcastEnded',
      'PlatformView tv Unknown',
    ]);
    const off = [{ name: 'tv', enabled: false }, { name: 'web' }];
    const { told, status } = walk([
      { tv: NO, web: YES },
      { tv: NO, web: YES, spec: { destinations: off } },
    ]);
    expect(told.at(-1)).toMatchObject({ kind: 'PlatformView', destination: 'tv', onAirForViewers: 'True' });
    expect(status.platforms).toEqual([{ destination: 'web', status: 'True', told: 'Live' }]);
  });

  test('has the time of the answer, where that is later than what is known', () => {
    const since = at(25);
    const { told } = walk([{ tv: YES }, { tv: { ...NO, since } }, { tv: { ...YES, since: at(-60) } }]);
    expect(told.map(({ at: time }) => time)).toEqual([at(0), since, at(60)].map(exactTime));
  });
});

test('Events tell of the end and of the return, once each, with the way on', () => {
  const { status: before } = walk([{ tv: YES }]);
  const { status } = walk([{ tv: YES }, { tv: NO }]);
  const [ended, ...more] = buildStreamEvents(before, status);
  expect(more).toEqual([]);
  expect(ended).toMatchObject({ type: 'Warning', reason: 'PlatformEnded' });
  expect(ended?.message).toContain('Start a new broadcast with the same key');
  const { status: near } = walk([{ tv: YES }, { tv: { status: 'True', reason: 'limit_near' } }]);
  expect(buildStreamEvents(before, near)).toMatchObject([{ type: 'Warning', reason: 'PlatformHealth' }]);
  const { status: after } = walk([{ tv: YES }, { tv: NO }, { tv: YES }]);
  expect(buildStreamEvents(status, after)).toMatchObject([{ type: 'Normal', reason: 'PlatformLive' }]);
  expect(buildStreamEvents(after, after)).toEqual([]);
});

describe('Degraded', () => {
  const HELD = { type: 'Degraded', status: 'True', reason: 'BroadcastEnded', message: 'As before.' } as const;
  const found = (reason: string) => [{ reason, message: `${reason}.` }];
  const report = {
    clock: {},
    runs: [],
    problems: [{ reason: 'PreparationBehind', message: 'Behind.' } as const],
  };

  test('names first that viewers do not see the stream, and last what they do not notice yet', () => {
    expect(judgeDegraded(report, undefined, found('BroadcastEnded')).message).toBe('BroadcastEnded. Behind.');
    expect(judgeDegraded(report, undefined, found('LimitNear')).message).toBe('Behind. LimitNear.');
  });

  test('ends with the outage, though no pod reports', () => {
    expect(judgeDegraded(undefined, HELD)).toMatchObject({ status: 'False', reason: 'Healthy' });
  });
});
