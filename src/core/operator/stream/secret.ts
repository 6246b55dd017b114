/**
 * Keeps the one Secret of a stream, with all that its pods are given and nobody else may see, and the publisher lock in it. The
 * Secret is named after the stream's UID and goes when the stream goes. Secrets of destinations are read by their names, never
 * listed or watched.
 */

import { randomBytes } from 'node:crypto';
import { type Pod, SECRETS, type Secret } from '../../kube/core.ts';
import { hasReason, type Stored } from '../../kube/types.ts';
import type { Destinations } from '../../protocol/destinations.ts';
import {
  CONTROL_TOKEN_KEY,
  DESTINATIONS_KEY,
  MANAGED_BY,
  MANAGED_BY_LABEL,
  PUBLISHER_KEY,
  SECRET_KEY_KEY,
  SECRET_LOGIN_KEYS,
  SECRET_URL_KEY,
  streamSecretName,
  VIEW_TOKEN_KEY,
} from '../../resources/common/names.ts';
import { listReceivers } from '../../resources/stream/destinations.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import type { ControllerDeps } from '../caches/controller-deps.ts';
import { ownedBy } from '../pods/security.ts';
import { isOver } from '../pods/status.ts';
import type { StreamControllerDeps } from './controller-deps.ts';
import { fetchPods } from './fetch-pods.ts';
import { findSecret } from './find-secret.ts';
import { isGrantedPod, readGrantedToken } from './granted-pods.ts';
import type { Observation } from './observation.ts';

type SecretDeps = Pick<StreamControllerDeps, 'kube' | 'viewKeys'>;

/** A stream and where it is sent. */
type Sent = Pick<Observation, 'stream' | 'destinations'>;

const TOKEN_BYTES = 32;

/** Keys of the Secret → their text. */
export type StreamSecret = Partial<
  Record<typeof CONTROL_TOKEN_KEY | typeof DESTINATIONS_KEY | typeof PUBLISHER_KEY | typeof VIEW_TOKEN_KEY, string>
>;

const decode = (text: string): string => Buffer.from(text, 'base64').toString('utf8');

export const decodeSecret = ({ data = {} }: Secret): StreamSecret =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, decode(value)]));

const findStreamSecret = (
  { kube }: Pick<ControllerDeps, 'kube'>,
  { metadata }: LoopStream,
): Promise<Stored<Secret> | undefined> => findSecret(kube, metadata.namespace ?? '', streamSecretName(metadata.uid));

/** The destinations as the streamer reads them (pods/streamer/mounted-files.ts). One whose Secret is missing is left out. */
async function readDestinations(deps: Pick<ControllerDeps, 'kube'>, { stream, destinations }: Sent): Promise<string> {
  const { namespace = '' } = stream.metadata;
  const read = await Promise.all(
    listReceivers(stream.spec).map(async (name) => {
      const destination = destinations.get(name);
      if (!destination) return [];
      const data = (await findSecret(deps.kube, namespace, destination.spec.secretName))?.data;
      if (data?.[SECRET_URL_KEY] === undefined) return [];
      const login = SECRET_LOGIN_KEYS.filter((key) => data[key] !== undefined);
      const members = [SECRET_URL_KEY, SECRET_KEY_KEY, ...login].map((key) => [key, decode(data[key] ?? '').trim()]);
      const { leastBitrateKbps } = destination.spec;
      const texts = Object.fromEntries(members) as Record<string, string>;
      return [[name, { ...texts, ...(leastBitrateKbps !== undefined && { leastBitrateKbps }) }]] as const;
    }),
  );
  const handedOver: Destinations = Object.fromEntries(read.flat());
  return JSON.stringify(handedOver);
}

const encode = (text: string): string => Buffer.from(text).toString('base64');

/** Brings the destinations in the Secret up to date, and makes it where there is none; writes nothing when they are. */
export async function updateSecret(deps: SecretDeps, sent: Sent): Promise<void> {
  const { stream } = sent;
  const secret = await findStreamSecret(deps, stream);
  if (!secret) return ensureSecret(deps, sent);
  const destinations = await readDestinations(deps, sent);
  const content = decodeSecret(secret);
  // One that an older operator made has no view token.
  if (
    content[DESTINATIONS_KEY] === destinations &&
    content[VIEW_TOKEN_KEY] === (await findStreamViewToken(deps, stream))
  )
    return;
  await writeSecret(deps, stream, secret, { [DESTINATIONS_KEY]: destinations });
}

const findStreamViewToken = ({ viewKeys }: SecretDeps, { metadata }: LoopStream): Promise<string> =>
  viewKeys.findToken(metadata.namespace ?? '', metadata.uid);

