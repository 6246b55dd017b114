/** Tests that published and kept versions are read, also with the names that their fields had before. */
import { expect, test } from 'vitest';
import { PUBLISHED_ANNOTATION } from '../../../../../src/core/resources/common/names.ts';
import { annotatePublished, readCopy, readPublished } from '../../../../../src/core/resources/playlist/spec.ts';

const NOW = { version: 3, mode: 'shuffle', items: [{ uploadName: 'film' }, { uploadName: 'film' }] } as const;
const BEFORE = { version: 3, mode: 'shuffle', items: [{ uploadRef: 'film' }, { uploadRef: 'film' }] };

const annotated = (published: unknown) => ({
  metadata: { annotations: { [PUBLISHED_ANNOTATION]: JSON.stringify(published) } },
});

test.each([
  ['today’s', NOW],
  ['earlier', BEFORE],
])('a version published with %s names is read', (_, published) => {
  expect(readPublished(annotated(published))).toEqual(NOW);
});

test('a version is published with today’s names', () => {
  const annotations = annotatePublished(3, { mode: 'shuffle', items: [...NOW.items] });
  expect(JSON.parse(annotations[PUBLISHED_ANNOTATION])).toEqual(NOW);
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
  expect(readCopy(before)).toEqual(spec);
  expect(readCopy(spec)).toEqual(spec);
});
