/** Tests that the version of a playlist never goes back, also when a backup of it is restored under another UID. */
import { describe, expect, it } from 'vitest';
import { annotatePublished } from '../../../../../src/core/resources/playlist/spec.ts';
import {
  annotateNextVersion,
  annotateSameVersion,
  listEarlierUids,
  readVersion,
} from '../../../../../src/core/resources/playlist/version.ts';
import { playlist } from '../../../../kit/make/operator.ts';

const build = (uid: string, generation: number, annotations: Record<string, string> = {}) => {
  const made = playlist('pls', ['film']);
  return { ...made, metadata: { ...made.metadata, uid, generation, annotations } };
};

describe('the version of a playlist', () => {
  it('is its generation where nothing was restored', () => {
    expect(readVersion(build('a', 17))).toBe(17);
    const edited = build('a', 17, annotateNextVersion(build('a', 16)));
    expect(readVersion(edited)).toBe(17);
    // An edit by kubectl, which writes no annotation.
    expect(readVersion(build('a', 18, edited.metadata.annotations))).toBe(18);
  });

  it('goes on where it was after a restore, for edits of the API and of kubectl, and after another restore', () => {
    const backup = annotateNextVersion(build('a', 16));
    const restored = build('b', 1, backup);
    expect(readVersion(restored)).toBe(17);
    expect(readVersion(build('b', 3, backup))).toBe(19);
    const next = annotateNextVersion(restored);
    expect(readVersion(build('b', 2, next))).toBe(18);
    const again = build('c', 1, next);
    expect([readVersion(again), listEarlierUids(again)]).toEqual([18, ['b', 'a']]);
  });

  it('is not raised by a write that leaves the spec as it is', () => {
    const restored = build('b', 1, annotateNextVersion(build('a', 16)));
    const published = build('b', 1, { ...restored.metadata.annotations, ...annotateSameVersion(restored) });
    expect(readVersion(published)).toBe(17);
    expect(annotateSameVersion(published)).toEqual({});
  });

  it('is recorded after an edit by kubectl and an upgrade; a first version that was never restored needs no record', () => {
    expect(annotateSameVersion(build('a', 1))).toEqual({});
    expect(readVersion(build('b', 1, annotateSameVersion(build('a', 17))))).toBe(17);
    const edited = build('a', 18, annotateSameVersion(build('a', 17)));
    expect(readVersion(build('b', 1, annotateSameVersion(edited)))).toBe(18);
    const recorded = build('a', 18, annotateSameVersion(edited));
    expect([readVersion(recorded), annotateSameVersion(recorded)]).toEqual([18, {}]);
  });

  it('is beyond what was published, where an older release made the backup', () => {
    expect(readVersion(build('b', 1, annotatePublished(17, { mode: 'sequential', items: [] })))).toBeGreaterThan(17);
  });

  it.each(['', '{}', '{"uid":"a","generation":1,"version":0}', '{"uid":"a","generation":1,"version":1e99}'])(
    'is its generation where the annotation is %j',
    (text) => expect(readVersion(build('a', 4, { 'loopstream.dev/version': text }))).toBe(4),
  );
});
