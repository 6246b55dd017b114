/** Declares the values about uploads of accounts. Pure: no I/O, no clock. */
import { DEFAULT_LIMITS } from '../../../src/media/limits.ts';
import { group, whole } from './schema.ts';

export const uploads = group('What accounts may upload.', {
  maxSizeBytes: whole('Size of the largest file.', 20 * 2 ** 30, 1),
  limits: group('How long, large and involved media may be, so that preparing it is no attack on the others.', {
    durationSeconds: whole('Seconds that a file may last.', DEFAULT_LIMITS.durationSeconds, 1),
    secondsPerKilobyte: whole(
      'Seconds that each 1000 bytes of it may last, beyond the first ten minutes.',
      DEFAULT_LIMITS.secondsPerKilobyte,
      1,
    ),
    frames: whole('Packets of one track.', DEFAULT_LIMITS.frames, 1),
    pixels: whole('Pixels of a picture.', DEFAULT_LIMITS.pixels, 1),
    gigapixels: whole('Frames times pixels, in 10^9.', DEFAULT_LIMITS.gigapixels, 1),
    gapSeconds: whole('Seconds from one frame to the next.', DEFAULT_LIMITS.gapSeconds, 1),
    sampleRate: whole('Samples of sound a second.', DEFAULT_LIMITS.sampleRate, 1),
    channels: whole('Channels of sound.', DEFAULT_LIMITS.channels, 1),
    tracks: whole('Tracks of any kind, attachments among them.', DEFAULT_LIMITS.tracks, 1),
    probeSeconds: whole('Seconds that reading a file to its end may take.', DEFAULT_LIMITS.probeSeconds, 1),
  }),
  link: group('The transfer of a file from a link.', {
    timeoutSeconds: whole('Seconds that all of it may take.', 3600, 1, 604_800),
    minBytesPerSecond: whole(
      'A server that sends fewer bytes a second, averaged over half a minute, is given up; 0 for any rate.',
      16_384,
      0,
    ),
  }),
  quota: group('What an account may keep.', {
    count: whole('Uploads.', 10_000, 1),
    bytes: whole('Bytes of them.', 2 ** 40, 1),
  }),
  expireHours: whole('Hours that a client may take to send a file.', 72, 1, 8784),
  sending: group('What requests that send files may take of one API server.', {
    atOncePerAccount: whole('Requests of an account at the same time.', 32, 1, 100_000),
    atOnce: whole('Requests of all accounts at the same time.', 256, 1, 100_000),
    memoryBytes: whole('Bytes of memory in which they wait for the storage.', 32 * 2 ** 20, 2 ** 20, 2 ** 34),
    minBytesPerSecond: whole('Bytes a second, over 30 s, below which a sender is ended.', 4096, 0),
  }),
});
