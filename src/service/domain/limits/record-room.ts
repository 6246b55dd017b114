/**
 * Computes how much room a server has for the records of all accounts together. Each server holds all of them in its caches, and reads
 * them first when it starts: beyond its memory it would end again and again, for everybody. The limits of accounts bound each of them, not
 * their sum.
 */
import { totalmem } from 'node:os';
import type { Reflector } from '../../../core/kube/reflector.ts';
import type { KubeObject } from '../../../core/kube/types.ts';

/**
 * Part of its memory that a process fills with the JSON of records. A megabyte of it takes 1.6 MB, and twice as much for a moment; a process
 * without records takes 200 MB of the 512 MiB that the chart gives it.
 */
const SHARE = 1 / 4;

/** Returns how many bytes of records a process holds by its memory; without a limit of its own, by that of the machine. */
export function computeRecordCapacity(): number {
  const limit = process.constrainedMemory();
  return SHARE * (limit > 0 ? Math.min(limit, totalmem()) : totalmem());
}

/** Counts the bytes of all objects in caches, from now on. */
export function countCachedBytes(caches: readonly Pick<Reflector<KubeObject>, 'onChange'>[]): () => number {
  let total = 0;
  for (const cache of caches) {
    const sizes = new Map<string, number>();
    cache.onChange(
      (key, current, previous) => {
        // Most changes are of a status, which stays about as long.
        const isSameSpec = current?.metadata.generation === previous?.metadata.generation;
        if (current && sizes.has(key) && isSameSpec) return;
        const bytes = current ? Buffer.byteLength(JSON.stringify(current)) : 0;
        total += bytes - (sizes.get(key) ?? 0);
        if (current) sizes.set(key, bytes);
        else sizes.delete(key);
      },
      { replay: true },
    );
  }
  return () => total;
}
