/** Tests that people read titles in the operator's sentences, and places as they count: no ids, no indexes, no pointers. */
import { describe, expect, it } from 'vitest';
import * as destinationCodes from '../../../../../src/core/lib/codes/destinations.ts';
import * as streamCodes from '../../../../../src/core/lib/codes/streams.ts';
import { ITEM_ERRORS } from '../../../../../src/core/lib/codes/streams.ts';
import * as uploadCodes from '../../../../../src/core/lib/codes/uploads.ts';
import { assessItems, buildPlaylistStatus } from '../../../../../src/core/operator/playlist/status.ts';
import type { PodReport } from '../../../../../src/core/operator/stream/pod-report.ts';
import { buildStreamEvents } from '../../../../../src/core/operator/stream/status.ts';
import { buildUploadEvents } from '../../../../../src/core/operator/upload/events.ts';
import { beginWith, callObject, callPlace } from '../../../../../src/core/resources/common/called.ts';
import type { UploadStatus } from '../../../../../src/core/resources/upload/spec.ts';
import {
  destination,
  MEDIA,
  makePod,
  meta,
  NOW,
  playlist,
  rendition,
  step,
  stream,
  upload,
  world,
} from '../../../../kit/make/operator.ts';

/** Of machines: an id of the API, a place that is counted from 0, a JSON pointer. */
const MACHINE_WORDS = /\b(?:upl|pls|str|dst)-[0-9a-z]{26}\b|\bindex \d|^\//;

const id = (prefix: string, n: number) => `${prefix}-01m8jesvkcbh7kryr6578h84n${n}`;
const titled = (name: string, title: string, status?: UploadStatus, type: 'video' | 'audio' = 'video') => {
  const made = upload(name, status, type);
  return { ...made, spec: { ...made.spec, displayName: title } };
};

const STATES: Record<string, UploadStatus | undefined> = {
  ready: undefined,
  importing: { phase: 'importing' },
  damaged: { phase: 'failed', error: { code: 'media_unreadable', message: 'It is cut off.' } },
  preparing: {
    phase: 'preparing',
    media: MEDIA,
    renditions: [rendition('720p30', { state: 'pending', preparedSeconds: 1 })],
  },
  unprepared: {
    phase: 'failed',
    media: MEDIA,
    renditions: [{ profile: '720p30', state: 'failed', error: { code: 'prepare_failed', message: 'Boom.' } }],
  },
};
const uploads = [
  ...Object.entries(STATES).map(([title, status], n) => titled(id('upl', n), `${title}.mp4`, status)),
  titled(id('upl', 8), 'song.mp3', undefined, 'audio'),
];
const MISSING = id('upl', 9);
const LIST = id('pls', 1);
const lists = [
  playlist(LIST, [...uploads.map(({ metadata }) => metadata.name), MISSING], { displayName: 'Evening loop' }),
  playlist(id('pls', 2), [], { displayName: 'Nothing yet' }),
];
const channel = destination(id('dst', 1));
const titledChannel = { ...channel, spec: { ...channel.spec, displayName: 'Main channel' } };

const streams = [
  ...[...uploads.map(({ metadata }) => metadata.name), MISSING].map((uploadName) => stream({ uploadName })),
  ...[...lists.map(({ metadata }) => metadata.name), id('pls', 9)].flatMap((name) => [
    stream({ uploadName: undefined, playlistNames: [name] } as never),
    stream({ audioPlaylistNames: [name] }),
    stream({ uploadName: undefined, playlistNames: [name], itemFailurePolicy: 'Block' } as never),
  ]),
  stream({ destinationNames: [id('dst', 9)] }),
].map((one) => {
  const { destinationNames } = one.spec;
  const names = destinationNames?.[0] === 'tv' ? [channel.metadata.name] : destinationNames;
  return { ...one, metadata: meta(id('str', 1)), spec: { ...one.spec, ...(names && { destinationNames: names }) } };
});

const report: PodReport = {
  clock: {},
  runs: [],
  problems: [
    {
      reason: 'DestinationReconnecting',
      message: 'It hung up.',
      code: 'reset',
      destination: channel.metadata.name,
    },
  ],
  broken: [
    {
      id: id('upl', 0),
      name: 'ready.mp4',
      track: 'video',
      code: 'item_missing',
      message: ITEM_ERRORS.item_missing.meaning,
    },
  ],
};

function listMessages(): string[] {
  const seen = { uploads, playlists: lists, destinations: [titledChannel] };
  const statuses = streams.flatMap((one) => {
    const off = step(one, world(seen)).stream;
    const pod = makePod(one, { ready: true }, world(seen));
    const on = step(off, { ...world({ ...seen, pod }), report }).stream;
    return [off, on].flatMap(({ status }) => (status ? [status] : []));
  });
  const ofStreams = statuses.flatMap((status) => [
    ...(status.conditions ?? []).map(({ message }) => message),
    ...(status.unplayable?.items ?? []).map(({ message }) => message),
    ...buildStreamEvents(undefined, status).map(({ message }) => message),
  ]);
  const find = (name: string) => uploads.find(({ metadata }) => metadata.name === name);
  const ofLists = lists.flatMap(
    (list) =>
      buildPlaylistStatus(
        list,
        assessItems(list, find, () => undefined),
        NOW,
      ).status.conditions?.map(({ message }) => message) ?? [],
  );
  const ofUploads = uploads.flatMap(({ status }) => (status ? buildUploadEvents(undefined, status) : []));
  return [...ofStreams, ...ofLists, ...ofUploads.map(({ message }) => message)];
}

const listTexts = (table: unknown): string[] => {
  if (typeof table === 'string') return [table];
  return typeof table === 'object' && table !== null ? Object.values(table).flatMap(listTexts) : [];
};

describe('the sentences of the operator', () => {
  it('name no id, no index and no pointer: in conditions, Events, and items that are left out', () => {
    const messages = listMessages();
    expect(messages.length).toBeGreaterThan(100);
    expect(messages.filter((message) => MACHINE_WORDS.test(message))).toEqual([]);
  });

  it('say titles, and places as people count', () => {
    const all = listMessages().join('\n');
    expect(all).toContain('Upload "preparing.mp4" is being prepared for 720p30.');
    expect(all).toContain('Upload "damaged.mp4", clip 3 of the playlist "Evening loop", could not be imported');
    expect(all).toContain('The upload, clip 7 of the playlist "Evening loop", does not exist.');
    expect(all).toContain('Playlist "Nothing yet" has no items.');
    expect(all).toContain('Destination "Main channel" does not accept the stream. It hung up.');
    expect(all).toContain('The destination does not exist.');
  });

  it('have no such words in the tables of codes either', () => {
    const texts = listTexts([destinationCodes, streamCodes, uploadCodes]);
    expect(texts.length).toBeGreaterThan(100);
    expect(texts.filter((text) => MACHINE_WORDS.test(text))).toEqual([]);
  });
});

describe('an object in a sentence', () => {
  it('is called by its title; a name that a person chose stands beside it', () => {
    expect(callObject('upload', id('upl', 1), 'Film')).toBe('upload "Film"');
    expect(callObject('upload', id('upl', 1))).toBe('the upload');
    expect(callObject('upload', 'film')).toBe('upload "film"');
    expect(callObject('upload', 'film', 'Film')).toBe('upload "Film" (film)');
    expect(beginWith(callObject('stream', id('str', 1)))).toBe('The stream');
    expect(callPlace(0, id('pls', 1))).toBe('clip 1 of the playlist');
    expect(callPlace(2, 'mix', 'Mix')).toBe('clip 3 of the playlist "Mix" (mix)');
  });
});
