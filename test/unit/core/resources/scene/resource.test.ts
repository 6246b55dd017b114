/** Tests that a stream shows the layers of the scene that it names, and goes on with what it had where there is none. */
import { describe, expect, it } from 'vitest';
import { watchNamespaces } from '../../../../../src/core/kube/namespace-watch.ts';
import type { Kube } from '../../../../../src/core/kube/types.ts';
import { createCaches, watchCaches } from '../../../../../src/core/operator/caches/caches.ts';
import { findImageProblem, resolveLook } from '../../../../../src/core/operator/media/looks.ts';
import { listWantedLooks } from '../../../../../src/core/operator/upload/wanted-looks.ts';
import type { Program } from '../../../../../src/core/protocol/program.ts';
import { type Scene, withScene } from '../../../../../src/core/resources/scene/resource.ts';
import type { LoopStream } from '../../../../../src/core/resources/stream/resource.ts';
import type { Layer } from '../../../../../src/core/resources/upload/overlays.ts';
import type { Upload } from '../../../../../src/core/resources/upload/resource.ts';
import { renditionKey, renditionScope } from '../../../../../src/core/resources/upload/spec.ts';
import {
  MEDIA,
  makeProgram,
  meta,
  NAMESPACE,
  NOW,
  rendition,
  stream,
  upload,
  world,
} from '../../../../kit/make/operator.ts';
import { silent } from '../../../../kit/real/kube.ts';

const PLACE = { anchor: 'BottomRight', marginPercent: 4, opacityPercent: 100 } as const;
const layer = (text: string): Layer => ({ ...PLACE, text });
const LOGO: Layer = { ...PLACE, imageUploadName: 'logo' };
const makeScene = (layers: Layer[], more: Partial<Scene['spec']> = {}): Scene => ({
  apiVersion: 'loopstream.dev/v1beta1',
  kind: 'Scene',
  metadata: meta('evening'),
  spec: { layers, ...more },
});
const named = (name: string, overlays: LoopStream['spec']['overlays'] = { sceneName: 'evening' }): LoopStream =>
  stream({ overlays }, { metadata: { ...stream().metadata, name, uid: name } });
const fill = (scene: Scene | undefined, ...streams: LoopStream[]) => {
  const caches = createCaches(watchNamespaces({} as Kube, [NAMESPACE], silent));
  caches.uploads.upsert(upload());
  if (scene) caches.scenes.upsert(scene);
  for (const one of streams) caches.streams.upsert(one);
  return caches;
};

describe('a stream that names a scene', () => {
  const find = (scene: Scene | undefined) => withScene(named('a'), () => scene);

  it('has its layers as if they were its own, and whether they are required', () => {
    const plain = named('a', { layers: [layer('On air')] });
    expect(withScene(plain, () => makeScene([layer('Other')]))).toBe(plain);
    const { overlays } = find(makeScene([layer('On air')], { required: true })).spec;
    expect(overlays).toEqual({ sceneName: 'evening', layers: [layer('On air')], required: true });
    const look = resolveLook(
      find(makeScene([layer('On air')])),
      { upload: upload(), playlist: undefined },
      () => undefined,
    );
    expect(look).toEqual(resolveLook(plain, { upload: upload(), playlist: undefined }, () => undefined));
  });

  it('says which scene is missing, also while that is being deleted', () => {
    const gone = makeScene([layer('On air')]);
    const deleted = { ...gone, metadata: { ...gone.metadata, deletionTimestamp: NOW.toISOString() } };
    for (const scene of [undefined, deleted])
      expect(findImageProblem(find(scene), () => undefined)?.message).toBe(
        'Scene "evening", which has the overlays of the stream, does not exist.',
      );
    expect(findImageProblem(find(gone), () => undefined)).toBeUndefined();
  });

  it('goes on with the overlays that it had while the scene is missing, and begins plain', () => {
    const look = resolveLook(
      find(makeScene([layer('On air')])),
      { upload: upload(), playlist: undefined },
      () => undefined,
    );
    if (look === undefined || look === 'waits') throw new Error('The item has no look.');
    const key = renditionKey(MEDIA.sha256, 'video', look.profile, renditionScope(NAMESPACE));
    const film = upload();
    const renditions = [...(film.status?.renditions ?? []), rendition(look.profile, { key })];
    const made: Upload = { ...film, status: { ...film.status, renditions } };
    const play = (scene: Scene | undefined, previous?: Program) =>
      makeProgram(find(scene), world({ uploads: [made] }), NOW.toISOString(), previous);
    const shown = (program: Program) => program.video.items[0]?.rendition;
    const before = play(makeScene([layer('On air')]));
    expect(shown(before)).toBe(key);
    expect(shown(play(undefined, before))).toBe(key);
    expect(shown(play(undefined))).toBe(film.status?.renditions?.[0]?.key);
  });
});

describe('a scene', () => {
  it('asks for the same look once, whichever streams name it', () => {
    const caches = fill(makeScene([layer('On air')]), named('a'), named('b'));
    expect(listWantedLooks(caches, upload()).map(({ layers }) => layers.length)).toEqual([1]);
    expect(listWantedLooks(fill(undefined, named('a')), upload())).toEqual([]);
  });

  it('has its streams and their items looked at when it comes, changes or goes, and when its picture does', () => {
    const caches = fill(undefined, named('a'), named('b', { layers: [layer('Own')] }));
    const [uploads, streams]: [string[], string[]] = [[], []];
    const ignore = () => undefined;
    watchCaches(caches, {
      stream: (key) => streams.push(key),
      upload: (key) => uploads.push(key),
      playlist: ignore,
      destination: ignore,
      heldDestination: ignore,
      expiringDestination: ignore,
    });
    const change = (make: () => void) => {
      uploads.length = 0;
      streams.length = 0;
      make();
      return [uploads.includes(`${NAMESPACE}/film`), streams];
    };
    const a = [`${NAMESPACE}/a`];
    const scene = makeScene([LOGO]);
    expect(change(() => caches.scenes.upsert(scene))).toEqual([true, a]);
    expect(change(() => caches.scenes.upsert({ ...scene, metadata: meta('evening') }))).toEqual([false, []]);
    expect(change(() => caches.scenes.upsert(makeScene([LOGO, layer('Night')])))).toEqual([true, a]);
    const video = { codec: 'png', width: 10, height: 10, framerate: 25 };
    const media = { sha256: 'b'.repeat(64), sizeBytes: 9, durationSeconds: 10, video };
    expect(change(() => caches.uploads.upsert(upload('logo', { media })))).toEqual([true, a]);
  });
});
