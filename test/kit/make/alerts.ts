/**
 * Declares an alert's cases: series that fire it, and similar series that do not, as `promtool test rules` writes them. There is one sample
 * a minute: `0x30` is 31 zeros, `0+5x30` rises by 5.
 */
import { ACCESS_CASES } from './alerts-access.ts';
import { BILLING_CASES } from './alerts-billing.ts';

export interface AlertCase {
  series: Record<string, string>;
  /** The time of the check, e.g. `30m`. */
  at: string;
  /** The time between two samples; a minute by default. */
  every?: '1m' | '10m';
  /** Labels of the alert besides `alertname` and `severity`; undefined for no alert. */
  fires?: Record<string, string>;
  /** The annotation of that name; empty where no series has it. */
  cause?: string;
}

const BUNNY = { namespace: 'tv', loopstream: 'bunny' };
const pick = (name: string, more = ''): string => `${name}{namespace="tv",loopstream="bunny"${more}}`;
const phase = (name: string) => pick('loopstream_status_phase', `,phase="${name}"`);
const seenByViewers = (status: string) =>
  pick('loopstream_status_condition', `,condition="OnAirForViewers",status="${status}"`);
const LEADER = 'leader_election_master_status{name="loopstream-operator",namespace="tv",job="op",instance="a"}';
const SECOND = 'leader_election_master_status{name="loopstream-operator",namespace="tv",job="op",instance="b"}';
const LOOKER = 'leader_election_master_status{name="loopstream-platform",namespace="tv",job="platform",instance="a"}';
const OPERATOR = 'job="op",instance="a"';
const OTHERS = 'job="others",instance="z"';
const OUR_API = 'db_pool_max_connections{pool="loopstream",job="api",instance="a"}';
const requests = (status: string, target = 'job="api",instance="a"') =>
  `http_request_duration_seconds_count{route="/v1/me",status="${status}",${target}}`;
const latency = (le: string, route = '/v1/me') =>
  `http_request_duration_seconds_bucket{route="${route}",status="200",le="${le}",job="api",instance="a"}`;

