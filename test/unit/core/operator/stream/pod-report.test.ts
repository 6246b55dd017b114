import { describe, expect, it } from 'vitest';
import { DEGRADATIONS } from '../../../../../src/core/lib/codes/streams.ts';
import { judgeDegraded } from '../../../../../src/core/operator/stream/conditions.ts';
import { findPendingSkip, readSkipped, withClock } from '../../../../../src/core/operator/stream/program.ts';
import { SKIP_ANNOTATIONS } from '../../../../../src/core/resources/common/names.ts';
import { at, makePod, makeProgram, NOW, step, stream, world } from '../../../../kit/make/operator.ts';
import { parsePodReport } from '../../../../kit/make/report.ts';

const EPOCH = NOW.toISOString();
const program = makeProgram(stream(), world(), EPOCH);
const clock = (epoch: string, version = program.version) => ({ version, epoch });
const stats = { playable: true, clock: { video: clock(EPOCH), audio: null }, brokenItems: [], destinations: [] };
const leftOut = (message: string) => ({ reason: 'ItemsLeftOut', message });
const newsWith = (more: object) => parsePodReport({ ...stats, ...more });

describe('whether a stream is live', () => {
  const pod = (ready: boolean) => makePod(stream(), { ready });
  const pushed = (live: boolean) => ({ report: parsePodReport({ ...stats, live }, true) });
  const live = step(stream(), world({ pod: pod(true) })).stream;

  it('follows what its pod pushes, before kubelet sees it', () => {
    expect(live.status?.phase).toBe('live');
    const lost = step(live, { ...world({ pod: pod(true) }), ...pushed(false) }).stream;
    expect(lost.status?.phase).toBe('reconnecting');
    const back = step(lost, { ...world({ pod: pod(false) }), ...pushed(true) }).stream;
    expect(back.status?.phase).toBe('live');
  });

  it('follows kubelet where the pod pushes nothing, at its start, and when it is over', () => {
    const answered = { report: parsePodReport({ ...stats, live: false }) };
    expect(step(live, { ...world({ pod: pod(true) }), ...answered }).decision.phase).toBe('live');
    expect(step(stream(), { ...world({ pod: pod(false) }), ...pushed(true) }).decision.phase).toBe('starting');
    const over = makePod(stream(), { ready: true, phase: 'Failed' });
    expect(step(live, { ...world({ pod: over }), ...pushed(true) }).decision.phase).not.toBe('live');
  });
});

describe('the report of a pod', () => {
  it.each([[undefined], [null], ['x'], [[]], [{}], [{ playable: 'yes' }]])('%j is no report', (told) => {
    expect(parsePodReport(told)).toBeUndefined();
  });

  it('is taken as far as it makes sense', () => {
    const odd = { clock: { video: { version: 'x' }, audio: 5 }, brokenItems: 'many', destinations: [null, 7] };
    expect(newsWith(odd)).toEqual({ clock: {}, problems: [], runs: [] });
  });

  it('becomes one condition: the worst problem gives the reason, and more than five are counted', () => {
    const item = (n: number) => ({ id: `i${n}`, name: `Item ${n}`, code: 'item_missing', message: 'It is not there.' });
    const destinations = [
      { name: 'tv', connected: false, lastError: { code: 'connection_refused', message: 'Nobody listens.' } },
      { name: 'backup', connected: true, lastError: null },
      { name: 'new', connected: false, lastError: null },
    ];
    const one = judgeDegraded(newsWith({ destinations }), undefined);
    expect(one).toEqual({
      type: 'Degraded',
      status: 'True',
      reason: 'DestinationReconnecting',
      message: 'Destination "tv" does not accept the stream. Nobody listens.',
    });
    const many = Array.from({ length: 7 }, () => destinations[0]);
    const both = judgeDegraded(newsWith({ destinations: many }), undefined, [leftOut('1 of 2 items is left out.')]);
    expect(both.reason).toBe('ItemsLeftOut');
    expect(both.message).toMatch(/^1 of 2 items is left out\. Destination "tv" .* 3 more problems were reported\.$/);
    expect(judgeDegraded(newsWith({ playable: false }), undefined, [leftOut('One is left out.')]).reason).toBe(
      'NothingPlayable',
    );
    expect(
      newsWith({ brokenItems: [item(1), { ...item(2), track: 'audio', index: 3, playlistID: 'p' }] })?.broken,
    ).toEqual([
      { ...item(1), track: 'video' },
      { ...item(2), track: 'audio', index: 3, playlist: 'p' },
    ]);
  });

  it('says what to do when preparing is slower than playing', () => {
    const item = { id: 'upl-1', name: 'Film', track: 'video', playlistID: null, index: 0 };
    const behind = { preparationBehind: { count: 2, item, since: EPOCH } };
    expect(judgeDegraded(newsWith(behind), undefined, [leftOut('One is left out.')])).toMatchObject({
      status: 'True',
      reason: 'PreparationBehind',
      message:
        'Preparing "Film" is slower than playing it, so the stream repeats what is prepared. ' +
        `${DEGRADATIONS.PreparationBehind.fix} One is left out.`,
    });
    for (const preparationBehind of [undefined, null, 'yes', { count: 2, item: null, since: null }, { item: 'all' }])
      expect(newsWith({ preparationBehind })?.problems).toEqual([]);
  });

  it('keeps the condition while there is none, and takes it back when all is well', () => {
    const before = judgeDegraded(newsWith({ playable: false }), undefined);
    expect(judgeDegraded(undefined, before)).toEqual(before);
    expect(judgeDegraded(newsWith({}), before)).toMatchObject({ status: 'False', reason: 'Healthy' });
    expect(judgeDegraded(undefined, undefined)).toMatchObject({ status: 'False', reason: 'Healthy' });
  });
});

