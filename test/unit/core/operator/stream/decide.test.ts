import { describe, expect, it } from 'vitest';
import { kubeTime } from '../../../../../src/core/lib/clock.ts';
import { isSameStatus } from '../../../../../src/core/operator/runtime/controller.ts';
import { findKnownRefusal, withoutPod } from '../../../../../src/core/operator/stream/refusals.ts';
import { buildStatus, buildStreamEvents } from '../../../../../src/core/operator/stream/status.ts';
import { findCondition } from '../../../../../src/core/resources/common/conditions.ts';
import { FINALIZER } from '../../../../../src/core/resources/common/names.ts';
import { at, destination, makePod, NOW, refusal, step, stream, upload, world } from '../../../../kit/make/operator.ts';

const stopped = (spec = {}) => stream({ replicas: 0, ...spec });

describe('from created to live and back', () => {
  it('makes a pod when everything is ready', () => {
    const { decision } = step(stream(), world());
    expect(decision).toMatchObject({
      phase: 'starting',
      ready: true,
      epoch: kubeTime(NOW),
      action: { do: 'create', program: { epoch: kubeTime(NOW) } },
    });
  });

  it('is starting until a destination accepts media, then live, then reconnecting, then live', () => {
    const one = stream();
    let at1 = step(one, world({ pod: makePod(one) }));
    expect(at1.decision).toMatchObject({ phase: 'starting', action: { do: 'nothing' } });
    at1 = step(at1.stream, world({ pod: makePod(one, { ready: true }), now: at(1) }));
    expect(at1.stream.status).toMatchObject({ phase: 'live', liveSince: kubeTime(NOW), restarts: 2, replicas: 1 });
    at1 = step(at1.stream, world({ pod: makePod(one), now: at(2) }));
    expect(at1.stream.status?.phase).toBe('reconnecting');
    expect(at1.stream.status?.liveSince).toBeUndefined();
    at1 = step(at1.stream, world({ pod: makePod(one), now: at(3) }));
    expect(at1.stream.status?.phase).toBe('reconnecting');
    at1 = step(at1.stream, world({ pod: makePod(one, { ready: true }), now: at(4) }));
    expect(at1.stream.status?.phase).toBe('live');
    expect(findCondition(at1.stream.status?.conditions, 'Live')?.lastTransitionTime).toBe(kubeTime(at(4)));
  });

  it('stops: the pod goes, the stream is stopping until it is gone, and stays stopped', () => {
    const live = step(stream(), world({ pod: makePod(stream(), { ready: true }) })).stream;
    const pod = makePod(live, { ready: true });
    const off = { ...live, spec: { ...live.spec, replicas: 0 } };
    const first = step(off, world({ pod }));
    expect(first.decision).toMatchObject({ phase: 'stopping', action: { do: 'delete', podUid: pod.metadata.uid } });
    const second = step(first.stream, world({ pod: makePod(live, { deleted: true }) }));
    expect(second.decision).toMatchObject({ phase: 'stopping', action: { do: 'nothing' } });
    const third = step(second.stream, world());
    expect(third.stream.status).toMatchObject({ phase: 'stopped', replicas: 0 });
    expect(third.stream.status?.epoch).toBeUndefined();
    expect(step(third.stream, world({ now: at(99) })).stream.status).toEqual(third.stream.status);
  });

  it('restarts the loop after a stop, not after a replaced pod', () => {
    const live = step(stream(), world({ pod: makePod(stream(), { ready: true }) })).stream;
    const replaced = step(live, world({ now: at(60) }));
    expect(replaced.decision).toMatchObject({ phase: 'reconnecting', epoch: kubeTime(NOW), action: { do: 'create' } });
    const off = step({ ...live, spec: { ...live.spec, replicas: 0 } }, world()).stream;
    const again = step({ ...off, spec: { ...off.spec, replicas: 1 } }, world({ now: at(60) }));
    expect(again.decision).toMatchObject({ phase: 'starting', epoch: kubeTime(at(60)) });
  });

  it('is idle, not stopped, when it has never been on air', () => {
    const { stream: idle } = step(stopped(), world());
    expect(idle.status).toMatchObject({ phase: 'idle', canStart: true });
    expect(step(idle, world()).decision.phase).toBe('idle');
  });
});

