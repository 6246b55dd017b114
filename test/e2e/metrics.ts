/**
 * Tests the metrics of a real run. The local system of local.test.ts has its operator, its API server and a stream on air; one more
 * streamer has media in S3 and a destination that is down. The metrics match docs/metrics.md and reveal nothing about people. A real
 * Prometheus that scraped them has data for every panel of the dashboards, and none of the alerts is broken.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CreateBucketCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKube } from '../../src/core/kube/client.ts';
import { PODS } from '../../src/core/kube/core.ts';
import type { Kube } from '../../src/core/kube/types.ts';
import { indexKey } from '../../src/core/pods/rendition/index.ts';
import {
  ACCOUNT_LABEL,
  API_VERSION,
  COMPONENT_LABEL,
  STREAMER_METRICS_PORT,
} from '../../src/core/resources/common/names.ts';
import { LOOPSTREAMS } from '../../src/core/resources/stream/resource.ts';
import type { LoopStreamSpec } from '../../src/core/resources/stream/spec.ts';
import { environment } from '../../src/core/settings/environment.ts';
import { problems } from '../../src/service/client/index.ts';
import { ensureBinaries } from '../../tools/control-plane/binaries.ts';
import { allMetrics, METRIC_ROLES, type MetricRole } from '../../tools/generate/metrics.ts';
import { DASHBOARDS } from '../../tools/generate/monitoring/dashboards.ts';
import { ALERTS } from '../../tools/generate/monitoring/rules.ts';
import { NAMESPACE } from '../../tools/local/rights.ts';
import { reserveFreePort } from '../../tools/process/ports.ts';
import { run } from '../../tools/process/run.ts';
import { connectAgent, withKey } from '../kit/make/agents.ts';
import { post } from '../kit/make/oauth.ts';
import { live, openStudio, type Running, type Studio } from '../kit/make/onair.ts';
import { buildProgram } from '../kit/make/streamer.ts';
import { binariesOptions } from '../kit/real/kubernetes.ts';
import { type Prometheus, parseScrape, podTargets, type Scrape, startPrometheus } from '../kit/real/prometheus.ts';
import { type S3Server, startS3Server } from '../kit/real/s3-server.ts';
import { ROOT, type System } from '../kit/system/system.ts';
import { tempDir } from '../kit/temp-dir.ts';
import { until } from '../kit/wait.ts';

let system: System;
let kube: Kube;
let studio: Studio;
let s3: S3Server;
let fromS3: Running;
let dir: string;
let prometheus: Prometheus;
const addresses: Record<MetricRole, string> = { operator: '', api: '', billing: '', platform: '', streamer: '' };
const scrapes = {} as Record<MetricRole, Scrape & { text: string }>;

/** Returns the address of a role's metrics, from its log. */
async function opsAddress(role: Exclude<MetricRole, 'streamer'>): Promise<string> {
  const log = await readFile(join(system.stateDir, 'logs', `${role}.log`), 'utf8');
  const port = /"opsPort":(\d+)/.exec(log)?.[1];
  if (port === undefined) throw new Error(`the log of ${role} names no port`);
  return `127.0.0.1:${port}`;
}

async function startFromS3(): Promise<Running> {
  for (const [name, value] of Object.entries(s3.credentials)) await writeFile(join(dir, name), `${value}\n`);
  await s3.client.send(new CreateBucketCommand({ Bucket: 'media' }));
  for (const { rendition } of studio.items) {
    for (const key of [rendition, indexKey(rendition)]) {
      const Body = await readFile(join(studio.root, 'storage', key));
      await s3.client.send(new PutObjectCommand({ Bucket: 'media', Key: key, Body }));
    }
  }
  const env = {
    LOOPSTREAM_STORAGE_URL: `s3://media?endpoint=${s3.endpoint}`,
    LOOPSTREAM_STORAGE_CREDENTIALS_DIR: dir,
    LOOPSTREAM_CACHE_DIR: join(studio.root, 'cache'),
  };
  const nobody = `rtmp://127.0.0.1:${await reserveFreePort()}/live`;
  const destinations = { main: [studio.rtmp.url, 'key'], gone: [nobody, 'key'] } as Record<string, [string, string]>;
  const program = buildProgram(studio.items, { destinations: Object.keys(destinations) });
  return studio.onAir(program, destinations, { env });
}

