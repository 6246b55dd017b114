/**
 * Keeps the one Secret of a stream, with all that its pods are given and nobody else may see, and the publisher lock in it. The
 * Secret is named after the stream's UID and goes when the stream goes. Secrets of destinations are read by their names, never
 * listed or watched. The key of view tokens (resources/stream/view-token.ts) is one Secret in the streams' namespace, which the
 * operator makes and the API server may read; it is read once for each client and namespace.
 */

import { randomBytes } from 'node:crypto';
import { PODS, type Pod, SECRETS, type Secret } from '../../kube/core.ts';
import type { Kube, Stored } from '../../kube/types.ts';
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
import type { LoopStream } from '../../resources/stream/resource.ts';
import { viewToken } from '../../resources/stream/view-token.ts';
import type { Tools } from '../caches/tools.ts';
import { isOwnedBy, labelsFor, ownedBy } from '../pods/security.ts';
import { isOver } from '../pods/status.ts';
import { isReason } from '../runtime/controller.ts';
import type { World } from './observe.ts';

const TOKEN_BYTES = 32;

/** Keys of the Secret → their text. */
export type StreamSecret = Partial<
  Record<typeof CONTROL_TOKEN_KEY | typeof DESTINATIONS_KEY | typeof PUBLISHER_KEY | typeof VIEW_TOKEN_KEY, string>
>;

const decode = (text: string): string => Buffer.from(text, 'base64').toString('utf8');

export const contentOf = ({ data = {} }: Secret): StreamSecret =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, decode(value)]));

/** Undefined when there is none of this name. */
async function find({ kube }: Pick<Tools, 'kube'>, namespace: string, name: string) {
  try {
    return await kube.get(SECRETS, namespace, name);
  } catch (error) {
    if (isReason(error, 'NotFound')) return undefined;
    throw error;
  }
}

const found = (tools: Pick<Tools, 'kube'>, { metadata }: LoopStream): Promise<Stored<Secret> | undefined> =>
  find(tools, metadata.namespace ?? '', streamSecretName(metadata.uid));

/** What the streamer reads (streamer/files.ts): a destination whose Secret is not there is left out. */
async function destinationsOf(tools: Pick<Tools, 'kube'>, stream: LoopStream, world: World): Promise<string> {
  const { namespace = '' } = stream.metadata;
  const destinations = await Promise.all(
    stream.spec.destinationRefs.map(async (name) => {
      const of = world.destinations.get(name);
      const data = of && (await find(tools, namespace, of.spec.secretName))?.data;
      if (data?.[SECRET_URL_KEY] === undefined) return [];
      const login = SECRET_LOGIN_KEYS.filter((key) => data[key] !== undefined);
      const members = [SECRET_URL_KEY, SECRET_KEY_KEY, ...login].map((key) => [key, decode(data[key] ?? '').trim()]);
      return [[name, Object.fromEntries(members) as Record<string, string>]] as const;
    }),
  );
  return JSON.stringify(Object.fromEntries(destinations.flat()));
}

const encode = (text: string): string => Buffer.from(text).toString('base64');

/** Brings what the pods are given up to date; writes nothing when it says what it should. */
export async function bringSecret(tools: Pick<Tools, 'kube'>, stream: LoopStream, world: World): Promise<void> {
  const secret = await found(tools, stream);
  if (!secret) return;
  const destinations = await destinationsOf(tools, stream, world);
  const content = contentOf(secret);
  // One that an older operator made has no view token.
  if (content[DESTINATIONS_KEY] === destinations && content[VIEW_TOKEN_KEY] === (await viewTokenOf(tools, stream)))
    return;
  await write(tools, stream, secret, { [DESTINATIONS_KEY]: destinations });
}

const viewTokenOf = ({ kube }: Pick<Tools, 'kube'>, { metadata }: LoopStream): Promise<string> =>
  findViewToken(kube, metadata.namespace ?? '', metadata.uid);

/** A write that another one came before is a Conflict, and the stream is looked at again. */
async function write(
  tools: Pick<Tools, 'kube'>,
  stream: LoopStream,
  secret: Stored<Secret>,
  given: StreamSecret,
): Promise<void> {
  const content = { ...given, [VIEW_TOKEN_KEY]: await viewTokenOf(tools, stream) };
  const changed = Object.fromEntries(Object.entries(content).map(([key, value]) => [key, encode(value)]));
  const data = { ...secret.data, ...changed };
  await tools.kube.replace(SECRETS, stream.metadata.namespace ?? '', { ...secret, data });
}

/**
 * Makes the Secret ahead of the first pod, so that this need not wait for it. It names nobody, so whoever reads it is held.
 * One that is there stays as it is.
 */
export async function prepareSecret(tools: Pick<Tools, 'kube'>, stream: LoopStream, world: World): Promise<void> {
  try {
    await make(tools, stream, { [DESTINATIONS_KEY]: await destinationsOf(tools, stream, world) });
  } catch (error) {
    if (!isReason(error, 'AlreadyExists')) throw error;
  }
}

