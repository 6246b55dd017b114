/** Declares the values about alerts and dashboards. Pure: no I/O, no clock. */
import { flag, group, name, native, strings, text } from './schema.ts';
import { valueFor } from './settings.ts';

const monitored = (what: string, kind: string) =>
  group(what, {
    enabled: flag(`Create the ${kind}. The cluster must have its CRD.`, false),
    interval: text('Scrape interval.', '30s', { pattern: '^[0-9]+(ms|s|m)$' }),
    labels: strings('Labels that the Prometheus operator selects.'),
  });

export const monitoring = group(
  'Metrics: resources for the Prometheus operator, or annotations for other Prometheus servers.',
  {
    serviceMonitor: monitored('Metrics of the API server and the operator.', 'ServiceMonitors'),
    podMonitor: monitored('Metrics of the streams, in each watched namespace.', 'PodMonitors'),
    scrapeAnnotations: valueFor('SCRAPE_ANNOTATIONS'),
    prometheusRule: group('Rules.', {
      enabled: flag('Create the PrometheusRule. The cluster must have its CRD.', false),
      labels: strings('Labels that the Prometheus operator selects.'),
      alerts: flag('Include the alerts of `rules/alerts.yaml`, each with its page in `docs/runbooks/`.', true),
      runbookUrl: text('URL of `docs/runbooks/` for your staff, the prefix of the links in alerts.', 'docs/runbooks', {
        pattern: '^[^\\s]*[^\\s/]$',
      }),
      groups: native('Additional groups of rules (PrometheusRule).', []),
    }),
  },
);

export const grafana = group('Resources for Grafana.', {
  dashboards: group('ConfigMaps with dashboards, for the sidecar of the Grafana chart or the Grafana operator.', {
    enabled: flag('Create them.', false),
    label: text('Label that the sidecar selects.', 'grafana_dashboard', { minLength: 1 }),
    labelValue: text('Value of that label.', '1'),
    annotations: strings('Their annotations, e.g. the folder.'),
    namespace: name('Their namespace. Defaults to that of the release.'),
  }),
});
