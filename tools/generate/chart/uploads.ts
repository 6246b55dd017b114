/** The values about what accounts may upload. Pure: no I/O, no clock. */
import { group } from './schema.ts';
import { valueFor } from './settings.ts';

export const uploads = group('What accounts may upload.', {
  maxSizeBytes: valueFor('MAX_SOURCE_BYTES'),
  limits: group('How long, large and involved media may be, so that preparing it is no attack on the others.', {
    durationSeconds: valueFor('MAX_DURATION_SECONDS'),
    secondsPerKilobyte: valueFor('MAX_SECONDS_PER_KILOBYTE'),
    frames: valueFor('MAX_FRAMES'),
    pixels: valueFor('MAX_PIXELS'),
    gigapixels: valueFor('MAX_GIGAPIXELS'),
    gapSeconds: valueFor('MAX_GAP_SECONDS'),
    sampleRate: valueFor('MAX_SAMPLE_RATE'),
    channels: valueFor('MAX_CHANNELS'),
    tracks: valueFor('MAX_TRACKS'),
    probeSeconds: valueFor('MAX_PROBE_SECONDS'),
  }),
  link: group('The transfer of a file from a link.', {
    timeoutSeconds: valueFor('FETCH_TIMEOUT_SECONDS'),
    minBytesPerSecond: valueFor('MIN_FETCH_BYTES_PER_SECOND'),
  }),
  quota: group('What an account may keep.', {
    count: valueFor('UPLOAD_QUOTA_COUNT'),
    bytes: valueFor('UPLOAD_QUOTA_BYTES'),
  }),
  expireHours: valueFor('UPLOAD_EXPIRE_HOURS'),
  sending: group('What requests that send files may take of one API server.', {
    atOncePerAccount: valueFor('UPLOADS_AT_ONCE_PER_ACCOUNT'),
    atOnce: valueFor('UPLOADS_AT_ONCE'),
    memoryBytes: valueFor('UPLOAD_MEMORY_BYTES'),
    minBytesPerSecond: valueFor('UPLOAD_MIN_BYTES_PER_SECOND'),
  }),
});