describe('readiness', () => {
  it.each([
    [
      'a destination that is missing',
      { destinations: [] },
      'DestinationReady',
      'DestinationNotFound',
      'Destination "tv" does not exist.',
    ],
    [
      'a destination without a Secret',
      { destinations: [destination('tv', false)] },
      'DestinationReady',
      'DestinationSecretMissing',
      'Destination "tv": Secret "tv-secret" does not exist.',
    ],
    ['an upload that is missing', { uploads: [] }, 'MediaReady', 'UploadNotFound', 'Upload "film" does not exist.'],
  ])('names %s, for a waiting stream and for a stopped one', (_what, missing, type, reason, message) => {
    for (const [loopStream, phase] of [
      [stream(), 'waiting'],
      [stopped(), 'idle'],
    ] as const) {
      const { decision, stream: after } = step(loopStream, world(missing));
      expect(decision).toMatchObject({ phase, ready: false, action: { do: 'nothing' } });
      expect(findCondition(after.status?.conditions, type)).toMatchObject({
        status: 'False',
        reason,
        message,
        observedGeneration: 1,
      });
    }
  });

  it('waits while a destination has not been checked, without calling it a problem', () => {
    const unseen = step(stream(), world({ destinations: [{ ...destination(), status: {} }] })).stream;
    expect(unseen.status).toMatchObject({ phase: 'waiting', canStart: false });
    expect(findCondition(unseen.status?.conditions, 'DestinationReady')?.status).toBe('Unknown');
  });

  it('names an impossible schedule', () => {
    const schedule = { startAt: at(9).toISOString(), endAt: at(5).toISOString() };
    const { decision } = step(stream({ schedule }), world());
    expect(decision).toMatchObject({ phase: 'waiting', ready: false, action: { do: 'nothing' } });
  });

  it('leaves a stream on air as it is when something it needs goes away', () => {
    const loopStream = stream({ quality: '1080p' });
    const pod = makePod(stream(), { ready: true });
    for (const lost of [{ destinations: [] }, { uploads: [] }]) {
      expect(step(loopStream, world({ pod, ...lost })).decision).toMatchObject({
        phase: 'live',
        ready: false,
        action: { do: 'nothing' },
      });
    }
  });
});

describe('a pod that no longer fits', () => {
  it('is left alone by an edit that changes nothing on air', () => {
    const pod = makePod(stream(), { ready: true });
    expect(step(stream({ displayName: 'Bunny TV' }), world({ pod })).decision.action).toEqual({ do: 'nothing' });
  });

  it('is handed another program without a restart', () => {
    const pod = makePod(stream(), { ready: true });
    const { decision } = step(stream({ uploadName: 'other' }), world({ pod, uploads: [upload('other')] }));
    expect(decision).toMatchObject({
      phase: 'live',
      action: { do: 'patch', program: { version: 2, epoch: kubeTime(NOW) } },
    });
  });

  it('plays another frame rate once that is prepared, without a restart', () => {
    const was = stream();
    const pod = makePod(was, { ready: true });
    const channel = { ...step(was, world({ pod })).stream, spec: { ...was.spec, framerate: 60 as const } };
    expect(step(channel, world({ pod })).decision).toMatchObject({
      phase: 'live',
      ready: false,
      action: { do: 'nothing' },
    });
    const film = upload();
    const prepared = upload('film', {
      ...film.status,
      renditions: [{ profile: '720p60', state: 'ready', key: `renditions/${'a'.repeat(64)}/video-720p60.flv` }],
    });
    expect(step(channel, world({ pod, uploads: [prepared] })).decision).toMatchObject({
      phase: 'live',
      action: { do: 'patch', program: { version: 2, profile: '720p60', epoch: kubeTime(NOW) } },
    });
  });

  it('is sent to others, or by another key, while the program plays on as the same version', () => {
    const loopStream = stream();
    const pod = makePod(loopStream, { ready: true });
    const more = world({ pod, destinations: [destination(), destination('more')] });
    const { action } = step(stream({ destinationNames: ['tv', 'more'] }), more).decision;
    expect(action).toMatchObject({ do: 'patch', program: { version: 1, destinations: ['tv', 'more'] } });
    const onBoth = makePod(stream({ destinationNames: ['tv', 'more'] }), { ready: true });
    const { destinationNames: _, ...spec } = stream().spec;
    const one = { ...stream(), spec: { ...spec, destinations: [{ name: 'tv', enabled: false }, { name: 'more' }] } };
    const fewer = step(one, { ...more, pod: onBoth }).decision.action;
    expect(fewer).toMatchObject({ do: 'patch', program: { version: 1, destinations: ['more'] } });
    const renewed = destination();
    renewed.status = { ...renewed.status, secretVersion: '2' };
    const other = step(loopStream, world({ pod, destinations: [renewed] })).decision.action;
    expect(other).toMatchObject({ do: 'patch', program: { version: 1, destinations: ['tv'] } });
    expect(step(loopStream, world({ pod })).decision.action).toEqual({ do: 'nothing' });
  });

  it('is replaced when it has ended for good', () => {
    const pod = makePod(stream(), { phase: 'Failed' });
    expect(step(stream(), world({ pod })).decision).toMatchObject({
      phase: 'starting',
      action: { do: 'create', standby: false },
    });
  });

  it('reports the obstacle of its pod, in the words of Kubernetes', () => {
    const { stream: after } = step(stream(), world({ pod: makePod(stream(), { waiting: 'ImagePullBackOff' }) }));
    expect(findCondition(after.status?.conditions, 'Progressing')).toMatchObject({
      status: 'False',
      reason: 'ImagePullBackOff',
    });
    expect(after.status?.phase).toBe('starting');
  });
});

