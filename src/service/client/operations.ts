/** Sends a request for each operation of the API. Made from the declarations of operations by `make generate`; a test fails when it is not current. */
import type { List } from './list.ts';
import { type ListQuery, path, type Requests } from './requests.ts';
import type { CallOptions, TrialOptions, WaitOptions } from './send.ts';
import type {
  AccountDelete,
  AccountEvent,
  AccountLimits,
  ApiKey,
  ApiKeyCreate,
  ApiKeyPolicy,
  ApiKeyQuery,
  ApiKeyUpdate,
  AsRunQuery,
  AsRunTotalsQuery,
  Billing,
  BillingAddress,
  BillingAddressUpdate,
  ConnectedApp,
  CreatedApiKey,
  CryptoAsset,
  CryptoDeposit,
  CryptoDepositCreate,
  CryptoQuery,
  DeliveriesQuery,
  Delivery,
  Destination,
  DestinationChange,
  DestinationCreate,
  DestinationQuery,
  DestinationTest,
  DestinationUpdate,
  DiffQuery,
  Endpoint,
  EndpointCreate,
  EndpointQuery,
  EndpointRecovery,
  EndpointSecret,
  EndpointTest,
  EndpointUpdate,
  EventQuery,
  ExplainQuery,
  Invoice,
  InvoiceQuery,
  InvoiceSummary,
  LedgerEntry,
  LedgerQuery,
  LiveStats,
  NowQuery,
  PersonSession,
  Playlist,
  PlaylistChanges,
  PlaylistCreate,
  PlaylistDiff,
  PlaylistPublish,
  PlaylistQuery,
  PlaylistRollback,
  PlaylistSummary,
  PlaylistUpdate,
  PlaylistVersion,
  PlaylistVersionSummary,
  Prices,
  Readiness,
  Scene,
  SceneChange,
  SceneCreate,
  SceneQuery,
  SceneUpdate,
  SignInOptions,
  StartOptions,
  Status,
  Stream,
  StreamAsRun,
  StreamAsRunTotals,
  StreamChange,
  StreamClone,
  StreamCreate,
  StreamEvent,
  StreamExplanation,
  StreamNow,
  StreamPublicNow,
  StreamPublicNowUpdate,
  StreamQuery,
  StreamSchedule,
  StreamSession,
  StreamSkip,
  StreamTimeline,
  StreamUpdate,
  StreamUptime,
  StreamWindows,
  TimelineQuery,
  TopUp,
  TopUpCreate,
  TopUpQuery,
  Upload,
  UploadFromLink,
  UploadQuarantine,
  UploadQuery,
  UploadsFromLinks,
  UploadUpdate,
  UptimeQuery,
  Usage,
  UsageQuery,
  User,
} from './types.ts';

