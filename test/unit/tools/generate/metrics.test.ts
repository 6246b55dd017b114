import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { allMetrics, metricsDocument } from '../../../../tools/generate/metrics.ts';

test('docs/metrics.md matches the code (fix with `make generate`)', () => {
  const path = join(import.meta.dirname, '../../../../docs/metrics.md');
  expect(readFileSync(path, 'utf8')).toBe(metricsDocument());
});

/** client-go and prom-client choose these names. */
const GIVEN = new Set(['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total']);

test('names are in base units, counters end in _total, and every metric has its sentence', () => {
  for (const { name, type, help } of allMetrics()) {
    expect(name).toMatch(/^[a-z][a-z0-9_]+$/);
    expect(name).not.toMatch(/_(ms|milliseconds|kbps|kb|mb)\b/);
    if (!GIVEN.has(name)) expect(name.endsWith('_total'), name).toBe(type === 'counter');
    expect(help, name).toMatch(/\S{2}.*\.$/);
  }
});

test('no label is made for people, items or paths', () => {
  const labels = new Set(allMetrics().flatMap((metric) => metric.labels));
  for (const label of labels) expect(label).not.toMatch(/account|user|email|item|upload|path|url|address|display/);
});