const status = async (id: string) => (await system.client.streams.get(id)).status;
const demo = (): string => system.facts.demoStreamId ?? '';

async function becomes(id: string, wanted: string): Promise<void> {
  await until(`${id} is ${wanted}`, async () => (await status(id)) === wanted, 90_000);
}

/** Signs a person in, with a wrong password and a good one; an agent calls a tool with and without success. */
async function knock(): Promise<void> {
  const { pageUrl, apiKey, email, password } = system.facts;
  for (const tried of ['wrong', password ?? ''])
    await post(`${new URL(pageUrl).origin}/api/auth/sign-in/email`, { email, password: tried });
  const agent = await connectAgent(pageUrl, withKey(apiKey));
  await agent.call('get_me');
  await agent.call('get_stream', { id: 'str-nothing' });
  await agent.close();
}

/** Uses the system as people do: valid and invalid requests by REST and GraphQL, a stop of a stream and a start. */
async function use(): Promise<void> {
  await knock();
  const { streams, destinations } = system.client;
  const { quality, framerate, videoUploadObjectID, destinationID } = await streams.get(demo());
  const platform = { kind: 'watch', url: `${new URL(system.facts.pageUrl).origin}/nothing.m3u8` } as const;
  await destinations.update(destinationID, { platform });
  const { rtmpUrl } = system.facts;
  const second = await destinations.create({ name: 'Ann’s', rtmpUrl, rtmpKey: 'second' });
  const made = await streams.create({
    name: 'Ann’s second channel',
    quality,
    framerate,
    destinationID: second.id,
    videoUploadObjectID: videoUploadObjectID ?? '',
    scheduleStartAt: new Date(Date.now() + 2_000).toISOString(),
  });
  expect(made.id).toBeTypeOf('string');
  const lacking = { quality: '720p', uploadName: 'none', destinationNames: ['none'] } as unknown as LoopStreamSpec;
  await kube.create(LOOPSTREAMS, NAMESPACE, {
    apiVersion: API_VERSION,
    kind: 'LoopStream',
    metadata: { name: 'lacking' },
    spec: lacking,
  });
  await expect(streams.get('str-nothing')).rejects.toBeInstanceOf(problems.StreamNotFound);
  const headers = { 'X-API-Key': system.facts.apiKey, 'Content-Type': 'application/json' };
  for (const query of ['{ me { id } }', '{ nothing }'])
    await fetch(system.facts.graphqlUrl ?? '', { method: 'POST', headers, body: JSON.stringify({ query }) });
  await streams.stop(demo());
  await becomes(demo(), 'stopped');
  await streams.start(demo());
  await becomes(demo(), 'live');
  await until('the other has begun', async () => !['idle', 'scheduled'].includes(await status(made.id)), 60_000);
  await streams.stop(made.id);
  await becomes(made.id, 'stopped');
}

/** Writes the present pods for Prometheus. */
async function showPods(): Promise<void> {
  const pods = await kube.list(PODS, { namespace: NAMESPACE });
  await writeFile(join(dir, 'pods.json'), JSON.stringify(podTargets(pods)));
}

