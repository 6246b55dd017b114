/** Writes docs/metrics.md: every metric of every role, read from the registries of the roles. */
import type { Registry } from 'prom-client';
import { createMetrics } from '../../src/core/operator/metrics/metrics.ts';
import { OBJECT_COUNT_METRICS } from '../../src/core/operator/metrics/objects.ts';
import { PLATFORM_METRICS } from '../../src/core/operator/metrics/platforms.ts';
import { OBJECT_METRICS } from '../../src/core/operator/metrics/series.ts';
import { createPlatformMetrics } from '../../src/core/platform/metrics.ts';
import { METRICS as STREAMER_METRICS } from '../../src/core/pods/streamer/control/metrics.ts';
import { createBillingMetrics } from '../../src/service/billing/metering/metrics.ts';
import { createHttpMetrics } from '../../src/service/server/http/metrics.ts';

export const METRIC_ROLES = ['operator', 'api', 'billing', 'platform', 'streamer'] as const;
export type MetricRole = (typeof METRIC_ROLES)[number];

export interface DocumentedMetric {
  name: string;
  type: string;
  help: string;
  labels: readonly string[];
  roles: MetricRole[];
}

/** The metrics in a registry; it has the names of labels, though the library's types do not say so. */
const registered = (registry: Registry): Omit<DocumentedMetric, 'roles'>[] =>
  registry.getMetricsAsArray().map((metric) => {
    const { name, help, labelNames = [] } = metric as { name: string; help: string; labelNames?: readonly string[] };
    return { name, help, type: readType(metric), labels: labelNames };
  });

const readType = (metric: object): string => metric.constructor.name.toLowerCase();

/** Ours first, then those of Node's process, each where its name puts it. */
export function allMetrics(): DocumentedMetric[] {
  const api = createHttpMetrics();
  api.showPools({});
  const billing = createBillingMetrics();
  billing.showPools({});
  const byRole: Record<MetricRole, Omit<DocumentedMetric, 'roles'>[]> = {
    operator: [
      ...registered(createMetrics().registry),
      ...OBJECT_METRICS,
      ...PLATFORM_METRICS,
      ...OBJECT_COUNT_METRICS,
    ],
    api: registered(api.registry),
    billing: registered(billing.registry),
    platform: registered(createPlatformMetrics().registry),
    streamer: STREAMER_METRICS,
  };
  const all = new Map<string, DocumentedMetric>();
  for (const role of METRIC_ROLES) {
    for (const metric of byRole[role]) {
      const known = all.get(metric.name);
      if (known) known.roles.push(role);
      else all.set(metric.name, { ...metric, roles: [role] });
    }
  }
  const isOfNode = ({ name }: DocumentedMetric) => /^(process|nodejs)_/.test(name);
  const place = (metric: DocumentedMetric) =>
    `${isOfNode(metric) ? 1 : 0} ${METRIC_ROLES.indexOf(metric.roles[0] ?? 'operator')} ${metric.name}`;
  return [...all.values()].sort((a, b) => (place(a) < place(b) ? -1 : 1));
}

const HEAD = `# Metrics

<!-- Made from what each role registers, by \`make generate\`; a test fails when it differs from that, or from what a run shows. -->

To read the metrics of a role, ask its port:

\`\`\`sh
kubectl port-forward -n "$RELEASE_NS" deployment/loopstream-operator 9401 &
curl -sS http://127.0.0.1:9401/metrics
\`\`\`

| role       | where                                  |
| ---------- | -------------------------------------- |
| \`operator\` | \`/metrics\` on port 9401                |
| \`api\`      | \`/metrics\` on port 9402                |
| \`billing\`  | \`/metrics\` on port 9404                |
| \`platform\` | \`/metrics\` on port 9407                |
| \`streamer\` | \`/metrics\` on port 9405 of each stream |

Alerts are in \`charts/loopstream/rules/alerts.yaml\`, and each has a [runbook](runbooks/README.md). Dashboards are in
\`charts/loopstream/dashboards/\`.

All values are in base units (seconds, bytes). Counters begin at 0 with the process. Metrics that exist in controller-runtime,
client-go or kube-state-metrics keep those names. Queries and dashboards for other operators therefore work here too.

- **Streams.** The leading operator exports each stream (\`loopstream_info\`, \`loopstream_status_*\`), read from the resource at each
  scrape. Of the phases, and of a condition's three values, it exports only the current one, as 1: zeros would make four times as
  many series.
- **Cost.** 10,000 streams are 120,000 series, 14 MB of text and 0.4 MB on the wire (gzip). Their scrape takes the operator 0.06 s of
  processor time (0.4 s the first time). The compression takes as much again in another thread, one metric at a time, so other work
  continues in between.
- **Personal data.** No label has an account, a name that a user gave, an address, or a path with an id. Requests are labelled by the
  pattern of their path. A test checks the scrapes of a real run.
- **Items.** The current item is not a metric, because a label with its name would make a series for each. \`/stats\` on the streamer's
  port returns the current and the next item, the items that could not be played, and the position, as JSON.
- **Joins.** If a scrape labels a stream with \`namespace\` and \`loopstream\`, as the chart's PodMonitor does, metrics of the operator
  and of the streamer can be joined. The scrape of the operator must keep its own labels (\`honorLabels\`).

`;

const row = (cells: readonly string[], widths: readonly number[]): string =>
  `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |\n`;

export function metricsDocument(): string {
  const rows = allMetrics().map(({ name, type, labels, help, roles }) => [
    `\`${name}\``,
    type,
    labels.map((label) => `\`${label}\``).join(', '),
    roles.join(', '),
    help,
  ]);
  const head = ['name', 'type', 'labels', 'role', 'meaning'];
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((cells) => cells[i]?.length ?? 0)));
  const line = widths.map((width) => '-'.repeat(width));
  return HEAD + [head, line, ...rows].map((cells) => row(cells, widths)).join('');
}
