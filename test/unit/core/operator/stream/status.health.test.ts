/** Tests the conditions Ready, Reconciling and Stalled of a stream, as the operator writes them. */

import { describe, expect, it } from 'vitest';
import type { PodProblem } from '../../../../../src/core/operator/stream/pod-report.ts';
import { withoutPod, withoutStandby } from '../../../../../src/core/operator/stream/refusals.ts';
import { buildStatus } from '../../../../../src/core/operator/stream/status.ts';
import {
  type Condition,
  findCondition,
  HEALTH_CONDITIONS,
} from '../../../../../src/core/resources/common/conditions.ts';
import { SUSPENDED_ANNOTATION } from '../../../../../src/core/resources/common/names.ts';
import { listReceivers } from '../../../../../src/core/resources/stream/destinations.ts';
import type { LoopStream } from '../../../../../src/core/resources/stream/resource.ts';
import { PHASES } from '../../../../../src/core/resources/stream/spec.ts';
import type { UploadStatus } from '../../../../../src/core/resources/upload/spec.ts';
import {
  at,
  destination,
  MEDIA,
  makePod,
  meta,
  NOW,
  playlist,
  refusal,
  step,
  stream,
  upload,
  type World,
  world,
} from '../../../../kit/make/operator.ts';

type State = 'ready' | 'reconciling' | 'stalled' | 'contradictory';

/** Reads the state as kstatus does. Exactly one of the three conditions may be True. */
function readHealth({ status }: LoopStream): { state: State; reason: string; message: string } {
  const found = HEALTH_CONDITIONS.map((type) => findCondition(status?.conditions, type));
  const [ready, reconciling, stalled] = found;
  const isTrue = found.filter((one) => one?.status === 'True');
  const states = [ready?.status === 'True' && 'ready', reconciling && 'reconciling', stalled && 'stalled'] as const;
  const state = isTrue.length === 1 ? states.find((one) => one !== false && one !== undefined) : undefined;
  return { state: (state || 'contradictory') as State, reason: ready?.reason ?? '', message: ready?.message ?? '' };
}

const judge = (loopStream: LoopStream, inWorld: World) => readHealth(step(loopStream, inWorld).stream);

/** A stream that has been observed for as long as a missing object may take to appear. */
const judgeLater = (loopStream: LoopStream, objects: Parameters<typeof world>[0]) => {
  const first = step(loopStream, world(objects)).stream;
  return judge(first, world({ ...objects, now: at(10) }));
};

const { status: _, ...unchecked } = destination();
const importing: UploadStatus = { phase: 'importing' };
const preparing: UploadStatus = {
  phase: 'preparing',
  media: MEDIA,
  renditions: [{ profile: '720p30', state: 'pending' }],
};
const failed: UploadStatus = { phase: 'failed', error: { code: 'media_unreadable', message: 'It is cut off.' } };
const gate = (status: Condition['status'], reason: string, type = 'CreditAvailable'): LoopStream =>
  stream(
    { readinessGates: [{ conditionType: type }] },
    {
      status: {
        conditions: [{ type, status, reason, message: 'It says so.', lastTransitionTime: '2026-06-01T11:00:00Z' }],
      },
    },
  );
const live = () => {
  const loopStream = stream();
  const pod = makePod(loopStream, { ready: true });
  return { pod, stream: step(loopStream, world({ pod })).stream };
};

