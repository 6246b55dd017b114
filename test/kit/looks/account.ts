/**
 * Provides the account that pictures of pages show: streams in every state, uploads of every kind, playlists, destinations and money.
 * Each record begins with the example of its operation, so a field that is added later is here too. Pure: no I/O, no clock.
 */
import { PLATFORM_CODES, type PlatformReason } from '../../../src/core/lib/codes/platforms.ts';
import { SESSION_ENDS, type SessionEnd } from '../../../src/core/lib/codes/streams.ts';
import { UPLOAD_ERRORS } from '../../../src/core/lib/codes/uploads.ts';
import { PLATFORM_ISSUES } from '../../../src/core/lib/codes/youtube-issues.ts';
import { PHASES } from '../../../src/core/resources/stream/spec.ts';
import { warn } from '../../../src/core/resources/upload/warnings.ts';
import { parsePrices } from '../../../src/service/billing/ledger/prices.ts';
import { showPrices } from '../../../src/service/billing/ledger/service.ts';
import type {
  Billing,
  Destination,
  LedgerEntry,
  LiveStats,
  Playlist,
  PlaylistSummary,
  Prices,
  Readiness,
  Scene,
  SignInOptions,
  Stream,
  StreamEvent,
  StreamSession,
  StreamUptime,
  Upload,
  UsageLine,
} from '../../../src/service/client/index.ts';
import { EXAMPLE } from '../../../src/service/lib/examples.ts';
import { findOperation, type Operation } from '../../../src/service/server/operations/list.ts';

/** The address of every page, at which passkeys work. */
export const SITE = 'https://loopstream.example';

/** The time on every page. */
export const NOW = new Date('2027-01-31T20:00:00Z');

const example = <T>(id: Operation): T => findOperation(id)?.examples?.output as T;
const before = (minutes: number): string => new Date(NOW.getTime() - minutes * 60_000).toISOString();
const numbered = (prefix: string, n: number): string => `${prefix}-01k8zq4v7h2m9x3c5b6n7p${String(n).padStart(4, '0')}`;

/** Names that people give: other letters, other directions, pictures, and as long as may be. */
const NAMES = [
  'Lo-fi beats ♫ to study to 😀',
  'قناة المساء — البث المباشر',
  'ערוץ הלילה',
  'Ночной эфир',
  'Το κανάλι της νύχτας',
  `A name of two hundred letters ${'that goes on and on '.repeat(9)}`.slice(0, 200),
  'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaftsprogramm',
];

const PLATFORM = example<Destination>('getDestination').platform as NonNullable<Destination['platform']>;
const VIEW = example<Destination>('getDestination').platformLive as NonNullable<Destination['platformLive']>;
const DESTINATIONS: readonly Partial<Destination>[] = [
  { name: 'Main channel' },
  { name: 'Second channel', rtmpUrl: 'rtmps://ingest.example.net:443/live', rtmpKeyHint: 'p9tz' },
  { name: 'Studio, with a login', rtmpUrl: 'rtmp://studio.example.org/app', rtmpKeyHint: '', hasLogin: true },
  { name: NAMES[5] ?? '', rtmpUrl: `srt://${'a-very-long-host-name.'.repeat(4)}example:9000?passphrase=…` },
];
export const destinations = DESTINATIONS.map(
  (one, n): Destination => ({
    ...example<Destination>('getDestination'),
    ...(n > 0 && { id: numbered('dst', n) }),
    ...{ platform: null, platformLive: null, createdAt: before(90_000 + n) },
    ...one,
  }),
);