export interface Operations {
  /**
   * Health check. Reports whether the components of the service respond. Needs no key. A failed component makes
   * the status `degraded`; the request itself succeeds.
   */
  status: (call?: CallOptions) => Promise<Status>;
  /** Get this API description. Returns this document, for client generators and other tools. Needs no key. */
  openApi: (call?: CallOptions) => Promise<Record<string, unknown>>;
  /** Get the current user. Returns the user who owns the API key or token. */
  me: (call?: CallOptions) => Promise<User>;
  /**
   * Get the limits of the account and their use. A request beyond a limit fails with `quota_exceeded`, or with a
   * code of its own, and names the limit.
   */
  limits: (call?: CallOptions) => Promise<AccountLimits>;
  /** List the ways to sign in. Returns the ways to sign in that the page offers. Needs no key. */
  signInOptions: (call?: CallOptions) => Promise<SignInOptions>;
  apiKeys: {
    /**
     * Create an API key. The response shows the key once. Only a user who has signed in within the last hour can
     * create one, so no key makes another one. The request takes no Idempotency-Key, because its response is not
     * stored. It may reject with `problems.ApiKeyQuotaExceeded`, `problems.Conflict` or `problems.NotConfirmed`.
     */
    create: (body: ApiKeyCreate, call?: CallOptions) => Promise<CreatedApiKey>;
    /**
     * List API keys, newest first. Returns the account’s keys that were not revoked, without their secrets, filtered
     * and sorted as asked. All filters must hold. A filter of another list and a value that is not known fail with
     * 422 and the known ones.
     */
    list: (query?: ApiKeyQuery, call?: CallOptions) => List<ApiKey>;
    /**
     * Change an API key. Changes its name and its labels, or brings its expiry forward. Its rights never changes,
     * and it never lives longer: create a new key for that. This server obeys an earlier expiry immediately, every
     * other server within a second.
     */
    update: (id: string, body?: ApiKeyUpdate, call?: CallOptions) => Promise<ApiKey>;
    /** Revoke an API key. This server rejects the key immediately, every other server within a second. */
    revoke: (id: string, call?: CallOptions) => Promise<void>;
  };
  apiKeyPolicy: {
    /** Read the policy on API keys. Returns the longest life that the account allows its API keys. */
    get: (call?: CallOptions) => Promise<ApiKeyPolicy>;
    /**
     * Change the policy on API keys. Only a user who has signed in within the last hour can change it. Keys that are
     * older than `maxKeyDays` expire immediately, the other keys when they reach that age. Null removes the limit.
     * It may reject with `problems.NotConfirmed`.
     */
    update: (body: ApiKeyPolicy, call?: CallOptions) => Promise<ApiKeyPolicy>;
  };
  sessions: {
    /** List browser sessions, newest first. Returns the browsers in which the user is signed in. */
    list: (query?: ListQuery, call?: CallOptions) => List<PersonSession>;
    /** End a session. Signs the user out of one browser. */
    end: (id: string, call?: CallOptions) => Promise<void>;
    /** End all other sessions. Signs the user out of every other browser. */
    endOthers: (call?: CallOptions) => Promise<void>;
  };
  connectedApps: {
    /** List connected apps, newest first. Returns the apps that may act for the user, and their scopes. */
    list: (query?: ListQuery, call?: CallOptions) => List<ConnectedApp>;
    /**
     * Disconnect an app. The app gets no more tokens, and its current ones stop working. To reconnect, it must ask
     * the user again.
     */
    disconnect: (id: string, call?: CallOptions) => Promise<void>;
  };
  account: {
    /**
     * Export all data of the account as one document. Destination keys and API keys appear as hints only. Passwords
     * and passkey credentials are not included. Neither is media. It may reject with `problems.ServerBusy`.
     */
    export: (call?: CallOptions) => Promise<Record<string, unknown>>;
    /**
     * Delete the account. After the response, nobody can sign in to the account. Streams go off air, and all data is
     * deleted, media within a day. This cannot be undone. It may reject with `problems.NotConfirmed`.
     */
    delete: (body: AccountDelete, call?: CallOptions) => Promise<void>;
  };
  billing: {
    /**
     * Get the balance and how long it lasts. Returns the balance, the current spending per hour, and the time that
     * the balance lasts at that rate. It may reject with `problems.BillingDisabled`.
     */
    get: (call?: CallOptions) => Promise<Billing>;
    /**
     * Get the prices. Returns what an hour on air costs, by quality and frame rate, and what costs nothing. Starting
     * and reconnecting cost nothing either. It may reject with `problems.BillingDisabled`.
     */
    prices: (call?: CallOptions) => Promise<Prices>;
    /**
     * Get usage by day or by stream. The sums equal the ledger’s charges, to the credit. A charge belongs to the day
     * on which its time on air ended. Returns JSON, or the lines as CSV (RFC 4180). It may reject with
     * `problems.BillingDisabled`.
     */
    usage: (query?: UsageQuery, call?: CallOptions) => Promise<Usage>;
    /**
     * List ledger entries, newest first. Returns each charge, top-up and correction with the balance after it. All
     * filters must hold. A filter of another list and a value that is not known fail with 422 and the known ones. It
     * may reject with `problems.BillingDisabled`.
     */
    ledger: (query?: LedgerQuery, call?: CallOptions) => List<LedgerEntry>;
  };
  topUps: {
    /**
     * Start a top-up by card. Returns the address of the payment provider’s checkout page, where the card is
     * entered. A payment is credited within seconds. Fails with 404 `topups_disabled` if the service accepts no
     * cards. It may reject with `problems.TopupsDisabled`, `problems.TopupsUnavailable` or
     * `problems.UpstreamUnavailable`.
     */
    create: (body: TopUpCreate, call?: CallOptions) => Promise<TopUp>;
    /**
     * List top-ups by card, newest first. Returns payments by card in every state. All filters must hold. A filter
     * of another list and a value that is not known fail with 422 and the known ones.
     */
    list: (query?: TopUpQuery, call?: CallOptions) => List<TopUp>;
    /** Get a top-up by card. Returns a payment by card and its state. Objects of other accounts are not found. */
    get: (id: string, call?: CallOptions) => Promise<TopUp>;
  };
  invoices: {
    /**
     * List invoices and credit notes, newest first. Returns the account’s invoices and credit notes. All filters
     * must hold. A filter of another list and a value that is not known fail with 422 and the known ones.
     */
    list: (query?: InvoiceQuery, call?: CallOptions) => List<InvoiceSummary>;
    /**
     * Get an invoice. Returns an invoice with its lines. An issued invoice never changes; a credit note corrects
     * mistakes.
     */
    get: (id: string, call?: CallOptions) => Promise<Invoice>;
  };
  billingAddress: {
    /** Get the billing address. Returns the name, the address and the tax ID that invoices show. */
    get: (call?: CallOptions) => Promise<BillingAddress>;
    /**
     * Change the billing address. Changes the given fields only. An empty string removes a field. The change applies
     * to future invoices.
     */
    update: (body: BillingAddressUpdate, call?: CallOptions) => Promise<BillingAddress>;
  };
  crypto: {
    /**
     * List crypto assets that can be paid with, and their rates. Fails with 404 `crypto_disabled` if the service
     * accepts no crypto currencies. It may reject with `problems.CryptoDisabled`.
     */
    assets: (call?: CallOptions) => Promise<CryptoAsset[]>;
    /**
     * Create a deposit address with a quote. Payments until `expiresAt` are credited at the quoted rate, later ones
     * at the rate of their time. Each payment is rounded down to whole credits. More or less than `amount` is
     * credited as received. It may reject with `problems.CryptoDisabled`, `problems.CryptoUnavailable`,
     * `problems.CryptoRateUnavailable` or `problems.CryptoDepositQuotaExceeded`.
     */
    create: (body: CryptoDepositCreate, call?: CallOptions) => Promise<CryptoDeposit>;
    /**
     * List crypto deposits, newest first. Returns payments by crypto currency in every state. All filters must hold.
     * A filter of another list and a value that is not known fail with 422 and the known ones. It may reject with
     * `problems.CryptoDisabled`.
     */
    list: (query?: CryptoQuery, call?: CallOptions) => List<CryptoDeposit>;
    /**
     * Get a crypto deposit. Returns a crypto deposit in its current state, with its payments on the chain. Objects
     * of other accounts are not found. It may reject with `problems.CryptoDisabled`.
     */
    get: (id: string, call?: CallOptions) => Promise<CryptoDeposit>;
  };
  events: {
    /**
     * List events, oldest first, or stream them without end. Returns what happened to the objects of the account
     * within seven days. Pass the id of the last event that you know as `after` to get what followed. With `Accept:
     * text/event-stream`, the events come as server-sent events without end, and a client that reconnects sends the
     * last id as `Last-Event-ID`. Each event comes at least once: drop an `id` that you know. `seq` counts the
     * events of one object. Events of credit, invoices, deposits and API keys come with the scope billing alone.
     * Types: `stream.live`: A destination takes media, after a start that was wanted. `stream.reconnecting`: No
     * destination takes media any more. It is sought again, or the pod is being replaced. `stream.off_air`: Viewers
     * see nothing for five seconds, or nothing seeks a destination, though the stream is meant to be on air.
     * `stream.recovered`: A destination takes media again. The event has the length of the outage. `stream.stopped`:
     * The stream leaves the air as it was meant to. `stream.degraded`: The stream is on air with a problem.
     * `stream.scheduled_start_missed`: A window of the schedule began too long ago to be started. `upload.ready`:
     * The media was fetched and checked: streams can use it. `upload.failed`: The media cannot be used. The event
     * has the cause and the fix. `upload.quarantined`: Somebody has taken the upload off every list. The event has
     * the reason. `upload.released`: The quarantine of the upload has ended: lists play it again.
     * `playlist.published`: Streams play a new version of the playlist. `destination.rejected`: The destination
     * refuses the key, the login or the publisher of a stream. `platform.live`: Viewers see the stream at a
     * destination whose platform is watched: for the first time since it went on air, or again. `platform.ended`:
     * Viewers do not see the stream, though the destination takes media. The event has the cause and the fix.
     * `platform.health`: Viewers see the stream, and the platform of a destination asks for attention.
     * `insert.dropped`: A rule of a playlist was due and was left out. `schedule.upcoming`: A window of the schedule
     * begins within 15 minutes. `credit.low`: The credit lasts for less than 24 hours, or for less than an hour, at
     * the current rate. `credit.exhausted`: The credit is used up: streams stop after the grace that the service
     * gives. `invoice.issued`: An invoice or a credit note was issued. `deposit.credited`: A payment in crypto
     * currency has its confirmations, and its credits were booked. `key.created`: An API key was created. It may
     * reject with `problems.EventNotFound`, `problems.TooManyFeeds` or `problems.ServerBusy`.
     */
    list: (query?: EventQuery, call?: CallOptions) => List<AccountEvent>;
  };
  endpoints: {
    /**
     * Create an endpoint. Events are sent to it: to a program as webhooks (https://www.standardwebhooks.com), to
     * people as messages. Before anything else, a code is sent there. A webhook that answers it with the code alone,
     * or with `{"code": "…"}`, is verified at once; else confirm the code with `verifyEndpoint`. The secret of a
     * webhook is at `getEndpointSecret`. Events of billing are sent only if the credential has that scope. It may
     * reject with `problems.EndpointForbidden` or `problems.QuotaExceeded`.
     */
    create: (body: EndpointCreate, call?: CallOptions) => Promise<Endpoint>;
    /**
     * List endpoints, newest first. Returns who is told of events, filtered and sorted as asked. All filters must
     * hold. A filter of another list and a value that is not known fail with 422 and the known ones.
     */
    list: (query?: EndpointQuery, call?: CallOptions) => List<Endpoint>;
    /** Get an endpoint. Returns an endpoint. Objects of other accounts are not found. */
    get: (id: string, call?: CallOptions) => Promise<Endpoint>;
    /**
     * Change an endpoint. Another address has to be verified again. With `enabled` false, nothing is sent. It may
     * reject with `problems.EndpointForbidden`.
     */
    update: (id: string, body: EndpointUpdate, call?: CallOptions) => Promise<Endpoint>;
    /** Delete an endpoint. Nothing is sent there any more. Its deliveries are deleted as well. */
    delete: (id: string, call?: CallOptions) => Promise<void>;
    /**
     * Confirm the code of an endpoint. Confirms the code that was sent there last. Without a code, another one is
     * sent. It may reject with `problems.EndpointCodeWrong`.
     */
    verify: (
      id: string,
      body?: {
        /** The code that arrived there. */
        code?: string;
      },
      call?: CallOptions,
    ) => Promise<Endpoint>;
    /**
     * Test an endpoint. Sends a message of the type `endpoint.test` now, once, and returns the answer. It may reject
     * with `problems.EndpointNotActive`.
     */
    test: (id: string, call?: CallOptions) => Promise<EndpointTest>;
    /**
     * Get the secret of an endpoint. Returns the secret that requests to a webhook are signed with. Check signatures
     * with it, before you trust a request. It may reject with `problems.EndpointHasNoSecret`.
     */
    secret: (id: string, call?: CallOptions) => Promise<EndpointSecret>;
    /**
     * Replace the secret of an endpoint. Requests carry two signatures for a day, of the new secret and of the
     * previous one. The new one is at `getEndpointSecret`. It may reject with `problems.EndpointHasNoSecret`.
     */
    rotate: (id: string, call?: CallOptions) => Promise<Endpoint>;
    /**
     * Send again what an endpoint missed. Sends what failed since a time, and for a webhook also what happened while
     * the endpoint was disabled, up to seven days back. Nothing that was accepted is sent again. It may reject with
     * `problems.EndpointNotActive`.
     */
    recover: (
      id: string,
      body: {
        /** Time from which on. */
        since: string;
      },
      call?: CallOptions,
    ) => Promise<EndpointRecovery>;
    /**
     * List deliveries of an endpoint, newest first. Returns the latest 1,000 deliveries of the last seven days, with
     * their answers.
     */
    deliveries: (id: string, query?: DeliveriesQuery, call?: CallOptions) => List<Delivery>;
    /**
     * Send a delivery again. Sends it again soon, with the same id, also if it was accepted. It may reject with
     * `problems.DeliveryNotFound` or `problems.EndpointNotActive`.
     */
    replay: (id: string, deliveryID: string, call?: CallOptions) => Promise<Delivery>;
  };
  streams: {
    /** Create a stream. The stream stays off air until it is started, or until scheduleStartAt. */
    create: (body: StreamCreate, call?: CallOptions) => Promise<Stream>;
    /**
     * List streams, newest first. Returns the account’s streams, filtered and sorted as asked. All filters must
     * hold. A filter of another list and a value that is not known fail with 422 and the known ones.
     */
    list: (query?: StreamQuery, call?: CallOptions) => List<Stream>;
    /** Get a stream. Returns a stream with its status and its media. Objects of other accounts are not found. */
    get: (id: string, call?: CallOptions) => Promise<Stream>;
    /**
     * Change a stream. Changes the given fields only. `takesOffAir` in the response says whether it ends what
     * viewers see; with `dryRun=true` you learn that first. It may reject with `problems.Conflict`.
     */
    update: (id: string, body: StreamUpdate, call?: TrialOptions) => Promise<StreamChange>;
    /**
     * Clone a stream. Creates a stream off air with the settings and labels of another one, but without its
     * schedule. Given fields replace those of the other stream; its name gets the suffix “(copy)” otherwise. Both
     * send to the same destinations unless others are given, which must not be at the same time. Fails with 409
     * `conflict` while the other stream is being deleted. It may reject with `problems.Conflict`.
     */
    clone: (id: string, body?: StreamClone, call?: CallOptions) => Promise<Stream>;
    /**
     * Delete a stream. Takes the stream off air first. Returns 204 when it is gone, or 202 if that takes longer. It
     * may reject with `problems.Conflict`.
     */
    delete: (id: string, call?: CallOptions) => Promise<void>;
    /**
     * Start a stream. Safe to repeat: a stream that is on air is returned unchanged. A stream whose pod Kubernetes
     * refuses tries again at once. It may reject with `problems.StreamNotReady`, `problems.InsufficientCredits` or
     * `problems.Conflict`.
     */
    start: (id: string, call?: StartOptions) => Promise<Stream>;
    /**
     * Stop a stream. Safe to repeat: a stream that is off air is returned unchanged. It may reject with
     * `problems.Conflict`.
     */
    stop: (id: string, call?: WaitOptions) => Promise<Stream>;
    /**
     * Skip to the next item. Skips immediately and without a reconnect. Returns 200 when the next item has begun, or
     * 202 if that takes longer. Requests during a running skip share it. It may reject with `problems.StreamNotLive`
     * or `problems.Conflict`.
     */
    skip: (id: string, body?: StreamSkip, call?: CallOptions) => Promise<Stream>;
    /**
     * Get the schedule of a stream and its next times on air. Returns the schedule and the next windows that it
     * produces.
     */
    windows: (id: string, call?: CallOptions) => Promise<StreamWindows>;
    /**
     * Schedule a stream. Sets when the stream goes on air and off air automatically: once, or repeatedly by
     * `recurrence`. Replaces the whole schedule. A stream on air without a window now goes off air at once, unless
     * scheduleOnAirUntil keeps it: `takesOffAir` in the response says so, with `dryRun=true` before anything is
     * changed. It may reject with `problems.Conflict`.
     */
    schedule: (id: string, body: StreamSchedule, call?: TrialOptions) => Promise<StreamChange>;
    /**
     * Remove the schedule of a stream. The stream no longer goes on air automatically. A stream on air stays on air.
     * It may reject with `problems.Conflict`.
     */
    unschedule: (id: string, call?: TrialOptions) => Promise<StreamChange>;
    /**
     * Check whether a stream can start. Each issue has a code, a message and the field that causes it. The stream
     * can start if there are no issues. It may start before all of its media is prepared.
     */
    readiness: (id: string, call?: CallOptions) => Promise<Readiness>;
    /** Get live statistics of a stream. Returns current values for each destination while the stream is on air. */
    liveStats: (id: string, call?: CallOptions) => Promise<LiveStats>;
    /**
     * List events of a stream, newest first. Read from Kubernetes directly, which stores events for about an hour:
     * fails with 502 while it is unavailable.
     */
    events: (id: string, query?: ListQuery, call?: CallOptions) => List<StreamEvent>;
    /**
     * Get what a stream plays when. Returns the items of a span, with the item that plays at its begin. The list on
     * air is computed ahead, so its times are those at which the stream plays, to the millisecond, until a skip or
     * an edit. Items whose length is not known before they are prepared make later times an estimate: see `exact`.
     * The past is known as far back as the last such change. A stream off air plays nothing.
     */
    timeline: (id: string, query?: TimelineQuery, call?: CallOptions) => Promise<StreamTimeline>;
    /**
     * Explain why a rule or an upload plays at a time, or does not. Returns the decision on a rule of a playlist, or
     * on an upload, at a time: it plays, or what was on air instead, when it is due, and what to change. The
     * decision is that by which the stream plays. The past is known as far back as in the timeline.
     */
    explain: (id: string, query?: ExplainQuery, call?: CallOptions) => Promise<StreamExplanation>;
    /**
     * Get what a stream plays now. Returns the item that plays, the next 3 and the last 10. The `ETag` changes with
     * the item: a request with `If-None-Match` is answered with 304 until then. `startAt` and `endAt` stay right
     * meanwhile.
     */
    now: (id: string, query?: NowQuery, call?: CallOptions) => Promise<StreamNow>;
    /**
     * Get what a stream has played. Returns the items that were on air in a span, with the item that played at its
     * begin, and the times without items. It is computed from each move of the list, and from when destinations took
     * media. A later edit or deletion of an upload leaves it as it was. The record is kept for 400 days.
     */
    asRun: (id: string, query?: AsRunQuery, call?: CallOptions) => Promise<StreamAsRun>;
    /**
     * Get how often and how long a stream has played each item. Returns the number of plays and the seconds on air
     * of each item of a span, for reports to rights holders. A play counts in the span in which it began, so the
     * totals of two spans add up. The record is kept for 400 days.
     */
    asRunTotals: (id: string, query?: AsRunTotalsQuery, call?: CallOptions) => Promise<StreamAsRunTotals>;
    /** Get whether anyone may read what a stream plays now. Returns the address for pages of others, where it is on. */
    publicNow: (id: string, call?: CallOptions) => Promise<StreamPublicNow>;
    /**
     * Let anyone read what a stream plays now. Turns an address on that needs no key, for a page or an app of yours,
     * or turns it off for good. The address shows titles and times, and never ids, names of files, or the name of
     * the stream. To replace it, turn it off and on. It may reject with `problems.Conflict`.
     */
    updatePublicNow: (id: string, body: StreamPublicNowUpdate, call?: CallOptions) => Promise<StreamPublicNow>;
    /**
     * List the sessions of a stream, newest first. A session is the time from the first media that a destination
     * takes until the process that sends it ends. Returns the latest sessions with their time on air, their cost,
     * and why they ended: up to 5,000, and with billing off up to 32. The costs of ended sessions add up to the
     * charges of the stream in the ledger. As CSV (RFC 4180), all of them are in one response.
     */
    sessions: (id: string, query?: ListQuery, call?: CallOptions) => List<StreamSession>;
    /**
     * Get the uptime of a stream, and its outages. Returns for how long the stream was on air, of the time in which
     * it was meant to be, and each outage with its cause. `by` says whether that is by what viewers see, or by what
     * destinations take. A stop, and the end of a schedule, are no outages. A start counts from its first media on.
     * JSON lists the latest 200 outages. CSV (RFC 4180) has a line for each time on air, off air or unknown. Changes
     * are kept for 400 days.
     */
    uptime: (id: string, query?: UptimeQuery, call?: CallOptions) => Promise<StreamUptime>;
  };
  destinations: {
    /**
     * Create a destination. Stores the URL and the stream key to publish to. The key is never returned again. It may
     * reject with `problems.DestinationForbidden`.
     */
    create: (body: DestinationCreate, call?: CallOptions) => Promise<Destination>;
    /**
     * List destinations, newest first. Returns the account’s destinations without their keys, filtered and sorted as
     * asked. All filters must hold. A filter of another list and a value that is not known fail with 422 and the
     * known ones.
     */
    list: (query?: DestinationQuery, call?: CallOptions) => List<Destination>;
    /** Get a destination. Returns a destination, without its key. Objects of other accounts are not found. */
    get: (id: string, call?: CallOptions) => Promise<Destination>;
    /**
     * Change a destination. A stream on air is published again with the new values. `takesOffAir` in the response
     * says whether viewers lose the picture meanwhile; with `dryRun=true` you learn that first. It may reject with
     * `problems.DestinationForbidden` or `problems.Conflict`.
     */
    update: (id: string, body: DestinationUpdate, call?: TrialOptions) => Promise<DestinationChange>;
    /**
     * Delete a destination. Fails with 409 `destination_in_use` while a stream uses it. It may reject with
     * `problems.DestinationInUse` or `problems.Conflict`.
     */
    delete: (id: string, call?: CallOptions) => Promise<void>;
    /**
     * Go on with a stalled repair. Repairs of broadcasts stall when the platform ends each new one, or after too
     * many in a day. Fails with 409 `repair_not_stalled` where none has. It may reject with
     * `problems.RepairNotStalled` or `problems.Conflict`.
     */
    resumeRepair: (id: string, call?: CallOptions) => Promise<Destination>;
    /**
     * Test a destination. Publishes two seconds of black video and silence from the place that streams publish from.
     * Returns the last step that the test reached. Requests during a running test share it. Fails with 409
     * `destination_on_air` while a stream is sent there, because a second publisher would interrupt it. It may
     * reject with `problems.DestinationOnAir` or `problems.Conflict`.
     */
    test: (id: string, call?: CallOptions) => Promise<DestinationTest>;
  };
  uploads: {
    /**
     * Import media from a link. Starts to fetch the file; `state` of the upload shows the progress. Media is
     * prepared once for all streams. It may reject with `problems.LinkForbidden` or `problems.UploadQuotaExceeded`.
     */
    fromLink: (body: UploadFromLink, call?: CallOptions) => Promise<Upload>;
    /**
     * Import media from many links. Does for each link what `POST /v1/uploads/from-link` does, one after the other.
     * A link that is refused has an error in its result, and ends no other. If the service fails meanwhile, so does
     * the request: with the same Idempotency-Key, a repeated request imports no link twice. It may reject with
     * `problems.LinkForbidden` or `problems.UploadQuotaExceeded`.
     */
    fromLinks: (
      body: UploadsFromLinks,
      call?: CallOptions,
    ) => Promise<
      {
        /** The link, as it was sent. */
        url: string;
        /** The new upload. Null if the link was refused. */
        upload: Upload | null;
        /** Why the link was refused. Null if there is an upload. */
        error: {
          /** Stable code, with a page at /docs/errors/{code}. */
          code: string;
          /** The cause, as a sentence. */
          message: string;
          /** Action that solves the problem. */
          fix: string;
        } | null;
      }[]
    >;
    /**
     * List uploads, newest first. Returns the account’s uploads, filtered and sorted as asked. All filters must
     * hold. A filter of another list and a value that is not known fail with 422 and the known ones.
     */
    list: (query?: UploadQuery, call?: CallOptions) => List<Upload>;
    /**
     * Get an upload. Returns an upload with its state, and the error if it failed. Objects of other accounts are not
     * found.
     */
    get: (id: string, call?: CallOptions) => Promise<Upload>;
    /**
     * Change an upload. Changes its name, or the words about it: `title`, `artist`, `album`, `isrc`, `label`,
     * `license` and `licenseUrl` go before those of the file, and "" or null takes those of the file again.
     * `overlays` says whether streams show theirs over it. Replaces the choice of tracks; `{}` is the automatic
     * choice. After another choice the upload is prepared again, and a stream on air goes on with what it plays
     * until that is done. Fails with 422 if the file has no such track. It may reject with `problems.Conflict`.
     */
    update: (id: string, body?: UploadUpdate, call?: CallOptions) => Promise<Upload>;
    /**
     * Retry the link of a failed upload. The upload keeps its objectID and all references to it. Fails with 409
     * `upload_not_failed` while it is in progress or ready, and with `upload_not_from_link` if a client sent the
     * file. It may reject with `problems.UploadNotFailed`, `problems.UploadNotFromLink`, `problems.LinkForbidden`,
     * `problems.QuotaExceeded`, `problems.UploadQuotaExceeded` or `problems.Conflict`.
     */
    retry: (id: string, call?: CallOptions) => Promise<Upload>;
    /**
     * Take an upload off every list. No stream plays the upload from its next border on, though playlists keep it
     * and their versions stay as they are: the answer to a claim that may be false. With `cut`, a stream that plays
     * it goes on to its next item at once, on a keyframe and in the same publish. A stream with nothing else to play
     * shows its slate. A repeated request changes the reason. It may reject with `problems.UploadIsImage` or
     * `problems.Conflict`.
     */
    quarantine: (id: string, body: UploadQuarantine, call?: CallOptions) => Promise<Upload>;
    /**
     * End the quarantine of an upload. Streams play the upload again, where their lists have it. Does nothing to an
     * upload that is not in quarantine. It may reject with `problems.Conflict`.
     */
    release: (id: string, call?: CallOptions) => Promise<Upload>;
    /**
     * Delete an upload. Fails with 409 `upload_in_use` while a stream or a playlist uses it. It may reject with
     * `problems.UploadInUse` or `problems.Conflict`.
     */
    delete: (id: string, call?: CallOptions) => Promise<void>;
  };
  playlists: {
    /**
     * List versions of a playlist, newest first. Returns the current version and the 50 versions before it. Read
     * from Kubernetes directly: fails with 502 while it is unavailable.
     */
    versions: (id: string, query?: ListQuery, call?: CallOptions) => List<PlaylistVersionSummary>;
    /**
     * Get a version of a playlist. Read from Kubernetes directly: fails with 502 while it is unavailable. It may
     * reject with `problems.PlaylistVersionNotFound`.
     */
    version: (id: string, version: number, call?: CallOptions) => Promise<PlaylistVersion>;
    /**
     * Compare two versions of a playlist. Read from Kubernetes directly: fails with 502 while it is unavailable. It
     * may reject with `problems.PlaylistVersionNotFound`.
     */
    diff: (id: string, version: number, query?: DiffQuery, call?: CallOptions) => Promise<PlaylistDiff>;
    /**
     * Create a playlist. Publishes the first version immediately. Streams play later versions once they are
     * published. With `streamID`, the playlist is also attached to that stream; if that fails, no playlist is
     * created. It may reject with `problems.Conflict`.
     */
    create: (body: PlaylistCreate, call?: CallOptions) => Promise<Playlist>;
    /**
     * List playlists, newest first. Returns the account’s playlists without their items, filtered and sorted as
     * asked. All filters must hold. A filter of another list and a value that is not known fail with 422 and the
     * known ones. It may reject with `problems.RouteNotFound`.
     */
    list: (query?: PlaylistQuery, call?: CallOptions) => List<PlaylistSummary>;
    /** Get a playlist. Returns a playlist with its items. Objects of other accounts are not found. */
    get: (id: string, call?: CallOptions) => Promise<Playlist>;
    /**
     * Set name, mode, all items or all rules of a playlist. Creates the next version, which streams play once it is
     * published. Fails with 409 `playlist_version_conflict` and changes nothing if `version` is no longer the
     * current version. It may reject with `problems.QuotaExceeded`, `problems.PlaylistVersionConflict` or
     * `problems.Conflict`.
     */
    update: (id: string, body: PlaylistUpdate, call?: CallOptions) => Promise<Playlist>;
    /**
     * Change items of a playlist in one batch. Creates the next version, which streams play once it is published.
     * Fails with 409 `playlist_version_conflict` and changes nothing if `version` is no longer the current version.
     * It may reject with `problems.PlaylistVersionConflict` or `problems.Conflict`.
     */
    change: (id: string, body: PlaylistChanges, call?: CallOptions) => Promise<Playlist>;
    /**
     * Put a version of a playlist on air. Prepares the media that is not prepared yet; `publication` shows the
     * progress. Until then, streams on air keep playing what they play. They switch after the current item, without
     * a reconnect. It may reject with `problems.PlaylistVersionNotFound`, `problems.PlaylistNotPlayable` or
     * `problems.Conflict`.
     */
    publish: (id: string, body: PlaylistPublish, call?: CallOptions) => Promise<Playlist>;
    /**
     * Create a new version from an old one. Copies mode, items and rules of the old version. Streams play the new
     * version once it is published. To put the old version itself on air, publish it. It may reject with
     * `problems.PlaylistVersionNotFound`, `problems.PlaylistNotPlayable`, `problems.PlaylistVersionConflict` or
     * `problems.Conflict`.
     */
    rollback: (id: string, body: PlaylistRollback, call?: CallOptions) => Promise<Playlist>;
    /**
     * Delete a playlist. Fails with 409 `playlist_in_use` while a stream plays it. It may reject with
     * `problems.PlaylistInUse` or `problems.Conflict`.
     */
    delete: (id: string, call?: CallOptions) => Promise<void>;
  };
  scenes: {
    /** Create a scene. Streams show it over their items once their `overlays` name it by `sceneID`. */
    create: (body: SceneCreate, call?: CallOptions) => Promise<Scene>;
    /**
     * List scenes, newest first. Returns the account’s scenes, filtered and sorted as asked. All filters must hold.
     * A filter of another list and a value that is not known fail with 422 and the known ones.
     */
    list: (query?: SceneQuery, call?: CallOptions) => List<Scene>;
    /** Get a scene. Returns a scene with its layers. Objects of other accounts are not found. */
    get: (id: string, call?: CallOptions) => Promise<Scene>;
    /**
     * Change a scene. Changes the given fields; `layers` is replaced as a whole. Each stream of the scene shows the
     * change where an item next begins, once its pictures are made. Fails with 409 `scene_version_conflict` and
     * changes nothing if `version` is no longer the current version. `storageBytes` says what it takes; with
     * `dryRun=true` you learn that first. It may reject with `problems.SceneVersionConflict` or `problems.Conflict`.
     */
    update: (id: string, body: SceneUpdate, call?: TrialOptions) => Promise<SceneChange>;
    /**
     * Delete a scene. Fails with 409 `scene_in_use` while a stream names it. It may reject with
     * `problems.SceneInUse` or `problems.Conflict`.
     */
    delete: (id: string, call?: CallOptions) => Promise<void>;
  };
}

