/** Whether a destination's Secret can be streamed with, and what may be shown of it. Pure: no I/O, no clock. */
import { ingestForbidden, ingestKeyProblem, readIngest, shownUrl } from '../destinations/ingest.ts';
import { type DestinationStatus, keyHint } from '../destinations/spec.ts';
import type { Destination, Secret } from '../kube/resources.ts';
import { SECRET_KEY_KEY, SECRET_URL_KEY } from '../streams/names.ts';
import { conditionsOf } from './status.ts';
import type { Verdict } from './world.ts';

const text = (secret: Secret, key: string): string | undefined => {
  const value = secret.data?.[key];
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8').trim();
};

const not = (reason: string, message: string): Verdict => ({ type: 'Ready', status: 'False', reason, message });

/** Neither the URL nor the key is ever quoted: either may hold what only its owner may see. */
function judge(name: string, secret: Secret | undefined, allowPrivate: boolean): Verdict {
  if (!secret) return not('DestinationSecretMissing', `Secret "${name}" does not exist.`);
  const url = text(secret, SECRET_URL_KEY);
  const key = text(secret, SECRET_KEY_KEY);
  const missing = [url ? [] : [SECRET_URL_KEY], key === undefined ? [SECRET_KEY_KEY] : []].flat();
  if (!url || key === undefined) {
    return not('DestinationSecretMissing', `Secret "${name}" lacks ${missing.join(' and ')}.`);
  }
  const { ingest, problem } = readIngest(url, () => '');
  if (problem !== undefined) return not('DestinationInvalid', `The ${SECRET_URL_KEY} in Secret "${name}" ${problem}.`);
  const forbidden = ingestForbidden(ingest, allowPrivate);
  if (forbidden) return not('DestinationInvalid', `The ${SECRET_URL_KEY} in Secret "${name}" ${forbidden}.`);
  const wrong = ingestKeyProblem(key, ingest.protocol);
  if (wrong) return not('DestinationInvalid', `The ${SECRET_KEY_KEY} in Secret "${name}" ${wrong}.`);
  return { type: 'Ready', status: 'True', reason: 'Ready', message: 'The destination can be sent to.' };
}

export function destinationStatus(
  destination: Destination,
  secret: Secret | undefined,
  now: Date,
  { allowPrivateDestinations }: { allowPrivateDestinations: boolean },
): DestinationStatus {
  const { generation } = destination.metadata;
  const { test } = destination.status ?? {};
  const verdict = judge(destination.spec.secretName, secret, allowPrivateDestinations);
  const url = verdict.status === 'True' && secret ? text(secret, SECRET_URL_KEY) : undefined;
  const hint = url !== undefined && secret ? keyHint(text(secret, SECRET_KEY_KEY) ?? '') : '';
  return {
    ...(generation !== undefined && { observedGeneration: generation }),
    ...(url !== undefined && secret && { rtmpUrl: shownUrl(url, text(secret, SECRET_KEY_KEY)) }),
    ...(secret?.metadata.resourceVersion !== undefined && { secretVersion: secret.metadata.resourceVersion }),
    ...(hint !== '' && { rtmpKeyHint: hint }),
    ...(test && { test }),
    conditions: conditionsOf([verdict], destination.status?.conditions, generation, now),
  };
}
