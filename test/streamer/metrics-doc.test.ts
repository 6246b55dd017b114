import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { METRICS } from '../../src/streamer/metrics.ts';
import { metricsDocument } from '../../src/streamer/metrics-doc.ts';

test('docs/metrics.md is what the code shows', () => {
  const path = join(import.meta.dirname, '../../docs/metrics.md');
  expect(readFileSync(path, 'utf8')).toBe(metricsDocument());
});

test('names are in base units and counters end in _total', () => {
  for (const { name, type } of METRICS) {
    expect(name).toMatch(/^loopstream_streamer_[a-z_]+$/);
    expect(name).not.toMatch(/_(ms|milliseconds|kbps|kb|mb)\b/);
    expect(name.endsWith('_total')).toBe(type === 'counter');
  }
});