const why = (code: PlatformReason) => {
  const { meaning: message, fix } = PLATFORM_CODES[code];
  return { code, message, fix };
};
const VIEWED: readonly [name: string, platform: Partial<typeof PLATFORM>, view: Partial<typeof VIEW>][] = [
  ['Seen by viewers', {}, {}],
  [
    'Not seen by viewers',
    { policy: 'Repair', hasToken: true, videoId: null },
    {
      ...{ status: 'false', ...why('broadcast_ended'), since: before(42), lastSeenAt: before(43), viewers: 0 },
      issues: [...PLATFORM_ISSUES].slice(1, 3).map(([code, { meaning: message, fix }], n) => ({
        ...{ code, message, fix, severity: n === 0 ? ('warning' as const) : ('error' as const) },
      })),
      repairStalled: true,
    },
  ],
  [
    'Nobody knows',
    { kind: 'watch', url: 'https://cdn.example.com/live/stream.m3u8', videoId: null },
    { status: 'unknown', ...why('unreachable'), since: before(5), lastSeenAt: before(6), viewers: null },
  ],
  [
    'Seen, with a warning',
    { kind: 'twitch', channel: 'a_channel', videoId: null },
    { status: 'true', ...why('limit_near'), viewers: 12_345 },
  ],
  [
    'Off air',
    { kind: 'twitch', channel: 'another', videoId: null },
    { status: 'unknown', ...why('not_sending'), viewers: null },
  ],
];
/** Destinations whose viewers are looked at, in every state. */
export const viewed = VIEWED.map(
  ([name, platform, view], n): Destination => ({
    ...example<Destination>('getDestination'),
    ...(n > 0 && { id: numbered('dst', 20 + n) }),
    ...{ name, createdAt: before(80_000 + n) },
    platform: { ...PLATFORM, ...platform },
    platformLive: { ...VIEW, since: before(300), checkedAt: before(0), lastSeenAt: before(0), ...view },
  }),
);

type Track = Upload['declaredTracks'][number];
const track = (index: number, rest: Partial<Track>): Track => ({
  ...{ index, kind: 'AUDIO', codec: 'aac', language: null, title: null, channels: 2, playable: true, automatic: false },
  ...rest,
});
const picture = track(0, { kind: 'VIDEO', codec: 'h264', channels: null, automatic: true });
const noMedia = {
  ...{ durationSeconds: null, video: null, audio: null, declaredTracks: [], posterUrl: null },
  ...{ loudness: null, sounds: [], looks: [], cards: [] },
};
type Sound = Upload['sounds'][number];
const sound = (rest: Partial<Sound>): Sound => ({
  ...{
    targetLufs: -14,
    maxTruePeakDb: -1,
    maxBoostDb: 6,
    state: 'ready',
    gainDb: 6,
    integratedLufs: -14,
    truePeakDb: -2,
  },
  ...{ limitedBy: null, error: null },
  ...rest,
});

const LOOK_ERROR = {
  code: 'media_unreadable',
  message: 'The file cannot be read as media. This is the picture of overlay 1. Its picture cannot be decoded.',
  fix: UPLOAD_ERRORS.media_unreadable.fix,
};

/** Each stands for a kind, and says of an upload only what makes it one. */
const UPLOADS: readonly Partial<Upload>[] = [
  { name: 'fireplace.mp4', looks: [{ profile: '1080p30', state: 'ready', error: null }] },
  {
    name: 'Film with several sound tracks.mkv',
    looks: [
      { profile: '1080p30', state: 'pending', error: null },
      { profile: '720p30', state: 'failed', error: LOOK_ERROR },
    ],
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
    overlays: 'NONE',
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
    ...noMedia,
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
    ...noMedia,
    waiting: {
      message: 'The server media.example answered 503.',
      since: before(10),
      nextTryAt: before(-5),
      until: before(-20),
      tries: 3,
    },
  },
  { name: 'Being prepared.mov', state: 'preparing', progress: 0.3 },
  {
    ...{ name: 'Song.flac', type: 'AUDIO', video: null, posterUrl: null, warnings: [warn('still_picture')] },
    sounds: [
      sound({ gainDb: 3.2, integratedLufs: -16.2, limitedBy: 'peak' }),
      sound({ targetLufs: -8, gainDb: 6, integratedLufs: -13.4, limitedBy: 'boost' }),
    ],
  },
  ...NAMES.map((name) => ({ name: `${name.slice(0, 196)}.mp4` })),
];
export const uploads = UPLOADS.map(
  (one, n): Upload => ({
    ...example<Upload>('getUpload'),
    looks: [],
    ...(n > 0 && { objectID: numbered('upl', n) }),
    createdAt: before(4_000 + 700 * n),
    ...one,
  }),
);

