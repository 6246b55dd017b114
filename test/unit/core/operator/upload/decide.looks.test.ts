/** Tests which looks an upload gets made, keeps and loses, and where streams play them. */
import { describe, expect, it } from 'vitest';
import type { Job, Pod } from '../../../../../src/core/kube/core.ts';
import { watchNamespaces } from '../../../../../src/core/kube/namespace-watch.ts';
import type { Kube } from '../../../../../src/core/kube/types.ts';
import { createCaches, watchCaches } from '../../../../../src/core/operator/caches/caches.ts';
import { assessTracks } from '../../../../../src/core/operator/media/items.ts';
import { findImageProblem, type ItemLook, resolveLook } from '../../../../../src/core/operator/media/looks.ts';
import { decideUpload } from '../../../../../src/core/operator/upload/decide.ts';
import { buildJob, findPriority } from '../../../../../src/core/operator/upload/job.ts';
import type { UploadObservation } from '../../../../../src/core/operator/upload/plan.ts';
import { listWantedLooks } from '../../../../../src/core/operator/upload/wanted-looks.ts';
import type { Program } from '../../../../../src/core/protocol/program.ts';
import type { LoopStream } from '../../../../../src/core/resources/stream/resource.ts';
import type { Overlays } from '../../../../../src/core/resources/upload/overlays.ts';
import type { Upload } from '../../../../../src/core/resources/upload/resource.ts';
import { MAX_RENDITIONS, renditionKey, renditionScope } from '../../../../../src/core/resources/upload/spec.ts';
import {
  at,
  endedPod,
  MEDIA,
  makeJob,
  makeProgram,
  NAMESPACE,
  NOW,
  playlist,
  rendition,
  SETTINGS,
  stream,
  upload,
  world,
} from '../../../../kit/make/operator.ts';
import { silent } from '../../../../kit/real/kube.ts';

const PLACE = { anchor: 'BottomRight', marginPercent: 4, opacityPercent: 100 } as const;
const TITLE: Overlays = { layers: [{ ...PLACE, text: '{{item.title}}' }] };
const LOGO: Overlays = { layers: [{ ...PLACE, imageUploadName: 'logo' }] };
const DAY_SECONDS = 86_400;
const EPOCH = NOW.toISOString();

const logo = (more: Partial<Upload['status']> = {}): Upload => {
  const video = { codec: 'png', width: 10, height: 10, framerate: 25 };
  const media = { sha256: 'b'.repeat(64), sizeBytes: 9, durationSeconds: 10, video };
  return upload('logo', { sourceKey: 'sources/uid-of-logo', media, ...more });
};

const lookOf = (overlays: Overlays, film = upload()): ItemLook => {
  const look = resolveLook(stream({ overlays }), { upload: film, playlist: undefined }, () => logo());
  if (look === undefined || look === 'waits') throw new Error('The item has no look.');
  return look;
};
const lookKey = ({ profile }: ItemLook) => renditionKey(MEDIA.sha256, 'video', profile, renditionScope(NAMESPACE));
const made = (look: ItemLook, more = {}) => rendition(look.profile, { key: lookKey(look), ...more });
const withRenditions = (...more: ReturnType<typeof rendition>[]): Upload => {
  const film = upload();
  return { ...film, status: { ...film.status, renditions: [...(film.status?.renditions ?? []), ...more] } };
};

const observe = (changes: Partial<UploadObservation> & { own?: Job[]; pod?: Pod[] } = {}): UploadObservation => {
  const { own = [], pod = [], ...rest } = changes;
  return {
    profiles: ['720p30'],
    held: new Map(),
    urgent: new Set(),
    sounds: [],
    slates: [],
    cards: [],
    looks: [{ ...lookOf(TITLE), urgent: false }],
    jobs: new Map(own.map((job) => [job.metadata.name, job])),
    pods: new Map(own.map((job) => [job.metadata.uid, pod])),
    sameWork: new Map(),
    progress: new Map(),
    sameSource: () => undefined,
    grant: () => ({}),
    hasPreparedRoom: () => true,
    keepUnusedMs: 30 * DAY_SECONDS * 1000,
    settings: SETTINGS,
    now: NOW,
    ...rest,
  };
};

