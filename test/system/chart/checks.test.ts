/**
 * Tests the chart with the values in its ci/ by Helm's lint and by programs that others check charts with: kubeconform, kube-score and
 * checkov. docs/chart-checks.md answers the findings of the last two, line by line.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { createKube } from '../../../src/core/kube/client.ts';
import { environment } from '../../../src/core/settings/environment.ts';
import { CHART } from '../../../tools/generate/chart/generate.ts';
import { PROJECT_ROOT } from '../../../tools/process/root.ts';
import { run } from '../../../tools/process/run.ts';
import {
  ensureChartChecks,
  type Finding,
  runCheckov,
  runKubeconform,
  runKubeScore,
  writeSchemas,
} from '../../kit/real/chart-checks/programs.ts';
import { ensureDefinitions } from '../../kit/real/helm/definitions.ts';
import { type Helm, openHelms, type Values } from '../../kit/real/helm/index.ts';
import { startSmallKubernetes, type TestKubernetes } from '../../kit/real/kubernetes.ts';
import { tempDir } from '../../kit/temp-dir.ts';
import { until } from '../../kit/wait.ts';

const ANSWERS = join(PROJECT_ROOT, 'docs/chart-checks.md');
const CI = readdirSync(join(CHART, 'ci')).sort();
const readValues = (name: string): Values => parse(readFileSync(join(CHART, 'ci', name), 'utf8'));

let kubernetes: TestKubernetes;
let helms: Helm[];
let closeHelms: () => void;
let programs: Awaited<ReturnType<typeof ensureChartChecks>>;
const work = tempDir();
let schemas = '';
/** Names of ci/ → the file of their manifests. */
const rendered = new Map<string, string>();

/** The definitions of others, and those of the chart: their objects are checked too. */
async function fetchSchemas(): Promise<void> {
  const kube = createKube({ kubeconfig: kubernetes.kubeconfig });
  try {
    const ours = readdirSync(join(PROJECT_ROOT, 'crds')).map((name) => join(PROJECT_ROOT, 'crds', name));
    const files = [...(await ensureDefinitions(environment())), ...ours].flatMap((file) => ['-f', file]);
    const env = { PATH: environment().PATH, HOME: kubernetes.stateDir, KUBECONFIG: kubernetes.kubeconfig };
    const applied = await run(kubernetes.binaries.kubectl, ['apply', '--server-side', ...files], { env });
    expect(applied.stderr).toBe('');
    const kinds = ['HTTPRoute', 'ServiceMonitor', 'PodMonitor', 'PrometheusRule', 'LoopStream'];
    const openapi = await until(
      'the API server describes the definitions',
      async () => {
        const { text } = await kube.raw('GET', '/openapi/v2');
        return kinds.every((kind) => text.includes(`"kind":"${kind}"`)) ? JSON.parse(text) : undefined;
      },
      120_000,
    );
    writeSchemas(openapi, schemas);
  } finally {
    await kube.close();
  }
}

beforeAll(async () => {
  schemas = join(work, 'schemas');
  [kubernetes, programs] = await Promise.all([startSmallKubernetes(), ensureChartChecks()]);
  ({ helms, close: closeHelms } = await openHelms(kubernetes.kubeconfig));
  await fetchSchemas();
  for (const name of CI) {
    const file = join(work, name);
    writeFileSync(
      file,
      (await helms[0]?.render(readValues(name)))?.map((object) => `---\n${JSON.stringify(object)}\n`).join('') ?? '',
    );
    rendered.set(name, file);
  }
});
afterAll(async () => {
  closeHelms?.();
  await kubernetes?.stop();
});

/** Each row: the program, its check, the objects that it finds, and the answer. */
function readAnswers(): { tool: string; check: string; objects: string[]; answer: string }[] {
  const rows = readFileSync(ANSWERS, 'utf8')
    .split('\n')
    .filter((line) => /^\| (kube-score|checkov) /.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim()));
  return rows.map(([, tool = '', check = '', objects = '', answer = '']) => ({
    tool,
    check,
    objects: objects.split(', ').map((object) => object.replaceAll('`', '')),
    answer,
  }));
}

