/**
 * Declares alerts about the operator: streams on air stay so without it, and nothing else happens. Pure: no I/O, no
 * clock.
 */
import { type Alert, API_HEALTH, type Group, OPERATOR_LOG, OPERATOR_PODS, ofOperator, PLATFORM_LOG } from './alert.ts';

const CONTROLLERS = 'controller=~"stream|upload|playlist|destination"';
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
    summary: 'Prometheus sees no operator of loopstream.',
    description: 'Prometheus has had no metrics of an operator for five minutes: none runs, or none can be scraped.',
    means: 'The operator has no pod, its pod does not start, or Prometheus cannot connect to it.',
    viewers: STAYS,
    looks: [
      [OPERATOR_PODS, 'existing, ready and restarting pods'],
      [OPERATOR_LOG, 'a sentence that names a wrong setting'],
      ['kubectl get servicemonitor,networkpolicy -n "$RELEASE_NS"', 'the access of Prometheus to port 9401'],
    ],
    mends: [
      'The pod does not start: correct the setting in its last log line, or run `helm rollback`.',
      'No node has room: give the operator a PriorityClass (`operator.priorityClassName`).',
      'Only the scrape fails: check `monitoring.serviceMonitor.enabled`, its labels, and `networkPolicy.metricsFrom`.',
    ],
  },
  {
    name: 'LoopStreamNoLeader',
    expr: `max by (namespace) (${LEADING}) == 0`,
    for: '2m',
    severity: 'critical',
    summary: 'No operator leads in {{ $labels.namespace }}.',
    description: 'Operators run, but none has held the Lease for two minutes. An election takes 15 seconds.',
    means: 'The operators cannot write the Lease, or a process outside their pods holds and renews it.',
    viewers: STAYS,
    looks: [
      [LEASE, '`holderIdentity` and `renewTime`, which may name a process outside the pods'],
      [OPERATOR_LOG, 'renewals that are forbidden or time out'],
      [
        'kubectl auth can-i update leases.coordination.k8s.io/loopstream-operator -n "$NS" --as=system:serviceaccount:"$RELEASE_NS":loopstream-operator',
        '`yes` if the operator may update the Lease',
      ],
    ],
    mends: [
      'Missing rights: set `rbac.create=true`, or grant those in `manifests/rbac.yaml`.',
      'The holder no longer exists: delete the Lease. The operator creates it again.',
    ],
  },
  {
    name: 'LoopStreamTwoLeaders',
    expr: `sum by (namespace) (${LEADING}) > 1`,
    for: '2m',
    severity: 'critical',
    summary: 'More than one operator leads in {{ $labels.namespace }}.',
    description: 'Two operators without leader election, or two releases, manage the same namespace.',
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
    mends: ['Enable leader election, or keep one replica or release.'],
  },
  {
    name: 'LoopStreamPlatformNoLeader',
    expr: 'max by (namespace) (leader_election_master_status{name="loopstream-platform"}) == 0',
    for: '2m',
    severity: 'warning',
    summary: 'No process of the role platform leads in {{ $labels.namespace }}.',
    description:
      'The role platform runs, but none of its processes has held the Lease for two minutes. An election takes 15 seconds.',
    means: 'The role platform cannot write the Lease, or a process outside its pods holds and renews it.',
    viewers: 'Streams stay on air. Nobody looks at what viewers see, and no broadcast that has ended is made anew.',
    looks: [
      [
        'kubectl get lease -n "$NS" loopstream-platform -o yaml',
        '`holderIdentity` and `renewTime`, which may name a process outside the pods',
      ],
      [PLATFORM_LOG, 'renewals that are forbidden or time out'],
      [
        'kubectl auth can-i update leases.coordination.k8s.io/loopstream-platform -n "$NS" --as=system:serviceaccount:"$RELEASE_NS":loopstream-platform',
        '`yes` if the role platform may update the Lease',
      ],
    ],
    mends: [
      'Missing rights: set `rbac.create=true`, or grant those in `manifests/rbac.yaml`.',
      'The holder no longer exists: delete the Lease. The role platform creates it again.',
    ],
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
    summary: 'Reconciliations of the controller {{ $labels.controller }} fail.',
    description:
      'More than a tenth of the reconciliations of the controller have failed for 15 minutes. Each is retried with backoff.',
    means: 'The API server rejects writes of the operator, or does not respond.',
    viewers: 'Affected streams do not start, stop or apply edits.',
    looks: [
      [OPERATOR_LOG, '`processing failed` with the key of the object and the error'],
      ['kubectl get events -A --field-selector type=Warning', 'quotas, admission webhooks, policies'],
    ],
    mends: [
      'Forbidden: rights or a policy of the cluster are missing; the message names them.',
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
    summary: 'The controller {{ $labels.controller }} does not keep up.',
    description:
      'A reconciliation takes longer than two minutes, or more than a hundred keys have waited for ten minutes.',
    means: 'The workers are blocked, or too few.',
    viewers: 'Streams start and stop late.',
    looks: [
      [OPERATOR_LOG, 'the current key, and its obstacle'],
      ['rate(workqueue_adds_total[5m])  # in Prometheus', 'a flood of keys: a client writes an object repeatedly'],
    ],
    mends: [
      'Too few workers: raise `operator.workers`.',
      'A reconciliation hangs: run `kubectl rollout restart` for the operator. Another replica takes over, and streams stay on air.',
    ],
  },
  {
    name: 'LoopStreamWatchStale',
    expr: 'max by (job, name) (reflector_staleness_seconds) > 60',
    for: '1m',
    severity: 'critical',
    summary: 'The cache of {{ $labels.name }} in {{ $labels.job }} has been stale for a minute.',
    description:
      'The Kubernetes API server has confirmed the cache neither by a change nor by the end of a watch, which comes every five seconds.',
    means: 'Every list and watch fails: the operator or the API uses old data.',
    viewers: STAYS,
    looks: [
      [API_HEALTH, 'the control plane itself'],
      [OPERATOR_LOG, '`a list or watch failed`: refused, unreachable, expired'],
      ['rate(reflector_errors_total[5m])  # in Prometheus', 'one kind (rights, definition), or all of them (network)'],
    ],
    mends: [
      'One kind: its CRD or the right to watch it is missing; `helm upgrade` restores both.',
      'All kinds: check the connection to the API server (network policy, proxy, credentials).',
    ],
  },
  {
    name: 'LoopStreamNamespaceNotWatched',
    expr: 'max by (namespace) (loopstream_namespace_watched) == 0',
    for: '10m',
    severity: 'warning',
    summary: 'The operator cannot watch {{ $labels.namespace }}.',
    description: 'Lists of a namespace that the operator is to watch have been refused for ten minutes.',
    means: 'The namespace does not exist, or the Role in it or its RoleBinding does not.',
    viewers:
      'Streams of that namespace that are on air stay on air. Nothing starts or stops there. Others are not affected.',
    looks: [
      ['kubectl get namespace "$NS"', 'whether it exists'],
      ['kubectl get role,rolebinding -n "$NS"', 'the Role and the RoleBinding of the operator'],
      [OPERATOR_LOG, '`the namespace cannot be watched`'],
    ],
    mends: [
      'The rights are missing: run `helm upgrade`, or apply `manifests/team-namespace.yaml` to the namespace.',
      'The namespace is gone for good: remove it from the value `watchNamespaces`.',
    ],
  },
  {
    name: 'LoopStreamKubernetesErrors',
    expr:
      `${askedByUs('rest_client_requests_total{code=~"<error>|429|5.."}')} / ` +
      `${askedByUs('rest_client_requests_total')} > 0.1`,
    for: '10m',
    severity: 'warning',
    summary: 'Requests of {{ $labels.job }} to the Kubernetes API server fail.',
    description: 'More than a tenth of the requests have failed with 429, 5xx or no response for ten minutes.',
    means: 'The control plane is overloaded, restarting, or unreachable for this process.',
    viewers: 'Streams start and stop late.',
    looks: [
      [API_HEALTH, 'the check that fails'],
      [OPERATOR_LOG, 'the status of requests'],
      [
        'sum by (code) (rate(rest_client_requests_total[5m]))  # in Prometheus',
        '429: too many requests; 5xx: the server fails; `<error>`: no response',
      ],
    ],
    mends: [
      '429: add a FlowSchema for the ServiceAccount of the operator, or enlarge the control plane.',
      'No response: check network policies, the proxy and DNS.',
    ],
  },
  {
    name: 'LoopStreamObjectsNearEtcdLimit',
    expr: 'sum(max by (namespace, kind) (loopstream_object_bytes)) > 1e9',
    for: '15m',
    severity: 'warning',
    summary: 'Objects of loopstream fill half of etcd.',
    description:
      'Streams, destinations, uploads, playlists and their versions take more than 1 GB in total. By default etcd holds 2 GB, and rejects every write of the cluster when it is full.',
    means:
      'Either many accounts exist, or a few use up their limits (docs/limits.md). Events, Jobs and other objects are not included.',
    viewers: 'Nothing yet. When etcd is full, no object of the cluster can be changed, so no stream starts or stops.',
    looks: [
      [
        'sum by (kind) (max by (namespace, kind) (loopstream_object_bytes))  # in Prometheus',
        'the kind with most bytes',
      ],
      [
        'max by (kind) (loopstream_objects_largest_account)  # in Prometheus',
        'an account with most of the bytes: close to its limit, or far above its needs',
      ],
      [
        `kubectl get loopstreams,destinations,uploads,playlists -n "$NS" -o jsonpath='{range .items[*]}{.metadata.labels.loopstream\\.dev/account}{"\\n"}{end}' | sort | uniq -c | sort -rn | head`,
        'these accounts',
      ],
    ],
    mends: [
      'One account, or several of one owner: run `loopstream admin suspend`, and lower `LOOPSTREAM_LIMITS`.',
      'Many active accounts: raise `--quota-backend-bytes` of etcd, or use a separate cluster.',
      'To keep the rest of the cluster writable, set `resourceQuota.enabled` of the chart.',
    ],
  },
];

export const OPERATOR_ALERTS: Group[] = [
  { name: 'loopstream.operator', alerts: presence },
  { name: 'loopstream.work', alerts: work },
];
