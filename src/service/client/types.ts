/** Exports the types of operations. Made from the declarations of operations by `make generate`; a test fails when it is not current. */
import type { ListQuery } from './requests.ts';
import type { WaitOptions } from './send.ts';

export type { TopUp, TopUpCreate } from '../billing/cards/record.ts';
export type { CryptoAsset, CryptoDeposit, CryptoDepositCreate, CryptoPayment } from '../billing/crypto/record.ts';
export type { BillingAddress, BillingAddressUpdate, Invoice, InvoiceSummary } from '../billing/invoices/record.ts';
export type { Billing, LedgerEntry, Price, Prices, Usage, UsageLine } from '../billing/ledger/record.ts';
export type { StreamSession } from '../billing/metering/record.ts';
export type {
  AccountDelete,
  AccountLimits,
  ApiKey,
  ApiKeyCreate,
  ApiKeyPolicy,
  ApiKeyUpdate,
  ConnectedApp,
  CreatedApiKey,
  PersonSession,
  SignInOptions,
  User,
} from '../domain/accounts/record.ts';
export type {
  StreamAsRun,
  StreamAsRunGap,
  StreamAsRunItem,
  StreamAsRunTotal,
  StreamAsRunTotals,
} from '../domain/as-run/record.ts';
export type {
  Destination,
  DestinationChange,
  DestinationCreate,
  DestinationTest,
  DestinationUpdate,
} from '../domain/destinations/record.ts';
export type {
  Delivery,
  Endpoint,
  EndpointCreate,
  EndpointRecovery,
  EndpointSecret,
  EndpointTest,
  EndpointUpdate,
} from '../domain/endpoints/record.ts';
export type { AccountEvent, EventData, StartedItem } from '../domain/events/record.ts';
export type {
  Playlist,
  PlaylistChanges,
  PlaylistCreate,
  PlaylistDiff,
  PlaylistPublish,
  PlaylistRollback,
  PlaylistSummary,
  PlaylistUpdate,
  PlaylistVersion,
  PlaylistVersionSummary,
  Publication,
} from '../domain/playlists/record.ts';
export type { Scene, SceneChange, SceneCreate, SceneUpdate } from '../domain/scenes/record.ts';
export type { LiveStats } from '../domain/stats/record.ts';
export type { Status } from '../domain/status/record.ts';
export type {
  Readiness,
  ReadinessIssue,
  ReadinessWarning,
  Stream,
  StreamChange,
  StreamClone,
  StreamCreate,
  StreamEvent,
  StreamSchedule,
  StreamSkip,
  StreamUpdate,
  StreamWindows,
  UnplayableItem,
} from '../domain/streams/record.ts';
export type {
  StreamExplanation,
  StreamNow,
  StreamPublicNow,
  StreamPublicNowUpdate,
  StreamTimeline,
  StreamTimelineItem,
} from '../domain/timeline/record.ts';
export type {
  Upload,
  UploadFromLink,
  UploadQuarantine,
  UploadsFromLinks,
  UploadUpdate,
} from '../domain/uploads/record.ts';
export type { StreamOutage, StreamUptime } from '../domain/uptime/record.ts';