describe('a stream', () => {
  it.each<[string, LoopStream, World, string]>([
    ['is stopped', stream({ replicas: 0 }), world(), 'Stopped'],
    [
      'is stopped and lacks all that it needs',
      stream({ replicas: 0 }),
      world({ uploads: [], destinations: [] }),
      'Stopped',
    ],
    ['is suspended', stream({ suspend: true }), world(), 'Suspended'],
    ['waits for its schedule', stream({ schedule: { startAt: at(60).toISOString() } }), world(), 'Scheduled'],
    [
      'has ended',
      stream({ schedule: { startAt: at(-60).toISOString(), endAt: at(-30).toISOString() } }),
      world(),
      'Ended',
    ],
    ['is live', live().stream, world({ pod: live().pod }), 'Live'],
  ])('that %s is ready', (_what, loopStream, inWorld, reason) => {
    expect(judge(loopStream, inWorld)).toMatchObject({ state: 'ready', reason });
  });

  it.each<[string, LoopStream, World, string]>([
    ['its destination is checked', stream(), world({ destinations: [unchecked] }), 'DestinationChecking'],
    ['its media is imported', stream(), world({ uploads: [upload('film', importing)] }), 'MediaImporting'],
    ['its media is prepared', stream(), world({ uploads: [upload('film', preparing)] }), 'MediaPreparing'],
    ['its pod is made', stream(), world(), 'Starting'],
    ['its pod starts', stream(), world({ pod: makePod(stream()) }), 'Starting'],
    [
      'its image is fetched again',
      stream(),
      world({ pod: makePod(stream(), { waiting: 'ImagePullBackOff' }) }),
      'ImagePullBackOff',
    ],
    [
      'nobody has set its gate',
      stream({ readinessGates: [{ conditionType: 'CreditAvailable' }] }),
      world(),
      'NotReported',
    ],
    ['another controller holds its gate closed', gate('False', 'Maintenance', 'Window'), world(), 'Maintenance'],
    ['its pod is stopped', stream({ replicas: 0 }), world({ pod: makePod(stream(), { ready: true }) }), 'Stopping'],
  ])('reconciles while %s', (_what, loopStream, inWorld, reason) => {
    expect(judge(loopStream, inWorld)).toMatchObject({ state: 'reconciling', reason });
  });

  it.each<[string, LoopStream, Parameters<typeof world>[0], string, string]>([
    ['media that failed', stream(), { uploads: [upload('film', failed)] }, 'MediaFailed', 'upload a file that plays'],
    [
      'an empty playlist',
      stream({ uploadName: undefined as never, playlistNames: ['mix'] }),
      { playlists: [playlist('mix', [])] },
      'PlaylistEmpty',
      'Add at least one item',
    ],
    [
      'a schedule that makes no sense',
      stream({ schedule: { startAt: at(60).toISOString(), endAt: at(30).toISOString() } }),
      {},
      'ScheduleInvalid',
      'Give an end after the start',
    ],
    ['no credit', gate('False', 'InsufficientCredits'), {}, 'InsufficientCredits', 'Add credit'],
    [
      'a pod of somebody else with the name of its own',
      stream(),
      { isNameTaken: true },
      'PodNameTaken',
      'Delete the pod',
    ],
    [
      'a container that ends again and again',
      stream(),
      { pod: makePod(stream(), { waiting: 'CrashLoopBackOff' }) },
      'CrashLoopBackOff',
      'does not run',
    ],
  ])('with %s stalls at once, and says what to do', (_what, loopStream, objects, reason, fix) => {
    const health = judge(loopStream, world(objects));
    expect(health).toMatchObject({ state: 'stalled', reason });
    expect(health.message).toContain(fix);
  });

  it.each<[string, Parameters<typeof world>[0], LoopStream, string]>([
    ['destination', { destinations: [] }, stream(), 'DestinationNotFound'],
    ['upload', { uploads: [] }, stream(), 'UploadNotFound'],
    [
      'playlist',
      { playlists: [] },
      stream({ uploadName: undefined as never, playlistNames: ['mix'] }),
      'PlaylistNotFound',
    ],
    ['Secret of its destination', { destinations: [destination('tv', false)] }, stream(), 'DestinationSecretMissing'],
  ])('waits ten seconds for a missing %s, and then stalls without an event', (_what, objects, loopStream, reason) => {
    const { decision, stream: first } = step(loopStream, world(objects));
    expect(readHealth(first)).toMatchObject({ state: 'reconciling', reason });
    expect(decision.requeueAt).toEqual(at(10));
    expect(judge(first, world({ ...objects, now: at(9) })).state).toBe('reconciling');
    expect(judge(first, world({ ...objects, now: at(10) }))).toMatchObject({ state: 'stalled', reason });
  });

  it('stalls for what only a person ends, also while something else takes time', () => {
    const both = { destinations: [], uploads: [upload('film', importing)] };
    expect(judgeLater(stream(), both)).toMatchObject({ state: 'stalled', reason: 'DestinationNotFound' });
    const other = { uploads: [upload('film', failed)], destinations: [unchecked] };
    expect(judge(stream(), world(other))).toMatchObject({ state: 'stalled', reason: 'MediaFailed' });
  });

  it('without credit stalls also where its media waits for that', () => {
    const unprepared: UploadStatus = { phase: 'ready', media: MEDIA };
    const closed = judge(gate('False', 'InsufficientCredits'), world({ uploads: [upload('film', unprepared)] }));
    expect(closed).toMatchObject({ state: 'stalled', reason: 'MediaAwaitsCredit' });
    const unknown = stream({ readinessGates: [{ conditionType: 'CreditAvailable' }] });
    expect(judge(unknown, world({ uploads: [upload('film', unprepared)] })).state).toBe('reconciling');
  });

  it('that staff have suspended is off air as its spec says', () => {
    const suspended = stream(
      { suspend: true },
      { metadata: { ...meta('bunny'), annotations: { [SUSPENDED_ANNOTATION]: '' } } },
    );
    expect(judge(suspended, world())).toMatchObject({ state: 'ready', reason: 'Suspended' });
  });

  it('that is deleted is never ready', () => {
    const deleted = stream({ replicas: 0 }, { metadata: { ...meta('bunny'), deletionTimestamp: NOW.toISOString() } });
    expect(judge(deleted, world({ pod: makePod(stream(), { ready: true }) })).state).toBe('reconciling');
    expect(judge(deleted, world()).state).toBe('reconciling');
  });

  it('whose pod Kubernetes refuses reconciles: it is tried again', () => {
    const observed = { ...world(), stream: stream() };
    const { decision } = step(stream(), world());
    for (const [words, reason] of [
      ['pods is forbidden: exceeded quota: pods, requested: pods=1, used: pods=1, limited: pods=1', 'QuotaExceeded'],
      ['admission webhook denied the request', 'PodRefused'],
    ] as const) {
      const refused = withoutPod(observed, decision, refusal(words));
      const status = buildStatus(stream(), refused, undefined, world());
      expect(readHealth({ ...stream(), status })).toMatchObject({ state: 'reconciling', reason });
    }
  });
});