const PLAYLISTS: readonly Partial<PlaylistSummary>[] = [
  { name: 'Evening' },
  { name: 'Songs of the night', kind: 'audio', mode: 'shuffle', streamID: '', version: 1, publishedVersion: 1 },
  { name: NAMES[1] ?? '', streamID: '', publishedVersion: null },
  { name: NAMES[5] ?? '', version: 12, publishedVersion: 12 },
];
export const playlists = PLAYLISTS.map(
  (one, n): PlaylistSummary => ({
    ...example<PlaylistSummary>('listPlaylists'),
    ...(n > 0 && { id: numbered('pls', n) }),
    createdAt: before(30_000 + n),
    ...one,
  }),
);
export const playlist: Playlist = {
  ...example<Playlist>('getPlaylist'),
  items: uploads
    .slice(0, 3)
    .concat(uploads.slice(8, 15))
    .map(({ objectID }) => ({ uploadObjectID: objectID })),
};

/** The defaults of a rule. */
const USUAL = { start: 'Border', lateSeconds: 120, after: 'Resume', count: 1, pick: 'Next' } as const;
const RULES: Playlist['rules'] = [
  {
    ...{ ...USUAL, start: 'Cut', name: 'news', uploadObjectID: uploads[1]?.objectID ?? '' },
    when: { at: { cron: '0 * * * *', timeZone: 'Europe/Berlin' } },
  },
  { ...USUAL, name: 'jingle', when: { eachItems: 5 }, playlistID: playlists[3]?.id ?? '', pick: 'Shuffle' },
  {
    ...{ ...USUAL, name: 'night', playlistID: playlists[2]?.id ?? '' },
    when: { window: { cron: '0 22 * * *', timeZone: 'Europe/Berlin', durationSeconds: 28_800 } },
  },
];
export const ruled: Playlist = { ...playlist, rules: RULES };

const resting = { liveSince: null, scheduleStartAt: null, scheduleEndAt: null };
/** The degraded one; the words are those of the operator. */
const DEGRADED: Partial<Stream> = {
  name: 'Harbour camera, replay',
  liveSince: before(3),
  status: 'reconnecting',
  scheduleStartAt: null,
  scheduleEndAt: null,
  destinationIDs: [EXAMPLE.destination, numbered('dst', 1)],
  destinations: [EXAMPLE.destination, numbered('dst', 1)].map((destinationID) => ({ destinationID, enabled: true })),
  degraded: {
    ...example<Stream>('getStream').degraded,
    code: 'destination_reconnecting',
    message: 'Destination "Second channel" does not accept the stream. The destination refuses connections.',
    fix: 'Read the error of the destination in the live-stats of the stream, and test the destination while no stream uses it.',
    since: before(2),
  },
};
const STREAMS: readonly Partial<Stream>[] = [
  { liveSince: before(120), scheduleStartAt: null, scheduleEndAt: null },
  DEGRADED,
  ...PHASES.map((status, n) => ({
    ...resting,
    name: NAMES[n % NAMES.length] ?? '',
    status,
    ready: status !== 'failed' && status !== 'waiting',
    ...(status === 'scheduled' && { scheduleStartAt: before(-95), nextStartAt: before(-95) }),
    ...(status === 'live' && { liveSince: before(3 * 24 * 60 + 61) }),
  })),
  ...Array.from({ length: 15 }, (_, n) => ({ ...resting, name: `Channel ${n + 1}`, status: 'stopped' as const })),
];
export const streams = STREAMS.map(
  (one, n): Stream => ({
    ...example<Stream>('getStream'),
    ...(n > 0 && { id: numbered('str', n) }),
    ...{ onAirForViewers: null, createdAt: before(10_000 + n) },
    ...one,
  }),
);
export const [live, degraded] = streams as [Stream, Stream, ...Stream[]];
/** A picture among the uploads, and a stream that shows it and the title of what plays. */
export const logo: Upload = {
  ...example<Upload>('getUpload'),
  ...{ objectID: numbered('upl', 900), name: 'logo.png', durationSeconds: null, audio: null, sizeBytes: 18_000 },
  video: { codec: 'png', width: 400, height: 160, framerate: 25 },
};
type Layer = NonNullable<Stream['overlays']>['layers'][number];
const TITLE: Layer = {
  ...{ text: '{{item.title}}\n{{item.artist}}', imageUploadObjectID: null, show: null, anchor: 'BottomLeft' },
  ...{ marginPercent: 5, sizePercent: 8, opacityPercent: 100, font: 'Sans', bold: false, color: '#FFFFFF' },
  ...{ outlineColor: null, boxColor: '#000000AA' },
};
const LOGO: Layer = {
  ...{ ...TITLE, text: null, font: null, bold: null, color: null, boxColor: null },
  ...{ imageUploadObjectID: logo.objectID, anchor: 'TopRight', sizePercent: 15, opacityPercent: 80 },
  show: { firstSeconds: null, lastSeconds: null, everySeconds: 300, forSeconds: 20 },
};
export const overlaid: Stream = { ...live, overlays: { layers: [LOGO, TITLE], sceneID: null, required: false } };
export const scenes: readonly Scene[] = [
  { name: 'Evening', layers: [LOGO, TITLE], streamIDs: streams.slice(0, 3).map(({ id }) => id) },
  { name: 'Advertisement', layers: [TITLE], streamIDs: [] },
].map((one, n) => ({
  ...example<Scene>('getScene'),
  ...(n > 0 && { id: numbered('scn', n) }),
  createdAt: before(20_000 + n),
  ...one,
}));
/** A stream that shows a scene. */
export const staged: Stream = {
  ...live,
  overlays: { layers: [], sceneID: scenes[0]?.id ?? '', required: false },
};
export const overlaidChange = {
  ...overlaid,
  ...{ takesOffAir: false, lostDestinationIDs: [], storageBytes: 1_386_000_000, effect: '', dryRun: true },
};
/** A stream that shows a picture for each song, with one of the owner behind the words. */
export const radio: Stream = {
  ...live,
  audioPlaylistIDs: [playlists[1]?.id ?? ''],
  cards: { imageUploadObjectID: logo.objectID },
};
/** On air to two destinations, at one of which viewers do not see it. */
export const unseen: Stream = {
  ...live,
  onAirForViewers: false,
  destinationIDs: viewed.slice(0, 2).map(({ id }) => id),
  degraded: { ...why('broadcast_ended'), since: before(42) },
};

