/** Declares the values for the limits of an account, and of all accounts together. Pure: no I/O, no clock. */
import { LIMIT_NAMES } from '../../../src/settings/limits.ts';
import { flag, group, type Value } from './schema.ts';

const ofClass = (description: string): Value => ({
  type: 'object',
  description,
  default: {},
  propertyNames: { enum: LIMIT_NAMES },
  additionalProperties: { type: 'integer' },
});

export const limits = group(
  'What an account may have (docs/limits.md). A row that is left out has the value of the table.',
  {
    trial: ofClass('While no credit was ever bought or given, e.g. `{streams: 3}`. Only where `billing.enabled`.'),
    full: ofClass('Afterwards, and for everybody without billing. Wins over `uploads.quota`.'),
  },
);

export const resourceQuota = group(
  'A ResourceQuota in each watched namespace: whatever went wrong before, the database of the cluster is not filled.',
  {
    enabled: flag(
      'Make it. Kubernetes refuses objects of a kind that it has not counted yet, for up to a minute after the definitions are installed.',
      false,
    ),
    hard: {
      type: 'object',
      description: 'How many objects of each kind there may be; `null` takes a row away.',
      default: {
        'count/loopstreams.loopstream.dev': 20_000,
        'count/destinations.loopstream.dev': 20_000,
        'count/playlists.loopstream.dev': 20_000,
        'count/uploads.loopstream.dev': 100_000,
        'count/controllerrevisions.apps': 50_000,
        'count/secrets': 60_000,
        'count/jobs.batch': 20_000,
      },
      additionalProperties: { type: ['integer', 'string', 'null'] as never },
    },
  },
);
