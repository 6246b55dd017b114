/** Attacks through a prepare Job that a file has taken over: it may report anything, and only possible values are stored. */
import { describe, expect, test } from 'vitest';
import { decideUpload } from '../../src/core/operator/upload/decide.ts';
import { wantImport, wantRendition } from '../../src/core/operator/upload/job.ts';
import type { PreparedPart } from '../../src/core/protocol/task.ts';
import type { Upload } from '../../src/core/resources/upload/resource.ts';
import { endedPod, MEDIA, makeJob, NOW, SETTINGS, upload } from '../kit/make/operator.ts';

const buildImported = (): Upload => upload('film', { observedGeneration: 1, sourceKey: 'sources/x', media: MEDIA });

/** Returns the status of an upload after its Job has reported a result, or a part of a rendition while it works. */
function statusAfter(
  result: unknown,
  task: 'import' | 'rendition',
  more: Partial<Upload['spec']> = {},
  prepared?: PreparedPart,
) {
  const bare = task === 'import' ? upload('film', {}) : buildImported();
  const owner = { ...bare, spec: { ...bare.spec, ...more } };
  const job = makeJob(owner, task === 'import' ? wantImport(owner) : wantRendition(owner, MEDIA, '720p30'));
  return decideUpload(owner, {
    held: new Map(),
    grant: () => ({}),
    sounds: [],
    cards: [],
    looks: [],
    slates: [],
    hasPreparedRoom: () => true,
    profiles: ['720p30'],
    urgent: new Set(),
    sameWork: new Map(),
    progress: new Map(prepared && [[job.metadata.uid, { progress: 0, prepared }]]),
    sameSource: () => undefined,
    jobs: new Map([[job.metadata.name, job]]),
    pods: new Map([[job.metadata.uid, prepared ? [] : [endedPod(result as Parameters<typeof endedPod>[0])]]]),
    keepUnusedMs: 1,
    now: NOW,
    settings: SETTINGS,
  }).status;
}

const FAILED = { phase: 'failed', error: { code: 'prepare_failed' } };
const { video, audio } = MEDIA;

describe('an import that reports', () => {
  test('a possible value is accepted', () => {
    expect(statusAfter({ action: 'import', media: MEDIA }, 'import')).toMatchObject({ media: MEDIA });
  });

  test.each([
    ['a length of 25 years', { durationSeconds: 800_801_800 }],
    ['more bytes than there may be', { sizeBytes: 2 ** 60 }],
    ['a number that Kubernetes does not take', { sizeBytes: 1e300 }],
    ['more pixels than there may be', { video: { ...video, width: 1e9, height: 1e9 } }],
    ['a picture of less than nothing', { video: { ...video, width: -1 } }],
    ['a frame rate without bounds', { video: { ...video, framerate: 1e308 } }],
    ['a codec that is a page of text', { video: { ...video, codec: 'x'.repeat(3000) } }],
    ['a codec with markup', { video: { ...video, codec: '<img src=x>' } }],
    ['no picture, where one was asked for', { video: undefined }],
    ['sound beyond all that is taken', { audio: { ...audio, sampleRate: 1e12 } }],
    ['a million channels', { audio: { ...audio, channels: 1e6 } }],
  ])('%s has failed, and nothing of it is written down', (_, wrong) => {
    const status = statusAfter({ action: 'import', media: { ...MEDIA, ...wrong } }, 'import');
    expect(status).toMatchObject(FAILED);
    expect(status.media).toBeUndefined();
  });

  test('another size than the client sent has failed', () => {
    const more = { source: { sent: { sizeBytes: 999, receivedBytes: 999 } } };
    expect(statusAfter({ action: 'import', media: MEDIA }, 'import', more)).toMatchObject(FAILED);
  });

  test('a length beyond the account’s limit has failed', () => {
    expect(statusAfter({ action: 'import', media: MEDIA }, 'import', { maxDurationSeconds: 5 })).toMatchObject(FAILED);
    expect(statusAfter({ action: 'import', media: MEDIA }, 'import', { maxDurationSeconds: 10 })).toMatchObject({
      media: MEDIA,
    });
  });
});