/** Fails with Conflict when another write came before; the stream is reconciled again then. */
async function writeSecret(
  deps: SecretDeps,
  stream: LoopStream,
  secret: Stored<Secret>,
  given: StreamSecret,
): Promise<void> {
  const content = { ...given, [VIEW_TOKEN_KEY]: await findStreamViewToken(deps, stream) };
  const changed = Object.fromEntries(Object.entries(content).map(([key, value]) => [key, encode(value)]));
  const data = { ...secret.data, ...changed };
  await deps.kube.replace(SECRETS, stream.metadata.namespace ?? '', { ...secret, data });
}

/**
 * Makes the Secret ahead of a pod, which need not wait for it then. It names no publisher, so a pod that reads it is held.
 * A Secret that exists stays as it is.
 */
export async function ensureSecret(deps: SecretDeps, sent: Sent): Promise<void> {
  try {
    await createSecret(deps, sent.stream, { [DESTINATIONS_KEY]: await readDestinations(deps, sent) });
  } catch (error) {
    if (!hasReason(error, 'AlreadyExists')) throw error;
  }
}

async function createSecret(deps: SecretDeps, stream: LoopStream, given: StreamSecret): Promise<void> {
  const content = { ...given, [VIEW_TOKEN_KEY]: await findStreamViewToken(deps, stream) };
  const made = {
    metadata: {
      name: streamSecretName(stream.metadata.uid),
      // One label alone: each is stored twice, once as a managed field.
      labels: { [MANAGED_BY_LABEL]: MANAGED_BY },
      ownerReferences: ownedBy('LoopStream', stream),
    },
    type: 'Opaque',
    stringData: { [CONTROL_TOKEN_KEY]: randomBytes(TOKEN_BYTES).toString('base64url'), ...content },
  };
  await deps.kube.create(SECRETS, stream.metadata.namespace ?? '', made as unknown as Secret);
}

/**
 * Acquires the publisher lock for a pod: the Secret names the pod that may publish. Returns the UID of the publisher, which is
 * another pod's while anything of that may still run; whether the lock has changed hands just now; and whether the other pod only
 * may be the publisher, since nothing says which one is. One publisher for one stream rests on this function alone:
 *
 * - A pod publishes only when the Secret names it (pods/streamer/control/publisher-lock.ts).
 * - Another pod is named only when the one before is over (pods/status.ts). A pod that is over never runs again, so it does not
 *   matter how much later the name is written, by which of several operators, or from how old a cache it was decided.
 * - The write is of the version of the Secret in which the publisher was read, so of two at once one fails.
 * - Where no Secret names a publisher, as when somebody has deleted it, every other pod counts as the publisher. A pod is created
 *   before the other pod is read for it. So of two pods at once, at least one is found by the read for the other, which is not named.
 * - A pod that the release before has granted to publish counts as the publisher until it is over (granted-pods.ts).
 */
export async function acquirePublisher(
  deps: SecretDeps,
  sent: Sent,
  podUid: string,
): Promise<{ publisherUid: string; isNew: boolean; isGuess?: boolean }> {
  const { stream } = sent;
  const secret = await findStreamSecret(deps, stream);
  const publisherUid = secret && decodeSecret(secret)[PUBLISHER_KEY];
  if (publisherUid === podUid) return { publisherUid, isNew: false };
  // A Secret that was made ahead, or anew after somebody deleted it, names no publisher: then every other pod may publish.
  const [pods, destinations] = await Promise.all([fetchPods(deps, stream), readDestinations(deps, sent)]);
  const others = pods.filter((pod) => pod.metadata.uid !== podUid && !isOver(pod));
  const isHolder = ({ metadata }: Pod) => publisherUid === undefined || metadata.uid === publisherUid;
  const holder = others.find(isGrantedPod) ?? others.find(isHolder);
  if (holder) {
    const isGuess = publisherUid === undefined && !isGrantedPod(holder);
    return { publisherUid: holder.metadata.uid, isNew: false, ...(isGuess && { isGuess }) };
  }
  const content = { [DESTINATIONS_KEY]: destinations, [PUBLISHER_KEY]: podUid };
  // A Secret that was made in the meantime is AlreadyExists, and the stream is reconciled again.
  await (secret ? writeSecret(deps, stream, secret, content) : createSecret(deps, stream, content));
  return { publisherUid: podUid, isNew: true };
}

/** The token with which a pod of the stream is controlled; undefined when there is none. */
export async function readControlToken(
  deps: Pick<ControllerDeps, 'kube'>,
  stream: LoopStream,
  pod: Pod,
): Promise<string | undefined> {
  const granted = await readGrantedToken(deps, pod);
  if (granted !== undefined) return granted;
  const secret = await findStreamSecret(deps, stream);
  return secret && decodeSecret(secret)[CONTROL_TOKEN_KEY];
}
