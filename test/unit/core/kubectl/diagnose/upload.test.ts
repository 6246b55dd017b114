/** Tests what the plugin says of the renditions of an upload, its sounds, and what streams show of it. */
import { expect, test } from 'vitest';
import { describeUploadRow, findUploadFaults } from '../../../../../src/core/kubectl/diagnose/upload.ts';
import { rendition, upload } from '../../../../kit/make/operator.ts';

const film = upload();
const renditions = [
  rendition('720p30'),
  rendition('720p30-l3k9x0a'),
  rendition('720p30-c0a1b2c'),
  { profile: 'sound-14-1-6', state: 'ready' as const, loudness: { gainDb: 3 } },
  {
    profile: 'sound-23-1-6',
    state: 'failed' as const,
    error: { code: 'storage_full' as const, message: 'The storage is full.' },
  },
];
const heard = { ...film, status: { ...film.status, renditions } };

test('the row of an upload lists its renditions, and no sounds, looks and cards', () => {
  expect(describeUploadRow(heard)).toEqual([film.metadata.name, 'ready', '', '720p30 ready']);
});

test('a sound that could not be made is named by its loudness', () => {
  expect(findUploadFaults(heard)).toEqual([
    {
      message: `Upload "${film.metadata.name}" could not be prepared for -23 LUFS: The storage is full.`,
      fix: expect.any(String),
    },
  ]);
});
