/** Tests that a stream keeps its current items for a return until their successors can be played. */
import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../../src/core/kube/core.ts';
import { kubeTime } from '../../../../../src/core/lib/clock.ts';
import { isSameStatus } from '../../../../../src/core/operator/runtime/controller.ts';
import { withoutPod } from '../../../../../src/core/operator/stream/refusals.ts';
import { buildStatus } from '../../../../../src/core/operator/stream/status.ts';
import type { Program } from '../../../../../src/core/protocol/program.ts';
import { readPodProgram } from '../../../../../src/core/protocol/to-streamer.ts';
import { findCondition } from '../../../../../src/core/resources/common/conditions.ts';
import { PROGRAM_ANNOTATION, PUBLISHED_ANNOTATION } from '../../../../../src/core/resources/common/names.ts';
import type { Playlist } from '../../../../../src/core/resources/playlist/resource.ts';
import type { LoopStream } from '../../../../../src/core/resources/stream/resource.ts';
import type { LoopStreamSpec } from '../../../../../src/core/resources/stream/spec.ts';
import {
  at,
  destination,
  MEDIA,
  makePod,
  NOW,
  playlist,
  refusal,
  rendition,
  step,
  stream,
  upload,
  world,
} from '../../../../kit/make/operator.ts';

/** Imported, and not prepared in any profile. */
const unprepared = (name: string) => upload(name, { phase: 'preparing', progress: 0.5, media: MEDIA });

/** A list with these published items, whatever its spec. */
const publishing = (version: number, ...items: string[]): Playlist => {
  const list = playlist('list', items);
  const published = JSON.stringify({ version, mode: 'sequential', items: list.spec.items });
  return { ...list, metadata: { ...list.metadata, annotations: { [PUBLISHED_ANNOTATION]: published } } };
};

const buildStream = (): LoopStream => {
  const { uploadName: _, ...spec } = stream({ playlistNames: ['list'] }).spec;
  return stream({}, { spec });
};
const READY = { playlists: [publishing(1, 'film')], uploads: [upload(), unprepared('next')] };
const PUBLISHED = { ...READY, playlists: [publishing(2, 'next')] };
const PREPARED = { ...PUBLISHED, uploads: [upload(), upload('next')] };

/** A stream that is live with the first version, and its pod. */
function onAir(loopStream = buildStream(), inWorld = READY): { loopStream: LoopStream; pod: Pod } {
  const pod = makePod(loopStream, { ready: true }, world(inWorld));
  return { loopStream: step(loopStream, world({ ...inWorld, pod })).stream, pod };
}

/** The same after the next version, which is not prepared, was published. */
function preparing() {
  const { loopStream, pod } = onAir();
  return { loopStream: step(loopStream, world({ ...PUBLISHED, pod, now: at(10) })).stream, pod };
}

const edited = (loopStream: LoopStream, spec: Partial<LoopStreamSpec>): LoopStream => ({
  ...loopStream,
  spec: { ...loopStream.spec, ...spec },
});
const programIn = (action: object): Program => (action as { program: Program }).program;

