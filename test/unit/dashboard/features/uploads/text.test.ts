import { describe, expect, test } from 'vitest';
import { UPLOAD_STATES } from '../../../../../src/core/resources/upload/spec.ts';
import { computeSpeed, secondsLeft, withSample } from '../../../../../src/dashboard/features/uploads/speed.ts';
import { splitUploads } from '../../../../../src/dashboard/features/uploads/splitUploads.ts';
import {
  canRetry,
  describeDoing,
  getStateLook,
  guessFileType,
  guessKeptType,
  listFacts,
} from '../../../../../src/dashboard/features/uploads/text.ts';
import { computeFingerprint, UnfinishedUploads } from '../../../../../src/dashboard/features/uploads/unfinished.ts';
import { formatLength, formatTimeLeft as leftInWords } from '../../../../../src/dashboard/lib/format.ts';
import type { Upload } from '../../../../../src/service/client/index.ts';

const upload = (rest: Partial<Upload> = {}): Upload => ({
  id: 'upl-1',
  objectID: 'up-1',
  type: 'VIDEO',
  name: 'show.mp4',
  fromLink: false,
  state: 'ready',
  progress: 1,
  createdAt: '',
  sizeBytes: null,
  durationSeconds: null,
  video: null,
  audio: null,
  tracks: null,
  declaredTracks: [],
  moreTracks: 0,
  loudness: null,
  sounds: [],
  cards: [],
  looks: [],
  labels: {},
  overlays: 'SHOWN',
  quarantine: null,
  title: null,
  artist: null,
  album: null,
  isrc: null,
  label: null,
  license: null,
  licenseUrl: null,
  posterUrl: null,
  preview: null,
  warnings: [],
  waiting: null,
  error: null,
  ...rest,
});

/** A browser's storage, without a browser. */
function storage(): Storage {
  const kept = new Map<string, string>();
  return {
    get length() {
      return kept.size;
    },
    key: (index) => [...kept.keys()][index] ?? null,
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
    clear: () => kept.clear(),
  };
}

describe('the texts of an upload', () => {
  test('every state has a word', () => {
    for (const state of UPLOAD_STATES) expect(getStateLook(state).word).toMatch(/^[A-Z]/);
    expect(getStateLook('constructor').word).toBe('constructor');
  });

  test('a link is fetched, and a file is received', () => {
    expect(describeDoing(upload({ state: 'importing', fromLink: true }))).toBe('Being fetched and checked');
    expect(describeDoing(upload({ state: 'importing' }))).toBe('Being received and checked');
    expect(describeDoing(upload({ state: 'preparing' }))).toBe('Being prepared for the streams that play it');
    expect(describeDoing(upload())).toBeUndefined();
  });

  test('only a link is fetched again', () => {
    const error = { code: 'link_unavailable', message: '', fix: '' };
    expect(canRetry(upload({ state: 'failed', fromLink: true, error }))).toBe(true);
    expect(canRetry(upload({ state: 'failed', error }))).toBe(false);
    expect(canRetry(upload({ fromLink: true, error: { ...error, code: 'link_forbidden' } }))).toBe(false);
    expect(canRetry(upload({ fromLink: true, error: { ...error, code: 'media_unreadable' } }))).toBe(false);
  });

  test('length, size, picture and sound, as far as they are known', () => {
    expect(listFacts(upload())).toEqual([]);
    const video = { codec: 'h264', width: 1920, height: 1080, framerate: 29.97002997 };
    const known = upload({ durationSeconds: 3723, sizeBytes: 1_200_000_000, video });
    known.audio = { codec: 'aac', sampleRate: 48_000, channels: 2 };
    expect(listFacts(known)).toEqual(['1:02:03', '1.2 GB', '1920×1080, 29.97 fps, H.264', 'AAC stereo']);
  });

  test('lengths are written as players write them', () => {
    expect([0, 42.4, 727, 3723, 360_000, null].map(formatLength)).toEqual([
      ...['0:00', '0:42', '12:07', '1:02:03', '100:00:00', '–'],
    ]);
  });

  test('a file is sound by its kind, or by its name where it has no kind', () => {
    expect(guessFileType({ name: 'a.mp3', type: 'audio/mpeg' })).toBe('AUDIO');
    expect(guessFileType({ name: 'a.FLAC', type: '' })).toBe('AUDIO');
    expect(guessFileType({ name: 'a.mkv', type: '' })).toBe('VIDEO');
    expect(guessFileType({ name: 'mp3', type: 'video/mp4' })).toBe('VIDEO');
  });

  test('a picture that is kept is an image, and one that a stream loops is a video, as one that may move is', () => {
    for (const type of ['image/png', 'image/jpeg', 'image/webp', 'image/tiff']) {
      expect(guessKeptType({ name: 'logo', type })).toBe('IMAGE');
      expect(guessFileType({ name: 'logo', type })).toBe('VIDEO');
    }
    // Not all browsers name the type of a TIFF.
    expect(guessKeptType({ name: 'a.TIF', type: '' })).toBe('IMAGE');
    expect(guessKeptType({ name: 'a.gif', type: 'image/gif' })).toBe('VIDEO');
    expect(guessKeptType({ name: 'a.mp3', type: 'audio/mpeg' })).toBe('AUDIO');
  });
});

