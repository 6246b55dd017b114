/** Tests which changes of uploads concern playlists. */
import { expect, test } from 'vitest';
import { watchNamespaces } from '../../../../../src/core/kube/namespace-watch.ts';
import type { Kube } from '../../../../../src/core/kube/types.ts';
import { createCaches, watchCaches } from '../../../../../src/core/operator/caches/caches.ts';
import type { Condition } from '../../../../../src/core/resources/common/conditions.ts';
import { PUBLISHED_ANNOTATION } from '../../../../../src/core/resources/common/names.ts';
import type { Playlist } from '../../../../../src/core/resources/playlist/resource.ts';
import type { UploadStatus } from '../../../../../src/core/resources/upload/spec.ts';
import { MEDIA, NAMESPACE, playlist, rendition, stream, upload } from '../../../../kit/make/operator.ts';
import { silent } from '../../../../kit/real/kube.ts';

const condition = (type: string, status: Condition['status']): Condition => ({
  type,
  status,
  reason: 'Some',
  message: 'It says so.',
  lastTransitionTime: '2026-06-01T11:00:00Z',
});
const preparing = (preparedSeconds: number, playable = false): UploadStatus => ({
  phase: 'preparing',
  media: MEDIA,
  renditions: [rendition('720p30', { state: 'pending', preparedSeconds, playable })],
  conditions: [condition('Ready', 'False'), condition('Reconciling', 'True')],
});
const importing = (progress: number): UploadStatus => ({ phase: 'importing', progress });
const failed: UploadStatus = {
  phase: 'failed',
  conditions: [condition('Ready', 'False'), condition('Stalled', 'True')],
};

/** Caches without a cluster; `countFor` returns the playlists that a change enqueues. */
function watch() {
  const caches = createCaches(watchNamespaces({} as Kube, [NAMESPACE], silent));
  let enqueued: string[] = [];
  let others: string[] = [];
  const add = (key: string) => others.push(key);
  watchCaches(caches, {
    stream: add,
    upload: add,
    destination: add,
    heldDestination: add,
    expiringDestination: add,
    playlist: (key) => enqueued.push(key),
  });
  const countFor = (change: () => void) => {
    [enqueued, others] = [[], []];
    change();
    return enqueued;
  };
  return { caches, countFor, listOthers: () => others };
}

test('a playlist is judged again when one of its uploads can be played or not, and not while that is on its way', () => {
  const { caches, countFor } = watch();
  const put = (status: UploadStatus) => countFor(() => caches.uploads.upsert(upload('film', status)));
  const mix = [`${NAMESPACE}/mix`];

  expect(countFor(() => caches.playlists.upsert(playlist('mix', ['film', 'other'])))).toEqual(mix);
  expect(countFor(() => caches.playlists.upsert(playlist('others', ['other'])))).toEqual([`${NAMESPACE}/others`]);
  expect(put(importing(0))).toEqual(mix);
  expect(put(importing(0.5))).toEqual([]);
  expect(put(preparing(1))).toEqual(mix);
  expect(put(preparing(20))).toEqual([]);
  expect(put(preparing(40, true))).toEqual(mix);
  expect(put(preparing(60, true))).toEqual([]);
  expect(put(failed)).toEqual(mix);
  const film = caches.uploads.get(NAMESPACE, 'film');
  expect(countFor(() => film && caches.uploads.forget(film))).toEqual(mix);
});

test('a playlist of sound is judged again when an upload of sound can be played', () => {
  const { caches, countFor } = watch();
  const put = (status: UploadStatus) => countFor(() => caches.uploads.upsert(upload('song', status, 'audio')));
  countFor(() => caches.playlists.upsert(playlist('radio', ['song'], { track: 'audio' })));
  put(importing(0));
  expect(put(failed)).toEqual([`${NAMESPACE}/radio`]);
});

test('the status of a playlist concerns neither its streams nor its uploads, and each version of its list does', () => {
  const { caches, countFor, listOthers } = watch();
  const { uploadName: _, ...spec } = stream().spec;
  caches.streams.upsert(stream({}, { spec: { ...spec, playlistNames: ['mix'] } }));
  const put = (change: Partial<Playlist> = {}, metadata: Partial<Playlist['metadata']> = {}) => {
    const list = playlist('mix', ['film']);
    return countFor(() => caches.playlists.upsert({ ...list, ...change, metadata: { ...list.metadata, ...metadata } }));
  };
  const all = [`${NAMESPACE}/bunny`, `${NAMESPACE}/film`];
  put();
  expect(listOthers()).toEqual(all);
  expect(put({ status: { conditions: [condition('Ready', 'True')] } })).toEqual([`${NAMESPACE}/mix`]);
  expect(listOthers()).toEqual([]);
  put({}, { generation: 2 });
  expect(new Set(listOthers())).toEqual(new Set(all));
  const published = JSON.stringify({ version: 1, mode: 'sequential', items: [{ uploadName: 'film' }] });
  put({}, { generation: 2, annotations: { [PUBLISHED_ANNOTATION]: published } });
  expect(new Set(listOthers())).toEqual(new Set(all));
});
