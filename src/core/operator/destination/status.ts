/** Judges whether a stream can be sent with a destination's Secret, and shows of the Secret what may be shown. Pure: no I/O, no clock. */

import type { Secret } from '../../kube/core.ts';
import { beginWith, isMadeName } from '../../resources/common/called.ts';
import { findCondition } from '../../resources/common/conditions.ts';
import { buildHealth, type Health, judgeProblem, type Outlook, readSince } from '../../resources/common/health.ts';
import { SECRET_KEY_KEY, SECRET_URL_KEY } from '../../resources/common/names.ts';
import { ingestForbidden } from '../../resources/destination/forbidden.ts';
import { redactUrl } from '../../resources/destination/ingest.ts';
import {
  FIELDS,
  type GivenDestination,
  type ReadDestination,
  readDestination,
} from '../../resources/destination/read.ts';
import type { Destination } from '../../resources/destination/resource.ts';
import { type DestinationStatus, keyHint } from '../../resources/destination/spec.ts';
import { buildConditions, describeMissingRole, type Finding } from '../runtime/controller.ts';

/** The Secret of a destination: undefined where there is none, `forbidden` where the operator may not read it. */
export type FoundSecret = Secret | 'forbidden' | undefined;

export const findSecretVersion = (secret: FoundSecret): string | undefined =>
  typeof secret === 'object' ? secret.metadata.resourceVersion : undefined;

const text = (secret: Secret, key: string): string | undefined => {
  const value = secret.data?.[key];
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8').trim();
};

const not = (reason: 'DestinationSecretMissing' | 'DestinationInvalid', message: string): { problem: Finding } => ({
  problem: { reason, message },
});

/** Neither the URL nor the key is ever quoted: either may hold what only its owner may see. */
function judge(
  { metadata, spec: { secretName: name } }: Destination,
  secret: FoundSecret,
  allowPrivate: boolean,
): { problem?: Finding; read?: ReadDestination } {
  const called = isMadeName(name) ? 'the Secret of the destination' : `Secret "${name}"`;
  if (secret === 'forbidden') {
    const why = describeMissingRole(metadata.namespace ?? '');
    return not('DestinationSecretMissing', `${beginWith(called)} cannot be read. ${why}`);
  }
  if (!secret) return not('DestinationSecretMissing', `${beginWith(called)} does not exist.`);
  const given = Object.fromEntries(FIELDS.map((field) => [field, text(secret, field) ?? ''])) as GivenDestination;
  const missing = [
    given.rtmpUrl ? [] : [SECRET_URL_KEY],
    text(secret, SECRET_KEY_KEY) === undefined ? [SECRET_KEY_KEY] : [],
  ];
  if (missing.flat().length > 0) {
    return not('DestinationSecretMissing', `${beginWith(called)} lacks ${missing.flat().join(' and ')}.`);
  }
  const { read, field, problem } = readDestination(given, () => '');
  if (!read) return not('DestinationInvalid', `The ${field} in ${called} ${problem}.`);
  const forbidden = ingestForbidden(read.ingest, allowPrivate);
  if (forbidden) return not('DestinationInvalid', `The ${SECRET_URL_KEY} in ${called} ${forbidden}.`);
  return { read };
}

/** A Secret may come after its Destination, as one that External Secrets makes. */
function judgeHealth({ status }: Destination, problem: Finding | undefined, now: Date): Health {
  if (!problem) return { state: 'ready', reason: 'Ready', message: 'The destination is ready.' };
  const outlook: Outlook = problem.reason === 'DestinationSecretMissing' ? 'appears' : 'stays';
  const since = readSince(findCondition(status?.conditions, 'Ready'), now);
  return judgeProblem({ ...problem, outlook, since }, now);
}

export function buildDestinationStatus(
  destination: Destination,
  secret: FoundSecret,
  now: Date,
  { allowPrivateDestinations }: { allowPrivateDestinations: boolean },
): DestinationStatus {
  const { generation } = destination.metadata;
  const { test } = destination.status ?? {};
  const { read, problem } = judge(destination, secret, allowPrivateDestinations);
  const health = buildHealth(judgeHealth(destination, problem, now));
  const hint = read ? keyHint(read.rtmpKey) : '';
  const version = findSecretVersion(secret);
  return {
    observedUID: destination.metadata.uid,
    ...(generation !== undefined && { observedGeneration: generation }),
    ...(read && { rtmpUrl: redactUrl(read.rtmpUrl, read.rtmpKey), hasLogin: read.rtmpUser !== '' }),
    ...(version !== undefined && { secretVersion: version }),
    ...(hint !== '' && { rtmpKeyHint: hint }),
    ...(test && { test }),
    conditions: buildConditions(health, destination.status?.conditions, generation, now),
  };
}
