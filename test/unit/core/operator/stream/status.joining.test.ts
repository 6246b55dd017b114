/** Tests that items which become ready in turn join a pod's program together, and that a person's change never waits. */
import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../../src/core/kube/core.ts';
import { decide } from '../../../../../src/core/operator/stream/decide.ts';
import { JOIN_INTERVAL_MS } from '../../../../../src/core/operator/stream/on-air.ts';
import { buildStatus } from '../../../../../src/core/operator/stream/status.ts';
import { readPodProgram } from '../../../../../src/core/protocol/to-streamer.ts';
import {
  PROGRAM_ANNOTATION,
  PROGRAM_CHANGED_ANNOTATION,
  SKIP_ANNOTATIONS,
} from '../../../../../src/core/resources/common/names.ts';
import type { Playlist } from '../../../../../src/core/resources/playlist/resource.ts';
import { isLeftOut } from '../../../../../src/core/resources/stream/item-place.ts';
import type { LoopStreamSpec } from '../../../../../src/core/resources/stream/spec.ts';
import type { UploadStatus } from '../../../../../src/core/resources/upload/spec.ts';
import {
  at,
  destination,
  makePod,
  NOW,
  playlist,
  SETTINGS,
  stream,
  upload,
  world,
} from '../../../../kit/make/operator.ts';

const importing: UploadStatus = { phase: 'importing' };
const broken: UploadStatus = { phase: 'failed', error: { code: 'media_unreadable', message: 'It is cut off.' } };
const buildUploads = (states: Record<string, UploadStatus | undefined>) =>
  Object.entries(states).map(([name, status]) => upload(name, status));

/** A stream that has been live since NOW with the ready items of its list, and whose pod was changed then. */
function onAir(states: Record<string, UploadStatus | undefined>, spec: Partial<LoopStreamSpec> = {}) {
  const { uploadName: _, ...rest } = stream().spec;
  const loopStream = stream({}, { spec: { ...rest, playlistNames: ['mix'], ...spec } });
  const playlists = [playlist('mix', Object.keys(states))];
  const seen = world({ playlists, uploads: buildUploads(states) });
  const pod = changedAt(makePod(loopStream, { ready: true }, seen), NOW);
  const status = {
    ...buildStatus(loopStream, decide({ ...seen, pod, stream: loopStream }, SETTINGS), pod, seen),
    podUID: pod.metadata.uid,
  };
  return { channel: { ...loopStream, status }, pod, playlists };
}

function annotated(pod: Pod, annotations: Record<string, string>): Pod {
  return { ...pod, metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, ...annotations } } };
}
const changedAt = (pod: Pod, time: Date) => annotated(pod, { [PROGRAM_CHANGED_ANNOTATION]: time.toISOString() });

describe('an item that becomes ready', () => {
  const before = { a: undefined, b: importing, c: importing };
  const { channel, pod, playlists } = onAir(before);
  const joined = { a: undefined, b: undefined, c: importing };
  const buildWorld = (
    states: Record<string, UploadStatus | undefined>,
    seconds: number,
    list: Playlist[] = playlists,
  ) => world({ playlists: list, uploads: buildUploads(states), pod, now: at(seconds) });

  it('waits for others for half a minute after the last change, and is checked again then', () => {
    const wait = decide({ ...buildWorld(joined, 5), stream: channel }, SETTINGS);
    expect(wait).toMatchObject({ action: { do: 'nothing' }, requeueAt: new Date(NOW.getTime() + JOIN_INTERVAL_MS) });
    expect(decide({ ...buildWorld(joined, JOIN_INTERVAL_MS / 1000), stream: channel }, SETTINGS).action).toMatchObject({
      do: 'patch',
    });
  });

  it.each([
    ['the last one that is missing', { a: undefined, b: undefined, c: undefined }],
    ['the last one that can come', { a: undefined, b: undefined, c: broken }],
  ])('joins at once when it is %s', (_what, states) => {
    expect(decide({ ...buildWorld(states, 5), stream: channel }, SETTINGS).action).toMatchObject({ do: 'patch' });
  });

  it('joins at once while nothing plays', () => {
    const report = { clock: {}, runs: [], problems: [{ reason: 'NothingPlayable' as const, message: 'None.' }] };
    expect(decide({ ...buildWorld(joined, 5), report, stream: channel }, SETTINGS).action).toMatchObject({
      do: 'patch',
    });
  });

  it('joins at once without an earlier change, or with only a future one', () => {
    const never = annotated(pod, { [PROGRAM_CHANGED_ANNOTATION]: '' });
    expect(decide({ ...buildWorld(joined, 5), pod: never, stream: channel }, SETTINGS).action.do).toBe('patch');
    const ahead = changedAt(pod, at(3600));
    expect(decide({ ...buildWorld(joined, 5), pod: ahead, stream: channel }, SETTINGS).action.do).toBe('patch');
  });

  it('joins together with a person’s changes, at once: items, order, destinations', () => {
    const lists = [playlist('mix', ['c', 'b', 'a'])];
    expect(decide({ ...buildWorld(joined, 5, lists), stream: channel }, SETTINGS).action).toMatchObject({
      do: 'patch',
    });
    const removed = [playlist('mix', ['a', 'b'])];
    expect(decide({ ...buildWorld(joined, 5, removed), stream: channel }, SETTINGS).action).toMatchObject({
      do: 'patch',
    });
    const moved = { ...channel, spec: { ...channel.spec, destinationNames: ['elsewhere'] } };
    const destinations = [
      destination(),
      { ...destination(), metadata: { ...destination().metadata, name: 'elsewhere' } },
    ];
    const there = world({ playlists, uploads: buildUploads(joined), destinations, pod, now: at(5) });
    expect(decide({ ...there, stream: moved }, SETTINGS).action).toMatchObject({ do: 'patch' });
  });

  it('keeps no skip waiting', () => {
    const asked = { ...channel.metadata, annotations: { [SKIP_ANNOTATIONS.video]: at(4).toISOString() } };
    const { action, requeueAt } = decide(
      { ...buildWorld(joined, 5), stream: { ...channel, metadata: asked } },
      SETTINGS,
    );
    expect({ do: action.do, soon: requeueAt && requeueAt < at(10) }).toEqual({ do: 'nothing', soon: true });
  });

  it('does not hide the end of a window that comes before', () => {
    const end = at(20).toISOString();
    const scheduled = { ...channel, spec: { ...channel.spec, schedule: { endAt: end } } };
    expect(decide({ ...buildWorld(joined, 5), stream: scheduled }, SETTINGS).requeueAt).toEqual(at(20));
  });
});

it('120 items that become ready one a second are handed over in as many versions as there are half minutes', () => {
  const names = Array.from({ length: 120 }, (_, i) => `u${i}`);
  const states: Record<string, UploadStatus | undefined> = Object.fromEntries(names.map((name) => [name, importing]));
  states.u0 = undefined;
  const { channel, pod: first, playlists } = onAir(states);
  let [pod, patches] = [first, 0];
  for (const [second, name] of names.entries()) {
    states[name] = undefined;
    const { action } = decide(
      { ...world({ playlists, uploads: buildUploads(states), pod, now: at(second) }), stream: channel },
      SETTINGS,
    );
    if (action.do !== 'patch') continue;
    patches += 1;
    pod = changedAt(annotated(pod, { [PROGRAM_ANNOTATION]: JSON.stringify(action.program) }), at(second));
  }
  expect(patches).toBeLessThanOrEqual(1 + Math.ceil(120_000 / JOIN_INTERVAL_MS));
  expect(readPodProgram(pod)?.video.items.filter(isLeftOut)).toEqual([]);
});
