/** Tests the sentences on what an upload looks like with overlays. */
import { expect, test } from 'vitest';
import { formatLooks, listLookNotes } from '../../../../../src/dashboard/features/uploads/looks.ts';
import type { Upload } from '../../../../../src/service/client/index.ts';

const look = (more: Partial<Upload['looks'][number]> = {}): Upload['looks'][number] => ({
  ...{ profile: '720p30', state: 'ready', error: null },
  ...more,
});
const error = { code: 'prepare_failed', message: 'The text cannot be drawn.', fix: 'Change it.' };

test('a look that is not ready has a sentence, which says the cause and what to do where it failed', () => {
  expect(listLookNotes({ looks: [look()] })).toEqual([]);
  const pending = look({ state: 'pending' });
  expect(listLookNotes({ looks: [pending, pending, look({ state: 'failed', error })] })).toEqual([
    'Being made with overlays at 720p30. It plays as before meanwhile.',
    'With overlays at 720p30 it could not be made, and plays without. The text cannot be drawn. Change it.',
  ]);
});

test('the qualities that are ready are named once, and an item that opts out says so', () => {
  expect(formatLooks({ looks: [], overlays: 'SHOWN' })).toBeUndefined();
  const looks = [look(), look(), look({ profile: '1080p60' }), look({ profile: '480p30', state: 'pending' })];
  expect(formatLooks({ looks, overlays: 'SHOWN' })).toBe('with overlays at 720p30, 1080p60');
  expect(formatLooks({ looks, overlays: 'NONE' })).toBe('without overlays');
});
