/** Declares the dashboard of the operator and the API server. Pure: no I/O, no clock. */
import { type Dashboard, graph, number, quantile, RATE } from './panel.ts';

const JOB = 'job=~"$job"';
const op = (metric: string, more = ''): string => `${metric}{${JOB}${more}}`;
const CONTROLLER = ',controller=~"stream|upload|playlist|destination"';

export const OPERATOR: Dashboard = {
  uid: 'loopstream-operator',
  title: 'loopstream: operator and API',
  description: 'Work, connections and resources of the operator and the API server.',
  variables: [{ name: 'job', query: 'label_values(reflector_staleness_seconds, job)', multi: true }],
  rows: [
    {
      title: 'Controllers',
      panels: [
        number('Leaders', 'One for each namespace.', 'sum(leader_election_master_status{name="loopstream-operator"})'),
        number('Operators', 'Running processes.', 'count(leader_election_master_status{name="loopstream-operator"})'),
        number(
          'Keys that wait',
          'For a worker. Normal: 0, except for moments.',
          `sum(${op('workqueue_depth', CONTROLLER)})`,
          { bad: 100 },
        ),
        number(
          'Runs that fail',
          'Of all runs.',
          `sum(rate(${op('controller_runtime_reconcile_errors_total', CONTROLLER)}${RATE})) / (sum(rate(${op('controller_runtime_reconcile_total', CONTROLLER)}${RATE})) > 0) or vector(0)`,
          { unit: 'percentunit', bad: 0.1 },
        ),
        number(
          'Longest run',
          'Of the current runs.',
          `max(${op('workqueue_longest_running_processor_seconds', CONTROLLER)})`,
          { unit: 's', bad: 120 },
        ),
        number(
          'Staleness',
          'Age of the stalest cache. Normal: below 6 s.',
          `max(${op('reflector_staleness_seconds')})`,
          { unit: 's', bad: 60 },
        ),
        graph('Runs', 'A second, by outcome.', 'ops', [
          [
            `sum by (controller, result) (rate(${op('controller_runtime_reconcile_total', CONTROLLER)}${RATE}))`,
            '{{controller}}: {{result}}',
          ],
        ]),
        graph('Time of a run', 'Half of them, and 99 of 100.', 's', [
          [
            quantile(0.5, ', controller', op('controller_runtime_reconcile_time_seconds_bucket', CONTROLLER)),
            '{{controller}}: half',
          ],
          [
            quantile(0.99, ', controller', op('controller_runtime_reconcile_time_seconds_bucket', CONTROLLER)),
            '{{controller}}: 99 of 100',
          ],
        ]),
        graph('Wait for a worker (99 of 100)', 'More than a second: more `operator.workers`.', 's', [
          [quantile(0.99, ', controller', op('workqueue_queue_duration_seconds_bucket', CONTROLLER)), '{{controller}}'],
        ]),
        graph('Workers', 'Busy workers, and all workers of each kind.', 'short', [
          [`sum by (controller) (${op('controller_runtime_active_workers', CONTROLLER)})`, '{{controller}}: busy'],
          [
            `max by (controller) (${op('controller_runtime_max_concurrent_reconciles', CONTROLLER)})`,
            '{{controller}}: all',
          ],
        ]),
        graph('Queues', 'Keys that wait for a worker or for their time, and keys added or retried a second.', 'short', [
          [`sum by (controller) (${op('workqueue_depth', CONTROLLER)})`, '{{controller}}: wait'],
          [`sum by (controller) (${op('workqueue_delayed', CONTROLLER)})`, '{{controller}}: later'],
          [
            `sum by (controller) (rate(${op('workqueue_adds_total', CONTROLLER)}${RATE}))`,
            '{{controller}}: added a second',
          ],
          [
            `sum by (controller) (rate(${op('workqueue_retries_total', CONTROLLER)}${RATE}))`,
            '{{controller}}: retried a second',
          ],
        ]),
        graph('Work of a worker (99 of 100)', 'With what the queue adds to a run.', 's', [
          [quantile(0.99, ', controller', op('workqueue_work_duration_seconds_bucket', CONTROLLER)), '{{controller}}'],
        ]),
      ],
    },
    {
      title: 'Kubernetes',
      panels: [
        graph('Requests', 'A second, by status.', 'ops', [
          [`sum by (job, code) (rate(${op('rest_client_requests_total')}${RATE}))`, '{{job}}: {{code}}'],
        ]),
        graph('Time of a request (99 of 100)', 'To the headers of the response.', 's', [
          [quantile(0.99, ', job, verb', op('rest_client_request_duration_seconds_bucket')), '{{job}}: {{verb}}'],
        ]),
        graph('Objects in caches', 'By kind.', 'short', [[`max by (name) (${op('reflector_objects')})`, '{{name}}']]),
        graph('Watches', 'Watches started a second (one every 5 s each), lists and failures.', 'ops', [
          [`sum by (job) (rate(${op('reflector_watches_total')}${RATE}))`, '{{job}}: watches'],
          [`sum by (job) (rate(${op('reflector_lists_total')}${RATE}))`, '{{job}}: lists'],
          [`sum by (job) (rate(${op('reflector_errors_total')}${RATE}))`, '{{job}}: failures'],
        ]),
        graph('Staleness', 'Time since Kubernetes last confirmed a cache. It rises to 5 s and falls.', 's', [
          [`max by (job) (${op('reflector_staleness_seconds')})`, '{{job}}'],
        ]),
      ],
    },
    {
      title: 'API',
      panels: [
        graph(
          'Requests',
          'A second, by status.',
          'ops',
          [[`sum by (status) (rate(${op('http_request_duration_seconds_count')}${RATE}))`, '{{status}}']],
          { stacked: true },
        ),
        graph('Share that failed', '5xx responses, of all.', 'percentunit', [
          [
            `(sum(rate(${op('http_request_duration_seconds_count', ',status=~"5.."')}${RATE})) or vector(0)) / sum(rate(${op('http_request_duration_seconds_count')}${RATE}))`,
            'failed',
          ],
        ]),
        graph(
          'Time of a request',
          'Half of them, and 99 of 100, without previews and feeds, which last while a user watches.',
          's',
          [
            [
              quantile(0.5, '', op('http_request_duration_seconds_bucket', ',route!~".*/preview.*|/v1/changes"')),
              'half',
            ],
            [
              quantile(0.99, '', op('http_request_duration_seconds_bucket', ',route!~".*/preview.*|/v1/changes"')),
              '99 of 100',
            ],
          ],
        ),
        graph('Busiest routes', 'Requests a second.', 'ops', [
          [
            `topk(10, sum by (method, route) (rate(${op('http_request_duration_seconds_count')}${RATE})))`,
            '{{method}} {{route}}',
          ],
        ]),
        graph('GraphQL', 'Operations a second, and those that failed.', 'ops', [
          [
            `sum by (type, result) (rate(${op('graphql_operation_duration_seconds_count')}${RATE}))`,
            '{{type}}: {{result}}',
          ],
          [`sum by (type) (rate(${op('graphql_operation_errors_total')}${RATE}))`, '{{type}}: errors'],
        ]),
        graph('In flight', 'Requests whose response has not ended, including previews and feeds.', 'short', [
          [`sum by (job) (${op('http_requests_in_flight')})`, '{{job}}'],
        ]),
        graph('Connections to PostgreSQL', 'Used, idle, and queries that wait for one.', 'short', [
          [`sum by (pool, state) (${op('db_pool_connections')})`, '{{pool}}: {{state}}'],
          [`sum by (pool) (${op('db_pool_waiting')})`, '{{pool}}: wait'],
          [`sum by (pool) (${op('db_pool_max_connections')})`, '{{pool}}: limit'],
        ]),
        graph('Time that a connection is used (99 of 100)', 'For a query or a transaction.', 's', [
          [quantile(0.99, ', pool', op('db_pool_use_seconds_bucket')), '{{pool}}'],
        ]),
        graph('Connections that broke', 'A second.', 'ops', [
          [`sum by (pool) (rate(${op('db_pool_errors_total')}${RATE}))`, '{{pool}}'],
        ]),
      ],
    },
    {
      title: 'Processes',
      panels: [
        graph('Processor', 'Cores.', 'short', [
          [`sum by (job, instance) (rate(${op('process_cpu_seconds_total')}${RATE}))`, '{{job}} {{instance}}'],
        ]),
        graph('Memory', 'Resident.', 'bytes', [
          [`max by (job, instance) (${op('process_resident_memory_bytes')})`, '{{job}} {{instance}}'],
        ]),
        graph('Event loop lag (99 of 100)', 'Delay of timers. More than 0.1 s: the process is overloaded.', 's', [
          [`max by (job, instance) (${op('nodejs_eventloop_lag_p99_seconds')})`, '{{job}} {{instance}}'],
        ]),
      ],
    },
  ],
};
