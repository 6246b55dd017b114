/**
 * An example of each document of the API, by the title of its schema: a day in the life of one account, so that ids agree.
 * A test holds each against its schema. Pure: no I/O, no clock.
 */
import { ERRORS, type ErrorCode } from '../../lib/errors.ts';
import { moneyExamples } from './examples-money.ts';

const stream = 'str-01k8zq4v7h2m9x3c5b6n7p8r9t';
const destination = 'dst-01k8zq3t5f0j7v1a3z4k5m6n7p';
const upload = 'upl-01k8zq2r3d8g5s9y1x2h3j4k5m';
const playlist = 'pls-01k8zq1p1b6e3q7w9v0f1g2h3j';
const createdAt = '2027-01-31T17:42:05Z';
const since = '2027-01-31T18:00:02Z';

const Page = {
  hasMore: true,
  nextCursor: 'c3RyIDIwMjctMDEtMzFUMTc6NDI6MDVaIHN0ci0wMWs4enE0djdoMm05eDNjNWI2bjdwOHI5dA',
};
const list = (item: object) => ({ data: [item], page: Page });

const Stream = {
  id: stream,
  name: 'Night fireplace',
  status: 'live',
  ready: true,
  quality: 'q_1080p',
  framerate: 'f_30',
  destinationID: destination,
  destinationIDs: [destination],
  videoUploadObjectID: upload,
  playlistIDs: [],
  audioPlaylistIDs: [],
  onItemFailure: 'Skip',
  scheduleStartAt: '2027-01-31T18:00:00Z',
  scheduleEndAt: '2027-02-01T06:00:00Z',
  recurrence: null,
  nextStartAt: null,
  liveSince: since,
  degraded: null,
  createdAt,
};

const StreamWindows = {
  scheduleStartAt: null,
  scheduleEndAt: null,
  recurrence: { cron: '0 18 * * 5', timeZone: 'Europe/Berlin', durationSeconds: 43_200 },
  windows: [{ startAt: '2027-02-05T17:00:00Z', endAt: '2027-02-06T05:00:00Z' }],
};

const StreamEvent = {
  id: 'str-01k8zq4v7h2m9x3c5b6n7p8r9t.187f2c3b4d5e6f70',
  time: since,
  createdAt: since,
  type: 'Normal',
  reason: 'Live',
  message: 'The stream is live.',
  count: 1,
};

const Destination = {
  id: destination,
  name: 'Main channel',
  rtmpUrl: 'rtmp://live.example.com/app',
  rtmpKeyHint: '7x2q',
  hasLogin: false,
  createdAt,
};

const Upload = {
  objectID: upload,
  type: 'VIDEO',
  name: 'fireplace.mp4',
  state: 'ready',
  progress: 1,
  sizeBytes: 734_003_200,
  durationSeconds: 1800.04,
  video: { codec: 'h264', width: 1920, height: 1080, framerate: 30 },
  audio: { codec: 'aac', sampleRate: 48_000, channels: 2 },
  preview: 'ready',
  warnings: [],
  waiting: null,
  error: null,
  createdAt,
};

const PlaylistSummary = {
  id: playlist,
  createdAt,
  name: 'Evening',
  kind: 'video',
  mode: 'sequential',
  streamID: stream,
  version: 3,
  publishedVersion: 2,
};

const PlaylistVersionSummary = { version: 2, createdAt, mode: 'sequential', itemCount: 3, published: true };

const ReadinessIssue = {
  code: 'media_preparing',
  message: 'The video is still being prepared.',
  fix: 'Wait until it has been prepared.',
  field: 'videoUploadObjectID',
  since,
};

const item = { id: upload, name: 'fireplace.mp4', playlistID: null, index: 0 };

const LiveStats = {
  live: true,
  startedAt: since,
  uptimeSeconds: 3600.5,
  bitrateKbps: 4628.4,
  fps: 30,
  framesSent: 108_015,
  loopCount: 2,
  seam: { count: 2, maxStepMs: 33.4 },
  avSkewMs: 4.2,
  reconnects: 0,
  current: item,
  next: item,
  playable: true,
  brokenItems: [],
  destinations: [
    {
      id: destination,
      name: 'Main channel',
      connected: true,
      bytesSent: 2_083_914_112,
      reconnects: 0,
      lastError: null,
    },
  ],
};

