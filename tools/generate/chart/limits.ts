/** Declares the values for the limits of an account, and of all accounts together. Pure: no I/O, no clock. */
import { LIMIT_NAMES } from '../../../src/service/settings/limits.ts';
import { flag, group, type Value } from './schema.ts';

const ofClass = (description: string): Value => ({
  type: 'object',
  description,
  default: {},
  propertyNames: { enum: LIMIT_NAMES },
  additionalProperties: { type: 'integer' },
});

export const limits = group('Limits of accounts (docs/limits.md). Other limits keep the value of the table.', {
  trial: ofClass('Limits before the first credit, e.g. `{streams: 3}`. Only with `billing.enabled`.'),
  full: ofClass(
    'Limits after the first credit, and of all accounts without billing. They take precedence over `uploads.quota`.',
  ),
});

export const resourceQuota = group(
  'A ResourceQuota in each watched namespace, as a last protection of etcd against too many objects.',
  {
    enabled: flag(
      'Create it. For up to a minute after the install of the CRDs, Kubernetes rejects objects of kinds that it has not counted yet.',
      false,
    ),
    hard: {
      type: 'object',
      description: 'Maximum of objects of each kind. `null` removes an entry.',
      default: {
        'count/loopstreams.loopstream.dev': 20_000,
        'count/destinations.loopstream.dev': 20_000,
        'count/playlists.loopstream.dev': 20_000,
        'count/uploads.loopstream.dev': 100_000,
        'count/scenes.loopstream.dev': 20_000,
        'count/controllerrevisions.apps': 50_000,
        'count/secrets': 60_000,
        'count/jobs.batch': 20_000,
      },
      additionalProperties: { type: ['integer', 'string', 'null'] as never },
    },
  },
);