describe('a Job that reports a part of its rendition', () => {
  const part: PreparedPart = { seconds: 10, totalSeconds: 10, speed: 2 };
  const shown = (wrong: Partial<PreparedPart>) =>
    statusAfter(undefined, 'rendition', {}, { ...part, ...wrong }).renditions;

  test('that is possible has it shown', () => {
    expect(shown({})).toMatchObject([{ state: 'pending', playable: true, preparedSeconds: 10 }]);
  });

  test.each<[string, Partial<PreparedPart>]>([
    ['of a film of 25 years', { seconds: 800_801_800, totalSeconds: 800_801_800 }],
    ['that is longer than the whole', { seconds: 11 }],
    ['at the speed of light', { speed: 1e300 }],
  ])('%s has nothing of it written down', (_, wrong) => {
    expect(shown(wrong)).toEqual([{ profile: '720p30', state: 'pending' }]);
  });
});

describe('warnings that a Job reports', () => {
  const reportWarnings = (warnings: unknown) => statusAfter({ action: 'import', media: MEDIA, warnings }, 'import');

  test('are written down: known codes, one of each, in sentences that fit and that a terminal does not obey', () => {
    const told = { code: 'picture_held', message: `\u001b[31m${'x'.repeat(250)}`, more: 'x'.repeat(9999) };
    const { warnings } = reportWarnings([told, told, { code: 'still_picture', message: '' }]);
    expect(warnings).toEqual([
      { code: 'still_picture', message: '' },
      { code: 'picture_held', message: ` [31m${'x'.repeat(250)}` },
    ]);
  });

  test.each([
    ['a code that nobody knows', [{ code: 'buy_this', message: 'Now.' }]],
    ['a page of text', [{ code: 'picture_held', message: 'x'.repeat(3000) }]],
    ['more than there are codes', Array.from({ length: 40 }, () => ({ code: 'picture_held', message: 'x' }))],
    ['no list', 'picture_held'],
  ])('%s has failed, and nothing of it is written down', (_, warnings) => {
    const status = reportWarnings(warnings);
    expect(status).toMatchObject(FAILED);
    expect(status.warnings).toBeUndefined();
  });
});

describe('a rendition that reports', () => {
  const made = { profile: '720p30', state: 'ready', durationSeconds: 10, bitrateKbps: 4000 };

  test.each([
    ['a length of 25 years', { durationSeconds: 800_801_800 }],
    ['no length', { durationSeconds: undefined }],
    ['a bit rate without bounds', { bitrateKbps: 1e300 }],
    ['another profile', { profile: '2160p60' }],
    ['that it is not ready', { state: 'pending' }],
  ])('%s has failed', (_, wrong) => {
    expect(statusAfter({ action: 'rendition', rendition: { ...made, ...wrong } }, 'rendition')).toMatchObject(FAILED);
  });

  test('a key, an error or anything else of its own has no part in the status', () => {
    const own = { key: 'renditions/of/another', unwantedSince: '2000-01-01T00:00:00Z', error: FAILED.error, x: 1 };
    const error = { code: 'prepare_failed', message: 'Mine.' };
    const { renditions } = statusAfter({ action: 'rendition', rendition: { ...made, ...own, error } }, 'rendition');
    expect(renditions).toEqual([{ ...made, key: expect.stringContaining(MEDIA.sha256) }]);
  });

  test('a failure says so in a sentence that fits a status', () => {
    const error = { code: 'media_unreadable', message: `\u0000\u001b[31m${'x'.repeat(3000)}` };
    const { renditions } = statusAfter({ action: 'failed', error }, 'rendition');
    const message = renditions?.[0]?.error?.message ?? '';
    expect(message.length).toBeLessThanOrEqual(512);
    expect(message).toMatch(/^ \[31mx/);
  });
});