describe('a stream whose next version is being prepared', () => {
  it('reports its present items, and does so once', () => {
    const { loopStream, pod } = preparing();
    expect(loopStream.status).toMatchObject({
      phase: 'live',
      canStart: false,
      playing: { version: 1, profile: '720p30', video: { items: [{ id: 'film', rendition: rendition().key }] } },
    });
    const again = step(loopStream, world({ ...PUBLISHED, pod, now: at(20) })).stream;
    expect(isSameStatus(loopStream.status, again.status ?? {})).toBe(true);
  });

  it('returns with them at the playhead when its pod is lost, and still reports its wait', () => {
    const { loopStream, pod } = preparing();
    const { decision, stream: after } = step(loopStream, world({ ...PUBLISHED, now: at(60) }));
    expect(decision).toMatchObject({ phase: 'reconnecting', ready: false, action: { do: 'create', standby: false } });
    expect(programIn(decision.action)).toEqual(readPodProgram(pod));
    expect(findCondition(after.status?.conditions, 'MediaReady')).toMatchObject({
      status: 'False',
      reason: 'MediaPreparing',
      message: 'Upload "next", clip 1 of the playlist "list", is being prepared for 720p30.',
    });
    expect(after.status).toMatchObject({ epoch: kubeTime(NOW), playing: loopStream.status?.playing });
  });

  it('comes back with it although the upload has been deleted and the next one cannot be had', () => {
    const failed = upload('next', { phase: 'failed', error: { code: 'media_unreadable', message: 'It is a text.' } });
    for (const uploads of [[], [failed]]) {
      const { decision } = step(preparing().loopStream, world({ ...PUBLISHED, uploads }));
      expect(programIn(decision.action).video.items).toMatchObject([{ id: 'film' }]);
    }
  });

  it('goes on to the next when that is prepared, and keeps nothing then', () => {
    const { loopStream } = preparing();
    const { decision, stream: back } = step(loopStream, world({ ...PUBLISHED, now: at(60) }));
    const pod = makePod(loopStream, { ready: true }, world(PREPARED));
    pod.metadata.annotations = { [PROGRAM_ANNOTATION]: JSON.stringify(programIn(decision.action)) };
    const next = step(back, world({ ...PREPARED, pod, now: at(90) }));
    expect(next.decision.action).toMatchObject({
      do: 'patch',
      program: { version: 2, epoch: kubeTime(NOW), video: { items: [{ id: 'next' }] } },
    });
    expect(next.stream.status).not.toHaveProperty('playing');
  });

  it('that is lost and comes back after that was prepared, comes back with the next', () => {
    const { decision, stream: after } = step(preparing().loopStream, world({ ...PREPARED, now: at(60) }));
    expect(programIn(decision.action).video.items).toMatchObject([{ id: 'next' }]);
    expect(after.status).not.toHaveProperty('playing');
  });

  it('waits for all its other obstacles, and keeps its items', () => {
    const { loopStream } = preparing();
    const lost = step(loopStream, world({ ...PUBLISHED, destinations: [destination('tv', false)] }));
    expect(lost.decision).toMatchObject({ phase: 'waiting', action: { do: 'nothing' } });
    expect(lost.stream.status?.playing).toEqual(loopStream.status?.playing);
    const back = step(lost.stream, world(PUBLISHED)).decision;
    expect(programIn(back.action)).toMatchObject({ epoch: kubeTime(NOW), video: { items: [{ id: 'film' }] } });
  });

  it('keeps its items while others shut it off, and while Kubernetes has no room for its pod', () => {
    const { loopStream, pod } = preparing();
    const gate = { type: 'CreditAvailable', status: 'False' as const, reason: 'X', message: 'X' };
    const conditions = [...(loopStream.status?.conditions ?? []), { ...gate, lastTransitionTime: kubeTime(NOW) }];
    const gated = edited(
      { ...loopStream, status: { ...loopStream.status, conditions } },
      {
        readinessGates: [{ conditionType: gate.type }],
      },
    );
    expect(step(gated, world({ ...PUBLISHED, pod })).stream.status?.playing).toEqual(loopStream.status?.playing);
    const { decision } = step(loopStream, world(PUBLISHED));
    const refused = withoutPod({ ...world(PUBLISHED), stream: loopStream }, decision, refusal('exceeded quota: few'));
    const status = buildStatus(loopStream, refused, undefined, world(PUBLISHED));
    expect(status).toMatchObject({ phase: 'waiting', playing: loopStream.status?.playing });
    expect(step({ ...loopStream, status }, world(PUBLISHED)).decision.action).toMatchObject({ do: 'create' });
  });

  it('keeps its items while a pod that is not its own has the name', () => {
    const { decision, stream: after } = step(preparing().loopStream, world({ ...PUBLISHED, isNameTaken: true }));
    expect(decision).toMatchObject({ phase: 'failed', action: { do: 'nothing' } });
    expect(after.status?.playing?.video.items).toMatchObject([{ id: 'film' }]);
  });

  it('forgets its items when it is stopped', () => {
    const { loopStream, pod } = preparing();
    const off = step(edited(loopStream, { replicas: 0 }), world({ ...PUBLISHED, pod })).stream;
    expect(off.status).toMatchObject({ phase: 'stopping' });
    expect(off.status).not.toHaveProperty('playing');
    const again = step(edited(off, { replicas: 1 }), world(PUBLISHED));
    expect(again.decision).toMatchObject({ phase: 'waiting', action: { do: 'nothing' } });
  });
});

