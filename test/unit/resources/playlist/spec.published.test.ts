/** Tests that both releases read what is published: the annotation has the names of v1alpha1, and those of v1beta1 are read too. */
import { expect, test } from 'vitest';
import { PUBLISHED_ANNOTATION } from '../../../../src/resources/common/names.ts';
import { annotatePublished, readPublished } from '../../../../src/resources/playlist/spec.ts';
import { formatCopy, readCopy } from '../../../../src/resources/versions/copies.ts';

const NOW = { version: 3, mode: 'shuffle', items: [{ uploadName: 'film' }, { uploadName: 'film' }] } as const;
const BEFORE = { version: 3, mode: 'shuffle', items: [{ uploadRef: 'film' }, { uploadRef: 'film' }] };

const annotated = (published: unknown) => ({
  metadata: { annotations: { [PUBLISHED_ANNOTATION]: JSON.stringify(published) } },
});

test.each([
  ['v1beta1', NOW],
  ['v1alpha1', BEFORE],
])('a version published with the names of %s is read', (_, published) => {
  expect(readPublished(annotated(published))).toEqual(NOW);
});

test('a version is published with the names that the last release without v1beta1 reads', () => {
  const annotations = annotatePublished(3, { mode: 'shuffle', items: [...NOW.items] });
  expect(JSON.parse(annotations[PUBLISHED_ANNOTATION])).toEqual(BEFORE);
  expect(readPublished({ metadata: { annotations } })).toEqual(NOW);
});

test.each(['null', '[]', '{}', '{"version":1,"mode":"shuffle","items":[{}]}', 'film'])(
  '%s is no published version',
  (text) => {
    expect(readPublished({ metadata: { annotations: { [PUBLISHED_ANNOTATION]: text } } })).toBeUndefined();
  },
);

test('a kept version is read whichever names it has', () => {
  const spec = { displayName: 'Mix', track: 'audio', mode: 'sequential', items: [{ uploadName: 'song' }] };
  const before = { displayName: 'Mix', kind: 'audio', mode: 'sequential', items: [{ uploadRef: 'song' }] };
  expect(formatCopy('Playlist', spec)).toEqual(before);
  expect(readCopy('Playlist', before)).toEqual(spec);
  expect(readCopy('Playlist', spec)).toEqual(spec);
});
