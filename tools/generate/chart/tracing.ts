/** Declares the values about traces. Pure: no I/O, no clock. */
import { choice, group, secretName, text } from './schema.ts';
import { valueFor } from './settings.ts';

export const tracing = group(
  'Traces of the API server and the operator, sent by OTLP to a collector of OpenTelemetry.',
  {
    endpoint: text('URL of the collector (OTLP over HTTP). Empty for no traces.', '', {
      pattern: '^(https?://[^\\s]+)?$',
    }),
    existingSecret: secretName('An existing Secret with headers for the collector: `name=value,name=value`.'),
    existingSecretKey: text('Name of the entry in that Secret.', 'otlpHeaders', { minLength: 1 }),
    sampler: choice('Sampler.', 'parentbased_always_on', [
      'parentbased_always_on',
      'parentbased_traceidratio',
      'parentbased_always_off',
      'always_on',
    ]),
    ratio: text('Share of the traces that `parentbased_traceidratio` samples, from 0 to 1.', '1', {
      pattern: '^(0(\\.[0-9]+)?|1(\\.0+)?)$',
    }),
    trustTraceparent: valueFor('TRUST_TRACEPARENT'),
  },
);