describe('a look that a stream asks for', () => {
  const look = lookOf(TITLE);
  const name = `film-${look.profile.split('-')[1]}`;

  it('is made once the plain pictures are ready, by a Job of the lowest priority, and the upload is ready meanwhile', () => {
    const preparing = upload('film', { observedGeneration: 1, sourceKey: 'sources/uid-of-film', media: MEDIA });
    expect(decideUpload(preparing, observe()).create.map((job) => job.name)).toEqual(['film-720p30']);

    const { create, status } = decideUpload(upload(), observe());
    expect(create.map((job) => [job.name, findPriority(job)])).toEqual([[name, 'background']]);
    expect(create[0]?.task).toMatchObject({
      profile: look.profile,
      renditionKey: lookKey(look),
      look: { layers: look.layers },
    });
    expect(status.phase).toBe('ready');
    expect(status.renditions?.at(-1)).toEqual({ profile: look.profile, state: 'pending' });
  });

  it('is made at once where a stream waits for it', () => {
    const { create } = decideUpload(upload(), observe({ looks: [{ ...look, urgent: true }] }));
    expect(create.map(findPriority)).toEqual(['awaited']);
  });

  it('belongs to its account where all accounts share the rest', () => {
    const { create } = decideUpload(upload(), observe({ settings: { ...SETTINGS, shareRenditions: true } }));
    expect(create[0]?.task).toMatchObject({ renditionKey: lookKey(look) });
  });

  it('has a Job that sees its pictures, each once', () => {
    const layers = lookOf({ layers: [...LOGO.layers, ...LOGO.layers] });
    const [job] = decideUpload(upload(), observe({ looks: [{ ...layers, urgent: false }] })).create;
    const settings = { ...SETTINGS, storageUrl: 'file:///media', storageMountPath: '/media' };
    const spec = JSON.stringify(job && buildJob(upload(), job, settings).spec);
    for (const key of ['sources/uid-of-film', 'sources/uid-of-logo'])
      expect(spec.split(`"mountPath":"/media/${key}"`)).toHaveLength(3);
  });

  it('is listed once it is made, and stays without its Job', () => {
    const [wanted] = decideUpload(upload(), observe()).create;
    if (!wanted) throw new Error('No Job is wanted.');
    const ended = endedPod({ action: 'rendition', rendition: made(look) });
    const { status } = decideUpload(upload(), observe({ own: [makeJob(upload(), wanted)], pod: [ended] }));
    expect(status.renditions?.at(-1)).toMatchObject({ profile: look.profile, state: 'ready', key: lookKey(look) });
    const later = decideUpload({ ...upload(), status }, observe());
    expect([later.create, later.status.renditions]).toEqual([[], status.renditions]);
  });

  it('that cannot be made leaves the upload ready, and says why', () => {
    const [wanted] = decideUpload(upload(), observe()).create;
    if (!wanted) throw new Error('No Job is wanted.');
    const error = { code: 'prepare_failed', message: 'No.' } as const;
    const ended = endedPod({ action: 'failed', error });
    const { status } = decideUpload(upload(), observe({ own: [makeJob(upload(), wanted)], pod: [ended] }));
    expect(status.phase).toBe('ready');
    expect(status.renditions?.at(-1)).toMatchObject({ profile: look.profile, state: 'failed', error });
  });

  it('is dropped a day after the last stream wanted it', () => {
    const unwanted = decideUpload(withRenditions(made(look)), observe({ looks: [] })).status;
    expect(unwanted.renditions).toHaveLength(2);
    const later = { ...upload(), status: unwanted };
    expect(decideUpload(later, observe({ looks: [], now: at(DAY_SECONDS) })).status.renditions).toHaveLength(1);
  });

  it('is one of four at most, and an upload lists no more than it may', () => {
    const looks = Array.from({ length: 40 }, (_, i) => ({
      ...lookOf({ layers: [{ ...PLACE, text: `Text ${i}` }] }),
      urgent: false,
    }));
    const { create } = decideUpload(upload(), observe({ looks }));
    expect(create).toHaveLength(4);
    const { status } = decideUpload(withRenditions(...looks.map((one) => made(one))), observe({ looks }));
    expect(status.renditions).toHaveLength(MAX_RENDITIONS);
  });
});

