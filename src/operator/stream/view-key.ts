/**
 * The key of view tokens (streams/view-token.ts): one Secret in the streams' namespace, which the operator makes and the API server
 * may read. It is read once for each client and namespace; whoever deletes it restarts both servers.
 */
import { randomBytes } from 'node:crypto';
import { SECRETS, type Secret } from '../../kube/core.ts';
import type { Kube } from '../../kube/types.ts';
import { MANAGED_BY, MANAGED_BY_LABEL, VIEW_KEY_KEY, VIEW_KEY_SECRET } from '../../resources/common/names.ts';
import { viewToken } from '../../resources/stream/view-token.ts';
import { isReason } from '../runtime/controller.ts';

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
