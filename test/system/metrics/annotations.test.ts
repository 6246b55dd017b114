/**
 * Tests that a Prometheus which scrapes pods by the annotations prometheus.io/* finds every role: the pods of the chart as Helm renders them, and the
 * pod of a stream as the operator makes it. Each answers at the address that its pod would have.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Pod } from '../../../src/core/kube/core.ts';
import { Lifecycle } from '../../../src/core/lib/lifecycle.ts';
import { createMetrics } from '../../../src/core/operator/metrics/metrics.ts';
import { buildPod, hashTemplate } from '../../../src/core/operator/stream/pod.ts';
import { createBillingMetrics } from '../../../src/service/billing/metering/metrics.ts';
import { openOps } from '../../../src/service/lib/ops.ts';
import { createHttpMetrics } from '../../../src/service/server/http/metrics.ts';
import { makeProgram, SETTINGS, stream, world } from '../../kit/make/operator.ts';
import { type Helm, openHelms } from '../../kit/real/helm/index.ts';
import { INLINE } from '../../kit/real/helm/values.ts';
import { type Prometheus, podTargets, startPrometheus } from '../../kit/real/prometheus.ts';
import { tempDir } from '../../kit/temp-dir.ts';
import { until } from '../../kit/wait.ts';

const PORTS = { operator: 9401, api: 9402, billing: 9404, streamer: 9405 } as const;
const ROLES = Object.keys(PORTS) as (keyof typeof PORTS)[];
/** Addresses of this machine alone that nothing else listens on. */
const findAddress = (role: keyof typeof PORTS): string => `127.94.1.${ROLES.indexOf(role) + 1}`;

const lifecycle = new Lifecycle();
const dir = tempDir();
let helms: Helm[];
let close: () => void;
let prometheus: Prometheus | undefined;

beforeAll(async () => {
  ({ helms, close } = await openHelms(join(dir, 'no-cluster')));
  const operator = createMetrics().registry;
  const registries = { operator, api: createHttpMetrics().registry, billing: createBillingMetrics().registry };
  for (const role of ROLES) {
    // A streamer has no registry of the library; what counts here is where it is asked.
    const registry = role === 'streamer' ? operator : registries[role];
    const unready = async () => undefined;
    await openOps({ host: findAddress(role), port: PORTS[role], unready, registry }, lifecycle);
  }
});

afterAll(async () => {
  await prometheus?.stop();
  await lifecycle.stop();
  close?.();
});

/** Returns the pods of the three Deployments, and of a stream, as Kubernetes shows them. */
async function makePods(scrapeAnnotations: boolean): Promise<Pod[]> {
  const values = { ...INLINE, billing: { enabled: true }, monitoring: { scrapeAnnotations } };
  const deployments = (await helms[0]?.render(values))?.filter(({ kind }) => kind === 'Deployment') ?? [];
  expect(deployments).toHaveLength(3);
  const loopStream = stream();
  const program = makeProgram(loopStream, world(), '2026-06-01T12:00:00Z');
  const streamer = buildPod(loopStream, program, { ...SETTINGS, scrapeAnnotations });
  const templates = [...deployments.map(({ spec }) => (spec as { template: Pod }).template), streamer as Pod];
  return templates.map((template) => {
    const role = ROLES.find((one) => one === template.metadata.labels?.['app.kubernetes.io/component']);
    if (!role) throw new Error(`A pod has the labels ${JSON.stringify(template.metadata.labels)}.`);
    const metadata = { ...template.metadata, name: `${role}-0`, namespace: 'loopstream' };
    return { ...template, metadata, status: { podIP: findAddress(role) } };
  });
}

test('every role is scraped once, at the port of its metrics alone', async () => {
  const annotatedFile = join(dir, 'pods.json');
  await writeFile(annotatedFile, JSON.stringify(podTargets(await makePods(true))));
  prometheus = await startPrometheus([], { annotatedFile });
  const { query } = prometheus;
  await until('all four are scraped', async () => (await query('up == 1')).length === ROLES.length);
  const targets = (await query('up')).map(({ metric }) => [metric.pod, metric.instance]);
  expect(Object.fromEntries(targets)).toEqual(
    Object.fromEntries(ROLES.map((role) => [`${role}-0`, `${findAddress(role)}:${PORTS[role]}`])),
  );
  expect(targets).toHaveLength(ROLES.length);
});

test('without the value no pod has one of them, and the pod of a stream is the same for its hash', async () => {
  for (const { metadata } of await makePods(false))
    expect(Object.keys(metadata.annotations ?? {}).filter((name) => name.startsWith('prometheus.io/'))).toEqual([]);
  const loopStream = stream();
  expect(hashTemplate(loopStream, { ...SETTINGS, scrapeAnnotations: true })).toBe(hashTemplate(loopStream, SETTINGS));
});