const make = async (tools: Pick<Tools, 'kube'>, stream: LoopStream, given: StreamSecret): Promise<void> => {
  const content = { ...given, [VIEW_TOKEN_KEY]: await viewTokenOf(tools, stream) };
  const made = {
    metadata: {
      name: streamSecretName(stream.metadata.uid),
      labels: labelsFor(stream, 'streamer'),
      ownerReferences: ownedBy('LoopStream', stream),
    },
    type: 'Opaque',
    stringData: { [CONTROL_TOKEN_KEY]: randomBytes(TOKEN_BYTES).toString('base64url'), ...content },
  };
  await tools.kube.create(SECRETS, stream.metadata.namespace ?? '', made as unknown as Secret);
};

/** The stream's pods as the API server has them at this moment, whatever the caches say. */
export async function podsNow({ kube }: Pick<Tools, 'kube'>, { metadata }: LoopStream): Promise<Pod[]> {
  const { name, namespace = '' } = metadata;
  const one = async (of: string): Promise<Pod[]> => {
    try {
      return [await kube.get(PODS, namespace, of)];
    } catch (error) {
      if (isReason(error, 'NotFound')) return [];
      throw error;
    }
  };
  return (await Promise.all(podNames(name).map(one))).flat().filter((pod) => isOwnedBy(pod, { metadata }));
}

/**
 * Names the pod as the one that may publish, and answers with the UID of the one that is named then, of another one while
 * anything of that may still run, and whether it has been named just now. This is the only place where a publisher is made, and all that one stream with one
 * publisher rests on:
 *
 * - A pod publishes only when the Secret names it (streamer/gate.ts).
 * - Another one is named only when the one before is over (pods/status.ts). Nothing that is over ever runs again, so it does not
 *   matter how much later the name is written, by which of several operators, or from how old a cache it was decided.
 * - The write is of the version of the Secret in which the one before was read, so of two that do this at once one fails.
 */
export async function letPublish(
  tools: Pick<Tools, 'kube'>,
  stream: LoopStream,
  world: World,
  podUid: string,
): Promise<{ named: string; isNew: boolean }> {
  const secret = await found(tools, stream);
  const named = secret && contentOf(secret)[PUBLISHER_KEY];
  if (named === podUid) return { named, isNew: false };
  // Nobody is named in a Secret that an older operator made, or that was deleted, as in one that was made before the first
  // pod: then every other pod may publish.
  const [pods, destinations] = await Promise.all([podsNow(tools, stream), destinationsOf(tools, stream, world)]);
  const others = pods.filter((pod) => pod.metadata.uid !== podUid && !isOver(pod));
  const still = others.find((pod) => named === undefined || pod.metadata.uid === named);
  if (still) return { named: still.metadata.uid, isNew: false };
  const content = { [DESTINATIONS_KEY]: destinations, [PUBLISHER_KEY]: podUid };
  // One that has been made in the meantime is AlreadyExists, and the stream is looked at again.
  await (secret ? write(tools, stream, secret, content) : make(tools, stream, content));
  return { named: podUid, isNew: true };
}

/**
 * The same for the very first pod of a stream, which has no one before it: nothing is read but where it is sent. That no pod
 * was before is known by the finalizer, which is put on by one operator only and before any pod; that nobody is named, by the
 * Secret, which must not be there yet. Two that do this at once cannot both make it: AlreadyExists, and the stream is looked
 * at again.
 */
export async function letFirstPublish(
  tools: Pick<Tools, 'kube'>,
  stream: LoopStream,
  world: World,
  podUid: string,
): Promise<void> {
  await make(tools, stream, {
    [DESTINATIONS_KEY]: await destinationsOf(tools, stream, world),
    [PUBLISHER_KEY]: podUid,
  });
}

/** The token with which a stream's pods are controlled; undefined when there is none. */
export async function readToken(tools: Pick<Tools, 'kube'>, stream: LoopStream): Promise<string | undefined> {
  const secret = await found(tools, stream);
  return secret && contentOf(secret)[CONTROL_TOKEN_KEY];
}

const KEY_BYTES = 32;

const known = new WeakMap<Kube, Map<string, Promise<string>>>();

async function readKey(kube: Kube, namespace: string): Promise<string | undefined> {
  try {
    const { data } = await kube.get(SECRETS, namespace, VIEW_KEY_SECRET);
    return Buffer.from(data?.[VIEW_KEY_KEY] ?? '', 'base64').toString() || undefined;
  } catch (error) {
    if (isReason(error, 'NotFound')) return undefined;
    throw error;
  }
}

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
    if (!isReason(error, 'AlreadyExists')) throw error;
    return (await readKey(kube, namespace)) ?? made;
  }
}

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