const EXAMPLE_STATS = example<LiveStats>('getStreamLiveStats');
const LIVE_STATS: LiveStats = { ...EXAMPLE_STATS, viewers: null };
export const liveStats: LiveStats = { ...LIVE_STATS, startedAt: before(120), uptimeSeconds: 7_200 };
export const unseenStats: LiveStats = {
  ...{ ...liveStats, viewers: 128 },
  destinations: viewed.slice(0, 2).map(({ id, name }, n) => ({
    ...(EXAMPLE_STATS.destinations[0] as LiveStats['destinations'][number]),
    ...{ id, name, viewers: n === 0 ? 128 : 0 },
  })),
};
export const degradedStats: LiveStats = {
  ...LIVE_STATS,
  startedAt: before(3),
  uptimeSeconds: 180,
  reconnects: 3,
  destinations: LIVE_STATS.destinations.flatMap((one) => [
    one,
    {
      ...one,
      id: numbered('dst', 1),
      name: 'Second channel',
      connected: false,
      bytesSent: 0,
      reconnects: 7,
      lastError: { code: 'connection_refused', message: 'The destination refuses connections.' },
    },
  ]),
};

const READINESS = example<Readiness>('getStreamReadiness');
export const ready: Readiness = { ...READINESS, ready: true, issues: [], prepared: 1, estimatedReadyAt: null };
export const notReady: Readiness = { ...READINESS, prepared: 0.35, estimatedReadyAt: before(-4) };

export const events = (
  [
    ['Live', 'The stream is live.', 'Normal', 120],
    ['Starting', 'The stream is starting.', 'Normal', 121],
    ['DestinationUnreachable', 'Destination "Second channel" does not accept the stream.', 'Warning', 600],
    ['Stopped', 'The stream is off air.', 'Normal', 1500],
  ] as const
).map(
  ([reason, message, type, minutes], n): StreamEvent => ({
    ...example<StreamEvent>('listStreamEvents'),
    id: `event ${n}`,
    reason,
    message,
    type,
    time: before(minutes),
    createdAt: before(minutes),
  }),
);

const SESSION = example<StreamSession>('listStreamSessions');
const endedBy = ({ code, meaning: message, fix }: (typeof SESSION_ENDS)[SessionEnd]) => ({ code, message, fix });

