/**
 * Proves which parts an upload is joined from. The API server writes the proof beside the upload's own pieces. A person with kubectl can name
 * any part in an Upload, but cannot write to the storage.
 */
import { Type } from 'typebox';
import { parseAs } from '../../lib/parse.ts';
import { readSmall } from './read-small.ts';
import type { Storage } from './storage.ts';

const Join = Type.Object({ keys: Type.Array(Type.String()) });

const joinKey = (key: string): string => `${key}/joined.json`;

/** Writes that an upload, whose own pieces would be below `key`, is joined from the pieces below `keys`. */
export const writeJoin = (storage: Storage, key: string, keys: readonly string[]): Promise<void> =>
  storage.write(joinKey(key), Buffer.from(JSON.stringify({ keys })));

/** Returns the keys of the parts in their order; undefined without a proof. Rejects with StorageError. */
export async function readJoin(storage: Storage, key: string): Promise<string[] | undefined> {
  const found = await readSmall(storage, joinKey(key));
  return found === undefined ? undefined : parseAs(Join, found)?.keys;
}
