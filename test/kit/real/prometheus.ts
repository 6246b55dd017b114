/** Runs a real Prometheus that scrapes every second, and parses the text of its targets. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Pod } from '../../../src/core/kube/core.ts';
import { environment } from '../../../src/core/settings/environment.ts';
import { reserveFreePort } from '../../../tools/process/ports.ts';
import { until } from '../wait.ts';

export interface Target {
  job: string;
  /** host:port */
  address: string;
  labels?: Record<string, string>;
}

/** The rules of the chart's PodMonitor that name a stream as the operator does. */
export const STREAM_RELABELING = {
  sourceLabels: ['__meta_kubernetes_pod_label_loopstream_dev_stream'],
  targetLabel: 'loopstream',
};

const meta = (name: string): string => `__meta_kubernetes_${name.replace(/[^a-zA-Z0-9]/g, '_')}`;

/** The Prometheus operator's configuration for the chart's PodMonitor, except that a file lists the pods. */
const buildPodScrape = (file: string) => ({
  job_name: 'streamers',
  file_sd_configs: [{ files: [file], refresh_interval: '1s' }],
  relabel_configs: [
    { source_labels: [meta('pod_label_app.kubernetes.io/component')], regex: 'streamer', action: 'keep' },
    { source_labels: [meta('pod_label_app.kubernetes.io/managed-by')], regex: 'loopstream', action: 'keep' },
    { source_labels: [meta('pod_container_port_name')], regex: 'metrics', action: 'keep' },
    { source_labels: [meta('namespace')], target_label: 'namespace' },
    { source_labels: [meta('pod_name')], target_label: 'pod' },
    { source_labels: STREAM_RELABELING.sourceLabels, target_label: STREAM_RELABELING.targetLabel },
  ],
});

const annotation = (name: string): string => meta(`pod_annotation_prometheus.io/${name}`);

/** The rules by which many installations scrape annotated pods, from Prometheus's own examples and its Helm chart. */
const buildAnnotationScrape = (file: string) => ({
  job_name: 'kubernetes-pods',
  honor_labels: true,
  file_sd_configs: [{ files: [file], refresh_interval: '1s' }],
  relabel_configs: [
    { source_labels: [annotation('scrape')], action: 'keep', regex: true },
    { source_labels: [annotation('path')], action: 'replace', target_label: '__metrics_path__', regex: '(.+)' },
    {
      source_labels: ['__address__', annotation('port')],
      action: 'replace',
      regex: '([^:]+)(?::\\d+)?;(\\d+)',
      replacement: '$1:$2',
      target_label: '__address__',
    },
    { source_labels: [meta('namespace')], action: 'replace', target_label: 'namespace' },
    { source_labels: [meta('pod_name')], action: 'replace', target_label: 'pod' },
  ],
});

/** Lists pods as Prometheus discovers them through Kubernetes; Debian's build lacks that discovery. */
export const podTargets = (pods: readonly Pod[]) =>
  pods.flatMap(({ metadata, spec, status }) => {
    const containers = (spec.containers ?? []) as { ports?: { name: string; containerPort: number }[] }[];
    const toMeta = (kind: 'label' | 'annotation', values: Record<string, string> = {}) =>
      Object.entries(values).map(([name, value]) => [meta(`pod_${kind}_${name}`), value]);
    const named = [...toMeta('label', metadata.labels), ...toMeta('annotation', metadata.annotations)];
    return containers
      .flatMap(({ ports = [] }) => ports)
      .map(({ name, containerPort }) => ({
        targets: [`${status?.podIP}:${containerPort}`],
        labels: {
          ...Object.fromEntries(named),
          [meta('namespace')]: metadata.namespace ?? '',
          [meta('pod_name')]: metadata.name,
          [meta('pod_container_port_name')]: name,
        },
      }));
  });

interface Sample {
  metric: Record<string, string>;
  value: [time: number, value: string];
}

export interface Prometheus {
  /** Returns an expression's current samples; throws Prometheus's message when it cannot be parsed. */
  query(expr: string): Promise<Sample[]>;
  /** Gets any other path of its API. */
  get<T>(path: string): Promise<T>;
  stop(): Promise<void>;
}

export async function startPrometheus(
  targets: Target[],
  options: { ruleFiles?: string[]; podsFile?: string; annotatedFile?: string; alertmanagers?: string[] } = {},
): Promise<Prometheus> {
  const { ruleFiles = [], podsFile, annotatedFile, alertmanagers = [] } = options;
  const dir = await mkdtemp(join(tmpdir(), 'loopstream-prometheus-'));
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: ruleFiles,
    alerting: { alertmanagers: [{ static_configs: [{ targets: alertmanagers }] }] },
    scrape_configs: [
      ...targets.map(({ job, address, labels = {} }, index) => ({
        job_name: `${job}-${index}`,
        honor_labels: true,
        static_configs: [{ targets: [address], labels: { job, ...labels } }],
      })),
      ...(podsFile === undefined ? [] : [buildPodScrape(podsFile)]),
      ...(annotatedFile === undefined ? [] : [buildAnnotationScrape(annotatedFile)]),
    ],
  };
  await writeFile(join(dir, 'prometheus.yml'), stringify(config));
  const port = await reserveFreePort();
  const listen = `127.0.0.1:${port}`;
  const child = spawn(
    'prometheus',
    [`--config.file=${join(dir, 'prometheus.yml')}`, `--storage.tsdb.path=${join(dir, 'data')}`].concat(
      `--web.listen-address=${listen}`,
    ),
    { env: environment(), stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let log = '';
  child.stderr.on('data', (chunk) => (log += chunk));
  const get = async <T>(path: string): Promise<T> => {
    const answer = (await (await fetch(`http://${listen}${path}`)).json()) as { data: T; error?: string };
    if (answer.error) throw new Error(`${answer.error}: ${decodeURIComponent(path)}`);
    return answer.data;
  };
  await until(
    'Prometheus is ready',
    () => {
      if (child.exitCode !== null) throw new Error(log);
      return fetch(`http://${listen}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      );
    },
    60_000,
  );
  return {
    get,
    query: async (expr) => (await get<{ result: Sample[] }>(`/api/v1/query?query=${encodeURIComponent(expr)}`)).result,
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
      await rm(dir, { recursive: true, force: true });
    },
  };
}

export interface Scrape {
  /** Types by name. */
  types: Map<string, string>;
  samples: { name: string; labels: Record<string, string>; value: number }[];
}

/** Parses text format 0.0.4, as far as we write it. */
export function parseScrape(text: string): Scrape {
  const types = new Map<string, string>();
  const samples: Scrape['samples'] = [];
  for (const line of text.split('\n')) {
    const [, typed, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    if (typed && type) types.set(typed, type);
    const [, name, labels = '', value] = /^([a-z_][a-z0-9_]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (!name) continue;
    const pairs = [...labels.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g)].map(([, key, text]) => [key, text]);
    samples.push({ name, labels: Object.fromEntries(pairs), value: Number(value) });
  }
  return { types, samples };
}