const describeFindings = (findings: readonly Pick<Finding, 'tool' | 'check' | 'object'>[]): string[] =>
  [...new Set(findings.map(({ tool, check, object }) => `${tool} | ${check} | ${object}`))].sort();

const listAnswered = (name: Finding['tool']): string[] =>
  describeFindings(
    readAnswers()
      .filter(({ tool }) => tool === name)
      .flatMap(({ check, objects }) => objects.map((object) => ({ tool: name, check, object }))),
  );

test('the values in ci/ are those of an operator alone, of S3, and of everything', () => {
  expect(CI).toEqual(['all-values.yaml', 'minimal-values.yaml', 's3-values.yaml']);
});

test.each(CI)('both Helms find nothing in the chart with ci/%s', async (name) => {
  for (const helm of helms) {
    const { ok, stdout, stderr } = await helm.run(['lint', '--strict', CHART], readValues(name));
    expect(ok, `${helm.name}: ${stdout}${stderr}`).toBe(true);
    expect(stdout).not.toMatch(/INFO|WARNING|ERROR/);
  }
});

test('ci/all-values.yaml turns on whatever can be turned on', () => {
  const off: string[] = [];
  const compare = (defaults: Values, given: Values | undefined, path: string[]) => {
    for (const [key, value] of Object.entries(defaults)) {
      const own = given?.[key];
      if (key === 'enabled' && (own ?? value) === false) off.push(path.join('.'));
      if (value && typeof value === 'object' && !Array.isArray(value))
        compare(value as Values, own as Values | undefined, [...path, key]);
    }
  };
  compare(parse(readFileSync(join(CHART, 'values.yaml'), 'utf8')), readValues('all-values.yaml'), []);
  expect(off).toEqual([]);
});

test.each(CI)('kubeconform accepts every object that ci/%s makes', async (name) => {
  const { refused, valid } = await runKubeconform(programs.kubeconform, schemas, rendered.get(name) ?? '');
  expect(refused).toEqual([]);
  expect(valid).toBeGreaterThan(20);
});

test('kubeconform would refuse a field that does not exist, a wrong type and an unknown kind', async () => {
  const file = join(work, 'wrong.json');
  const wrong = [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, dota: {} },
    { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'b' }, spec: { replicas: 'two' } },
    { apiVersion: 'v1', kind: 'Unheard', metadata: { name: 'c' } },
  ];
  writeFileSync(file, wrong.map((object) => `---\n${JSON.stringify(object)}\n`).join(''));
  const { refused, valid } = await runKubeconform(programs.kubeconform, schemas, file);
  expect(valid).toBe(0);
  expect(refused.sort()).toEqual([
    expect.stringMatching(/^ConfigMap\/a: .*dota/s),
    expect.stringMatching(/^Deployment\/b: /),
    expect.stringMatching(/^Unheard\/c: .*schema/),
  ]);
});

test('kube-score finds nothing but what docs/chart-checks.md answers, and all of that', async () => {
  const findings = await Promise.all([...rendered.values()].map((file) => runKubeScore(programs['kube-score'], file)));
  expect(describeFindings(findings.flat())).toEqual(listAnswered('kube-score'));
});

test('checkov finds nothing but what docs/chart-checks.md answers, and all of that', async () => {
  const findings = await runCheckov(programs.checkov, [...rendered.values()]);
  expect(describeFindings(findings)).toEqual(listAnswered('checkov'));
});

test('each answer is a sentence', () => {
  const answers = readAnswers();
  expect(answers.length).toBeGreaterThan(5);
  for (const { check, answer } of answers) expect(answer, check).toMatch(/^[A-Z].{20,}\.$/);
});
