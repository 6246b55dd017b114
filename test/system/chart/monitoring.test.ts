/** Tests the chart's objects for Prometheus and Grafana, as both Helms render them. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import {
  COMPONENT_LABEL,
  MANAGED_BY,
  MANAGED_BY_LABEL,
  STREAMER_METRICS_PORT,
  STREAMER_PORT,
} from '../../../src/core/resources/common/names.ts';
import { environment } from '../../../src/core/settings/environment.ts';
import { CHART } from '../../../tools/generate/chart/generate.ts';
import { ALERTS } from '../../../tools/generate/monitoring/rules.ts';
import { run } from '../../../tools/process/run.ts';
import { type Helm, type Manifest, openHelms } from '../../kit/real/helm/index.ts';
import { COMBINATIONS, INLINE } from '../../kit/real/helm/values.ts';
import { STREAM_RELABELING } from '../../kit/real/prometheus.ts';
import { tempDir } from '../../kit/temp-dir.ts';

const WITH_PROMETHEUS = COMBINATIONS['a Gateway and the Prometheus operator'] ?? {};
const ELSEWHERE = COMBINATIONS['rules of one’s own and dashboards elsewhere'] ?? {};

let helms: Helm[];
let close: () => void;
const dir = tempDir();
beforeAll(async () => {
  ({ helms, close } = await openHelms(join(dir, 'no-cluster')));
});
afterAll(() => {
  close?.();
});

const ofKind = (objects: Manifest[], kind: string) => objects.filter((one) => one.kind === kind);
type Rules = { groups: { name: string; rules: { alert: string; annotations: { runbook_url?: string } }[] }[] };

function findRule(objects: Manifest[]): { groups: Rules['groups']; labels: Record<string, string> } {
  const [rule] = ofKind(objects, 'PrometheusRule');
  if (!rule) throw new Error('there is no PrometheusRule');
  return { groups: (rule.spec as unknown as Rules).groups, labels: rule.metadata.labels ?? {} };
}

const hasLabels = (labels: Record<string, string> = {}, wanted: Record<string, string>): boolean =>
  Object.entries(wanted).every(([name, value]) => labels[name] === value);

type Labels = Record<string, string>;

/** Returns the labels that the pods of a Deployment get. */
const readPodLabels = ({ spec }: Manifest): Labels =>
  (spec as { template: { metadata: { labels: Labels } } }).template.metadata.labels;

function findObject(objects: Manifest[], kind: string, name: string): Manifest {
  const found = ofKind(objects, kind).find(({ metadata }) => metadata.name === name);
  if (!found) throw new Error(`there is no ${kind} ${name}`);
  return found;
}