describe('the epochs of a program', () => {
  const audio = { mode: 'sequential' as const, items: program.video.items };
  const later = at(60).toISOString();

  it('stay as they are written when the pod says the same moment in other digits', () => {
    const whole = { ...program, epoch: '2026-06-01T12:00:00Z' };
    expect(withClock(whole, { video: clock('2026-06-01T12:00:00.000Z') })).toBe(whole);
    expect(withClock(whole, {})).toBe(whole);
  });

  it('are taken from the pod, each track’s own, and only for the version that they belong to', () => {
    expect(withClock(program, { video: clock(later) })).toEqual({ ...program, epoch: later });
    expect(withClock(program, { video: clock(later, 99) })).toBe(program);
    const both = { ...program, audio };
    const moved = withClock(both, { video: clock(later), audio: clock(EPOCH) });
    expect(moved).toEqual({ ...both, epoch: later, audioEpoch: EPOCH });
    expect(withClock(moved, { video: clock(later), audio: clock(EPOCH) })).toBe(moved);
    expect(withClock(moved, { video: clock(later), audio: clock(later) })).toEqual({ ...both, epoch: later });
  });
});

describe('a skip', () => {
  const asking = (video: string, audio?: string) => {
    const loopStream = stream();
    const annotations = { [SKIP_ANNOTATIONS.video]: video, ...(audio && { [SKIP_ANNOTATIONS.audio]: audio }) };
    return { ...loopStream, metadata: { ...loopStream.metadata, annotations } };
  };
  const id = `${EPOCH} x`;

  it('is new while somebody requests it', () => {
    expect(findPendingSkip(stream(), program, NOW)).toBeUndefined();
    expect(findPendingSkip(asking(id), program, at(5))).toEqual({ track: 'video', id, void: false });
    expect(findPendingSkip(asking('by hand'), program, NOW)).toMatchObject({ void: false });
    expect(findPendingSkip(asking(id), program, at(121))).toMatchObject({ void: true });
    const done = { ...program, skipped: { video: id } };
    expect(findPendingSkip(asking(id), done, NOW)).toBeUndefined();
    expect(findPendingSkip(asking(id, 'a'), done, NOW)).toEqual({ track: 'audio', id: 'a', void: true });
  });

  it('that was asked for before a stream goes on air is not done by its pod', () => {
    const { decision } = step(asking(id, 'a'), world());
    expect(readSkipped(asking(id, 'a'))).toEqual({ skipped: { video: id, audio: 'a' } });
    expect(decision).toMatchObject({ action: { do: 'create', program: { skipped: { video: id, audio: 'a' } } } });
  });

  it('is passed to a reachable pod, and waits for another one', () => {
    const channel = asking(id);
    const pod = makePod(stream(), { ready: true });
    const buildPod = (ip?: string) => ({ ...pod, status: { ...pod.status, ...(ip && { podIP: ip }) } });
    const without = step(channel, world({ pod: buildPod(), now: at(5) })).decision;
    expect(without.action).toEqual({ do: 'nothing' });
    expect(without.requeueAt).toEqual(at(6));
    expect(step(channel, world({ pod: buildPod('10.0.0.1'), now: at(5) })).decision.action).toMatchObject({
      do: 'skip',
      address: '10.0.0.1',
      skip: { track: 'video', id },
      program: { skipped: { video: id }, version: program.version },
    });
    const late = step(channel, world({ pod: buildPod('10.0.0.1'), now: at(200) })).decision;
    expect(late).toMatchObject({
      action: { do: 'patch' },
      skipped: { video: id },
      events: [{ reason: 'SkipExpired' }],
    });
  });

  it('and a moved place go to the next pod', () => {
    const epoch = at(-30).toISOString();
    const pod = makePod(stream(), { ready: true });
    const inWorld = { ...world({ pod }), report: { clock: { video: clock(epoch) }, problems: [], runs: [] } };
    const { decision, stream: after } = step(stream(), inWorld);
    expect(decision.action).toMatchObject({ do: 'patch', program: { epoch, version: program.version } });
    expect(after.status?.epoch).toBe(epoch);
    const gone = step({ ...after, status: { ...after.status, skipped: { video: id } } }, world());
    expect(gone.decision.action).toMatchObject({ do: 'create', program: { epoch, skipped: { video: id } } });
  });
});