export interface ApiKeyQuery extends ListQuery {
  /** Only keys whose name contains this text. */
  q?: string;
  /** Label selector in the words of `kubectl get -l`, e.g. `team=news`. Given several times, all must hold. */
  label?: string[];
  /** Only keys in this state. */
  state?: 'valid' | 'expired';
  /** Only keys that were created after this time. */
  createdAfter?: string;
  /** Only keys that were created before this time. */
  createdBefore?: string;
  /**
   * Order of the list. A minus sign reverses it. Defaults to `-createdAt`, newest first. `expiresAt`: the key that
   * expires first comes first.
   */
  sort?: '-createdAt' | 'createdAt' | 'name' | '-name' | 'expiresAt' | '-expiresAt' | 'lastUsedAt' | '-lastUsedAt';
}
export interface UsageQuery {
  /** First day, e.g. 2027-01-31. Defaults to 29 days before the last day. */
  from?: string;
  /** Last day. Defaults to today. The range is at most one year. */
  to?: string;
  /** Group of each line: a day or a stream. */
  groupBy?: 'day' | 'stream';
  /** IANA time zone of the days, e.g. Europe/Berlin. */
  timeZone?: string;
}
export interface LedgerQuery extends ListQuery {
  /** Only entries of this type. */
  type?: 'charge' | 'topup' | 'deposit' | 'grant' | 'refund' | 'dispute' | 'correction' | 'writeoff';
  /** Only entries that were created after this time. */
  createdAfter?: string;
  /** Only entries that were created before this time. */
  createdBefore?: string;
  /** Order of booking. Defaults to `-number`, newest first. */
  sort?: '-number' | 'number';
}
export interface TopUpQuery extends ListQuery {
  /** Only top-ups in this state. */
  state?:
    | 'open'
    | 'processing'
    | 'paid'
    | 'failed'
    | 'expired'
    | 'partially_refunded'
    | 'refunded'
    | 'disputed'
    | 'charged_back'
    | 'review';
  /** Only top-ups that were created after this time. */
  createdAfter?: string;
  /** Only top-ups that were created before this time. */
  createdBefore?: string;
  /** Order of the list. A minus sign reverses it. Defaults to `-createdAt`, newest first. */
  sort?: '-createdAt' | 'createdAt' | 'state' | '-state' | 'amountMinor' | '-amountMinor';
}
export interface InvoiceQuery extends ListQuery {
  /** Only invoices whose number contains this text. */
  q?: string;
  /** Only invoices of this type. */
  type?: 'invoice' | 'credit_note';
  /** Only invoices that were created after this time. */
  createdAfter?: string;
  /** Only invoices that were created before this time. */
  createdBefore?: string;
  /** Order of the list. A minus sign reverses it. Defaults to `-createdAt`, newest first. */
  sort?: '-createdAt' | 'createdAt' | 'number' | '-number' | 'type' | '-type';
}
export interface CryptoQuery extends ListQuery {
  /** Only deposits in this state. */
  state?: 'waiting' | 'seen' | 'confirming' | 'credited' | 'underpaid' | 'expired' | 'reorged';
  /** Only deposits that were created after this time. */
  createdAfter?: string;
  /** Only deposits that were created before this time. */
  createdBefore?: string;
  /** Order of the list. A minus sign reverses it. Defaults to `-createdAt`, newest first. */
  sort?: '-createdAt' | 'createdAt' | 'state' | '-state' | 'expiresAt' | '-expiresAt';
}
export interface EventQuery extends ListQuery {
  /**
   * Id of the last event that you know: events behind it follow. `now` stands for the last one. Without it, the
   * oldest that is kept comes first.
   */
  after?: string;
  /** Types of events, with commas between them. Without it, all types but `schedule.upcoming`. */
  types?: string;
  /** Id of the object whose events are asked for. */
  objectID?: string;
  /**
   * Order of the list: `recorded`, oldest first, or newest first with a minus sign. Then older events follow
   * `after`, and nothing is waited for. Defaults to `recorded`.
   */
  sort?: 'recorded' | '-recorded';
  /** The same as sort. */
  orderBy?: 'recorded' | '-recorded';
}
export interface EndpointQuery extends ListQuery {
  /** Only endpoints whose name contains this text. */
  q?: string;
  /** Label selector in the words of `kubectl get -l`, e.g. `team=news`. Given several times, all must hold. */
  label?: string[];
  /** Only endpoints in this state. */
  state?: 'unverified' | 'active' | 'disabled';
  /** Only endpoints of this type. */
  type?: 'webhook' | 'mail' | 'slack' | 'discord' | 'template';
  /** Only endpoints that were created after this time. */
  createdAfter?: string;
  /** Only endpoints that were created before this time. */
  createdBefore?: string;
  /** Order of the list. A minus sign reverses it. Defaults to `-createdAt`, newest first. */
  sort?: '-createdAt' | 'createdAt' | 'name' | '-name' | 'state' | '-state' | 'type' | '-type';
}
export interface DeliveriesQuery extends ListQuery {
  /** Only deliveries in this state. */
  state?: 'waiting' | 'delivered' | 'failed';
}
export interface StreamQuery extends ListQuery {
  /** Only streams whose name contains this text. */
  q?: string;
  /** Label selector in the words of `kubectl get -l`, e.g. `team=news`. Given several times, all must hold. */
  label?: string[];
  /** Only streams in this state. */
  state?:
    | 'idle'
    | 'scheduled'
    | 'waiting'
    | 'starting'
    | 'live'
    | 'reconnecting'
    | 'stopping'
    | 'stopped'
    | 'ended'
    | 'failed';
  /** Only streams that were created after this time. */
  createdAfter?: string;
  /** Only streams that were created before this time. */
  createdBefore?: string;
  /**
   * Order of the list. A minus sign reverses it. Defaults to `-createdAt`, newest first. `onAir`: streams on air
   * first, each part by name.
   */
  sort?: '-createdAt' | 'createdAt' | 'name' | '-name' | 'onAir' | '-onAir' | 'state' | '-state';
  /** The same as `state`. */
  status?:
    | 'idle'
    | 'scheduled'
    | 'waiting'
    | 'starting'
    | 'live'
    | 'reconnecting'
    | 'stopping'
    | 'stopped'
    | 'ended'
    | 'failed';
}
export interface StartOptions extends WaitOptions {
  /**
   * If true, a stream that is not ready becomes `waiting` and goes on air when it is ready, instead of failing
   * with `stream_not_ready`.
   */
  whenReady?: boolean;
}
export interface TimelineQuery {
  /** Begin, as a time or a day. By default now. */
  from?: string;
  /** End, as a time or a day: 24 hours after `from` by default, 14 days at most. */
  to?: string;
  /** `video`: the pictures with their sound. `audio`: the audio playlists. By default video. */
  track?: 'video' | 'audio';
  /** Number of items at most. */
  limit?: number;
}
export interface ExplainQuery {
  /** A time or a day, 14 days from now at most. By default now. */
  at?: string;
  /** Name of the rule, as the timeline has it. */
  rule?: string;
  /** Upload, in the place of a rule. */
  uploadObjectID?: string;
  /** `video`: the pictures with their sound. `audio`: the audio playlists. By default video. */
  track?: 'video' | 'audio';
}
export interface NowQuery {
  /** `video`: the pictures with their sound. `audio`: the audio playlists. By default video. */
  track?: 'video' | 'audio';
}
export interface AsRunQuery {
  /** Begin, as a time or a day: a day before `to` by default, 31 days at most. */
  from?: string;
  /** End, as a time or a day. By default now. */
  to?: string;
  /** `video`: the pictures with their sound. `audio`: the audio playlists. By default video. */
  track?: 'video' | 'audio';
  /** Number of items at most. */
  limit?: number;
}
export interface AsRunTotalsQuery {
  /** Begin, as a time or a day: a day before `to` by default, 31 days at most. */
  from?: string;
  /** End, as a time or a day. By default now. */
  to?: string;
  /** `video`: the pictures with their sound. `audio`: the audio playlists. By default video. */
  track?: 'video' | 'audio';
}
export interface UptimeQuery {
  /** Begin, as a time or a day: 30 days before `to` by default, 400 at most. */
  from?: string;
  /** End, as a time or a day. By default now. */
  to?: string;
  /**
   * `viewers`: by what viewers see. `ingest`: by what destinations take. By default `viewers`, where that was
   * known at a time of the range.
   */
  by?: 'viewers' | 'ingest';
}
export interface DestinationQuery extends ListQuery {
  /** Only destinations whose name contains this text. */
  q?: string;
  /** Label selector in the words of `kubectl get -l`, e.g. `team=news`. Given several times, all must hold. */
  label?: string[];
  /** Only destinations of this type. */
  type?: 'rtmp' | 'rtmps' | 'srt';
  /** Only destinations that were created after this time. */
  createdAfter?: string;
  /** Only destinations that were created before this time. */
  createdBefore?: string;
  /** Order of the list. A minus sign reverses it. Defaults to `-createdAt`, newest first. */
  sort?: '-createdAt' | 'createdAt' | 'name' | '-name' | 'type' | '-type';
}
export interface UploadQuery extends ListQuery {
  /** Only uploads whose name contains this text. */
  q?: string;
  /** Label selector in the words of `kubectl get -l`, e.g. `team=news`. Given several times, all must hold. */
  label?: string[];
  /** Only uploads in this state. */
  state?: 'importing' | 'preparing' | 'ready' | 'failed';
  /** Only uploads of this type. */
  type?: 'VIDEO' | 'AUDIO' | 'IMAGE';
  /** Only uploads that were created after this time. */
  createdAfter?: string;
  /** Only uploads that were created before this time. */
  createdBefore?: string;
  /** Order of the list. A minus sign reverses it. Defaults to `-createdAt`, newest first. */
  sort?:
    | '-createdAt'
    | 'createdAt'
    | 'name'
    | '-name'
    | 'state'
    | '-state'
    | 'type'
    | '-type'
    | 'sizeBytes'
    | '-sizeBytes'
    | 'durationSeconds'
    | '-durationSeconds';
}
export interface DiffQuery {
  /** Version to compare with. Defaults to the version before. */
  from?: number;
}
export interface PlaylistQuery extends ListQuery {
  /** Only playlists whose name contains this text. */
  q?: string;
  /** Label selector in the words of `kubectl get -l`, e.g. `team=news`. Given several times, all must hold. */
  label?: string[];
  /** Only playlists of this type. */
  type?: 'video' | 'audio';
  /** Only playlists that were created after this time. */
  createdAfter?: string;
  /** Only playlists that were created before this time. */
  createdBefore?: string;
  /** Order of the list. A minus sign reverses it. Defaults to `-createdAt`, newest first. */
  sort?: '-createdAt' | 'createdAt' | 'name' | '-name' | 'version' | '-version';
}
export interface SceneQuery extends ListQuery {
  /** Only scenes whose name contains this text. */
  q?: string;
  /** Label selector in the words of `kubectl get -l`, e.g. `team=news`. Given several times, all must hold. */
  label?: string[];
  /** Only scenes that were created after this time. */
  createdAfter?: string;
  /** Only scenes that were created before this time. */
  createdBefore?: string;
  /** Order of the list. A minus sign reverses it. Defaults to `-createdAt`, newest first. */
  sort?: '-createdAt' | 'createdAt' | 'name' | '-name';
}