describe.each(['Helm 4', 'Helm 3'])('%s', (name) => {
  const render = (values: Record<string, unknown>) => {
    const helm = helms.find((one) => one.name === name);
    if (!helm) throw new Error(name);
    return helm.render(values);
  };

  test('makes a PrometheusRule of all alerts and extra ones, with links to the address in the values', async () => {
    const { groups } = findRule(await render(WITH_PROMETHEUS));
    const alerts = groups.flatMap(({ rules }) => rules);
    expect(alerts.map(({ alert }) => alert)).toEqual([...ALERTS.map((alert) => alert.name), 'Never']);
    for (const { alert, annotations } of alerts.slice(0, -1))
      expect(annotations.runbook_url).toBe(`https://runbooks.example.com/loopstream/${alert}.md`);
    const file = join(dir, `${name}.yaml`);
    writeFileSync(file, stringify({ groups }));
    const { ok, stdout, stderr } = await run('promtool', ['check', 'rules', file], { env: environment() });
    expect(ok, stdout + stderr).toBe(true);
  });

  test('leaves the alerts out where they are not wanted', async () => {
    const { groups, labels } = findRule(await render(ELSEWHERE));
    expect(groups).toEqual([]);
    expect(labels).toMatchObject({ role: 'alerts' });
  });

  test('makes a ConfigMap of each dashboard, found by the label, in the namespace that is asked for', async () => {
    const files = readdirSync(join(CHART, 'dashboards'));
    for (const [values, label, value, namespace] of [
      [WITH_PROMETHEUS, 'grafana_dashboard', '1', 'loopstream'],
      [ELSEWHERE, 'dashboards', 'yes', 'team-a'],
    ] as const) {
      const maps = ofKind(await render(values), 'ConfigMap').filter(
        ({ metadata }) => metadata.labels?.[COMPONENT_LABEL] === 'dashboards',
      );
      expect(maps.length).toBe(files.length);
      const data = Object.assign({}, ...maps.map((map) => map.data)) as Record<string, string>;
      for (const file of files)
        expect(JSON.parse(data[file] ?? '')).toEqual(JSON.parse(readFileSync(join(CHART, 'dashboards', file), 'utf8')));
      for (const { metadata } of maps) {
        expect(metadata.labels?.[label]).toBe(value);
        expect(metadata.namespace).toBe(namespace);
      }
    }
  });

  test('scrapes each role at a port that its pods name and its NetworkPolicy opens', async () => {
    const objects = await render({ ...WITH_PROMETHEUS, billing: { enabled: true }, platform: { enabled: true } });
    const policies = ofKind(objects, 'NetworkPolicy').map(
      ({ spec }) => spec as { ingress?: { ports: { port: number }[]; from?: unknown[] }[] },
    );
    const open = (port: number) =>
      policies
        .flatMap(({ ingress = [] }) => ingress)
        .some(({ ports, from }) => {
          const anyPod = JSON.stringify(from) === JSON.stringify([{ namespaceSelector: {} }]);
          return anyPod && ports.some((one) => one.port === port);
        });
    for (const [component, port] of [
      ['operator', 9401],
      ['api', 9402],
      ['billing', 9404],
      ['platform', 9407],
    ] as const) {
      const deployment = findObject(objects, 'Deployment', `loopstream-${component}`);
      expect(JSON.stringify(deployment)).toContain(`{"name":"ops","containerPort":${port}}`);
      const monitor = findObject(objects, 'ServiceMonitor', `loopstream-${component}`);
      expect(monitor.spec).toMatchObject({ endpoints: [{ port: 'ops', honorLabels: true }] });
      expect(monitor.metadata.labels).toMatchObject({ release: 'prometheus' });
      // The monitor selects one Service, and the pods of that are those of the Deployment.
      const { matchLabels } = (monitor.spec as { selector: { matchLabels: Labels } }).selector;
      const [service, ...others] = ofKind(objects, 'Service').filter((one) =>
        hasLabels(one.metadata.labels, matchLabels),
      );
      expect(others).toEqual([]);
      expect(service?.spec).toMatchObject({ ports: [{ name: 'ops', port, targetPort: 'ops' }] });
      expect(hasLabels(readPodLabels(deployment), service?.spec?.selector as Labels)).toBe(true);
      expect(open(port)).toBe(true);
    }
    const [monitor] = ofKind(objects, 'PodMonitor');
    expect(monitor?.spec).toMatchObject({
      selector: { matchLabels: { [MANAGED_BY_LABEL]: MANAGED_BY, [COMPONENT_LABEL]: 'streamer' } },
      podMetricsEndpoints: [{ port: 'metrics', relabelings: [STREAM_RELABELING] }],
    });
    // Prometheus reaches nothing else of a pod on air.
    expect([open(STREAMER_METRICS_PORT), open(STREAMER_PORT)]).toEqual([true, false]);
  });

  test('hands the collector of traces, with its headers from a Secret, to the API server and the operator alone', async () => {
    type Variable = { name: string; value?: string; valueFrom?: unknown };
    const readVariables = async (values: Record<string, unknown>) =>
      ofKind(await render({ ...INLINE, ...values }), 'Deployment').map(({ metadata, spec }) => {
        const { template } = spec as { template: { spec: { containers: { env: Variable[] }[] } } };
        const env = template.spec.containers.flatMap((one) => one.env).filter(({ name }) => name.startsWith('OTEL_'));
        return [metadata.name, Object.fromEntries(env.map(({ name, value, valueFrom }) => [name, value ?? valueFrom]))];
      });
    const traced = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.observability:4318',
      OTEL_EXPORTER_OTLP_HEADERS: { secretKeyRef: { name: 'otlp', key: 'otlpHeaders' } },
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.01',
      OTEL_RESOURCE_ATTRIBUTES: 'k8s.namespace.name=$(POD_NAMESPACE),k8s.pod.name=$(POD_NAME)',
    };
    const tracing = {
      endpoint: traced.OTEL_EXPORTER_OTLP_ENDPOINT,
      existingSecret: 'otlp',
      sampler: 'parentbased_traceidratio',
      ratio: '0.01',
    };
    const found = Object.fromEntries(await readVariables({ tracing }));
    for (const [name, variables] of Object.entries(found))
      expect(variables).toEqual(/-(api|operator)$/.test(name) ? traced : {});
    for (const [, variables] of await readVariables({})) expect(variables).toEqual({});
  });

  test('makes none of it unasked', async () => {
    const kinds = (await render(INLINE)).map(({ kind }) => kind);
    for (const kind of ['ServiceMonitor', 'PodMonitor', 'PrometheusRule', 'ConfigMap'])
      expect(kinds).not.toContain(kind);
  });
});