describe('the looks that are wanted of an upload', () => {
  const fill = (streams: LoopStream[], film = upload(), ...more: Upload[]) => {
    const caches = createCaches(watchNamespaces({} as Kube, [NAMESPACE], silent));
    for (const one of [film, ...more]) caches.uploads.upsert(one);
    caches.playlists.upsert(playlist('list', ['film'], { displayName: 'Night' }));
    for (const one of streams) caches.streams.upsert(one);
    return caches;
  };
  const named = (name: string, spec: Parameters<typeof stream>[0]) =>
    stream(spec, { metadata: { ...stream().metadata, name, uid: name } });
  const texts = (streams: LoopStream[], film = upload(), ...more: Upload[]) =>
    listWantedLooks(fill(streams, film, ...more), film).map(({ layers }) =>
      layers.map((layer) => ('text' in layer ? layer.text : layer.imageKey)),
    );
  const { uploadName: _, ...inList } = stream().spec;
  const inPlaylist = { ...inList, playlistNames: ['list'] };

  it('are those of all streams that show overlays over it, the same once', () => {
    const name: Overlays = { layers: [{ ...PLACE, text: '{{playlist.name}}' }] };
    const listed = named('c', {});
    const spec = { ...inPlaylist, overlays: name };
    expect(texts([named('a', { overlays: TITLE }), named('b', { overlays: TITLE }), { ...listed, spec }])).toHaveLength(
      2,
    );
    expect(texts([{ ...listed, spec }])).toEqual([['Night']]);
    expect(texts([named('a', {})])).toEqual([]);
  });

  it('are none for an item that opts out, without its picture, and where nothing of it is empty', () => {
    const plain = upload();
    const optedOut = { ...plain, spec: { ...plain.spec, overlays: 'None' as const } };
    expect(texts([named('a', { overlays: TITLE })], optedOut)).toEqual([]);
    expect(texts([named('a', { overlays: LOGO })])).toEqual([]);
    expect(texts([named('a', { overlays: LOGO })], plain, logo())).toEqual([['sources/uid-of-logo']]);
    expect(texts([named('a', { overlays: { layers: [{ ...PLACE, text: '{{item.artist}}' }] } })])).toEqual([]);
  });

  it('are found anew when a picture comes, changes or goes, and not for what else happens to it', () => {
    const caches = fill([named('a', { overlays: LOGO })]);
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
      return [uploads.includes(`${NAMESPACE}/film`), streams.includes(`${NAMESPACE}/a`)];
    };
    expect(change(() => caches.uploads.upsert(logo()))).toEqual([true, true]);
    expect(change(() => caches.uploads.upsert(logo({ progress: 1 })))).toEqual([false, true]);
    expect(change(() => caches.uploads.upsert(upload('other')))).toEqual([false, false]);
  });
});

describe('the program of a stream with overlays', () => {
  const play = (film: Upload, overlays: Overlays | undefined, previous?: Program) => {
    const objects = world({ uploads: [film, logo()] });
    return makeProgram(stream({ uploadName: 'film', ...(overlays && { overlays }) }), objects, EPOCH, previous);
  };
  const shown = (...given: Parameters<typeof play>) => play(...given).video.items[0]?.rendition;
  const plain = upload().status?.renditions?.[0]?.key;
  const before = lookOf(TITLE);
  const after = lookOf(LOGO);

  it('plays an item plain until its look is ready', () => {
    expect(shown(upload(), TITLE)).toBe(plain);
    expect(shown(withRenditions(made(before, { state: 'failed' })), TITLE)).toBe(plain);
    expect(shown(withRenditions(made(before)), TITLE)).toBe(lookKey(before));
  });

  it('goes on with the look that it played until an edit is ready, and never shows the plain pictures in between', () => {
    const had = play(withRenditions(made(before)), TITLE);
    expect(shown(withRenditions(made(before)), LOGO, had)).toBe(lookKey(before));
    expect(shown(withRenditions(made(before), made(after)), LOGO, had)).toBe(lookKey(after));
    expect(shown(withRenditions(made(before)), LOGO)).toBe(plain);
  });

  it('plays the plain pictures at once where the overlays are removed', () => {
    const had = play(withRenditions(made(before)), TITLE);
    expect(shown(withRenditions(made(before)), undefined, had)).toBe(plain);
  });
});

describe('a stream that requires its overlays', () => {
  const judge = (overlays: Overlays, ...uploads: Upload[]) => {
    const given = stream({ uploadName: 'film', overlays: { ...overlays, required: true } });
    return assessTracks(given, world({ uploads }))[0]?.entries[0]?.problem;
  };

  it('leaves an item out until its look is ready, and says what it waits for', () => {
    const look = lookOf(TITLE);
    expect(judge(TITLE, upload())).toMatchObject({
      reason: 'MediaPreparing',
      message: expect.stringContaining('overlays'),
    });
    const error = { code: 'prepare_failed', message: 'No.' } as const;
    expect(judge(TITLE, withRenditions(made(look, { state: 'failed', error })))).toMatchObject({
      reason: 'MediaFailed',
    });
    expect(judge(TITLE, withRenditions(made(look)))).toBeUndefined();
  });

  it('names the picture that is missing, or is none', () => {
    expect(judge(LOGO, upload())).toMatchObject({
      reason: 'UploadNotFound',
      message: expect.stringContaining('"logo"'),
    });
    expect(judge(LOGO, upload(), upload('logo'))?.message).toContain('is no picture');
    expect(judge(LOGO, upload(), upload('logo', {}))).toMatchObject({ reason: 'MediaImporting' });
    const problem = findImageProblem(stream({ overlays: LOGO }), () => undefined);
    expect(problem?.message).toBe('Upload "logo", a picture of the overlays, does not exist.');
  });
});
