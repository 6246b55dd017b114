/**
 * Keeps the keys of view tokens (resources/stream/view-token.ts). Each namespace of streams has one, in a Secret that the operator makes and
 * the API server may read. It is read once.
 */

import { randomBytes } from 'node:crypto';
import { SECRETS, type Secret } from '../../kube/core.ts';
import { hasReason, type Kube } from '../../kube/types.ts';
import { MANAGED_BY, MANAGED_BY_LABEL, VIEW_KEY_KEY, VIEW_KEY_SECRET } from '../../resources/common/names.ts';
import { viewToken } from '../../resources/stream/view-token.ts';
import { findSecretText } from './find-secret.ts';

const KEY_BYTES = 32;

export interface ViewKeys {
  /** Returns the token of a stream's pods. Makes the key where there is none; what fails is tried again at the next call. */
  findToken(namespace: string, streamUid: string): Promise<string>;
  /** Reads the key of a namespace again at the next call: it may have gone with its namespace, and another one come. */
  forget(namespace: string): void;
}

export function createViewKeys(kube: Kube): ViewKeys {
  const keys = new Map<string, Promise<string>>();
  return {
    async findToken(namespace, streamUid) {
      const key = keys.get(namespace) ?? findOrMakeKey(kube, namespace);
      keys.set(namespace, key);
      try {
        return viewToken(await key, streamUid);
      } catch (error) {
        keys.delete(namespace);
        throw error;
      }
    },
    forget: (namespace) => void keys.delete(namespace),
  };
}

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
