import { expect, test } from 'vitest';
import { type KnownDestination, NOT_LIVE, toLiveStats } from '../../../../../src/service/domain/stats/view.ts';

const find = (name: string): KnownDestination => ({ name, viewers: null });

test('any report of a pod becomes the public shape: wrong types are nulls, unknown fields are left out', () => {
  for (const told of [null, 5, 'x', [], {}, { playable: 'yes' }]) expect(toLiveStats(told, find)).toEqual(NOT_LIVE);
  const odd = { playable: true, live: 'yes', fps: 'many', seam: 3, destinations: 'none', currentItem: {} };
  expect(toLiveStats(odd, find)).toEqual({ ...NOT_LIVE, playable: true });
  const currentItem = { id: 'upl-1', positionSeconds: 61.5, durationSeconds: 1800 };
  expect(toLiveStats({ playable: true, currentItem }, find)).toMatchObject({
    current: { id: 'upl-1' },
    positionSeconds: 61.5,
    durationSeconds: 1800,
  });
  const lastError = { code: 'refused', message: 'The server refused the stream.', stack: 'secret' };
  const told = { playable: true, destinations: [{ name: 'dst-1', connected: true, lastError }] };
  const { destinations } = toLiveStats(told, () => ({ name: 'Home', viewers: null }));
  expect(destinations).toEqual([
    {
      id: 'dst-1',
      name: 'Home',
      connected: true,
      bytesSent: null,
      bitrateKbps: null,
      leastBitrateKbps: null,
      pace: null,
      reconnects: null,
      viewers: null,
      lastError: { code: 'refused', message: 'The server refused the stream.' },
    },
  ]);
  const { brokenItems, playable } = toLiveStats(
    {
      playable: false,
      brokenItems: [{ id: 'upl-1', track: 'audio', code: 'item_missing', message: 'Gone.' }, null, {}],
    },
    find,
  );
  expect({ brokenItems, playable }).toEqual({
    playable: false,
    brokenItems: [
      {
        id: 'upl-1',
        name: 'upl-1',
        playlistID: null,
        index: null,
        track: 'audio',
        code: 'item_missing',
        message: 'Gone.',
      },
    ],
  });
});

test('the viewers of a stream are the sum of what is known, and null where nothing is', () => {
  const destinations = ['one', 'two', 'three'].map((name) => ({ name, connected: true, lastError: null }));
  const count = (known: Record<string, number>) =>
    toLiveStats({ playable: true, destinations }, (name) => ({ name, viewers: known[name] ?? null }));
  expect(count({ one: 2, three: 40 })).toMatchObject({
    viewers: 42,
    destinations: [{ viewers: 2 }, { viewers: null }, { viewers: 40 }],
  });
  expect(count({ one: 0 }).viewers).toBe(0);
  expect(count({}).viewers).toBeNull();
});

test('the picture on air is that of the pod, and null where it does not say one that exists', () => {
  const show = (profile?: string) => toLiveStats({ playable: true, ...(profile && { profile }) }, find);
  expect(show('720p25')).toMatchObject({ quality: 'q_720p', framerate: 'f_25' });
  for (const profile of [undefined, '720', '4320p25']) expect(show(profile)).toEqual({ ...NOT_LIVE, playable: true });
});
