/**
 * Keeps the one Secret of a stream, with all that its pods are given and nobody else may see, and the publisher lock in it. The
 * Secret is named after the stream's UID and goes when the stream goes. Secrets of destinations are read by their names, never
 * listed or watched. The key of view tokens (resources/stream/view-token.ts) is one Secret in the streams' namespace, which the
 * operator makes and the API server may read; it is read once for each client and namespace.
 */

import { createHash, randomBytes } from 'node:crypto';
import { PODS, type Pod, SECRETS, type Secret } from '../../kube/core.ts';
import { hasReason, type Kube, type Stored } from '../../kube/types.ts';
import { setNewest } from '../../lib/newest.ts';
import type { Destinations } from '../../protocol/destinations.ts';
import {
  CONTROL_TOKEN_KEY,
  DESTINATIONS_KEY,
  MANAGED_BY,
  MANAGED_BY_LABEL,
  PUBLISHER_KEY,
  podNames,
  SECRET_KEY_KEY,
  SECRET_LOGIN_KEYS,
  SECRET_URL_KEY,
  streamSecretName,
  VIEW_KEY_KEY,
  VIEW_KEY_SECRET,
  VIEW_TOKEN_KEY,
} from '../../resources/common/names.ts';
import { controlToken } from '../../resources/stream/control-token.ts';
import { listReceivers } from '../../resources/stream/destinations.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import { viewToken } from '../../resources/stream/view-token.ts';
import type { ControllerDeps } from '../caches/controller-deps.ts';
import { isOwnedBy, ownedBy } from '../pods/security.ts';
import { isOver } from '../pods/status.ts';
import { findSecret, findSecretText } from './find-secret.ts';
import { type FirstStart, isFirstPod, readFirstToken } from './first-pod.ts';
import type { Observation } from './observation.ts';

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

/** Whether the stream has its Secret, by the API server. */
export const hasSecret = async (deps: Pick<ControllerDeps, 'kube'>, stream: LoopStream): Promise<boolean> =>
  (await findStreamSecret(deps, stream)) !== undefined;

/** The destinations as the streamer reads them (media/streamer/mounted-files.ts). One whose Secret is missing is left out. */
async function readDestinations(deps: Pick<ControllerDeps, 'kube'>, { stream, destinations }: Sent): Promise<string> {
  const { namespace = '' } = stream.metadata;
  const read = await Promise.all(
    listReceivers(stream.spec).map(async (name) => {
      const destination = destinations.get(name);
      const data = destination && (await findSecret(deps.kube, namespace, destination.spec.secretName))?.data;
      if (data?.[SECRET_URL_KEY] === undefined) return [];
      const login = SECRET_LOGIN_KEYS.filter((key) => data[key] !== undefined);
      const members = [SECRET_URL_KEY, SECRET_KEY_KEY, ...login].map((key) => [key, decode(data[key] ?? '').trim()]);
      return [[name, Object.fromEntries(members) as Record<string, string>]] as const;
    }),
  );
  const handedOver: Destinations = Object.fromEntries(read.flat());
  return JSON.stringify(handedOver);
}

const encode = (text: string): string => Buffer.from(text).toString('base64');