/** `fresh` returns an unused system. */
export function metricsSuite(fresh: () => System): void {
  dir = tempDir();
  beforeAll(async () => {
    system = fresh();
    [studio, s3] = await Promise.all([openStudio(), startS3Server()]);
    kube = createKube({ kubeconfig: system.facts.kubeconfig });
    fromS3 = await startFromS3();
    await live(fromS3);
    const [operator, api, billing, platform] = await Promise.all([
      opsAddress('operator'),
      opsAddress('api'),
      opsAddress('billing'),
      opsAddress('platform'),
    ]);
    Object.assign(addresses, { operator, api, billing, platform, streamer: fromS3.base.replace('http://', '') });
    prometheus = await startPrometheus(
      [
        { job: 'loopstream-operator', address: addresses.operator },
        { job: 'loopstream-api', address: addresses.api },
        { job: 'loopstream-billing', address: addresses.billing },
        { job: 'loopstream-platform', address: addresses.platform },
        {
          job: 'loopstream-streamer',
          address: addresses.streamer,
          labels: { namespace: NAMESPACE, loopstream: 'from-s3' },
        },
      ],
      {
        ruleFiles: [join(ROOT, 'charts/loopstream/rules/alerts.yaml')],
        podsFile: join(dir, 'pods.json'),
      },
    );
    await showPods();
    const scraped = () => prometheus.query('count(up{job=~"loopstream-.*"} == 1)');
    await until('all are scraped', async () => (await scraped())[0]?.value[1] === '5', 60_000);
    await use();
    await showPods();
    for (const role of METRIC_ROLES) {
      const text = await (await fetch(`http://${addresses[role]}/metrics`)).text();
      scrapes[role] = { text, ...parseScrape(text) };
    }
  });

  afterAll(async () => {
    await prometheus?.stop();
    await studio?.cleanUp();
    await Promise.all([kube?.close(), s3?.close(), studio?.close()]);
  });

  describe.each(METRIC_ROLES)('metrics of the %s', (role) => {
    const documented = allMetrics().filter(({ roles }) => roles.includes(role));

    test('are those of docs/metrics.md, all of them and no others', () => {
      const shown = [...scrapes[role].types].map(([name, type]) => `${name} ${type}`);
      expect(shown.sort()).toEqual(documented.map(({ name, type }) => `${name} ${type}`).sort());
      for (const { name, labels } of scrapes[role].samples) {
        const metric = documented.find(
          (one) => one.name === name.replace(/_(bucket|sum|count)$/, '') || one.name === name,
        );
        for (const label of Object.keys(labels)) expect([...(metric?.labels ?? []), 'le'], name).toContain(label);
      }
    });

    test('are read by Prometheus’ own tool', async () => {
      const { stderr } = await run('promtool', ['check', 'metrics'], { env: environment(), input: scrapes[role].text });
      expect(stderr).not.toMatch(/error|while (linting|parsing)/i);
    });

    /** The limits for one stream, one upload and a handful of requests; a route has up to 16 series for each status of its answers. */
    const MOST: Record<MetricRole, number> = { operator: 800, api: 900, billing: 400, platform: 300, streamer: 80 };
    /** The network of the machine's own chain has the first part of its account's address as its name. */
    const CHAIN: Record<string, string> = { network: 'local', task: 'deposits-local' };
    /** Labels that name a resource; each has as many values as there are resources. */
    const NAMES = new Set(['namespace', 'loopstream', 'pod', 'destination']);

    test('reveal nothing of people, and are a bounded number of series', async () => {
      const me = await system.client.me();
      const streams = await kube.list(LOOPSTREAMS, { namespace: NAMESPACE });
      const accounts = streams.flatMap(({ metadata }) => metadata.labels?.[ACCOUNT_LABEL] ?? []);
      expect(accounts).toContain(me.id);
      const names = streams.flatMap(({ spec }) => spec.displayName ?? []);
      const keys = [system.facts.apiKey, me.id, me.email, me.email.split('@')[0] ?? '', ...accounts, ...names];
      const { samples } = scrapes[role];
      for (const { name, labels } of samples) {
        for (const [label, value] of Object.entries(labels)) {
          if (CHAIN[label] === value) continue;
          for (const key of keys) expect(value.includes(key), `${name} ${label}=${value}`).toBe(false);
          if (NAMES.has(label)) continue;
          // Our ids and others': ULIDs, UUIDs, our prefixes, addresses.
          expect(value, `${name} ${label}`).not.toMatch(
            /[0-9a-hjkmnp-tv-z]{26}|[0-9a-f]{8}-[0-9a-f]{4}|\b(str|upl|pls|dst|lsk)[-_][0-9a-z]{6}|@|\d+\.\d+\.\d+\.\d+|:\/\//i,
          );
        }
      }
      expect(samples.length).toBeLessThan(MOST[role]);
    });
  });

  test('a stream on air has few series for each pod, and the operator some more', async () => {
    const [pod] = await kube.list(PODS, { namespace: NAMESPACE, labelSelector: `${COMPONENT_LABEL}=streamer` });
    const response = await fetch(`http://${pod?.status?.podIP}:${STREAMER_METRICS_PORT}/metrics`);
    const { samples } = parseScrape(await response.text());
    expect(samples.length).toBeLessThan(80);
    // The streamer reads a directory without a cache, so it has no metrics of a remote storage.
    expect(samples.filter(({ name }) => /_(cache|storage)_/.test(name))).toEqual([]);
    const own = scrapes.operator.samples.filter(({ labels }) => labels.loopstream === demo());
    expect(own.length).toBeGreaterThan(6);
    expect(own.length).toBeLessThan(30);
  });

  test('the operator’s and the pod’s metrics of a stream can be joined', async () => {
    const join = 'loopstream_streamer_playable * on (namespace, loopstream) group_left (quality) loopstream_info';
    const [joined] = await until('both', async () => {
      const samples = await prometheus.query(join);
      return samples.length > 0 && samples;
    });
    expect(joined?.metric).toMatchObject({ namespace: NAMESPACE, loopstream: demo(), quality: expect.any(String) });
  });

  describe.each(DASHBOARDS.map((one) => [one.title, one] as const))('the dashboard "%s"', (_, dashboard) => {
    // The system has no payments by chain, and no platform that counts viewers.
    const isOfOthers = ({ expr }: { expr: string }) => /\bcrypto_|destination_viewers/.test(expr);
    const panels = dashboard.rows.flatMap((row) => row.panels).filter(({ queries }) => !queries.every(isOfOthers));
    // A rate covers the last minute.
    beforeAll(knock);

    test.each(panels.map((panel) => [panel.title, panel] as const))(
      '%s: each query returns data',
      async (_title, panel) => {
        for (const { expr } of panel.queries) {
          const filled = ['from-s3', demo()].map((loopstream) =>
            expr
              .replaceAll('$__rate_interval', '1m')
              .replaceAll('$__range', '10m')
              .replaceAll('"$namespace"', `"${NAMESPACE}"`)
              .replaceAll('"$loopstream"', `"${loopstream}"`)
              .replaceAll('"$job"', '"loopstream-.*"'),
          );
          expect(filled.join()).not.toContain('$');
          const data = async () => {
            const samples = (await Promise.all(filled.map((one) => prometheus.query(one)))).flat();
            return samples.some(({ value: [, value] }) => value !== 'NaN');
          };
          await until(`data for ${filled[0]}`, data, 20_000);
        }
      },
    );

    test('its variables have values', async () => {
      for (const { query } of dashboard.variables) {
        const [, series = '', label = ''] = /^label_values\((.*), (\w+)\)$/.exec(query) ?? [];
        const samples = await prometheus.query(series.replace('"$namespace"', `"${NAMESPACE}"`));
        expect(samples.map(({ metric }) => metric[label]).filter(Boolean).length, query).toBeGreaterThan(0);
      }
    });
  });

  describe('a command of a runbook', () => {
    const commands = [...new Set(ALERTS.flatMap(({ looks }) => looks.map(([command]) => command)))];
    const isQuery = (command: string) => command.endsWith('# in Prometheus');
    /** Requirements that this machine lacks: a metrics server, the Prometheus operator, pods with a shell, an election, the image. */
    const elsewhere = /^(kubectl (top|exec|get lease)|helm|psql|loopstream)|monitor/;

    test.each(commands.filter(isQuery))('%s', async (command) => {
      expect(Array.isArray(await prometheus.query(command.replace('# in Prometheus', '')))).toBe(true);
    });

    test.each(commands.filter((command) => !isQuery(command) && !elsewhere.test(command)))('%s', async (command) => {
      const { kubectl } = await ensureBinaries(binariesOptions());
      const { ok, stderr } = await run('bash', ['-c', command], {
        env: {
          PATH: `${dirname(kubectl)}:${environment().PATH}`,
          HOME: system.stateDir,
          KUBECONFIG: system.facts.kubeconfig,
          NS: NAMESPACE,
          RELEASE_NS: NAMESPACE,
          STREAM: demo(),
        },
      });
      expect(ok, stderr).toBe(true);
    });
  });

  test('Prometheus evaluates every alert without an error, and the healthy system has none that is critical', async () => {
    type Rules = { groups: { rules: { name: string; health: string; lastError?: string; state: string }[] }[] };
    const rules = await until('all have been evaluated', async () => {
      const { groups } = await prometheus.get<Rules>('/api/v1/rules');
      const all = groups.flatMap((group) => group.rules);
      return all.every(({ health }) => health !== 'unknown') && all;
    });
    expect(rules.filter(({ health }) => health !== 'ok')).toEqual([]);
    const firing = await prometheus.query('ALERTS{alertstate="firing",severity="critical"}');
    expect(firing.map(({ metric }) => metric.alertname)).toEqual([]);
  });
}
