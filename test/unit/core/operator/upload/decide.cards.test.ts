/** Tests which cards a song gets made, keeps and loses, and which the program of a stream names. */
import { describe, expect, it } from 'vitest';
import type { Job, Pod } from '../../../../../src/core/kube/core.ts';
import { watchNamespaces } from '../../../../../src/core/kube/namespace-watch.ts';
import type { Kube } from '../../../../../src/core/kube/types.ts';
import { createCaches, watchCaches } from '../../../../../src/core/operator/caches/caches.ts';
import { findBackgroundProblem, type ItemCard, resolveItemCard } from '../../../../../src/core/operator/media/looks.ts';
import { decide } from '../../../../../src/core/operator/stream/decide.ts';
import { decideUpload } from '../../../../../src/core/operator/upload/decide.ts';
import { buildJob, findPriority } from '../../../../../src/core/operator/upload/job.ts';
import type { UploadObservation } from '../../../../../src/core/operator/upload/plan.ts';
import { listWantedCards } from '../../../../../src/core/operator/upload/wanted-looks.ts';
import type { Program } from '../../../../../src/core/protocol/program.ts';
import type { LoopStream } from '../../../../../src/core/resources/stream/resource.ts';
import type { LoopStreamSpec } from '../../../../../src/core/resources/stream/spec.ts';
import type { SongCards } from '../../../../../src/core/resources/upload/card.ts';
import type { Upload } from '../../../../../src/core/resources/upload/resource.ts';
import { MAX_RENDITIONS, renditionKey, renditionScope } from '../../../../../src/core/resources/upload/spec.ts';
import type { MediaTags } from '../../../../../src/core/resources/upload/tags.ts';
import {
  at,
  endedPod,
  MEDIA,
  makeJob,
  makePod,
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

const DAY_SECONDS = 86_400;
const EPOCH = NOW.toISOString();
const IN_FRONT: SongCards = { imageUploadName: 'sky' };
const radio = (spec: Partial<LoopStreamSpec> = {}): LoopStream => stream({ audioPlaylistNames: ['songs'], ...spec });
const songs = playlist('songs', ['song'], { track: 'audio' });

const sky = (more: Partial<Upload['status']> = {}): Upload => {
  const video = { codec: 'png', width: 10, height: 10, framerate: 25 };
  const media = { sha256: 'b'.repeat(64), sizeBytes: 9, durationSeconds: 10, video };
  return upload('sky', { sourceKey: 'sources/uid-of-sky', media, ...more }, 'image');
};
const song = (tags?: MediaTags, ...more: ReturnType<typeof rendition>[]): Upload => {
  const plain = upload('song', undefined, 'audio');
  const renditions = [...(plain.status?.renditions ?? []), ...more];
  return { ...plain, spec: { ...plain.spec, ...(tags && { tags }) }, status: { ...plain.status, renditions } };
};
const cardOf = (cards: SongCards, of = song()): ItemCard => {
  const card = resolveItemCard(radio({ cards }), of, () => sky());
  if (card === undefined || card === 'waits') throw new Error('The song has no card.');
  return card;
};
const cardKey = ({ profile }: ItemCard) => renditionKey(MEDIA.sha256, 'audio', profile, renditionScope(NAMESPACE));
const made = (card: ItemCard, more = {}) =>
  rendition(card.profile, { key: cardKey(card), durationSeconds: 2, bitrateKbps: 400, ...more });

const observe = (changes: Partial<UploadObservation> & { own?: Job[]; pod?: Pod[] } = {}): UploadObservation => {
  const { own = [], pod = [], ...rest } = changes;
  return {
    profiles: ['720p30'],
    held: new Map(),
    urgent: new Set(['720p30']),
    sounds: [],
    looks: [],
    slates: [],
    cards: [cardOf({})],
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

describe('a card that a stream asks for', () => {
  const card = cardOf({});

  it('is made once the song is ready, by a Job of the lowest priority, and the upload is ready meanwhile', () => {
    const preparing = upload('song', { observedGeneration: 1, sourceKey: 'sources/s', media: MEDIA }, 'audio');
    expect(decideUpload(preparing, observe()).create.map((job) => job.name)).toEqual(['song-720p30']);

    const { create, status } = decideUpload(song(), observe());
    const name = `song-${card.profile.split('-')[1]}`;
    expect(create.map((job) => [job.name, findPriority(job)])).toEqual([[name, 'background']]);
    expect(create[0]?.task).toMatchObject({
      type: 'audio',
      profile: card.profile,
      renditionKey: cardKey(card),
      card: { title: 'song', artist: '' },
    });
    expect(status.phase).toBe('ready');
    expect(status.renditions?.at(-1)).toEqual({ profile: card.profile, state: 'pending' });
  });

  it('belongs to its account where all accounts share the rest', () => {
    const { create } = decideUpload(song(), observe({ settings: { ...SETTINGS, shareRenditions: true } }));
    expect(create[0]?.task).toMatchObject({ renditionKey: cardKey(card) });
  });

  it('has a Job that sees the song and the picture behind it', () => {
    const [job] = decideUpload(song(), observe({ cards: [cardOf(IN_FRONT)] })).create;
    const spec = JSON.stringify(job && buildJob(song(), job, SETTINGS).spec);
    for (const key of ['sources/uid-of-song', 'sources/uid-of-sky']) expect(spec).toContain(`"/media/${key}"`);
  });

  it('is listed once it is made, and stays without its Job', () => {
    const [wanted] = decideUpload(song(), observe()).create;
    if (!wanted) throw new Error('No Job is wanted.');
    const ended = endedPod({ action: 'rendition', rendition: made(card) });
    const { status } = decideUpload(song(), observe({ own: [makeJob(song(), wanted)], pod: [ended] }));
    expect(status.renditions?.at(-1)).toMatchObject({ profile: card.profile, state: 'ready', key: cardKey(card) });
    const later = decideUpload({ ...song(), status }, observe());
    expect([later.create, later.status.renditions]).toEqual([[], status.renditions]);
  });

  it('that cannot be made leaves the upload ready, and says why', () => {
    const [wanted] = decideUpload(song(), observe()).create;
    if (!wanted) throw new Error('No Job is wanted.');
    const error = { code: 'prepare_failed', message: 'No.' } as const;
    const pod = [endedPod({ action: 'failed', error })];
    const { status } = decideUpload(song(), observe({ own: [makeJob(song(), wanted)], pod }));
    expect(status.phase).toBe('ready');
    expect(status.renditions?.at(-1)).toMatchObject({ profile: card.profile, state: 'failed', error });
  });

  it('is dropped a day after the last stream wanted it, as after a new title', () => {
    const titled = cardOf({}, song({ title: 'New' }));
    expect(titled.profile).not.toBe(card.profile);
    const { create, status } = decideUpload(song(undefined, made(card)), observe({ cards: [titled] }));
    expect(create.map(({ task }) => 'profile' in task && task.profile)).toEqual([titled.profile]);
    const profiles = (seconds: number) =>
      decideUpload({ ...song(), status }, observe({ cards: [titled], now: at(seconds) })).status.renditions?.map(
        ({ profile }) => profile,
      );
    expect(profiles(DAY_SECONDS - 1)).toContain(card.profile);
    expect(profiles(DAY_SECONDS)).not.toContain(card.profile);
  });

  it('is one of eight at most, and a song lists no more than it may', () => {
    const cards = Array.from({ length: 40 }, (_, i) => cardOf({}, song({ title: `Title ${i}` })));
    expect(decideUpload(song(), observe({ cards })).create).toHaveLength(8);
    const { status } = decideUpload(song(undefined, ...cards.map((one) => made(one))), observe({ cards }));
    expect(status.renditions).toHaveLength(MAX_RENDITIONS);
    expect(cards.slice(0, 8).every(({ profile }) => status.renditions?.some((one) => one.profile === profile))).toBe(
      true,
    );
  });
});

describe('the cards that are wanted of a song', () => {
  const fill = (streams: LoopStream[], ...uploads: Upload[]) => {
    const caches = createCaches(watchNamespaces({} as Kube, [NAMESPACE], silent));
    for (const one of uploads) caches.uploads.upsert(one);
    caches.playlists.upsert(songs);
    for (const one of streams) caches.streams.upsert(one);
    return caches;
  };
  const named = (name: string, spec: Partial<LoopStreamSpec>) => {
    const one = radio(spec);
    return { ...one, metadata: { ...one.metadata, name, uid: name } };
  };
  const wanted = (streams: LoopStream[], of: Upload, ...more: Upload[]) =>
    listWantedCards(fill(streams, of, ...more), of).map(({ card }) => card);

  it('are those of all streams with cards, the same once, by the tags of its owner and of the file', () => {
    const tags = { title: ' Night\ntrain ', artist: 'Ann' };
    const streams = [named('a', { cards: {} }), named('b', { cards: {} }), named('c', {})];
    expect(wanted(streams, song(tags))).toEqual([{ title: 'Night train', artist: 'Ann' }]);
    expect(wanted([...streams, named('d', { cards: {}, quality: '1080p' })], song(tags))).toHaveLength(2);
    const held = named('a', { cards: {}, readinessGates: [{ conditionType: 'CreditAvailable' }] });
    expect(wanted([named('c', {}), held], song(tags))).toEqual([]);
  });

  it('are none without the picture behind them, and none of a video', () => {
    const streams = [named('a', { cards: IN_FRONT })];
    expect(wanted(streams, song())).toEqual([]);
    const background = { imageKey: 'sources/uid-of-sky', imageSha256: 'b'.repeat(64) };
    expect(wanted(streams, song(), sky())).toEqual([{ title: 'song', artist: '', background }]);
    expect(wanted(streams, upload('film'), sky())).toEqual([]);
  });

  it('are found anew when the picture comes, changes or goes, and not for what else happens to it', () => {
    const caches = fill([named('a', { cards: IN_FRONT })], song());
    const keys: string[] = [];
    const ignore = () => undefined;
    watchCaches(caches, {
      stream: (key) => keys.push(key),
      upload: (key) => keys.push(key),
      playlist: ignore,
      destination: ignore,
      heldDestination: ignore,
      expiringDestination: ignore,
    });
    const change = (one: Upload) => {
      keys.length = 0;
      caches.uploads.upsert(one);
      return [keys.includes(`${NAMESPACE}/song`), keys.includes(`${NAMESPACE}/a`)];
    };
    expect(change(sky())).toEqual([true, true]);
    expect(change(sky({ progress: 1 }))).toEqual([false, true]);
    expect(change(upload('other'))).toEqual([false, false]);
  });
});

describe('the program of a stream with cards', () => {
  const before = cardOf({});
  const after = cardOf(IN_FRONT);
  const play = (of: Upload, cards: SongCards | undefined, previous?: Program) => {
    const objects = world({ uploads: [upload('film'), of, sky()], playlists: [songs] });
    return makeProgram(radio(cards ? { cards } : {}), objects, EPOCH, previous);
  };
  const shown = (...given: Parameters<typeof play>) => play(...given).audio?.items[0]?.card;

  it('names the card of a song once it is ready, and none for a stream without cards', () => {
    expect(shown(song(), {})).toBeUndefined();
    expect(shown(song(undefined, made(before, { state: 'failed' })), {})).toBeUndefined();
    expect(shown(song(undefined, made(before)), {})).toBe(cardKey(before));
    expect(play(song(undefined, made(before)), undefined).audio?.items).toEqual(play(song(), undefined).audio?.items);
  });

  it('goes on with the card that it showed until another one is ready', () => {
    const had = play(song(undefined, made(before)), {});
    expect(shown(song(undefined, made(before)), IN_FRONT, had)).toBe(cardKey(before));
    expect(shown(song(undefined, made(before), made(after)), IN_FRONT, had)).toBe(cardKey(after));
    expect(shown(song(undefined, made(before)), IN_FRONT)).toBeUndefined();
    expect(shown(song(undefined, made(before)), undefined, had)).toBeUndefined();
  });
});

describe('the picture behind the cards', () => {
  const problem = (...uploads: Upload[]) =>
    findBackgroundProblem(radio({ cards: IN_FRONT }), (name) => uploads.find(({ metadata }) => metadata.name === name));

  it('is named where it is missing, is none, or could not be imported', () => {
    expect(problem()).toMatchObject({
      reason: 'UploadNotFound',
      message: 'Upload "sky", the picture behind the cards, does not exist.',
    });
    expect(problem(upload('sky'))?.message).toContain('the picture behind the cards, is no picture: PNG');
    const error = { code: 'media_unreadable', message: 'It is cut off.' } as const;
    expect(problem(upload('sky', { error }))?.message).toContain('could not be imported: It is cut off.');
    expect(problem(upload('sky', {}))).toMatchObject({ reason: 'MediaImporting' });
    expect(problem(sky())).toBeUndefined();
    expect(findBackgroundProblem(radio({ cards: {} }), () => undefined)).toBeUndefined();
  });

  it('that is missing is a problem of the stream on air, and one that is on its way is none', () => {
    const judge = (...more: Upload[]) => {
      const onAir = radio({ cards: IN_FRONT });
      const seen = world({ uploads: [upload('film'), song(), ...more], playlists: [songs] });
      const pod = makePod(onAir, { ready: true }, seen);
      const live = { ...onAir, status: { podUID: pod.metadata.uid, phase: 'live' as const } };
      const { conditions } = decide({ ...seen, pod, stream: live }, SETTINGS);
      return conditions.find(({ type }) => type === 'Degraded');
    };
    expect(judge()).toMatchObject({
      status: 'True',
      reason: 'CardsMissing',
      message: expect.stringContaining('"sky"'),
    });
    expect(judge(upload('sky', {}))).not.toMatchObject({ status: 'True' });
  });
});
