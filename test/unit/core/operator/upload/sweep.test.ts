import { describe, expect, it } from 'vitest';
import type { Job } from '../../../../../src/core/kube/core.ts';
import { getPosterKey, getWorkKey, wantImport, wantRendition } from '../../../../../src/core/operator/upload/job.ts';
import { listReferredKeys, mayDelete, planSweep, SweepTimes } from '../../../../../src/core/operator/upload/sweep.ts';
import { chunkKey, entryKey } from '../../../../../src/core/pods/rendition/format.ts';
import { toPlaying } from '../../../../../src/core/protocol/program.ts';
import { PROGRAM_ANNOTATION } from '../../../../../src/core/resources/common/names.ts';
import { posterKey } from '../../../../../src/core/resources/upload/poster.ts';
import type { Upload } from '../../../../../src/core/resources/upload/resource.ts';
import { importContent } from '../../../../../src/core/resources/upload/spec.ts';
import {
  MEDIA,
  makeHelpersJob,
  makeJob,
  makePod,
  rendition,
  step,
  stream,
  upload,
  wantHelpers,
  world,
} from '../../../../kit/make/operator.ts';
import { buildProgram } from '../../../../kit/make/streamer.ts';

const nothing = { uploads: [], jobs: [], pods: [], streams: [], begun: [] };
const KEY = rendition('720p30').key ?? '';

/** The keys that Jobs refer to, without those of the renditions that imports may make. */
const listJobKeys = (jobs: Job[], begun: string[] = []) =>
  [...listReferredKeys({ ...nothing, jobs, begun })].filter((key) => !key.includes('/upload-uid-of-')).sort();

describe('the sweep’s list of used objects', () => {
  it('contains the source and every rendition of an upload', () => {
    expect(listReferredKeys({ ...nothing, uploads: [upload()] })).toEqual(new Set(['sources/uid-of-film', KEY]));
    expect(listReferredKeys({ ...nothing, uploads: [upload('new', {})] })).toEqual(new Set(['sources/uid-of-new']));
  });

  it('contains the poster of an upload, and no more once the upload is deleted', () => {
    const made = upload('film', { media: MEDIA, poster: posterKey(importContent('uid-of-film'), 'video') });
    const deletes = (uploads: Upload[], jobs: Job[] = []) =>
      mayDelete(planSweep(listReferredKeys({ ...nothing, uploads, jobs }), 60))(made.status?.poster ?? '');
    expect(deletes([made])).toBe(false);
    expect(deletes([])).toBe(true);
    // Its Job has just written it.
    const importing = makeJob(upload('film', {}), wantImport(upload('film', {}), false, { shared: true }));
    expect(deletes([upload('film', {})], [importing])).toBe(false);
  });

  it('contains a client’s parts, until they are a source', () => {
    const spec = { track: 'video' as const, source: { sent: { sizeBytes: 10, receivedBytes: 5 } } };
    const sent = { ...upload('sent', {}), spec };
    const keys = ['sources/uid-of-sent', 'incoming/uid-of-sent'];
    expect([...listReferredKeys({ ...nothing, uploads: [sent] })].sort()).toEqual(keys.sort());
    const jobs = [makeJob(sent, wantImport(sent))];
    expect(listJobKeys(jobs)).toEqual(keys.sort());
    const parts = [{ name: 'upl-1', uid: 'uid-1' }];
    const joined = { ...sent, spec: { ...spec, source: { sent: { sizeBytes: 10, receivedBytes: 10, parts } } } };
    const both = ['sources/uid-of-sent', 'incoming/uid-of-sent', 'incoming/uid-1'];
    expect([...listReferredKeys({ ...nothing, uploads: [joined] })].sort()).toEqual(both.sort());
    const itsJob = [makeJob(joined, wantImport(joined))];
    expect(listJobKeys(itsJob)).toEqual(both.sort());
    const imported = { ...sent, status: { media: MEDIA, sourceKey: 'sources/uid-of-sent' } };
    expect(listReferredKeys({ ...nothing, uploads: [imported] })).toEqual(new Set(['sources/uid-of-sent']));
    const deletes = mayDelete(planSweep(listReferredKeys({ ...nothing, uploads: [sent] }), 60));
    const pieces = ['sent', 'gone'].map((name) => `incoming/uid-of-${name}/0000000000000000-0000000000000005`);
    expect(pieces.map(deletes)).toEqual([false, true]);
  });

  it('contains one source of two uploads with the same content, for as long as one of them is there', () => {
    const [first, second] = [upload('first'), upload('second', { media: MEDIA, sourceKey: 'sources/uid-of-first' })];
    const deletes = (uploads: Upload[]) => {
      const may = mayDelete(planSweep(listReferredKeys({ ...nothing, uploads }), 60));
      return ['sources/uid-of-first', 'sources/uid-of-second', KEY].map(may);
    };
    expect(deletes([first, second])).toEqual([false, true, false]);
    expect(deletes([second])).toEqual([false, true, true]);
    expect(deletes([first])).toEqual([false, true, false]);
  });

  it('contains the Jobs’ objects, also those of Jobs not yet seen', () => {
    const source = upload('film', { media: MEDIA });
    const wish = wantRendition(source, MEDIA, '1080p60');
    const jobs = [makeJob(source, wantImport(source)), makeJob(source, wish)];
    expect(listJobKeys(jobs, ['renditions/b/video-720p24.flv'])).toEqual(
      [getWorkKey(wish.task), getPosterKey(wish.task), 'renditions/b/video-720p24.flv', 'sources/uid-of-film'].sort(),
    );
  });

  it('contains a rendition that helpers make, and nothing of it once its upload and all Jobs are deleted', () => {
    const wanted = wantHelpers(upload('film'), MEDIA, '1080p60');
    const job = makeHelpersJob(upload('film'), wanted);
    const { task } = wanted;
    const deletes = (jobs: Job[]) => mayDelete(planSweep(listReferredKeys({ ...nothing, jobs }), 60));
    const first = chunkKey(task.renditionKey, { firstFrame: 900, sha256: 'a'.repeat(64) });
    const chunk = [first, entryKey(task.renditionKey, 900), task.sourceKey];
    expect(chunk.map(deletes([job]))).toEqual([false, false, false]);
    expect(chunk.map(deletes([]))).toEqual([true, true, true]);
  });

  it('contains a rendition that can be played before it is complete', () => {
    const playable = rendition('720p30', { state: 'pending', playable: true, preparedSeconds: 60 });
    const uploads = [upload('film', { media: MEDIA, sourceKey: 'sources/uid-of-film', renditions: [playable] })];
    expect(listReferredKeys({ ...nothing, uploads })).toEqual(new Set(['sources/uid-of-film', KEY]));
  });

  it('contains a pod’s items, although their upload has been deleted', () => {
    expect(listReferredKeys({ ...nothing, pods: [makePod(stream(), {}, world())] })).toEqual(new Set([KEY]));
  });

  it('contains the sounds that a pod plays in the place of those of its items, and those of a lost pod', () => {
    const sound = 'renditions/a/video-sound-14-1-6.flv';
    const items = [
      { id: 'film', name: '', rendition: KEY, sound },
      { id: 'late', name: '', rendition: '' },
    ];
    const played = buildProgram(items);
    const pod = makePod(stream(), {}, world());
    pod.metadata.annotations = { [PROGRAM_ANNOTATION]: JSON.stringify(played) };
    const lost = { ...stream(), status: { playing: toPlaying(played) } };
    for (const seen of [{ pods: [pod] }, { streams: [lost] }]) {
      const keys = listReferredKeys({ ...nothing, ...seen });
      expect(keys).toEqual(new Set([KEY, sound]));
      const chunk = chunkKey(sound, { firstFrame: 1407, sha256: 'a'.repeat(64) });
      expect([chunk, `${sound}.json`].map(mayDelete(planSweep(keys, 60)))).toEqual([false, false]);
    }
  });

  it('contains a stream’s items after its pod was lost, until their successors can be played', () => {
    const live = step(stream(), world({ pod: makePod(stream(), { ready: true }) })).stream;
    expect(listReferredKeys({ ...nothing, streams: [live] })).toEqual(new Set());
    const edited = { ...live, spec: { ...live.spec, uploadName: 'other' } };
    const preparing = step(edited, world({ pod: makePod(live, { ready: true }), uploads: [] })).stream;
    const lost = step(preparing, world({ uploads: [] })).stream;
    for (const streams of [[preparing], [lost]])
      expect(listReferredKeys({ ...nothing, streams })).toEqual(new Set([KEY]));
    const pod = makePod(live, { ready: true });
    const prepared = step(preparing, world({ pod, uploads: [upload('other')] })).stream;
    expect(listReferredKeys({ ...nothing, streams: [prepared] })).toEqual(new Set());
  });
});

