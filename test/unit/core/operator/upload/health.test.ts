/** Tests the conditions Ready, Reconciling and Stalled of an upload. */

import { describe, expect, it } from 'vitest';
import { UPLOAD_ERRORS } from '../../../../../src/core/lib/codes/uploads.ts';
import { addHealth, judgeUpload } from '../../../../../src/core/operator/upload/health.ts';
import type { Condition } from '../../../../../src/core/resources/common/conditions.ts';
import type { RenditionStatus, UploadStatus } from '../../../../../src/core/resources/upload/spec.ts';
import { MEDIA, NOW, rendition, upload } from '../../../../kit/make/operator.ts';

const condition = (type: string, status: Condition['status'], reason: string): Condition => ({
  type,
  status,
  reason,
  message: `${reason}.`,
  lastTransitionTime: '2026-06-01T11:00:00Z',
});
const importing = (reason: string): UploadStatus => ({
  phase: 'importing',
  conditions: [condition('Imported', 'False', reason), condition('Prepared', 'False', reason)],
});
const imported = (reason: string, status: Condition['status'], renditions: RenditionStatus[] = []): UploadStatus => ({
  phase: status === 'True' ? 'ready' : 'preparing',
  media: MEDIA,
  renditions,
  conditions: [condition('Imported', 'True', 'Imported'), condition('Prepared', status, reason)],
});
const pending = (profile: string, playable = false): RenditionStatus => ({ profile, state: 'pending', playable });
const error = { code: 'media_unreadable', message: 'It is cut off.' } as const;

describe('an upload', () => {
  it.each<[string, UploadStatus, string]>([
    ['that no stream plays', imported('NothingWanted', 'True'), 'NothingWanted'],
    ['that is prepared', imported('Prepared', 'True', [rendition()]), 'Prepared'],
    [
      'whose beginnings can be played',
      imported('Preparing', 'False', [rendition(), pending('1080p30', true)]),
      'Playable',
    ],
    ['whose preview is missing', imported('Prepared', 'True', [rendition(), pending('preview')]), 'Prepared'],
  ])('%s is ready', (_what, status, reason) => {
    expect(judgeUpload(status)).toMatchObject({ state: 'ready', reason });
  });

  it.each<[string, UploadStatus, string]>([
    ['is imported', importing('Importing'), 'Importing'],
    ['is sent', importing('Receiving'), 'Receiving'],
    ['waits for its link', importing('WaitingForLink'), 'WaitingForLink'],
    ['waits for its turn', importing('Queued'), 'Queued'],
    ['is prepared', imported('Preparing', 'False', [pending('720p30')]), 'Preparing'],
    [
      'is prepared for one stream more',
      imported('Preparing', 'False', [pending('720p30', true), pending('1080p30')]),
      'Preparing',
    ],
    ['waits for streams that may not go on air', imported('OnHold', 'False', [rendition()]), 'OnHold'],
  ])('reconciles while it %s', (_what, status, reason) => {
    expect(judgeUpload(status)).toMatchObject({ state: 'reconciling', reason });
  });

  it('that cannot be imported stalls, and tells the way on', () => {
    expect(judgeUpload({ ...importing('MediaUnreadable'), phase: 'failed', error })).toMatchObject({
      state: 'stalled',
      reason: 'MediaUnreadable',
      message: expect.stringContaining(UPLOAD_ERRORS.media_unreadable.fix),
    });
  });

  it('that cannot be prepared for one stream stalls, also while it is prepared for another', () => {
    const renditions: RenditionStatus[] = [pending('1080p30', true), { profile: '720p30', state: 'failed', error }];
    const status = { ...imported('MediaUnreadable', 'False', renditions), error };
    expect(judgeUpload(status)).toMatchObject({ state: 'stalled', reason: 'MediaUnreadable' });
  });

  it('whose Job is refused reconciles with the words of Kubernetes', () => {
    expect(judgeUpload(importing('Importing'), 'exceeded quota')).toMatchObject({
      state: 'reconciling',
      reason: 'JobRefused',
      message: 'exceeded quota',
    });
  });

  it('shows it before the other conditions, for the generation that it was judged at', () => {
    const { conditions } = addHealth(upload(), importing('Importing'), NOW);
    expect(conditions.map(({ type, status, observedGeneration }) => [type, status, observedGeneration])).toEqual([
      ['Ready', 'False', 1],
      ['Reconciling', 'True', 1],
      ['Imported', 'False', undefined],
      ['Prepared', 'False', undefined],
    ]);
  });
});
