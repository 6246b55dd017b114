/** Uploads of every kind, for screenshots of their page: what few installations have at the same time. */

import { UPLOAD_ERRORS } from '../src/core/lib/codes/uploads.ts';
import { warn } from '../src/core/resources/upload/warnings.ts';
import type { Upload } from '../src/service/client/index.ts';

type Track = Upload['declaredTracks'][number];

const track = (index: number, rest: Partial<Track>): Track => ({
  ...{ index, kind: 'AUDIO', codec: 'aac', language: null, title: null, channels: 2, playable: true, automatic: false },
  ...rest,
});
const picture = track(0, { kind: 'VIDEO', codec: 'h264', channels: null, automatic: true });

/** Each stands for a kind, and says of an upload only what makes it one. */
export const SAMPLE_UPLOADS: readonly Partial<Upload>[] = [
  {
    name: 'Film with several sound tracks.mkv',
    declaredTracks: [
      picture,
      track(1, { language: 'eng', automatic: true }),
      track(2, { language: 'deu', codec: 'ac3', channels: 6 }),
      track(3, { language: 'eng', title: 'Director’s commentary with the whole cast, recorded in 2024', channels: 1 }),
      track(4, { codec: 'apac', playable: false }),
    ],
  },
  {
    name: 'Field recording with two cameras and the sound of two microphones, second take (final).mxf',
    tracks: { video: 1, audio: 2, audioRight: 3 },
    declaredTracks: [
      picture,
      track(1, { kind: 'VIDEO', codec: 'mpeg2video', channels: null }),
      track(2, { codec: 'pcm_s24le', channels: 1, automatic: true }),
      track(3, { codec: 'pcm_s24le', channels: 1, automatic: true }),
    ],
    warnings: [
      warn('silence_added'),
      warn('track_unplayable', 'It is audio track 4 (apac, eng).'),
      warn('media_changes'),
    ],
  },
  {
    name: 'Programme_of_the_evening_without_a_single_blank_in_its_name_2026-11-29T20-00-00.ts',
    state: 'failed',
    tracks: { video: null, audio: 7, audioRight: null },
    declaredTracks: [picture, track(1, { automatic: true })],
    error: {
      code: 'media_track_not_found',
      message: 'The file has no track 7.',
      fix: UPLOAD_ERRORS.media_track_not_found.fix,
    },
  },
  {
    name: 'Link that leads nowhere',
    state: 'failed',
    sizeBytes: null,
    durationSeconds: null,
    video: null,
    audio: null,
    declaredTracks: [],
    error: {
      code: 'link_unreachable',
      message: 'The server media.example refuses connections.',
      fix: UPLOAD_ERRORS.link_unreachable.fix,
    },
  },
  {
    name: 'Slow server.mp4',
    state: 'importing',
    progress: 0.42,
    durationSeconds: null,
    video: null,
    audio: null,
    declaredTracks: [],
    waiting: {
      message: 'The server media.example answered 503.',
      since: '2026-11-29T12:00:00Z',
      nextTryAt: '2026-11-29T12:05:00Z',
      until: '2026-11-29T12:30:00Z',
      tries: 3,
    },
  },
  { name: 'Being prepared.mov', state: 'preparing', progress: 0 },
  { name: 'Song.flac', type: 'AUDIO', video: null, warnings: [warn('still_picture')] },
];
