/** Tests what a page says of the picture on air while an edit is on its way. */
import { expect, test } from 'vitest';
import { formatPicture } from '../../../../../src/dashboard/features/streams/picture.ts';

const wanted = { quality: 'q_1080p', framerate: 'f_25' } as const;

test('what is on air comes first, and only what differs follows', () => {
  expect(formatPicture(wanted, undefined, undefined)).toBe('1080p · 25 fps');
  expect(formatPicture(wanted, { quality: null, framerate: null }, undefined)).toBe('1080p · 25 fps');
  expect(formatPicture(wanted, wanted, { prepared: 1 })).toBe('1080p · 25 fps');
  expect(formatPicture(wanted, { quality: 'q_1080p', framerate: 'f_30' }, { prepared: 1 })).toBe(
    '1080p · 30 fps, 25 fps from the next clip',
  );
  expect(formatPicture(wanted, { quality: 'q_720p', framerate: 'f_30' }, { prepared: 0.4 })).toBe(
    '720p · 30 fps, 1080p · 25 fps once it is prepared',
  );
});
