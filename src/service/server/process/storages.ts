/** Opens the storage of each namespace of accounts. */
import { openStorage } from '../../../core/pods/storage/open.ts';
import type { Storage } from '../../../core/pods/storage/storage.ts';
import { NAMESPACE_PLACEHOLDER } from '../../../core/settings/common.ts';
import type { ApiConfig } from '../setup/settings.ts';

/** Returns undefined without a storage. Rejects with a TypeError for a wrong URL. */
export async function openStorages(
  { storageUrl, storageCredentials: credentials }: Pick<ApiConfig, 'storageUrl' | 'storageCredentials'>,
  namespaces: readonly string[],
): Promise<((object: { metadata: { namespace?: string } }) => Storage) | undefined> {
  if (storageUrl === undefined) return undefined;
  const open = (namespace: string) =>
    openStorage(storageUrl.replaceAll(NAMESPACE_PLACEHOLDER, namespace), { credentials });
  if (!storageUrl.includes(NAMESPACE_PLACEHOLDER)) {
    const shared = await open('');
    return () => shared;
  }
  const storages = new Map(await Promise.all(namespaces.map(async (one) => [one, await open(one)] as const)));
  return ({ metadata: { namespace = '' } }) => {
    const storage = storages.get(namespace);
    if (!storage) throw new TypeError(`The server opened no storage for namespace ${namespace}.`);
    return storage;
  };
}
