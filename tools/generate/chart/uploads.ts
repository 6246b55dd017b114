/** The values about what accounts may upload. Pure: no I/O, no clock. */
import { group } from './schema.ts';
import { valueFor } from './settings.ts';

export const uploads = group('Limits of uploads.', {
  maxSizeBytes: valueFor('MAX_SOURCE_BYTES'),
  limits: group('Limits of media, so that the preparation of one file cannot block others.', {
    durationSeconds: valueFor('MAX_DURATION_SECONDS'),
    pixels: valueFor('MAX_PIXELS'),
    probeSeconds: valueFor('MAX_PROBE_SECONDS'),
  }),
  link: group('The transfer of a file from a link.', {
    timeoutSeconds: valueFor('FETCH_TIMEOUT_SECONDS'),
    minBytesPerSecond: valueFor('MIN_FETCH_BYTES_PER_SECOND'),
  }),
  quota: group('Quota of uploads for an account of the class `full`.', {
    count: valueFor('UPLOAD_QUOTA_COUNT'),
    bytes: valueFor('UPLOAD_QUOTA_BYTES'),
  }),
  sending: group('Resources of one API server for requests that send files.', {
    atOncePerAccount: valueFor('UPLOADS_AT_ONCE_PER_ACCOUNT'),
    atOnce: valueFor('UPLOADS_AT_ONCE'),
    memoryBytes: valueFor('UPLOAD_MEMORY_BYTES'),
    minBytesPerSecond: valueFor('UPLOAD_MIN_BYTES_PER_SECOND'),
  }),
});