/** The one on air, and others that ended for as many reasons. */
export const sessions: readonly StreamSession[] = (
  [
    [120, null, undefined],
    [1500, 180, SESSION_ENDS.Stopped],
    [3600, 1510, SESSION_ENDS.ScheduleEnded],
    [3700, 3604, SESSION_ENDS.ProcessEnded],
    [9000, 3900, SESSION_ENDS.CreditUsedUp],
  ] as const
).map(([from, to, why], n) => ({
  ...SESSION,
  number: 40 - n,
  startedAt: before(from),
  endedAt: to === null ? null : before(to),
  onAirSeconds: (from - (to ?? 0)) * 60 - n,
  credits: String(5 * (from - (to ?? 0))),
  creditsEstimated: to === null,
  end: why ? endedBy(why) : null,
}));

const AWAY = 'Destination "Main channel" does not accept the stream. The destination closed the connection.';

/** Two outages within a month, one of them today. */
export function uptimeOf(days: number): StreamUptime {
  const outages = (
    [
      [200, 3],
      [18_000, 41],
    ] as const
  )
    .filter(([from]) => from < days * 1440)
    .map(([from, minutes]): StreamUptime['outages'][number] => ({
      startedAt: before(from),
      endedAt: before(from - minutes),
      seconds: minutes * 60,
      code: 'destination_reconnecting',
      message: AWAY,
      fix: 'Test the destination.',
    }));
  const offAirSeconds = outages.reduce((sum, { seconds }) => sum + seconds, 0);
  const wantedSeconds = Math.min(days, 25) * 86_400;
  return {
    from: before(days * 1440),
    to: before(0),
    by: 'ingest',
    wantedSeconds,
    onAirSeconds: wantedSeconds - offAirSeconds,
    offAirSeconds,
    unknownSeconds: 0,
    uptimePercent: Math.floor(((wantedSeconds - offAirSeconds) / wantedSeconds) * 100_000) / 1000,
    outageCount: outages.length,
    outages,
    badgeUrl: 'https://loops.example.com/v1/badges/badge.svg',
  };
}

/** A month of days, most of which were on air, and some of which cost less than a cent. */
export const usageLines: readonly UsageLine[] = Array.from({ length: 30 }, (_, n) => ({
  day: new Date(NOW.getTime() - (29 - n) * 86_400_000).toISOString().slice(0, 10),
  streamID: null,
  onAirSeconds: n % 7 === 3 ? 0 : 3_600 * (4 + (n % 5) * 4),
  credits: String(n % 7 === 3 ? 0 : 300 * (4 + (n % 5) * 4)),
}));
export const usageByStream: readonly UsageLine[] = [
  { day: null, streamID: live.id, onAirSeconds: 1_000_000, credits: '83000' },
  { day: null, streamID: degraded.id, onAirSeconds: 540, credits: '47' },
  { day: null, streamID: numbered('str', 900), onAirSeconds: 60, credits: '5' },
];

const ENTRY = example<LedgerEntry>('listLedgerEntries');
export const entries: readonly LedgerEntry[] = [
  {
    ...ENTRY,
    number: 6,
    id: 'entry 6',
    credits: '-47',
    balanceCredits: '249653',
    streamID: degraded.id,
    at: before(2),
  },
  { ...ENTRY, number: 5, id: 'entry 5', at: before(60) },
  { ...ENTRY, number: 4, id: 'entry 4', kind: 'refund', credits: '-100000', streamID: null, onAirSeconds: null },
  { ...ENTRY, number: 3, id: 'entry 3', kind: 'topup', credits: '250000', streamID: null, onAirSeconds: null },
  { ...ENTRY, number: 2, id: 'entry 2', kind: 'grant', credits: '50000', reason: 'Welcome', streamID: null },
];

export const signInOptions: SignInOptions = { ...example<SignInOptions>('getSignInOptions'), publicUrl: SITE };

/** Of all profiles, as they are by default. */
export const prices: Prices = { ...example<Prices>('getPrices'), onAir: showPrices(parsePrices(), NOW) };

/** The balance of an account that never had credit, at a service where nobody can pay. */
export const noCredit: Billing = {
  ...example<Billing>('getBilling'),
  ...{ state: 'exhausted', hadCredit: false, balanceCredits: '0', availableCredits: '0' },
  ...{ creditsPerHour: '0', secondsLeft: null, paymentMethods: [], topUp: null },
};
