/** Provides an example problem document of each code for the description of the API. Pure: no I/O, no clock. */
import { exampleIssue } from '../../domain/streams/examples.ts';
import { ERRORS, type ErrorCode } from '../../lib/errors.ts';
import { EXAMPLE } from '../../lib/examples.ts';

const { stream, playlist, scene } = EXAMPLE;

/** Additional members of some problems. */
const EXTRAS: Partial<Record<ErrorCode, object>> = {
  validation_failed: { errors: [{ path: '/name', message: 'is required' }] },
  destination_forbidden: {
    errors: [{ path: '/rtmpUrl', message: 'must have a public host, not one of a private network' }],
  },
  link_forbidden: { errors: [{ path: '/url', message: 'Address 10.0.0.1 is not public.' }] },
  stream_not_ready: { issues: [exampleIssue] },
  destination_in_use: { streamIDs: [stream] },
  destination_on_air: { streamIDs: [stream] },
  upload_in_use: { streamIDs: [stream], playlistIDs: [playlist], sceneIDs: [scene] },
  scene_in_use: { streamIDs: [stream] },
  playlist_in_use: { streamIDs: [stream], playlistIDs: [playlist] },
  quota_exceeded: { limit: 'streams', used: 5, allowed: 5, class: 'trial' },
  upload_quota_exceeded: { limit: 'uploads', used: 50, allowed: 50, class: 'trial' },
  api_key_quota_exceeded: { limit: 'apiKeys', used: 10, allowed: 10, class: 'trial' },
  too_many_writes: { limit: 'writtenBytes', allowed: 4_194_304, class: 'trial', retryAfterSeconds: 12 },
  playlist_version_conflict: { currentVersion: 4 },
  scene_version_conflict: { currentVersion: 4 },
};

export const problemExample = (code: ErrorCode) => ({
  type: `/docs/errors/${code}`,
  title: ERRORS[code].title,
  status: ERRORS[code].status,
  detail: ERRORS[code].meaning,
  code,
  ...EXTRAS[code],
});
