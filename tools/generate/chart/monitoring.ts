/** Declares the values about alerts and dashboards. Pure: no I/O, no clock. */
import { flag, group, name, native, strings, text } from './schema.ts';

const monitored = (what: string, kind: string) =>
  group(what, {
    enabled: flag(`Make the ${kind}. Its definition must be in the cluster.`, false),
    interval: text('How often it is scraped.', '30s', { pattern: '^[0-9]+(ms|s|m)$' }),
    labels: strings('Labels by which Prometheus finds it.'),
  });

export const monitoring = group('For the Prometheus operator.', {
  serviceMonitor: monitored('Metrics of the API server and the operator.', 'ServiceMonitors'),
  podMonitor: monitored('Metrics of the streams, in each watched namespace.', 'PodMonitors'),
  prometheusRule: group('Rules.', {
    enabled: flag('Make the PrometheusRule. Its definition must be in the cluster.', false),
    labels: strings('Labels by which Prometheus finds it.'),
    alerts: flag('The alerts of `rules/alerts.yaml`, each with its page in `docs/runbooks/`.', true),
    runbookUrl: text(
      'Where your people find `docs/runbooks/`: what the links of the alerts begin with.',
      'docs/runbooks',
      {
        pattern: '^[^\\s]*[^\\s/]$',
      },
    ),
    groups: native('More groups of rules (PrometheusRule).', []),
  }),
});

export const grafana = group('For Grafana.', {
  dashboards: group('ConfigMaps with the dashboards, for the sidecar of Grafana’s chart or the Grafana operator.', {
    enabled: flag('Make them.', false),
    label: text('Label by which the sidecar finds them.', 'grafana_dashboard', { minLength: 1 }),
    labelValue: text('Its value.', '1'),
    annotations: strings('Annotations of them, e.g. the folder.'),
    namespace: name('Namespace of them; the release’s when empty.'),
  }),
});