const ApiKey = {
  ...{ id: '6f2d7a1e-3b4c-4d5e-8f60-718293a4b5c6', name: 'Playout server', hint: 'lsk_QxTz' },
  ...{ createdAt, expiresAt: null, lastUsedAt: since },
};

const Session = {
  ...{ id: '0b9f6c52-1d3e-4f70-8a91-b2c3d4e5f607', isCurrent: true, address: '203.0.113.7' },
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:147.0) Gecko/20100101 Firefox/147.0',
  ...{ createdAt, expiresAt: '2027-02-14T17:42:05Z' },
};

const ConnectedApp = {
  ...{ id: 'kWcQy3TzVbNfRpLs', name: 'Scheduler', uri: 'https://scheduler.example.com', isVerified: false },
  ...{ scopes: ['service:read', 'service:write'], connectedAt: createdAt, lastUsedAt: since },
};

const User = { id: 'usr-7Qm2', email: 'ada@example.com', firstName: 'Ada', lastName: null, createdAt };

const money = moneyExamples({ stream, createdAt, list });

export const EXAMPLES: Readonly<Record<string, object | string>> = {
  Status: {
    status: 'ok',
    version: '0.1.0',
    time: since,
    components: { kubernetes: 'ok', database: 'ok' },
  },
  User,
  AccountLimits: {
    ...{ class: 'trial', howToLift: 'Buy credit once: the larger limits are there as soon as it is booked, and stay.' },
    limits: [{ name: 'streams', description: 'Streams', unit: 'count', used: 2, allowed: 5, full: 1000 }],
  },
  SignInOptions: { signUp: true, passwordReset: true, providers: [{ id: 'company', name: 'Example Company' }] },
  ApiKeyList: list(ApiKey),
  ApiKeyCreate: { name: 'Playout server', expiresInDays: 90 },
  CreatedApiKey: { ...ApiKey, lastUsedAt: null, key: 'lsk_QxTzExampleOfAKeyThatLetsNobodyIn' },
  SessionList: list(Session),
  ConnectedAppList: list(ConnectedApp),
  AccountExport: {
    ...{ exportedAt: since, user: User, streams: [Stream], destinations: [Destination], uploads: [Upload] },
    ...{ playlists: [], apiKeys: [ApiKey], sessions: [Session], connectedApps: [ConnectedApp] },
    passkeys: [{ id: 'a3f1c07e-5b0c-4f3c-9d43-2f8f0a4f1f11', name: 'Phone', isSynced: true, createdAt }],
    outsideSignIns: [{ provider: 'oidc', subject: '248289761001', createdAt }],
    ...{ billingAddress: money.documents.BillingAddress, ledger: [money.entry] },
    ...{
      topUps: [money.documents.TopUp],
      deposits: [money.documents.CryptoDeposit],
      invoices: [money.documents.Invoice],
    },
  },
  ...money.documents,
  AccountDelete: { email: 'ada@example.com', password: 'several words of hers' },
  Stream,
  StreamList: list(Stream),
  StreamCreate: {
    name: 'Night fireplace',
    quality: 'q_1080p',
    framerate: 'f_30',
    destinationID: destination,
    videoUploadObjectID: upload,
  },
  StreamUpdate: { name: 'Day fireplace', playlistIDs: [playlist] },
  StreamSchedule: { recurrence: { cron: '0 18 * * 5', timeZone: 'Europe/Berlin', durationSeconds: 43_200 } },
  StreamSkip: { track: 'video' },
  StreamEventList: list(StreamEvent),
  StreamWindows,
  Readiness: { ready: false, issues: [ReadinessIssue], warnings: [] },
  LiveStats,
  Destination,
  DestinationList: list(Destination),
  DestinationCreate: { name: 'Main channel', rtmpUrl: 'rtmp://live.example.com/app', rtmpKey: 'abcd-efgh-ijkl-7x2q' },
  DestinationUpdate: { name: 'Second channel' },
  DestinationTest: {
    ok: false,
    stage: 'connect',
    code: 'connection_refused',
    message: 'The destination refuses connections.',
    tookMs: 12,
  },
  Upload,
  UploadList: list(Upload),
  UploadFromLink: { type: 'VIDEO', url: 'https://media.example.com/fireplace.mp4' },
  Playlist: {
    ...PlaylistSummary,
    items: [{ uploadObjectID: upload }],
    publication: { version: 2, state: 'preparing', itemsReady: 2, itemsFailed: 0, itemsTotal: 3, progress: 0.82 },
  },
  PlaylistUpdate: { version: 3, mode: 'shuffle' },
  PlaylistChanges: { version: 3, changes: [{ op: 'insert', index: 0, items: [{ uploadObjectID: upload }] }] },
  PlaylistPublish: { version: 3 },
  PlaylistRollback: { version: 2 },
  PlaylistVersion: { ...PlaylistVersionSummary, items: [{ uploadObjectID: upload }] },
  PlaylistVersionList: list(PlaylistVersionSummary),
  PlaylistDiff: { from: 2, to: 3, mode: 'shuffle', changes: [{ op: 'remove', index: 4, count: 2 }] },
  PlaylistList: list(PlaylistSummary),
  PlaylistCreate: { name: 'Evening', kind: 'video', mode: 'sequential', items: [{ uploadObjectID: upload }] },
};

