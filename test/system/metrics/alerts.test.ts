/** Tests alerts: Prometheus' own tool determines when each of them fires and when it does not; each has its page. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { UPLOAD_ERRORS } from '../../../src/core/lib/codes/uploads.ts';
import { PHASES } from '../../../src/core/resources/stream/spec.ts';
import { environment } from '../../../src/core/settings/environment.ts';
import { allMetrics } from '../../../tools/generate/metrics.ts';
import { DASHBOARDS } from '../../../tools/generate/monitoring/dashboards.ts';
import { monitoringFiles } from '../../../tools/generate/monitoring/generate.ts';
import { ALERTS, buildRule } from '../../../tools/generate/monitoring/rules.ts';
import { run } from '../../../tools/process/run.ts';
import { ALERT_CASES, type AlertCase } from '../../kit/make/alerts.ts';
import { tempDir } from '../../kit/temp-dir.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const RULES = join(ROOT, 'charts/loopstream/rules/alerts.yaml');
const dir = tempDir();

const promtool = (...args: string[]) => run('promtool', args, { env: environment(), timeoutMs: 60_000, cwd: dir });

test('rules and runbooks are current (fix with `make generate`)', () => {
  for (const [path, files] of monitoringFiles()) {
    expect(readdirSync(join(ROOT, path)).sort(), path).toEqual([...files.keys()].sort());
    for (const [name, text] of files) expect(readFileSync(join(ROOT, path, name), 'utf8'), name).toBe(text);
  }
});

test('the rules are a file that Prometheus reads, each with severity, words and a page that exists', async () => {
  const { ok, stdout, stderr } = await promtool('check', 'rules', RULES);
  expect(ok, stdout + stderr).toBe(true);
  const { groups } = parse(readFileSync(RULES, 'utf8')) as RuleFile;
  const rules = groups.flatMap((group) => group.rules);
  const pages = readdirSync(join(ROOT, 'docs/runbooks'));
  expect(pages.filter((page) => page !== 'README.md').sort()).toEqual(rules.map(({ alert }) => `${alert}.md`).sort());
  for (const { alert, labels, annotations } of rules) {
    expect(alert).toMatch(/^LoopStream[A-Z]\w+$/);
    expect(['critical', 'warning', 'info']).toContain(labels.severity);
    expect(annotations.summary).toMatch(/\.$/);
    expect(annotations.description).toMatch(/\.$/);
    const page = readFileSync(join(ROOT, annotations.runbook_url), 'utf8');
    for (const part of ['What it means', 'What viewers see', 'What to check', 'What to do'])
      expect(page, alert).toMatch(new RegExp(`^## ${part}\\n\\n\\S`, 'm'));
  }
});

/** The queries of alerts and dashboards, with their sources. */
const asked: [who: string, expr: string][] = [
  ...ALERTS.map(({ name, expr }): [string, string] => [name, expr]),
  ...DASHBOARDS.flatMap(({ title, rows }) =>
    rows.flatMap(({ panels }) =>
      panels.flatMap((panel) =>
        panel.queries.map(({ expr }): [string, string] => [
          `${title}: ${panel.title}`,
          expr.replace(/\[\$\w+\]/g, '[1m]'),
        ]),
      ),
    ),
  ),
];
/** Labels that a scrape adds to its samples. */
const TARGET_LABELS = ['job', 'instance', 'namespace', 'loopstream'];
const FUNCTIONS = new Set(['histogram_quantile', 'group_left']);

test('every metric that an alert or a panel asks for is in docs/metrics.md, with every label it is chosen by', () => {
  const known = new Map(allMetrics().map((metric) => [metric.name, metric]));
  for (const [who, expr] of asked) {
    const series = [...expr.matchAll(/\b([a-z][a-z0-9]*(?:_[a-z0-9]+)+)\b(?:\{([^}]*)\})?/g)].filter(
      ([, metric = '']) => !FUNCTIONS.has(metric),
    );
    expect(series.length, who).toBeGreaterThan(0);
    for (const [, metric = '', selector = ''] of series) {
      const found = known.get(metric) ?? known.get(metric.replace(/_(bucket|count|sum)$/, ''));
      expect(found, `${who}: ${metric}`).toBeDefined();
      for (const [, label = ''] of selector.matchAll(/(\w+)(?:=~|!~|!=|=)"/g))
        expect([...(found?.labels ?? []), 'le', ...TARGET_LABELS], `${who}: ${metric}`).toContain(label);
    }
  }
});

test('every phase and every code of a failure that is asked for exists', () => {
  const values = (label: string) =>
    asked.flatMap(([, expr]) =>
      [...expr.matchAll(new RegExp(`\\b${label}!?=~?"([a-z_|]+)"`, 'g'))].flatMap(([, text = '']) => text.split('|')),
    );
  expect(values('phase').length).toBeGreaterThan(5);
  expect(PHASES).toEqual(expect.arrayContaining(values('phase')));
  expect(values('code').length).toBeGreaterThan(2);
  expect(Object.keys(UPLOAD_ERRORS)).toEqual(expect.arrayContaining(values('code')));
});

const filled = (text: string, labels: Record<string, string>): string =>
  text.replace(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => labels[label] ?? '');

const buildTest = (name: string, { series, at, every = '1m', fires, cause = '' }: AlertCase) => {
  const alert = ALERTS.find((one) => one.name === name);
  if (!alert) throw new Error(`there is no alert ${name}`);
  const { labels, annotations } = buildRule(alert);
  const words =
    fires && Object.entries(annotations).map(([key, text]) => [key, key === 'cause' ? cause : filled(text, fires)]);
  return {
    interval: every,
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    alert_rule_test: [
      {
        eval_time: at,
        alertname: name,
        exp_alerts: fires
          ? [{ exp_labels: { ...labels, ...fires }, exp_annotations: Object.fromEntries(words ?? []) }]
          : [],
      },
    ],
  };
};

test('every alert has a case in which it fires and one in which it does not', () => {
  expect(Object.keys(ALERT_CASES).sort()).toEqual(ALERTS.map(({ name }) => name).sort());
  for (const [name, cases] of Object.entries(ALERT_CASES))
    expect(new Set(cases.map(({ fires }) => fires !== undefined)).size, name).toBe(2);
});

interface RuleFile {
  groups: { rules: ReturnType<typeof buildRule>[] }[];
}

/**
 * The rule of our file in its group, without the others. promtool would compute each of them at every step of a case that lasts days, and
 * no rule depends on another.
 */
function ruleAlone(name: string): RuleFile {
  const { groups } = parse(readFileSync(RULES, 'utf8')) as RuleFile;
  const alone = groups.map((group) => ({ ...group, rules: group.rules.filter(({ alert }) => alert === name) }));
  return { groups: alone.filter(({ rules }) => rules.length > 0) };
}

describe('an alert fires when it should, in its words, and not otherwise', () => {
  test.each(Object.keys(ALERT_CASES))('%s', async (name) => {
    const [file, rules] = [join(dir, `${name}.yaml`), join(dir, `${name}.rules.yaml`)];
    const tests = (ALERT_CASES[name] ?? []).map((one) => buildTest(name, one));
    writeFileSync(rules, stringify(ruleAlone(name)));
    writeFileSync(file, stringify({ rule_files: [rules], evaluation_interval: tests[0]?.interval, tests }));
    const { ok, stdout, stderr } = await promtool('test', 'rules', file);
    expect(ok, stdout + stderr).toBe(true);
  });
});