describe('the column of destinations', () => {
  it("shows their display names, and the object's name where there is none", () => {
    const home = destination('dst-01j9');
    home.spec.displayName = 'Home on YouTube';
    const to = stream({ destinationNames: ['dst-01j9', 'tv', 'gone'] });
    const { status } = step(to, world({ destinations: [home, destination()] })).stream;
    expect(status?.destinationSummary).toBe('Home on YouTube, tv, gone');
  });

  it('leaves out a destination that is not enabled, which keeps nothing off air', () => {
    const { destinationNames: _, ...spec } = stream().spec;
    const to = { ...stream(), spec: { ...spec, destinations: [{ name: 'tv' }, { name: 'gone', enabled: false }] } };
    const { status } = step(to, world({ destinations: [destination()] })).stream;
    expect(status?.destinationSummary).toBe('tv');
    expect(findCondition(status?.conditions, 'DestinationReady')).toMatchObject({ status: 'True' });
  });
});

describe('refusals of Kubernetes', () => {
  it('are tried again, and known from the status for the spec that was refused', () => {
    const loopStream = stream();
    const { action, ...made } = step(loopStream, world()).decision;
    const seen = { ...world(), stream: loopStream };
    const decision = withoutPod(seen, { ...made, action }, refusal('Every pod needs the label team.'));
    expect(decision).toMatchObject({ phase: 'waiting', requeueAt: at(30) });
    const waiting = { ...loopStream, status: buildStatus(loopStream, decision, undefined, world()) };
    const known = { message: 'Every pod needs the label team.', since: NOW };
    expect(findKnownRefusal(waiting, action)).toEqual(known);
    const again = step(waiting, world({ now: at(600) })).decision;
    expect(again.action.do).toBe('create');
    const refused = withoutPod({ ...seen, stream: waiting }, again, refusal(known.message));
    expect(isSameStatus(waiting.status, buildStatus(waiting, refused, undefined, world()))).toBe(true);
    const edited = { ...waiting, metadata: { ...waiting.metadata, generation: 2 } };
    expect(findKnownRefusal(edited, action)).toBeUndefined();
  });

  it('while a pod of an earlier stream of its name is removed, the stream waits and reports no failure', () => {
    const { decision } = step(stream(), { ...world({ isNameTaken: true }), strays: [makePod(stream())] });
    expect(decision).toMatchObject({ phase: 'starting', action: { do: 'nothing' } });
  });

  it('while a pod that is not ours has the name, none is made', () => {
    const { decision } = step(stream(), world({ isNameTaken: true }));
    expect(decision).toMatchObject({ phase: 'failed', action: { do: 'nothing' }, requeueAt: at(30) });
    expect(step(stopped(), world({ isNameTaken: true })).decision).toMatchObject({
      phase: 'idle',
      action: { do: 'nothing' },
    });
  });
});

describe('deletion', () => {
  const deleted = () => {
    const loopStream = stream();
    return {
      ...loopStream,
      metadata: { ...loopStream.metadata, deletionTimestamp: kubeTime(NOW), finalizers: ['other', FINALIZER] },
    };
  };

  it('lets the stream go only when nothing of its pod is left', () => {
    const channel = deleted();
    expect(step(channel, world({ pod: makePod(channel, { ready: true }) })).decision).toMatchObject({
      phase: 'stopping',
      action: { do: 'delete' },
    });
    expect(step(channel, world({ pod: makePod(channel, { deleted: true }) })).decision.action).toEqual({
      do: 'nothing',
    });
    expect(step(channel, world()).decision.action).toEqual({ do: 'removeFinalizer' });
  });
});

describe('the story', () => {
  it('the events', () => {
    const loopStream = stream();
    const starting = step(loopStream, world({ pod: makePod(loopStream) })).stream;
    const live = step(starting, world({ pod: makePod(loopStream, { ready: true }) })).stream;
    const reasons = (before: typeof loopStream, after: typeof loopStream) =>
      buildStreamEvents(before.status, after.status ?? {}).map(({ reason }) => reason);
    expect(reasons(loopStream, starting)).toEqual([]);
    expect(reasons(starting, live)).toEqual(['Live']);
    expect(reasons(step(loopStream, world({ uploads: [] })).stream, live)).toEqual(['Live']);
    expect(reasons(live, live)).toEqual([]);
    const lost = step(live, world({ pod: makePod(loopStream), uploads: [] })).stream;
    expect(reasons(live, lost)).toEqual(['Reconnecting', 'NotReady']);
  });
});

describe('the status', () => {
  it('is the same for the same world, at every reconcile', () => {
    const loopStream = stream();
    const pod = makePod(loopStream, { ready: true });
    const first = step(loopStream, world({ pod })).stream;
    const later = step(first, world({ pod, now: at(3600) })).stream;
    expect(isSameStatus(first.status, later.status ?? {})).toBe(true);
  });

  it('does not see the conditions that others keep', () => {
    const { status = {} } = step(stream(), world()).stream;
    const theirs = {
      type: 'CreditAvailable',
      status: 'True' as const,
      reason: 'Paid',
      message: '',
      lastTransitionTime: kubeTime(NOW),
    };
    expect(isSameStatus({ ...status, conditions: [theirs, ...(status.conditions ?? [])] }, status)).toBe(true);
  });
});