/** Brings the destinations in the Secret up to date; writes nothing when they are. A stream whose pod was its first has none before. */
export async function updateSecret(deps: Pick<ControllerDeps, 'kube'>, sent: Sent): Promise<void> {
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

const findStreamViewToken = ({ kube }: Pick<ControllerDeps, 'kube'>, { metadata }: LoopStream): Promise<string> =>
  findViewToken(kube, metadata.namespace ?? '', metadata.uid);

/** Fails with Conflict when another write came before; the stream is reconciled again then. */
async function writeSecret(
  deps: Pick<ControllerDeps, 'kube'>,
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
 * Makes the Secret ahead of the first pod, which need not wait for it then. It names no publisher, so a pod that reads it is held.
 * A Secret that exists stays as it is.
 */
export async function ensureSecret(deps: Pick<ControllerDeps, 'kube'>, sent: Sent): Promise<void> {
  try {
    await createSecret(deps, sent.stream, { [DESTINATIONS_KEY]: await readDestinations(deps, sent) });
  } catch (error) {
    if (!hasReason(error, 'AlreadyExists')) throw error;
  }
}

const createSecret = async (
  deps: Pick<ControllerDeps, 'kube'>,
  stream: LoopStream,
  given: StreamSecret,
): Promise<void> => {
  const content = { ...given, [VIEW_TOKEN_KEY]: await findStreamViewToken(deps, stream) };
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const made = {
    metadata: {
      name: streamSecretName(stream.metadata.uid),
      // One label alone: each is stored twice, once as a managed field.
      labels: { [MANAGED_BY_LABEL]: MANAGED_BY },
      ownerReferences: ownedBy('LoopStream', stream),
    },
    type: 'Opaque',
    stringData: { [CONTROL_TOKEN_KEY]: token, ...content },
  };
  await deps.kube.create(SECRETS, stream.metadata.namespace ?? '', made as unknown as Secret);
  remember(madeTokens, deps.kube, stream.metadata.uid, digestToken(token));
};

/** The stream's pods of these names as the API server has them at this moment, whatever the caches say. */
export async function fetchPods(
  { kube }: Pick<ControllerDeps, 'kube'>,
  { metadata }: LoopStream,
  names: readonly string[] = podNames(metadata.name),
): Promise<Pod[]> {
  const { namespace = '' } = metadata;
  const fetchOne = async (podName: string): Promise<Pod[]> => {
    try {
      return [await kube.get(PODS, namespace, podName)];
    } catch (error) {
      if (hasReason(error, 'NotFound')) return [];
      throw error;
    }
  };
  return (await Promise.all(names.map(fetchOne))).flat().filter((pod) => isOwnedBy(pod, { metadata }));
}

/** The same of the stream's pods but the one of this name. */
export const fetchOtherPods = (deps: Pick<ControllerDeps, 'kube'>, stream: LoopStream, name: string): Promise<Pod[]> =>
  fetchPods(
    deps,
    stream,
    podNames(stream.metadata.name).filter((one) => one !== name),
  );

/**
 * Acquires the publisher lock for a pod: the Secret names the pod that may publish. Returns the UID of the publisher, which is
 * another pod's while anything of that may still run, and whether the lock has changed hands just now. One publisher for one
 * stream rests on this function and on acquireFirstPublisher alone:
 *
 * - A pod publishes only when the Secret names it (media/streamer/control/publisher-lock.ts).
 * - Another pod is named only when the one before is over (pods/status.ts). A pod that is over never runs again, so it does not
 *   matter how much later the name is written, by which of several operators, or from how old a cache it was decided.
 * - The write is of the version of the Secret in which the publisher was read, so of two at once one fails.
 * - Where no Secret names a publisher, as when somebody has deleted it, every other pod counts as the publisher. A pod is created
 *   before the other pod is read for it. So of two pods at once, at least one is found by the read for the other, which is not named.
 * - The first pod of a stream, which no Secret need name, counts as the publisher until it is over (first-start.ts).
 */
export async function acquirePublisher(
  deps: Pick<ControllerDeps, 'kube'>,
  sent: Sent,
  podUid: string,
): Promise<{ publisherUid: string; isNew: boolean }> {
  const { stream } = sent;
  const secret = await findStreamSecret(deps, stream);
  const publisherUid = secret && decodeSecret(secret)[PUBLISHER_KEY];
  if (publisherUid === podUid) return { publisherUid, isNew: false };
  // A Secret names no publisher that an older operator made, or that was deleted, or that was made before the first pod: then
  // every other pod may publish.
  const [pods, destinations] = await Promise.all([fetchPods(deps, stream), readDestinations(deps, sent)]);
  const others = pods.filter((pod) => pod.metadata.uid !== podUid && !isOver(pod));
  const isHolder = (pod: Pod) => publisherUid === undefined || pod.metadata.uid === publisherUid || isFirstPod(pod);
  const holder = others.find(isHolder);
  if (holder) return { publisherUid: holder.metadata.uid, isNew: false };
  const content = { [DESTINATIONS_KEY]: destinations, [PUBLISHER_KEY]: podUid };
  // A Secret that was made in the meantime is AlreadyExists, and the stream is reconciled again.
  await (secret ? writeSecret(deps, stream, secret, content) : createSecret(deps, stream, content));
  return { publisherUid: podUid, isNew: true };
}

/**
 * Acquires the publisher lock for a pod that was created a moment ago, of a stream that probably had none before. It does what
 * acquirePublisher does where there is no Secret, with two requests less. The creation of the pod is the read of its own name, so
 * that only the other name is read. The creation of the Secret, which fails with AlreadyExists where there is one, is the read of
 * the Secret; the stream is reconciled again then. While the other pod may run, nothing is written. A wrong guess of the caller
 * therefore costs requests, and never a second publisher.
 */
export async function acquireFirstPublisher(deps: Pick<ControllerDeps, 'kube'>, sent: Sent, pod: Pod): Promise<void> {
  const { stream } = sent;
  const { name, uid } = pod.metadata;
  const [others, destinations] = await Promise.all([fetchOtherPods(deps, stream, name), readDestinations(deps, sent)]);
  if (others.some((other) => !isOver(other))) return;
  await createSecret(deps, stream, { [DESTINATIONS_KEY]: destinations, [PUBLISHER_KEY]: uid });
  remember(named, deps.kube, uid, true);
}

/** Facts that a client has just written, by UID, until somebody asks for them. */
type Recent<T> = WeakMap<Kube, Map<string, T>>;
/** The oldest fact is forgotten when there are more. */
const MOST_RECENT = 10_000;

function remember<T>(recent: Recent<T>, kube: Kube, uid: string, value: T): void {
  const values = recent.get(kube) ?? new Map<string, T>();
  recent.set(kube, values);
  setNewest(values, uid, value, MOST_RECENT);
}

function take<T>(recent: Recent<T>, kube: Kube, uid: string): T | undefined {
  const values = recent.get(kube);
  const value = values?.get(uid);
  values?.delete(uid);
  return value;
}

/** Pods that were named as publishers. */
const named: Recent<true> = new WeakMap();
/** Digests of the control tokens of streams, and of first pods. */
const madeTokens: Recent<Buffer> = new WeakMap();

/**
 * Returns true once for a pod that acquireFirstPublisher has named by this client, so that the status can be written without another
 * read. Meanwhile the lock may have passed on, so nothing may be sent to the pod for this answer.
 */
export const takeNamedPublisher = (kube: Kube, podUid: string): boolean => take(named, kube, podUid) ?? false;

export const digestToken = (token: string): Buffer => createHash('sha256').update(token).digest();

/** Remembers the control token of a first pod that this client has just made. */
export const rememberFirstPod = (kube: Kube, { metadata: { uid } }: Pod, { controlKey }: FirstStart): void =>
  remember(madeTokens, kube, uid, digestToken(controlToken(controlKey, uid)));

/**
 * Returns once the digest of the control token of a pod whose Secret, or which itself as the first pod, this client has made: the first
 * report needs no read then.
 */
export const takeMadeToken = (kube: Kube, stream: LoopStream, pod: Pod): Buffer | undefined =>
  take(madeTokens, kube, isFirstPod(pod) ? pod.metadata.uid : stream.metadata.uid);

/** The token with which a pod of the stream is controlled; undefined when there is none. */
export async function readControlToken(
  deps: Pick<ControllerDeps, 'kube'>,
  stream: LoopStream,
  pod: Pod,
): Promise<string | undefined> {
  const first = await readFirstToken(deps, pod);
  if (first !== undefined) return first;
  const secret = await findStreamSecret(deps, stream);
  return secret && decodeSecret(secret)[CONTROL_TOKEN_KEY];
}

const KEY_BYTES = 32;

const known = new WeakMap<Kube, Map<string, Promise<string>>>();

const readKey = (kube: Kube, namespace: string): Promise<string | undefined> =>
  findSecretText(kube, namespace, VIEW_KEY_SECRET, VIEW_KEY_KEY);

async function findOrMakeKey(kube: Kube, namespace: string): Promise<string> {
  const found = await readKey(kube, namespace);
  if (found !== undefined) return found;
  const made = randomBytes(KEY_BYTES).toString('base64url');
  const secret = {
    metadata: { name: VIEW_KEY_SECRET, labels: { [MANAGED_BY_LABEL]: MANAGED_BY } },
    type: 'Opaque',
    stringData: { [VIEW_KEY_KEY]: made },
  };
  try {
    await kube.create(SECRETS, namespace, secret as unknown as Secret);
    return made;
  } catch (error) {
    // Another operator has made it just now.
    if (!hasReason(error, 'AlreadyExists')) throw error;
    return (await readKey(kube, namespace)) ?? made;
  }
}

/** Drops the cached key of a namespace: its namespace may have been deleted and created anew. */
export const forgetViewKey = (kube: Kube, namespace: string): void => void known.get(kube)?.delete(namespace);

/** The token of a stream's pods. Makes the key where there is none; what fails is tried again at the next call. */
export async function findViewToken(kube: Kube, namespace: string, streamUid: string): Promise<string> {
  const keys = known.get(kube) ?? new Map<string, Promise<string>>();
  known.set(kube, keys);
  const key = keys.get(namespace) ?? findOrMakeKey(kube, namespace);
  keys.set(namespace, key);
  try {
    return viewToken(await key, streamUid);
  } catch (error) {
    keys.delete(namespace);
    throw error;
  }
}