describe('a stream on air', () => {
  it('stays ready with items that are left out', () => {
    const loopStream = stream({ uploadName: undefined as never, playlistNames: ['mix'] });
    const objects = { playlists: [playlist('mix', ['film', 'bad'])], uploads: [upload(), upload('bad', failed)] };
    const pod = makePod(loopStream, { ready: true }, world(objects));
    const { stream: shown } = step(loopStream, world({ ...objects, pod }));
    expect(findCondition(shown.status?.conditions, 'Degraded')?.status).toBe('True');
    expect(readHealth(shown)).toMatchObject({ state: 'ready', reason: 'Live' });
  });

  it('is not ready while it cannot take up an edit, and says that it stays on air', () => {
    const { pod, stream: before } = live();
    const edited = { ...before, spec: { ...before.spec, uploadName: 'next' } };
    const made = step(edited, world({ pod, uploads: [upload(), upload('next', importing)] }));
    expect(made.decision.phase).toBe('live');
    expect(readHealth(made.stream)).toMatchObject({ state: 'reconciling', reason: 'MediaImporting' });
    const broken = judge(edited, world({ pod, uploads: [upload(), upload('next', failed)] }));
    expect(broken).toMatchObject({ state: 'stalled', reason: 'MediaFailed' });
    expect(broken.message).toMatch(/The stream stays on air as it was\.$/);
  });

  it('stays ready while nobody says whether its gate is open', () => {
    const { pod, stream: before } = live();
    const gated = { ...before, spec: { ...before.spec, readinessGates: [{ conditionType: 'Window' }] } };
    expect(judge(gated, world({ pod })).state).toBe('ready');
  });

  it('reconciles while its pod is replaced, also where that is refused', () => {
    const { pod, stream: before } = live();
    const going = { ...pod, metadata: { ...pod.metadata, deletionTimestamp: NOW.toISOString() } };
    const made = step(before, world({ pod: going }));
    expect(readHealth(made.stream)).toMatchObject({ state: 'reconciling', reason: 'Replacing' });
    const status = buildStatus(before, withoutStandby(made.decision, refusal('No.')), pod, world());
    expect(readHealth({ ...before, status })).toMatchObject({ state: 'reconciling', reason: 'StandbyRefused' });
  });
});

describe('a stream whose destinations do not accept it', () => {
  const judgeReport = (loopStream: LoopStream, ...problems: PodProblem[]) => {
    const destinations = listReceivers(loopStream.spec).map((name) => destination(name));
    const objects = { destinations, pod: makePod(loopStream, {}, world({ destinations })) };
    return judge(loopStream, { ...world(objects), report: { clock: {}, problems, runs: [] } });
  };
  const failure = (code: string): PodProblem => ({
    reason: 'DestinationReconnecting',
    message: `It says ${code}.`,
    code,
  });

  it.each(['publish_rejected', 'login_required', 'login_refused'])('stalls on %s', (code) => {
    const health = judgeReport(stream(), failure(code));
    expect(health).toMatchObject({ state: 'stalled', reason: 'DestinationRefused' });
    expect(health.message).toMatch(/It says .* Correct the URL, the key or the login/);
  });

  it('reconciles while one of them may come back', () => {
    const two = stream({ destinationNames: ['tv', 'web'] });
    expect(judgeReport(stream(), failure('connection_refused')).state).toBe('reconciling');
    expect(judgeReport(two, failure('publish_rejected'), failure('key_in_use')).state).toBe('reconciling');
    expect(judgeReport(two, failure('publish_rejected')).state).toBe('reconciling');
    expect(judgeReport(two, failure('publish_rejected'), failure('login_refused')).state).toBe('stalled');
  });
});

it('each phase has a judgement', () => {
  const seen = new Set<string>();
  const look = (loopStream: LoopStream, inWorld: World) => {
    const made = step(loopStream, inWorld);
    seen.add(made.decision.phase);
    expect(readHealth(made.stream).state).not.toBe('contradictory');
    return made.stream;
  };
  const { pod, stream: before } = live();
  look(stream({ replicas: 0 }), world());
  look(stream({ schedule: { startAt: at(60).toISOString() } }), world());
  look(stream(), world({ uploads: [] }));
  look(stream(), world());
  look(before, world({ pod }));
  look(before, world());
  look({ ...before, spec: { ...before.spec, replicas: 0 } }, world({ pod }));
  look({ ...before, spec: { ...before.spec, replicas: 0 } }, world());
  look(stream({ schedule: { startAt: at(-9).toISOString(), endAt: at(-5).toISOString() } }), world());
  look(stream(), world({ isNameTaken: true }));
  expect([...seen].sort()).toEqual([...PHASES].sort());
});
