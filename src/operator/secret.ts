/**
 * The one Secret of a stream: all that its pods are given and nobody else may see. It is named after the stream's UID and
 * goes when the stream goes. Destinations' Secrets are read by their names, never listed or watched.
 */
import { randomBytes } from 'node:crypto';
import { type LoopStream, SECRETS, type Secret } from '../kube/resources.ts';
import type { Stored } from '../kube/types.ts';
import {
  CONTROL_TOKEN_KEY,
  DESTINATIONS_KEY,
  SECRET_KEY_KEY,
  SECRET_URL_KEY,
  streamSecretName,
} from '../streams/names.ts';
import { isReason, type Tools } from './control.ts';
import { labelsFor, ownedBy } from './restricted.ts';
import type { World } from './world.ts';

const TOKEN_BYTES = 32;

/** Keys of the Secret → their text. */
export type StreamSecret = Partial<Record<typeof CONTROL_TOKEN_KEY | typeof DESTINATIONS_KEY, string>>;

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
      const url = data?.[SECRET_URL_KEY];
      if (url === undefined) return [];
      return [[name, { rtmpUrl: decode(url).trim(), rtmpKey: decode(data?.[SECRET_KEY_KEY] ?? '').trim() }]] as const;
    }),
  );
  return JSON.stringify(Object.fromEntries(destinations.flat()));
}

/**
 * Makes the Secret, or brings it up to date; writes nothing when it says what it should. A write that another one came
 * before is a Conflict, and the stream is looked at again.
 */
export async function bringSecret({ kube }: Pick<Tools, 'kube'>, stream: LoopStream, world: World): Promise<void> {
  const { uid, namespace = '' } = stream.metadata;
  const destinations = await destinationsOf({ kube }, stream, world);
  const made = {
    metadata: {
      name: streamSecretName(uid),
      labels: labelsFor(stream, 'streamer'),
      ownerReferences: ownedBy('LoopStream', stream),
    },
    type: 'Opaque',
    stringData: {
      [CONTROL_TOKEN_KEY]: randomBytes(TOKEN_BYTES).toString('base64url'),
      [DESTINATIONS_KEY]: destinations,
    },
  };
  try {
    await kube.create(SECRETS, namespace, made as unknown as Secret);
    return;
  } catch (error) {
    if (!isReason(error, 'AlreadyExists')) throw error;
  }
  const secret = await kube.get(SECRETS, namespace, streamSecretName(uid));
  if (contentOf(secret)[DESTINATIONS_KEY] === destinations) return;
  const data = { ...secret.data, [DESTINATIONS_KEY]: Buffer.from(destinations).toString('base64') };
  await kube.replace(SECRETS, namespace, { ...secret, data });
}

/** The token with which a stream's pods are controlled; undefined when there is none. */
export async function readToken(tools: Pick<Tools, 'kube'>, stream: LoopStream): Promise<string | undefined> {
  const secret = await found(tools, stream);
  return secret && contentOf(secret)[CONTROL_TOKEN_KEY];
}
