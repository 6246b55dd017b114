/** A real Prometheus that scrapes every second, and the text that it is given, parsed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { environment } from '../../src/config.ts';
import { freePort, until } from './rtmp.ts';

export interface Target {
  job: string;
  /** host:port */
  address: string;
  labels?: Record<string, string>;
}

interface Sample {
  metric: Record<string, string>;
  value: [time: number, value: string];
}

export interface Prometheus {
  /** The samples of an expression as they are now; throws what Prometheus says when it cannot be read. */
  query(expr: string): Promise<Sample[]>;
  /** Any other path of its API. */
  get<T>(path: string): Promise<T>;
  stop(): Promise<void>;
}

export async function startPrometheus(targets: Target[], ruleFiles: string[] = []): Promise<Prometheus> {
  const dir = await mkdtemp(join(tmpdir(), 'loopstream-prometheus-'));
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: ruleFiles,
    scrape_configs: targets.map(({ job, address, labels = {} }, index) => ({
      job_name: `${job}-${index}`,
      honor_labels: true,
      static_configs: [{ targets: [address], labels: { job, ...labels } }],
    })),
  };
  await writeFile(join(dir, 'prometheus.yml'), stringify(config));
  const port = await freePort();
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
  /** Name → type. */
  types: Map<string, string>;
  samples: { name: string; labels: Record<string, string>; value: number }[];
}

/** Text format 0.0.4, as far as we write it. */
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
