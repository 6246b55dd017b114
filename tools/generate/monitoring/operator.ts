/**
 * Declares alerts about the operator: streams on air stay so without it, and nothing else happens. Pure: no I/O, no
 * clock.
 */
import { type Alert, API_HEALTH, type Group, OPERATOR_LOG, OPERATOR_PODS, ofOperator } from './alert.ts';

const CONTROLLERS = 'controller=~"stream|upload|destination"';
const LEADING = 'leader_election_master_status{name="loopstream-operator"}';
const STAYS = 'Streams on air stay on air. Nothing starts, nothing stops, and a stream whose pod ends stays off air.';
const LEASE = 'kubectl get lease -n "$NS" loopstream-operator -o yaml';

/** Each part of a ratio is of our targets alone. */
const rate = (series: string) => ofOperator(`rate(${series}[10m])`);
/** For both our processes that send requests to Kubernetes. */
const askedByUs = (series: string) =>
  `sum by (job) (rate(${series}[10m]) and on (job, instance) reflector_staleness_seconds{name="streams"})`;

const presence: Alert[] = [
  {
    name: 'LoopStreamOperatorAbsent',
    expr: `absent(${LEADING})`,
    for: '5m',
    severity: 'critical',
    summary: 'No operator of loopstream is seen.',
    description: 'Prometheus has had no numbers of any operator for five minutes: none runs, or none can be scraped.',
    means: 'The operator has no pod, its pod does not start, or Prometheus does not reach it.',
    viewers: STAYS,
    looks: [
      [OPERATOR_PODS, 'existing, ready and restarting pods'],
      [OPERATOR_LOG, 'a sentence that names a wrong setting'],
      ['kubectl get servicemonitor,networkpolicy -n "$RELEASE_NS"', 'the access of Prometheus to port 9401'],
    ],
    mends: [
      'A pod that does not start: correct the setting in its last log line, or run `helm rollback`.',
      'No room: the operator needs little; give it a PriorityClass (`operator.priorityClassName`).',
      'Only the scrape is missing: `monitoring.serviceMonitor.enabled`, its labels, `networkPolicy.metricsFrom`.',
    ],
  },
  {
    name: 'LoopStreamNoLeader',
    expr: `max by (namespace) (${LEADING}) == 0`,
    for: '2m',
    severity: 'critical',
    summary: 'No operator leads in {{ $labels.namespace }}.',
    description: 'Operators run, and for two minutes none has held the lease; a new leader takes 15 seconds.',
    means: 'The operators cannot write the Lease, or a process that is no pod of the operator holds and renews it.',
    viewers: STAYS,
    looks: [
      [LEASE, '`holderIdentity` and `renewTime`: a holder that is no pod of the operator'],
      [OPERATOR_LOG, 'renewals that are refused (rights) or not answered'],
      [
        'kubectl auth can-i update leases.coordination.k8s.io/loopstream-operator -n "$NS" --as=system:serviceaccount:"$RELEASE_NS":loopstream-operator',
        '`yes` if the operator has its right to the Lease',
      ],
    ],
    mends: [
      'Rights: `rbac.create=true`, or grant those in `manifests/rbac.yaml`.',
      'A holder that is gone: delete the Lease; it is made anew.',
    ],
  },
  {
    name: 'LoopStreamTwoLeaders',
    expr: `sum by (namespace) (${LEADING}) > 1`,
    for: '2m',
    severity: 'critical',
    summary: 'More than one operator leads in {{ $labels.namespace }}.',
    description: 'Two operators without an election, or two releases, look after the same namespace.',
    means:
      '`operator.leaderElection` is off and more than one replica runs, or a second release watches the same namespace.',
    viewers: 'Streams still have one pod each, since its name is a lock. Pods may be replaced back and forth.',
    looks: [
      [
        'kubectl get deploy -A -l app.kubernetes.io/name=loopstream,app.kubernetes.io/component=operator',
        'deployments and their replicas',
      ],
      ['helm list -A', 'releases of loopstream'],
    ],
    mends: ['Turn the election on, or keep one replica or release.'],
  },
];