export const createOperations = ({ get, post, patch, delete: remove, list }: Requests): Operations => ({
  status: (call) => get('/status', call),
  openApi: (call) => get('/openapi.json', call),
  me: (call) => get('/me', call),
  limits: (call) => get('/limits', call),
  signInOptions: (call) => get('/sign-in-options', call),
  apiKeys: {
    create: (body, call) => post('/api-keys', { maxRetries: 0, ...call }, body),
    list: (query, call) => list('/api-keys', query, call),
    update: (id, body = {}, call) => patch(path`/api-keys/${id}`, call, body),
    revoke: (id, call) => remove(path`/api-keys/${id}`, call),
  },
  apiKeyPolicy: {
    get: (call) => get('/api-key-policy', call),
    update: (body, call) => patch('/api-key-policy', call, body),
  },
  sessions: {
    list: (query, call) => list('/sessions', query, call),
    end: (id, call) => remove(path`/sessions/${id}`, call),
    endOthers: (call) => remove('/sessions', call),
  },
  connectedApps: {
    list: (query, call) => list('/connected-apps', query, call),
    disconnect: (id, call) => remove(path`/connected-apps/${id}`, call),
  },
  account: {
    export: (call) => get('/account/export', call),
    delete: (body, call) => post('/account/deletion', { maxRetries: 0, ...call }, body),
  },
  billing: {
    get: (call) => get('/billing', call),
    prices: (call) => get('/billing/prices', call),
    usage: (query, call) => get('/billing/usage', { ...call, query }),
    ledger: (query, call) => list('/billing/ledger', query, call),
  },
  topUps: {
    create: (body, call) => post('/billing/top-ups', call, body),
    list: (query, call) => list('/billing/top-ups', query, call),
    get: (id, call) => get(path`/billing/top-ups/${id}`, call),
  },
  invoices: {
    list: (query, call) => list('/billing/invoices', query, call),
    get: (id, call) => get(path`/billing/invoices/${id}`, call),
  },
  billingAddress: {
    get: (call) => get('/billing/address', call),
    update: (body, call) => patch('/billing/address', call, body),
  },
  crypto: {
    assets: (call) => get<{ data: CryptoAsset[] }>('/crypto/assets', call).then(({ data }) => data),
    create: (body, call) => post('/crypto/deposits', call, body),
    list: (query, call) => list('/crypto/deposits', query, call),
    get: (id, call) => get(path`/crypto/deposits/${id}`, call),
  },
  events: {
    list: (query, call) => list('/events', query, call),
  },
  endpoints: {
    create: (body, call) => post('/endpoints', { ...call, extraSeconds: 30 }, body),
    list: (query, call) => list('/endpoints', query, call),
    get: (id, call) => get(path`/endpoints/${id}`, call),
    update: (id, body, call) => patch(path`/endpoints/${id}`, { ...call, extraSeconds: 30 }, body),
    delete: (id, call) => remove(path`/endpoints/${id}`, call),
    verify: (id, body = {}, call) => post(path`/endpoints/${id}/verify`, { ...call, extraSeconds: 30 }, body),
    test: (id, call) => post(path`/endpoints/${id}/test`, { ...call, extraSeconds: 30 }),
    secret: (id, call) => get(path`/endpoints/${id}/secret`, call),
    rotate: (id, call) => post(path`/endpoints/${id}/rotate-secret`, call),
    recover: (id, body, call) => post(path`/endpoints/${id}/recover`, call, body),
    deliveries: (id, query, call) => list(path`/endpoints/${id}/deliveries`, query, call),
    replay: (id, deliveryID, call) => post(path`/endpoints/${id}/deliveries/${deliveryID}/replay`, call),
  },
  streams: {
    create: (body, call) => post('/streams', call, body),
    list: (query, call) => list('/streams', query, call),
    get: (id, call) => get(path`/streams/${id}`, call),
    update: (id, body, { dryRun, ...call } = {}) => patch(path`/streams/${id}`, { ...call, query: { dryRun } }, body),
    clone: (id, body = {}, call) => post(path`/streams/${id}/clone`, call, body),
    delete: (id, call) => remove(path`/streams/${id}`, call),
    start: (id, { wait, whenReady, ...call } = {}) =>
      post(path`/streams/${id}/start`, { ...call, query: { wait, whenReady }, extraSeconds: wait }),
    stop: (id, { wait, ...call } = {}) =>
      post(path`/streams/${id}/stop`, { ...call, query: { wait }, extraSeconds: wait }),
    skip: (id, body = {}, call) => post(path`/streams/${id}/skip`, call, body),
    windows: (id, call) => get(path`/streams/${id}/upcoming`, call),
    schedule: (id, body, { dryRun, ...call } = {}) =>
      post(path`/streams/${id}/schedule`, { ...call, query: { dryRun } }, body),
    unschedule: (id, { dryRun, ...call } = {}) => remove(path`/streams/${id}/schedule`, { ...call, query: { dryRun } }),
    readiness: (id, call) => get(path`/streams/${id}/readiness`, call),
    liveStats: (id, call) => get(path`/streams/${id}/live-stats`, call),
    events: (id, query, call) => list(path`/streams/${id}/events`, query, call),
    timeline: (id, query, call) => get(path`/streams/${id}/timeline`, { ...call, query }),
    explain: (id, query, call) => get(path`/streams/${id}/explain`, { ...call, query }),
    now: (id, query, call) => get(path`/streams/${id}/now`, { ...call, query }),
    asRun: (id, query, call) => get(path`/streams/${id}/as-run`, { ...call, query }),
    asRunTotals: (id, query, call) => get(path`/streams/${id}/as-run/totals`, { ...call, query }),
    publicNow: (id, call) => get(path`/streams/${id}/public-now`, call),
    updatePublicNow: (id, body, call) => patch(path`/streams/${id}/public-now`, call, body),
    sessions: (id, query, call) => list(path`/streams/${id}/sessions`, query, call),
    uptime: (id, query, call) => get(path`/streams/${id}/uptime`, { ...call, query }),
  },
  destinations: {
    create: (body, call) => post('/destinations', call, body),
    list: (query, call) => list('/destinations', query, call),
    get: (id, call) => get(path`/destinations/${id}`, call),
    update: (id, body, { dryRun, ...call } = {}) =>
      patch(path`/destinations/${id}`, { ...call, query: { dryRun } }, body),
    delete: (id, call) => remove(path`/destinations/${id}`, call),
    resumeRepair: (id, call) => post(path`/destinations/${id}/resume-repair`, call),
    test: (id, call) => post(path`/destinations/${id}/test`, { ...call, extraSeconds: 30 }),
  },
  uploads: {
    fromLink: (body, call) => post('/uploads/from-link', call, body),
    fromLinks: (body, call) =>
      post<{
        data: {
          /** The link, as it was sent. */
          url: string;
          /** The new upload. Null if the link was refused. */
          upload: Upload | null;
          /** Why the link was refused. Null if there is an upload. */
          error: {
            /** Stable code, with a page at /docs/errors/{code}. */
            code: string;
            /** The cause, as a sentence. */
            message: string;
            /** Action that solves the problem. */
            fix: string;
          } | null;
        }[];
      }>('/uploads/from-links', { ...call, extraSeconds: 30 }, body).then(({ data }) => data),
    list: (query, call) => list('/uploads', query, call),
    get: (id, call) => get(path`/uploads/${id}`, call),
    update: (id, body = {}, call) => patch(path`/uploads/${id}`, call, body),
    retry: (id, call) => post(path`/uploads/${id}/retry`, call),
    quarantine: (id, body, call) => post(path`/uploads/${id}/quarantine`, call, body),
    release: (id, call) => remove(path`/uploads/${id}/quarantine`, call),
    delete: (id, call) => remove(path`/uploads/${id}`, call),
  },
  playlists: {
    versions: (id, query, call) => list(path`/playlists/${id}/versions`, query, call),
    version: (id, version, call) => get(path`/playlists/${id}/versions/${version}`, call),
    diff: (id, version, query, call) => get(path`/playlists/${id}/versions/${version}/diff`, { ...call, query }),
    create: (body, call) => post('/playlists', call, body),
    list: (query, call) => list('/playlists', query, call),
    get: (id, call) => get(path`/playlists/${id}`, call),
    update: (id, body, call) => patch(path`/playlists/${id}`, call, body),
    change: (id, body, call) => post(path`/playlists/${id}/changes`, call, body),
    publish: (id, body, call) => post(path`/playlists/${id}/publish`, call, body),
    rollback: (id, body, call) => post(path`/playlists/${id}/rollback`, call, body),
    delete: (id, call) => remove(path`/playlists/${id}`, call),
  },
  scenes: {
    create: (body, call) => post('/scenes', call, body),
    list: (query, call) => list('/scenes', query, call),
    get: (id, call) => get(path`/scenes/${id}`, call),
    update: (id, body, { dryRun, ...call } = {}) => patch(path`/scenes/${id}`, { ...call, query: { dryRun } }, body),
    delete: (id, call) => remove(path`/scenes/${id}`, call),
  },
});
