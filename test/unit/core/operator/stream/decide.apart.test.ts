/** Tests that the program of a stream says which items of a shuffled list are of one artist. */
import { expect, it } from 'vitest';
import type { Program } from '../../../../../src/core/protocol/program.ts';
import { readPodProgram } from '../../../../../src/core/protocol/to-streamer.ts';
import type { Playlist } from '../../../../../src/core/resources/playlist/resource.ts';
import type { PlaylistSpec } from '../../../../../src/core/resources/playlist/spec.ts';
import type { Upload } from '../../../../../src/core/resources/upload/resource.ts';
import { makePod, playlist, stream, upload, world } from '../../../../kit/make/operator.ts';

const sung = (name: string, artist?: string): Upload => {
  const song = upload(name);
  return artist === undefined ? song : { ...song, spec: { ...song.spec, tags: { artist } } };
};
const UPLOADS = [sung('a', 'Ada'), sung('b', 'Bo'), sung('c', ' ada'), sung('d')];
const list = (name: string, more: Partial<PlaylistSpec>): Playlist => {
  const made = playlist(name, ['a', 'b', 'c', 'd']);
  return { ...made, spec: { ...made.spec, ...more } };
};
function readVideo(...playlists: Playlist[]): Program['video'] | undefined {
  const { uploadName: _, ...spec } = stream({ playlistNames: ['list'] }).spec;
  const made = stream({}, { spec });
  return readPodProgram(makePod(made, { ready: true }, world({ playlists, uploads: UPLOADS })))?.video;
}

it('names the artist of each item by a number where a shuffled list keeps them apart, whatever the case', () => {
  const apart = { least: 3, groups: [1, 2, 1, 0] };
  expect(readVideo(list('list', { mode: 'shuffle', notWithin: { sameArtist: 3 } }))?.apart).toEqual(apart);
  expect(readVideo(list('list', { notWithin: { sameArtist: 3 } }))?.apart).toBeUndefined();
  expect(readVideo(list('list', { mode: 'shuffle', notWithin: { sameArtist: 0 } }))?.apart).toBeUndefined();
});

it('names those of a list that a rule shuffles', () => {
  const terms = { start: 'Border', lateSeconds: 120, after: 'Resume', count: 1 } as const;
  const rule = { ...terms, name: 'songs', when: { eachItems: 1 }, playlistName: 'songs' };
  const songs = list('songs', { notWithin: { sameArtist: 2 } });
  const find = (pick: 'Next' | 'Shuffle') => readVideo(list('list', { rules: [{ ...rule, pick }] }), songs)?.rules?.[0];
  expect(find('Shuffle')?.apart).toEqual({ least: 2, groups: [1, 2, 1, 0] });
  expect(find('Next')?.apart).toBeUndefined();
});
