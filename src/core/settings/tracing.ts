/**
 * Reads the variables of OpenTelemetry that turn traces on: their names are those of every program that has them. Pure: no I/O, no clock.
 */
import type { TracingSettings } from '../lib/tracing/settings.ts';
import { ConfigError, type Env } from './settings.ts';

/** For docs/settings.md. The exporter reads those that this file does not. */
export const OTEL_VARIABLES = {
  OTEL_EXPORTER_OTLP_ENDPOINT:
    'The URL of an OTLP collector (HTTP), such as `http://collector.observability:4318`. It turns traces on. `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` is the same with its path.',
  OTEL_EXPORTER_OTLP_HEADERS: 'Headers for the collector: `name=value,name=value`. A secret.',
  OTEL_EXPORTER_OTLP_PROTOCOL: '`http/protobuf`, and no other.',
  OTEL_EXPORTER_OTLP_TIMEOUT: 'The longest time for one export, in milliseconds: 10000 by default.',
  OTEL_EXPORTER_OTLP_CERTIFICATE: 'A file with the certificates that the collector is trusted by.',
  OTEL_SERVICE_NAME: 'The name of the process in traces: `loopstream-api` or `loopstream-operator` by default.',
  OTEL_RESOURCE_ATTRIBUTES:
    'Attributes of every span: `name=value,name=value`. The chart sets the namespace and the name of the pod.',
  OTEL_TRACES_SAMPLER:
    '`parentbased_always_on` (default), `parentbased_traceidratio`, `parentbased_always_off`, `always_on` or `always_off`. `traceidratio` means the same as `parentbased_traceidratio`.',
  OTEL_TRACES_SAMPLER_ARG: 'The share of traces that a ratio samples, from 0 to 1: 1 by default.',
  OTEL_TRACES_EXPORTER: '`none` turns traces off.',
  OTEL_SDK_DISABLED: '`true` turns traces off.',
} as const satisfies Record<string, string>;

const SAMPLERS: Readonly<Record<string, TracingSettings['sampler'] | undefined>> = {
  always_on: 'always_on',
  parentbased_always_on: 'parentbased_always_on',
  parentbased_always_off: 'parentbased_always_off',
  parentbased_traceidratio: 'parentbased_traceidratio',
  traceidratio: 'parentbased_traceidratio',
};

/** Undefined without an endpoint, or where traces are turned off. Throws ConfigError, which names the variable that is wrong. */
export function tracingSettings(env: Env): TracingSettings | undefined {
  const endpoint = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const isOff = env.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || env.OTEL_TRACES_EXPORTER === 'none';
  const name = env.OTEL_TRACES_SAMPLER || 'parentbased_always_on';
  if (!endpoint || isOff || name === 'always_off') return undefined;
  if (!URL.canParse(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol))
    throw new ConfigError('OTEL_EXPORTER_OTLP_ENDPOINT must be a URL that begins with http:// or https://.');
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL || env.OTEL_EXPORTER_OTLP_PROTOCOL || 'http/protobuf';
  if (protocol !== 'http/protobuf') throw new ConfigError('OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf.');
  const sampler = Object.hasOwn(SAMPLERS, name) ? SAMPLERS[name] : undefined;
  if (!sampler)
    throw new ConfigError(`OTEL_TRACES_SAMPLER must be one of ${[...Object.keys(SAMPLERS), 'always_off'].join(', ')}.`);
  const ratio = Number(env.OTEL_TRACES_SAMPLER_ARG || '1');
  if (sampler === 'parentbased_traceidratio' && !(ratio >= 0 && ratio <= 1))
    throw new ConfigError('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1.');
  return { sampler, ratio };
}