describe('how fast a file is sent', () => {
  test('only the last seconds count', () => {
    const samples = [0, 1000, 2000, 20_000, 21_000].reduce<{ at: number; bytes: number }[]>(
      (all, at, i) => withSample(all, { at, bytes: i * 1_000_000 }),
      [],
    );
    expect(samples).toHaveLength(2);
    expect(computeSpeed(samples)).toBe(1_000_000);
  });

  test('is shown only once it is known', () => {
    expect(computeSpeed([])).toBeUndefined();
    expect(
      computeSpeed([
        { at: 0, bytes: 0 },
        { at: 10, bytes: 5 },
      ]),
    ).toBeUndefined();
    expect(secondsLeft(10, 0)).toBeUndefined();
    expect(leftInWords(undefined)).toBeUndefined();
    expect([3, 45, 130, 5400].map(leftInWords)).toEqual([
      'a few seconds left',
      'about 50 s left',
      'about 3 min left',
      'about 1.5 h left',
    ]);
  });
});

describe('unfinished uploads', () => {
  const file = { name: 'my film (1).mp4', size: 1000, lastModified: 5 };
  const previous = (objectID: string) => ({
    size: file.size,
    metadata: { filename: file.name },
    creationTime: '2030-01-01T00:00:00Z',
    urlStorageKey: '',
    uploadUrl: `http://host/v1/uploads/resumable/${objectID}`,
    parallelUploadUrls: null,
  });

  test('are found again by the same file, and not by another one or by another account', async () => {
    const shared = storage();
    const mine = new UnfinishedUploads(shared, 'usr-1');
    const key = await mine.addUpload(computeFingerprint(file), previous('up-1'));
    expect(await mine.findUploadsByFingerprint(computeFingerprint(file))).toMatchObject([{ urlStorageKey: key }]);
    expect(await mine.findUploadsByFingerprint(computeFingerprint({ ...file, lastModified: 6 }))).toEqual([]);
    expect(mine.list()).toMatchObject([{ objectID: 'up-1', name: file.name, sizeBytes: 1000 }]);
    expect(new UnfinishedUploads(shared, 'usr-2').list()).toEqual([]);
    mine.forget(key);
    expect(mine.list()).toEqual([]);
  });

  test('are shown once: as being sent, as not finished, or as the server has them', () => {
    const uploads = ['up-1', 'up-2', 'up-3'].map((objectID) => upload({ objectID, state: 'importing' }));
    uploads.push(upload({ objectID: 'up-4' }));
    const remembered = ['up-1', 'up-2', 'up-4'].map((objectID) => ({
      key: objectID,
      objectID,
      name: '',
      sizeBytes: 1,
    }));
    const { unfinished, rest } = splitUploads(uploads, [{ objectID: 'up-1' }], remembered);
    expect(unfinished.map(({ objectID }) => objectID)).toEqual(['up-2']);
    expect(rest.map(({ objectID }) => objectID)).toEqual(['up-3', 'up-4']);
  });

  test('a storage that is full or forbidden prevents no upload', async () => {
    expect(new UnfinishedUploads(undefined, 'usr-1').list()).toEqual([]);
    const full = storage();
    full.setItem = () => {
      throw new DOMException('full', 'QuotaExceededError');
    };
    await expect(new UnfinishedUploads(full, 'usr-1').addUpload('x', previous('up-1'))).resolves.toBeTypeOf('string');
  });
});
