/** Tests which picture stands for a playlist and for a stream. */
import { expect, test } from 'vitest';
import { ACCOUNT_LABEL } from '../../../../../src/core/resources/common/names.ts';
import type { Playlist } from '../../../../../src/core/resources/playlist/resource.ts';
import { annotatePublished } from '../../../../../src/core/resources/playlist/spec.ts';
import type { LoopStreamSpec } from '../../../../../src/core/resources/stream/spec.ts';
import { posterKey } from '../../../../../src/core/resources/upload/poster.ts';
import type { Upload } from '../../../../../src/core/resources/upload/resource.ts';
import { importContent } from '../../../../../src/core/resources/upload/spec.ts';
import { createPosters } from '../../../../../src/service/domain/uploads/posters.ts';
import { stream } from '../../../../kit/make/operator.ts';

const upload = (name: string, poster = true) =>
  ({
    metadata: { name, uid: name },
    spec: { track: 'video', source: {} },
    status: poster ? { poster: posterKey(importContent(name), 'video') } : {},
  }) as unknown as Upload;
const items = (names: readonly string[]) => names.map((uploadName) => ({ uploadName }));
const playlist = (names: readonly string[], annotations = {}) =>
  ({
    metadata: { name: names.join(' '), annotations },
    spec: { track: 'video', mode: 'sequential', items: items(names) },
  }) as unknown as Playlist;

let reads = 0;
const UPLOADS = [upload('plain', false), upload('film'), upload('cover')];
const LISTS: Record<string, Playlist> = {
  films: playlist(['gone', 'plain', 'film', 'cover']),
  songs: playlist(['plain', 'cover']),
};
const posters = createPosters({
  uploads: {
    find(account, id) {
      reads += 1;
      return account === 'ann' ? (UPLOADS.find(({ metadata }) => metadata.name === id) as never) : undefined;
    },
  },
  playlists: { find: (account, id) => (account === 'ann' ? (LISTS[id] as never) : undefined) },
});
const urlOf = (name: string) => expect.stringMatching(new RegExp(`^/v1/uploads/${name}/poster\\?v=[0-9a-f]{12}$`));
const ofStream = (spec: Partial<LoopStreamSpec>, account = 'ann') => {
  const made = stream({ uploadName: undefined, ...spec } as never);
  return posters.ofStream({ ...made, metadata: { ...made.metadata, labels: { [ACCOUNT_LABEL]: account } } });
};

test('a playlist shows the first of its uploads that has a picture', () => {
  expect(posters.ofPlaylist('ann', playlist(['gone', 'plain', 'film', 'cover']))).toEqual(urlOf('film'));
  expect(posters.ofPlaylist('ann', playlist(['plain']))).toBeNull();
  expect(posters.ofPlaylist('ann', playlist([]))).toBeNull();
});

test('it shows what streams play, which is the published version', () => {
  const published = annotatePublished(1, { mode: 'sequential', items: items(['cover']) });
  expect(posters.ofPlaylist('ann', playlist(['film'], published))).toEqual(urlOf('cover'));
});

test('a stream shows its video, else that of its playlists, else the cover of its sound', () => {
  expect(ofStream({ uploadName: 'film' })).toEqual(urlOf('film'));
  expect(ofStream({ uploadName: 'plain', audioPlaylistNames: ['songs'] })).toEqual(urlOf('cover'));
  expect(ofStream({ playlistNames: ['none', 'films'], audioPlaylistNames: ['songs'] })).toEqual(urlOf('film'));
  expect(ofStream({ uploadName: 'plain' })).toBeNull();
});

test('nothing of another account is shown', () => {
  expect(ofStream({ uploadName: 'film' }, 'eve')).toBeNull();
  expect(posters.ofPlaylist('eve', playlist(['film']))).toBeNull();
});

test('a long playlist without pictures costs a list a bounded number of looks', () => {
  reads = 0;
  expect(posters.ofPlaylist('ann', playlist(Array.from({ length: 1000 }, () => 'plain')))).toBeNull();
  expect(reads).toBeLessThanOrEqual(20);
});