const work: Alert[] = [
  {
    name: 'LoopStreamReconcileErrors',
    expr:
      `sum by (controller) (${rate(`controller_runtime_reconcile_errors_total{${CONTROLLERS}}`)}) / ` +
      `sum by (controller) (${rate(`controller_runtime_reconcile_total{${CONTROLLERS}}`)}) > 0.1`,
    for: '15m',
    severity: 'warning',
    summary: 'Runs of the controller {{ $labels.controller }} fail.',
    description:
      'More than a tenth of its runs have failed for a quarter of an hour; each is tried again after a backoff.',
    means: 'The API server refuses writes of the operator, or does not answer.',
    viewers: 'Affected streams do not start, stop or take up edits.',
    looks: [
      [OPERATOR_LOG, '`processing failed` with the key of the object and the error'],
      ['kubectl get events -A --field-selector type=Warning', 'quotas, admission webhooks, policies'],
    ],
    mends: [
      'Forbidden: rights or a policy of the cluster; the message names it.',
      'Repeated conflicts: another tool writes the same fields; find it in `managedFields`.',
      'Timeouts: see LoopStreamKubernetesErrors.',
    ],
  },
  {
    name: 'LoopStreamQueueStuck',
    expr:
      `max by (controller) (${ofOperator(`workqueue_longest_running_processor_seconds{${CONTROLLERS}}`)}) > 120 or ` +
      `max by (controller) (${ofOperator(`workqueue_depth{${CONTROLLERS}}`)}) > 100`,
    for: '10m',
    severity: 'warning',
    summary: 'Work of the controller {{ $labels.controller }} does not get done.',
    description: 'A run takes longer than two minutes, or more than a hundred keys have been waiting for ten minutes.',
    means: 'Workers wait for something that does not come, or are too few.',
    viewers: 'Starts and stops come late.',
    looks: [
      [OPERATOR_LOG, 'the current key, and the obstacle that it waits for'],
      ['rate(workqueue_adds_total[5m])  # in Prometheus', 'a flood of keys: something is written repeatedly'],
    ],
    mends: [
      'More workers: `operator.workers`.',
      'A run that hangs: `kubectl rollout restart` of the operator. Another one takes over, and streams on air stay.',
    ],
  },
  {
    name: 'LoopStreamWatchStale',
    expr: 'max by (job, name) (reflector_staleness_seconds) > 60',
    for: '1m',
    severity: 'critical',
    summary: '{{ $labels.job }} has not heard of {{ $labels.name }} for a minute.',
    description:
      'The Kubernetes API server has told nothing, not even that nothing has changed, which it does every five seconds.',
    means: 'Every list and watch fails: the operator decides, or the API answers, from old data.',
    viewers: STAYS,
    looks: [
      [API_HEALTH, 'the control plane itself'],
      [OPERATOR_LOG, '`a list or watch failed`: refused, unreachable, expired'],
      ['rate(reflector_errors_total[5m])  # in Prometheus', 'one kind (rights, definition), or all of them (network)'],
    ],
    mends: [
      'One kind: its definition or the right to watch it is gone; `helm upgrade` restores both.',
      'All of them: the way to the API server (network policy, proxy, credentials).',
    ],
  },
  {
    name: 'LoopStreamKubernetesErrors',
    expr:
      `${askedByUs('rest_client_requests_total{code=~"<error>|429|5.."}')} / ` +
      `${askedByUs('rest_client_requests_total')} > 0.1`,
    for: '10m',
    severity: 'warning',
    summary: 'The Kubernetes API server fails {{ $labels.job }}.',
    description: 'More than a tenth of its requests were not answered, or with 429 or 5xx, for ten minutes.',
    means: 'The control plane is overloaded, restarting, or unreachable for this process.',
    viewers: 'Starts and stops come late.',
    looks: [
      [API_HEALTH, 'the check that fails'],
      [OPERATOR_LOG, 'the status of requests'],
      [
        'sum by (code) (rate(rest_client_requests_total[5m]))  # in Prometheus',
        '429: too many; 5xx: it fails; `<error>`: no answer',
      ],
    ],
    mends: [
      '429: a FlowSchema for the operator’s ServiceAccount, or a larger control plane.',
      'No answer: network policy, proxy, DNS.',
    ],
  },
  {
    name: 'LoopStreamObjectsNearEtcdLimit',
    expr: 'sum(max by (namespace, kind) (loopstream_object_bytes)) > 1e9',
    for: '15m',
    severity: 'warning',
    summary: 'Objects of loopstream take half of what etcd holds.',
    description:
      'Streams, destinations, uploads, playlists and their versions take more than 1 GB together. etcd holds 2 GB unless it is told otherwise, and refuses every write of the cluster when that is used up.',
    means:
      'Either many accounts exist, or a few use their limits up (docs/limits.md). Events, Jobs and other objects in the cluster come on top.',
    viewers: 'Nothing yet. When etcd is full, nothing in the cluster can be started, stopped or changed.',
    looks: [
      [
        'sum by (kind) (max by (namespace, kind) (loopstream_object_bytes))  # in Prometheus',
        'the kind with most bytes',
      ],
      [
        'max by (kind) (loopstream_objects_largest_account)  # in Prometheus',
        'an account that has most of it: close to its limit, or beyond any need',
      ],
      [
        `kubectl get loopstreams,destinations,uploads,playlists -n "$NS" -o jsonpath='{range .items[*]}{.metadata.labels.loopstream\\.dev/account}{"\\n"}{end}' | sort | uniq -c | sort -rn | head`,
        'these accounts',
      ],
    ],
    mends: [
      'One account, or several that belong together: `loopstream admin suspend`, and lower `LOOPSTREAM_LIMITS`.',
      'Many accounts in use: a larger `--quota-backend-bytes` of etcd, or a cluster of its own.',
      'A backstop that keeps the rest of the cluster writable: `resourceQuota.enabled` of the chart.',
    ],
  },
];

export const OPERATOR_ALERTS: Group[] = [
  { name: 'loopstream.operator', alerts: presence },
  { name: 'loopstream.work', alerts: work },
];