describe('a sweep', () => {
  it('may delete unlisted objects, and no others', () => {
    const deletes = mayDelete(planSweep(new Set([KEY]), 60));
    expect([KEY, `${KEY}.json`, 'sources/other'].map(deletes)).toEqual([false, false, true]);
    const chunk = [chunkKey(KEY, { firstFrame: 900, sha256: 'a'.repeat(64) }), entryKey(KEY, 900)];
    expect(chunk.map(deletes)).toEqual([false, false]);
    expect(chunk.map(mayDelete(planSweep(new Set(['sources/u1']), 60)))).toEqual([true, true]);
  });

  it('takes the next part of a large storage each time, and begins again when the parts change', () => {
    const bases = new Set(Array.from({ length: 20_000 }, (_, i) => `sources/${i}`));
    const first = planSweep(bases, 60);
    const second = planSweep(bases, 60, first);
    const third = planSweep(bases, 60, second);
    expect([first, second, third, planSweep(bases, 60, third)].map(({ shard }) => shard)).toEqual([0, 1, 2, 0]);
    expect(planSweep(new Set(['sources/1']), 60, second)).toMatchObject({ shard: 0, shards: 1 });
    const deletes = [first, second, third].map(mayDelete);
    expect([...bases].filter((base) => deletes.some((deleted) => deleted(base)))).toEqual([]);
  });
});

describe('the sweeps of several namespaces', () => {
  it('do not come together, and each comes again after its interval', () => {
    const times = new SweepTimes(3600);
    const all = ['a', 'b', 'c'];
    const begun = new Map<string, number[]>();
    for (let nowMs = 0; nowMs < 7200; nowMs += 100)
      for (const namespace of times.due(all, nowMs)) {
        begun.set(namespace, [...(begun.get(namespace) ?? []), nowMs]);
        times.begun(namespace, 1, nowMs);
      }
    expect(Object.fromEntries(begun)).toEqual({ a: [0, 3600], b: [1200, 4800], c: [2400, 6000] });
  });

  it('take the parts of one in turn without moving those of another, and none of one that is not there', () => {
    const times = new SweepTimes(3600);
    expect(times.due(['a'], 0)).toEqual(['a']);
    times.begun('a', 3, 0);
    expect(times.due(['a'], 1100)).toEqual([]);
    expect(times.due(['a', 'b'], 1200)).toEqual(['a']);
    expect(times.due(['a', 'b'], 3000)).toEqual(['a', 'b']);
    expect(times.due([], 9000)).toEqual([]);
    expect(times.due(['b'], 9000)).toEqual(['b']);
  });
});
