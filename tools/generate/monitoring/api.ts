/** Declares alerts about the API server. Pure: no I/O, no clock. */
import { type Alert, API_HEALTH, API_LOG, API_PODS, BILLING_LOG, type Group, ofApi } from './alert.ts';

/** 99.9 % of requests are not answered 5xx: that share of all may fail. */
const BUDGET = 0.001;
const failing = (window: string): string => {
  const sum = (status: string) => `sum(${ofApi(`rate(http_request_duration_seconds_count${status}[${window}])`)})`;
  return `${sum('{status=~"5.."}')} / ${sum('')}`;
};
/** Fast enough to be true, long enough to be sure: Google's SRE workbook, chapter 5, multiwindow, multi-burn-rate alerts. */
const burning = (long: string, short: string, factor: number): string =>
  `(${failing(long)} > ${factor * BUDGET} and ${failing(short)} > ${factor * BUDGET})`;

const LOOKS: Alert['looks'] = [
  [API_LOG, 'errors with their request id'],
  [
    'sum by (route, status) (rate(http_request_duration_seconds_count{status=~"5.."}[5m]))  # in Prometheus',
    'one route, or all of them',
  ],
  [API_PODS, 'pods that restart or are not ready'],
];
const MENDS = [
  '502 on all routes: Kubernetes does not respond, or its CRDs have another version. See LoopStreamWatchStale.',
  '503 on all routes: PostgreSQL does not respond; see LoopStreamDatabaseBusy.',
  '500: a bug of loopstream; the log has the details under the request id. Run `helm rollback` if it came with an upgrade.',
];
const UNTOUCHED = 'Viewers notice nothing. Users of the API and of the dashboard get errors.';

const alerts: Alert[] = [
  {
    name: 'LoopStreamApiErrorBudgetFast',
    expr: `${burning('1h', '5m', 14.4)} or ${burning('6h', '30m', 6)}`,
    for: '2m',
    severity: 'critical',
    summary: 'The API fails too many requests.',
    description: 'At this rate, the API uses up its error budget of 30 days (one in a thousand requests) within days.',
    means: 'More than 1.44 % of the requests of an hour fail with 5xx, or 0.6 % of six hours.',
    viewers: UNTOUCHED,
    looks: LOOKS,
    mends: MENDS,
  },
  {
    name: 'LoopStreamApiErrorBudgetSlow',
    expr: `${burning('1d', '2h', 3)} or ${burning('3d', '6h', 1)}`,
    for: '1h',
    severity: 'warning',
    summary: 'The API fails slightly too many requests.',
    description:
      'At this rate, the API uses up its error budget of 30 days (one in a thousand requests) before their end.',
    means: 'A small share of requests has failed with 5xx for hours.',
    viewers: UNTOUCHED,
    looks: LOOKS,
    mends: MENDS,
  },
  {
    name: 'LoopStreamApiLatency',
    expr: `histogram_quantile(0.99, sum by (le) (${ofApi('rate(http_request_duration_seconds_bucket{route!~".*/preview.*|/v1/changes",status!="499"}[5m])')})) > 1`,
    for: '10m',
    severity: 'warning',
    summary: 'The API is slow.',
    description: 'One request in a hundred has taken more than a second for ten minutes.',
    means:
      'The process lacks CPU time, or waits for PostgreSQL or Kubernetes. Previews are not counted, since they last while a user watches.',
    viewers: 'Viewers notice nothing. The dashboard and clients wait.',
    looks: [
      [
        'histogram_quantile(0.99, sum by (le, route) (rate(http_request_duration_seconds_bucket[5m])))  # in Prometheus',
        'which routes',
      ],
      ['kubectl top pod -n "$RELEASE_NS" -l app.kubernetes.io/component=api', 'usage near its limits'],
      [API_HEALTH, 'the health of Kubernetes'],
    ],
    mends: [
      'Add replicas: `api.autoscaling.enabled` or `api.replicas`.',
      'The database is slow: see LoopStreamDatabaseBusy.',
    ],
  },
  {
    name: 'LoopStreamAccountNamespaceNotWatched',
    // The API server and billing have a Role each. Of several replicas, one that has just started may still have to list it.
    expr: 'max by (job, namespace) (account_namespace_watched) == 0',
    for: '5m',
    severity: 'critical',
    summary: '{{ $labels.job }} cannot read the accounts of {{ $labels.namespace }}.',
    description:
      'Kubernetes has refused the lists of a namespace of accounts to the API server or to billing for five minutes.',
    means:
      'The namespace does not exist, or the Role in it or its RoleBinding does not. The API server fails requests about the resources of its accounts with 502 `upstream_unavailable`. Billing does not count their time on air; the operator keeps it meanwhile. Accounts of other namespaces are not affected.',
    viewers: 'Viewers notice nothing. Users of these accounts can neither start nor stop a stream by the API.',
    looks: [
      ['kubectl get namespace "$NS"', 'whether it exists'],
      ['kubectl get role,rolebinding -n "$NS"', 'the Roles and RoleBindings of the API server and of billing'],
      [API_LOG, '`the namespace cannot be watched`'],
      [BILLING_LOG, 'the same in the log of billing'],
    ],
    mends: [
      'The rights are missing: run `helm upgrade` with the namespace in `api.cellNamespaces`. It makes a Role for each.',
      'The namespace was deleted: install the release of that cell again (docs/scale.md). Everything that its accounts had there is gone.',
      'An account is in a namespace that `api.cellNamespaces` no longer has: add the namespace again. Accounts do not move.',
    ],
  },
  {
    name: 'LoopStreamDatabaseBusy',
    expr: 'max by (job, pool) (db_pool_waiting) > 5 or sum by (job, pool) (rate(db_pool_errors_total[5m])) > 0.05',
    for: '5m',
    severity: 'warning',
    summary: 'PostgreSQL does not keep up with the API (pool {{ $labels.pool }}).',
    description: 'Queries have waited for a connection, or connections have failed, for five minutes.',
    means: 'PostgreSQL does not respond, is slow, or has no free connection.',
    viewers: 'Viewers notice nothing. Signing in and requests with a key are slow or fail.',
    looks: [
      [
        'histogram_quantile(0.99, sum by (le, pool) (rate(db_pool_use_seconds_bucket[5m])))  # in Prometheus',
        'the duration of queries',
      ],
      [API_LOG, '`the database does not respond`'],
      [
        'psql "$DATABASE_URL" -c \'select state, count(*) from pg_stat_activity group by 1\'',
        'connections and their states',
      ],
    ],
    mends: [
      'Too few connections: each replica of the API uses up to 14. Raise `max_connections`, or add a pooler.',
      'A slow disk or a lock: use the tools of PostgreSQL.',
    ],
  },
];

export const API_ALERTS: Group[] = [{ name: 'loopstream.api', alerts }];