/** By `<noun> <name>`, or by the name alone. */
export const PARAMETER_EXAMPLES: Readonly<Record<string, unknown>> = {
  'streams id': stream,
  'destinations id': destination,
  'uploads id': upload,
  'resumable id': upload,
  'playlists id': playlist,
  'api-keys id': '6f2d7a1e-3b4c-4d5e-8f60-718293a4b5c6',
  'sessions id': '0b9f6c52-1d3e-4f70-8a91-b2c3d4e5f607',
  'connected-apps id': 'kWcQy3TzVbNfRpLs',
  'usage from': '2027-01-31',
  'usage to': '2027-01-31',
  groupBy: 'day',
  timeZone: 'Europe/Berlin',
  format: 'json',
  ...money.parameters,
  version: 3,
  from: 2,
  limit: 20,
  cursor: Page.nextCursor,
  status: 'live',
  q: 'fireplace',
  wait: 30,
  whenReady: true,
  'Tus-Resumable': '1.0.0',
  'Upload-Length': 734_003_200,
  'Upload-Offset': 4_194_304,
  'Upload-Metadata': 'type VklERU8=,filename ZmlyZXBsYWNlLm1wNA==',
  'Upload-Defer-Length': '1',
  'Upload-Concat': 'final;/v1/uploads/resumable/upl-01k0part1 /v1/uploads/resumable/upl-01k0part2',
  'Upload-Checksum': 'sha1 Kq5sNclPz7QV2+lfQIuc6R7oRu0=',
};

/** Further members of some problems. */
const EXTRAS: Partial<Record<ErrorCode, object>> = {
  validation_failed: { errors: [{ path: '/name', message: 'is required' }] },
  destination_forbidden: {
    errors: [
      { path: '/rtmpUrl', message: 'must name a host that the public internet knows, not one of a private network' },
    ],
  },
  link_forbidden: { errors: [{ path: '/url', message: 'The address 10.0.0.1 is not a public one.' }] },
  stream_not_ready: { issues: [ReadinessIssue] },
  destination_in_use: { streamIDs: [stream] },
  destination_on_air: { streamIDs: [stream] },
  upload_in_use: { streamIDs: [stream], playlistIDs: [playlist] },
  playlist_in_use: { streamIDs: [stream] },
  quota_exceeded: { limit: 'streams', used: 5, allowed: 5, class: 'trial' },
  upload_quota_exceeded: { limit: 'uploads', used: 50, allowed: 50, class: 'trial' },
  api_key_quota_exceeded: { limit: 'apiKeys', used: 10, allowed: 10, class: 'trial' },
  playlist_version_conflict: { currentVersion: 4 },
};

export const problemExample = (code: ErrorCode) => ({
  type: `/docs/errors/${code}`,
  title: ERRORS[code].title,
  status: ERRORS[code].status,
  detail: ERRORS[code].meaning,
  code,
  ...EXTRAS[code],
});