describe('the same of an edit of the stream', () => {
  it.each<[string, Partial<LoopStreamSpec>, object]>([
    ['another upload', { uploadName: 'next' }, { uploads: [upload(), unprepared('next')] }],
    ['another quality', { quality: '1080p' }, {}],
    ['another frame rate', { framerate: 60 }, {}],
    ['a list that is not there', { playlistNames: ['gone'] }, {}],
    ['sound that is not there', { audioPlaylistNames: ['gone'] }, {}],
  ])('%s', (_what, spec, objects) => {
    const { loopStream, pod } = onAir(stream(), { playlists: [], uploads: [upload()] });
    const after = step(edited(loopStream, spec), world({ ...objects, pod })).stream;
    const { decision } = step(after, world({ ...objects, now: at(60) }));
    expect(decision).toMatchObject({ phase: 'reconnecting', ready: false });
    expect(programIn(decision.action)).toEqual(readPodProgram(pod));
  });

  it('sends it where the stream is sent now, with its sound', () => {
    const sound = playlist('sound', ['song'], { track: 'audio' });
    const song = upload('song', undefined, 'audio');
    const both = { playlists: [sound], uploads: [upload(), song] };
    const { loopStream, pod } = onAir(stream({ audioPlaylistNames: ['sound'] }), both);
    const change = edited(loopStream, { uploadName: 'next', destinationNames: ['tv', 'more'] });
    const missing = { ...both, destinations: [destination(), destination('more')] };
    const after = step(change, world({ ...missing, pod })).stream;
    const program = programIn(step(after, world(missing)).decision.action);
    expect(program).toMatchObject({ audio: { items: [{ id: 'song' }] }, destinations: ['tv', 'more'] });
    expect(program.destinationsRevision).not.toBe(readPodProgram(pod)?.destinationsRevision);
  });
});

describe('a stream in the ordinary case', () => {
  it('keeps nothing beside its pod: when it starts, on air, when the next version is prepared already', () => {
    const waiting = step(buildStream(), world({ ...READY, uploads: [unprepared('film')] })).stream;
    const starting = step(waiting, world(READY)).stream;
    const { loopStream, pod } = onAir(starting);
    const next = step(loopStream, world({ ...PREPARED, pod })).stream;
    for (const { status } of [waiting, starting, loopStream, next]) {
      expect(status?.phase).toBeDefined();
      expect(status).not.toHaveProperty('playing');
    }
  });

  it('that was never on air waits until all of it can be played', () => {
    const { decision } = step(buildStream(), world(PUBLISHED));
    expect(decision).toMatchObject({ phase: 'waiting', action: { do: 'nothing' } });
  });
});

describe('a stream on air with media that is still being prepared', () => {
  const media = { ...MEDIA, durationSeconds: 1000 };
  const key = rendition().key ?? '';
  const playable = upload('film', {
    phase: 'preparing',
    media,
    renditions: [
      { profile: '720p30', state: 'pending', playable: true, key, preparedSeconds: 120, durationSeconds: 1000 },
    ],
  });
  const error = { code: 'prepare_failed', message: 'The file is damaged.' } as const;
  const failed = upload('film', {
    phase: 'failed',
    media,
    renditions: [{ profile: '720p30', state: 'failed', error }],
  });
  const degraded = ({ status }: LoopStream) => findCondition(status?.conditions, 'Degraded');

  it('keeps its program when the rest is prepared', () => {
    const pod = makePod(stream(), { ready: true }, world({ uploads: [playable] }));
    const live = step(stream(), world({ pod, uploads: [playable] }));
    expect(live.decision).toMatchObject({ phase: 'live', ready: true, preparation: { prepared: 0.12 } });
    expect(live.stream.status).not.toHaveProperty('playing');
    const done = step(live.stream, world({ pod, uploads: [upload()] }));
    expect(done.decision.action).toEqual({ do: 'nothing' });
    expect(done.stream.status).not.toHaveProperty('preparation');
  });

  it('goes on with what there is when the rest cannot be prepared, also with a new pod, and says so', () => {
    const pod = makePod(stream(), { ready: true }, world({ uploads: [playable] }));
    const live = step(stream(), world({ pod, uploads: [playable] })).stream;
    const { decision, stream: after } = step(live, world({ pod, uploads: [failed] }));
    expect(decision).toMatchObject({ phase: 'live', action: { do: 'nothing' } });
    expect(after.status?.playing?.video.items).toMatchObject([{ id: 'film', rendition: key }]);
    expect(degraded(after)).toMatchObject({
      status: 'True',
      reason: 'MediaFailed',
      message:
        'Upload "film" could not be prepared: The file is damaged. The stream goes on with the part that is prepared.',
    });
    const lost = step(after, world({ uploads: [failed] }));
    expect(programIn(lost.decision.action)).toEqual(readPodProgram(pod));
    const mended = step(after, world({ pod, uploads: [playable] })).stream;
    expect(degraded(mended)?.status).toBe('False');
  });

  it('goes on without it where others of its list can be played', () => {
    const loopStream = buildStream();
    const inWorld = { playlists: [publishing(1, 'film', 'next')], uploads: [playable, upload('next')] };
    const { loopStream: live, pod } = onAir(loopStream, inWorld);
    const { decision } = step(live, world({ ...inWorld, uploads: [failed, upload('next')], pod }));
    expect(programIn(decision.action).video.items).toMatchObject([
      { id: 'film', rendition: '' },
      { id: 'next', rendition: key },
    ]);
  });
});