export const ALERT_CASES: Record<string, AlertCase[]> = {
  ...ACCESS_CASES,
  ...BILLING_CASES,
  LoopStreamObjectsNearEtcdLimit: [
    // Two operators that show the same objects count once.
    {
      series: {
        'loopstream_object_bytes{namespace="tv",kind="playlists",instance="a"}': '6e8x30',
        'loopstream_object_bytes{namespace="tv",kind="uploads",instance="a"}': '5e8x30',
      },
      at: '20m',
      fires: {},
    },
    {
      series: {
        'loopstream_object_bytes{namespace="tv",kind="playlists",instance="a"}': '6e8x30',
        'loopstream_object_bytes{namespace="tv",kind="playlists",instance="b"}': '6e8x30',
      },
      at: '20m',
    },
  ],
  LoopStreamOffAir: [
    // The stream changes its phase meanwhile, and is off air all the time.
    {
      series: {
        [phase('starting')]: '1 1 stale',
        [phase('reconnecting')]: '_ _ 1 1 1',
        [pick('loopstream_status_problem', ',reason="PublishRejected"')]: '_ _ 1 1 1',
      },
      at: '4m',
      fires: BUNNY,
      cause: 'PublishRejected',
    },
    { series: { [phase('starting')]: '1 1 stale', [phase('live')]: '_ _ 1 1' }, at: '3m' },
    { series: { [phase('stopped')]: '1x10', [pick('loopstream_spec_replicas')]: '0x10' }, at: '10m' },
  ],
  LoopStreamNotSeenByViewers: [
    // Its reason changes meanwhile, and the stream is live all the time.
    {
      series: {
        [phase('live')]: '1x10',
        [seenByViewers('false')]: '_ 1x9',
        [pick('loopstream_status_problem', ',reason="BroadcastEnded"')]: '_ 1 1 stale',
        [pick('loopstream_status_problem', ',reason="Black"')]: '_ _ _ 1x7',
      },
      at: '5m',
      fires: BUNNY,
      cause: 'Black',
    },
    { series: { [seenByViewers('false')]: '1 stale', [seenByViewers('true')]: '_ 1x9' }, at: '5m' },
    { series: { [seenByViewers('unknown')]: '1x10' }, at: '5m' },
  ],
  LoopStreamPlatformUnknown: [
    { series: { [seenByViewers('unknown')]: '1x40' }, at: '35m', fires: BUNNY },
    { series: { [seenByViewers('unknown')]: '1x20' }, at: '20m' },
    { series: { [seenByViewers('true')]: '1x40' }, at: '35m' },
  ],
  LoopStreamWaiting: [
    { series: { [phase('waiting')]: '1x40' }, at: '35m', fires: BUNNY },
    { series: { [phase('waiting')]: '1x20' }, at: '20m' },
  ],
  LoopStreamFlapping: [
    { series: { [pick('loopstream_status_live_since')]: '100 100 _ 200 200 _ 300 _ 400' }, at: '9m', fires: BUNNY },
    { series: { [pick('loopstream_status_live_since')]: '100 100 _ 200 200 200 200' }, at: '9m' },
  ],
  LoopStreamDegraded: [
    {
      series: { [pick('loopstream_status_condition', ',condition="Degraded",status="true"')]: '1x15' },
      at: '12m',
      fires: BUNNY,
    },
    { series: { [pick('loopstream_status_condition', ',condition="Degraded",status="false"')]: '1x15' }, at: '12m' },
  ],
  LoopStreamDestinationDown: [
    {
      series: {
        [pick('loopstream_streamer_destination_connected', ',destination="twitch"')]: '0x10',
        [pick('loopstream_streamer_destination_connected', ',destination="youtube"')]: '1x10',
      },
      at: '7m',
      fires: { ...BUNNY, destination: 'twitch' },
    },
    {
      series: { [pick('loopstream_streamer_destination_connected', ',destination="twitch"')]: '0 0 1 0 0 1 0' },
      at: '7m',
    },
  ],
  LoopStreamSeamStep: [
    {
      series: {
        [pick('loopstream_streamer_largest_step_seconds', ',track="video",window="hour"')]: '0.04x5',
        [pick('loopstream_info', ',framerate="30"')]: '1x5',
      },
      at: '2m',
      fires: BUNNY,
    },
    {
      // The same step at 25 frames a second is one frame.
      series: {
        [pick('loopstream_streamer_largest_step_seconds', ',track="video",window="hour"')]: '0.04x5',
        [pick('loopstream_streamer_largest_step_seconds', ',track="video",window="start"')]: '0.5x5',
        [pick('loopstream_info', ',framerate="25"')]: '1x5',
      },
      at: '2m',
    },
  ],
  LoopStreamTimelineResets: [
    { series: { [pick('loopstream_streamer_timeline_resets_total')]: '0+1x20' }, at: '16m', fires: BUNNY },
    { series: { [pick('loopstream_streamer_timeline_resets_total')]: '0 0 1 1x20' }, at: '16m' },
  ],
  LoopStreamStorageFailing: [
    { series: { [pick('loopstream_streamer_storage_available')]: '0x5' }, at: '3m', fires: BUNNY },
    { series: { [pick('loopstream_streamer_storage_available')]: '0 1 0 1 0' }, at: '4m' },
  ],
  LoopStreamCacheMissing: [
    {
      series: {
        [pick('loopstream_streamer_cache_misses_total')]: '0+30x40',
        [pick('loopstream_streamer_cache_hits_total')]: '0+60x40',
      },
      at: '30m',
      fires: BUNNY,
    },
    { series: { [pick('loopstream_streamer_cache_writable')]: '0x40' }, at: '30m', fires: BUNNY },
    {
      series: {
        [pick('loopstream_streamer_cache_misses_total')]: '0+1x40',
        [pick('loopstream_streamer_cache_hits_total')]: '0+60x40',
        [pick('loopstream_streamer_cache_writable')]: '1x40',
      },
      at: '30m',
    },
  ],
  LoopStreamPrepareFailing: [
    {
      series: { 'loopstream_upload_failures_total{task="rendition",code="storage_full"}': '0 0 1 1x20' },
      at: '10m',
      fires: { task: 'rendition', code: 'storage_full' },
    },
    {
      series: { 'loopstream_upload_failures_total{task="import",code="storage_taken"}': '0 0 1 1x20' },
      at: '10m',
      fires: { task: 'import', code: 'storage_taken' },
    },
    { series: { 'loopstream_upload_failures_total{task="import",code="media_unreadable"}': '0+3x20' }, at: '10m' },
  ],
  LoopStreamSourcesSuspicious: [
    // Only the leader sweeps, and another operator has shown its last count.
    {
      series: {
        'loopstream_suspicious_sources{namespace="tv",instance="a"}': '0 0 3x20',
        'loopstream_suspicious_sources{namespace="tv",instance="b"}': '0x22',
      },
      at: '15m',
      fires: { namespace: 'tv' },
    },
    { series: { 'loopstream_suspicious_sources{namespace="tv",instance="a"}': '3 3 0x20' }, at: '15m' },
  ],
  LoopStreamScheduleLate: [
    {
      series: {
        'loopstream_schedule_lateness_seconds_bucket{le="30"}': '0 0 5x10',
        'loopstream_schedule_lateness_seconds_bucket{le="60"}': '0 0 10x10',
        'loopstream_schedule_lateness_seconds_bucket{le="+Inf"}': '0 0 10x10',
      },
      at: '5m',
      fires: {},
    },
    {
      series: {
        'loopstream_schedule_lateness_seconds_bucket{le="10"}': '0 0 1000x10',
        'loopstream_schedule_lateness_seconds_bucket{le="30"}': '0 0 1000x10',
        'loopstream_schedule_lateness_seconds_bucket{le="+Inf"}': '0 0 1001x10',
      },
      at: '5m',
    },
  ],
  LoopStreamMeterBehind: [
    {
      series: { [pick('loopstream_status_condition', ',condition="SessionsMetered",status="false"')]: '1x70' },
      at: '65m',
      fires: { namespace: 'tv' },
    },
    {
      series: { [pick('loopstream_status_condition', ',condition="SessionsMetered",status="false"')]: '1x30 stale' },
      at: '65m',
    },
  ],
  LoopStreamTimekeepingDoubtful: [
    {
      series: { [pick('loopstream_status_condition', ',condition="TimekeepingPlausible",status="false"')]: '1x20' },
      at: '8m',
      fires: { namespace: 'tv' },
    },
    {
      series: {
        [pick('loopstream_status_condition', ',condition="TimekeepingPlausible",status="false"')]: '1x3 stale',
      },
      at: '8m',
    },
  ],
  LoopStreamNotScraped: [
    { series: { [phase('live')]: '1x20' }, at: '17m', fires: BUNNY },
    { series: { [phase('live')]: '1x20', [pick('loopstream_streamer_on_air_seconds')]: '0+60x20' }, at: '17m' },
  ],
  LoopStreamOperatorAbsent: [
    {
      series: { 'leader_election_master_status{name="another-operator"}': '1x10' },
      at: '6m',
      fires: { name: 'loopstream-operator' },
    },
    { series: { [LEADER]: '0x10' }, at: '6m' },
  ],
  LoopStreamNoLeader: [
    { series: { [LEADER]: '0x10', [SECOND]: '0x10' }, at: '4m', fires: { namespace: 'tv' } },
    { series: { [LEADER]: '1 1 stale', [SECOND]: '0 0 0 1 1' }, at: '4m' },
  ],
  LoopStreamTwoLeaders: [
    { series: { [LEADER]: '1x10', [SECOND]: '1x10' }, at: '4m', fires: { namespace: 'tv' } },
    { series: { [LEADER]: '1x10', [SECOND]: '0x10' }, at: '4m' },
  ],
  LoopStreamPlatformNoLeader: [
    { series: { [LOOKER]: '0x10', [SECOND]: '1x10' }, at: '4m', fires: { namespace: 'tv' } },
    { series: { [LOOKER]: '1 1 0 1 1', [LEADER]: '0x10' }, at: '4m' },
  ],
  LoopStreamReconcileErrors: [
    {
      series: {
        [`controller_runtime_reconcile_errors_total{controller="stream",${OPERATOR}}`]: '0+2x40',
        [`controller_runtime_reconcile_total{controller="stream",result="error",${OPERATOR}}`]: '0+2x40',
        [`controller_runtime_reconcile_total{controller="stream",result="success",${OPERATOR}}`]: '0+8x40',
        [LEADER]: '1x40',
      },
      at: '30m',
      fires: { controller: 'stream' },
    },
    {
      // The series belongs to another operator.
      series: {
        [`controller_runtime_reconcile_errors_total{controller="stream",${OTHERS}}`]: '0+2x40',
        [`controller_runtime_reconcile_total{controller="stream",result="error",${OTHERS}}`]: '0+2x40',
        [`controller_runtime_reconcile_errors_total{controller="stream",${OPERATOR}}`]: '0x40',
        [`controller_runtime_reconcile_total{controller="stream",result="success",${OPERATOR}}`]: '0+8x40',
        [LEADER]: '1x40',
      },
      at: '30m',
    },
  ],
  LoopStreamQueueStuck: [
    {
      series: {
        [`workqueue_longest_running_processor_seconds{controller="upload",${OPERATOR}}`]: '150+60x20',
        [LEADER]: '1x20',
      },
      at: '12m',
      fires: { controller: 'upload' },
    },
    {
      series: {
        [`workqueue_depth{controller="stream",${OPERATOR}}`]: '500 500 0x20',
        [`workqueue_depth{controller="stream",${OTHERS}}`]: '500x20',
        [LEADER]: '1x20',
      },
      at: '12m',
    },
  ],
  LoopStreamWatchStale: [
    {
      series: { 'reflector_staleness_seconds{name="streams",job="op",instance="a"}': '1 61 121 181' },
      at: '3m',
      fires: { job: 'op', name: 'streams' },
    },
    { series: { 'reflector_staleness_seconds{name="streams",job="op",instance="a"}': '1 5 40 5' }, at: '3m' },
  ],
  LoopStreamNamespaceNotWatched: [
    // Of two operators, one may still have to list it.
    {
      series: {
        [`loopstream_namespace_watched{namespace="tv",${OPERATOR}}`]: '1 0x30',
        [`loopstream_namespace_watched{namespace="radio",${OPERATOR}}`]: '1x31',
      },
      at: '15m',
      fires: { namespace: 'tv' },
    },
    {
      series: {
        [`loopstream_namespace_watched{namespace="tv",${OPERATOR}}`]: '0x30',
        [`loopstream_namespace_watched{namespace="tv",${OTHERS}}`]: '1x30',
      },
      at: '15m',
    },
  ],
  LoopStreamKubernetesErrors: [
    {
      series: {
        [`rest_client_requests_total{code="503",method="GET",${OPERATOR}}`]: '0+20x30',
        [`rest_client_requests_total{code="200",method="GET",${OPERATOR}}`]: '0+50x30',
        [`reflector_staleness_seconds{name="streams",${OPERATOR}}`]: '1x30',
      },
      at: '20m',
      fires: { job: 'op' },
    },
    {
      series: {
        [`rest_client_requests_total{code="503",method="GET",${OTHERS}}`]: '0+20x30',
        [`rest_client_requests_total{code="404",method="GET",${OPERATOR}}`]: '0+50x30',
        [`reflector_staleness_seconds{name="streams",${OPERATOR}}`]: '1x30',
      },
      at: '20m',
    },
  ],
  LoopStreamApiErrorBudgetFast: [
    {
      series: { [requests('200')]: '0+970x70', [requests('502')]: '0+30x70', [OUR_API]: '10x70' },
      at: '65m',
      fires: {},
    },
    {
      // The failure is over: an alert would wake somebody for nothing.
      series: { [requests('200')]: '0+1000x70', [requests('500')]: '0+500x10 5000x60', [OUR_API]: '10x70' },
      at: '65m',
    },
    {
      series: {
        [requests('200')]: '0+1000x70',
        [requests('404')]: '0+500x70',
        [requests('500', OTHERS)]: '0+500x70',
        [OUR_API]: '10x70',
      },
      at: '65m',
    },
  ],
  LoopStreamApiErrorBudgetSlow: [
    {
      series: { [requests('200')]: '0+1000x160', [requests('500')]: '0+4x160', [OUR_API]: '10x160' },
      at: '1560m',
      every: '10m',
      fires: {},
    },
    {
      series: { [requests('200')]: '0+10000x160', [requests('500')]: '0+4x160', [OUR_API]: '10x160' },
      at: '1560m',
      every: '10m',
    },
  ],
  LoopStreamApiLatency: [
    {
      series: {
        [latency('1')]: '0+90x30',
        [latency('2.5')]: '0+100x30',
        [latency('+Inf')]: '0+100x30',
        [OUR_API]: '10x30',
      },
      at: '20m',
      fires: {},
    },
    {
      // A person watches a preview.
      series: {
        [latency('1')]: '0+100x30',
        [latency('+Inf')]: '0+100x30',
        [latency('1', '/v1/streams/:id/preview')]: '0x30',
        [latency('+Inf', '/v1/streams/:id/preview')]: '0+50x30',
        [OUR_API]: '10x30',
      },
      at: '20m',
    },
  ],
  LoopStreamAccountNamespaceNotWatched: [
    // Billing lacks its Role in one of two cells.
    {
      series: {
        'account_namespace_watched{namespace="tv",job="billing",instance="a"}': '1 0x30',
        'account_namespace_watched{namespace="radio",job="billing",instance="a"}': '1x31',
        'account_namespace_watched{namespace="tv",job="api",instance="a"}': '1x31',
      },
      at: '10m',
      fires: { job: 'billing', namespace: 'tv' },
    },
    // One of two replicas has just started, and has not listed it yet.
    {
      series: {
        'account_namespace_watched{namespace="tv",job="api",instance="a"}': '1x31',
        'account_namespace_watched{namespace="tv",job="api",instance="b"}': '0x30',
      },
      at: '10m',
    },
  ],
  LoopStreamDatabaseBusy: [
    {
      series: { 'db_pool_waiting{pool="loopstream",job="api",instance="a"}': '9x10' },
      at: '7m',
      fires: { job: 'api', pool: 'loopstream' },
    },
    {
      series: {
        'db_pool_waiting{pool="loopstream",job="api",instance="a"}': '9 9 0 9 9 0 9 9',
        'db_pool_errors_total{pool="loopstream",job="api",instance="a"}': '0 1x10',
      },
      at: '7m',
    },
  ],
};
