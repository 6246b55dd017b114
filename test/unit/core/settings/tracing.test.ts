import { expect, test } from 'vitest';
import { tracingSettings } from '../../../../src/core/settings/tracing.ts';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

test('traces are off without an endpoint, and where a standard variable turns them off', () => {
  expect(tracingSettings({})).toBeUndefined();
  expect(tracingSettings({ OTEL_SERVICE_NAME: 'x', OTEL_TRACES_SAMPLER: 'always_on' })).toBeUndefined();
  for (const off of [
    { OTEL_SDK_DISABLED: 'true' },
    { OTEL_TRACES_EXPORTER: 'none' },
    { OTEL_TRACES_SAMPLER: 'always_off' },
  ])
    expect(tracingSettings({ ...ENDPOINT, ...off })).toBeUndefined();
});

test('an endpoint turns them on, with the sampler of the standard variables', () => {
  expect(tracingSettings(ENDPOINT)).toEqual({ sampler: 'parentbased_always_on', ratio: 1 });
  expect(tracingSettings({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://c.example/v1/traces' })).toBeDefined();
  expect(
    tracingSettings({ ...ENDPOINT, OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' }),
  ).toEqual({ sampler: 'parentbased_traceidratio', ratio: 0.25 });
});

test.each([
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, 'OTEL_EXPORTER_OTLP_ENDPOINT'],
  [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL'],
  [{ ...ENDPOINT, OTEL_TRACES_SAMPLER: 'toString' }, 'OTEL_TRACES_SAMPLER'],
  [{ ...ENDPOINT, OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' }, 'OTEL_TRACES_SAMPLER_ARG'],
])('a wrong value ends with the name of its variable (%j)', (env, name) => {
  expect(() => tracingSettings(env)).toThrow(name);
});
