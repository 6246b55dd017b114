/** Reads Secrets by their names, which may be those of Secrets that do not exist. */

import { SECRETS, type Secret } from '../../kube/core.ts';
import { hasReason, type Kube, type Stored } from '../../kube/types.ts';

/** Undefined when there is none of this name. */
export async function findSecret(kube: Kube, namespace: string, name: string): Promise<Stored<Secret> | undefined> {
  try {
    return await kube.get(SECRETS, namespace, name);
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined;
    throw error;
  }
}

/** The text of one key; undefined when there is no Secret of this name, or nothing at the key. */
export async function findSecretText(
  kube: Kube,
  namespace: string,
  name: string,
  key: string,
): Promise<string | undefined> {
  const text = (await findSecret(kube, namespace, name))?.data?.[key] ?? '';
  return Buffer.from(text, 'base64').toString() || undefined;
}
