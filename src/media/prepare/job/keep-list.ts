/**
 * The list of what a sweep must keep, small enough for a Job's environment: the first bytes of a hash for each key. Two keys
 * with the same ones (one chance in 10^13 for a million keys) would keep something that nobody needs, never the reverse.
 * Pure: no I/O, no clock.
 */
import { createHash } from 'node:crypto';

const HASH_BYTES = 8;
/** An environment variable takes 128 KiB on Linux (MAX_ARG_STRLEN); so many hashes take 86,000 characters. */
const KEYS_PER_SHARD = 8000;

/** What belongs together is kept together: a rendition and its index have one base, and so have the pieces of an upload. */
export const baseOf = (key: string): string => key.replace(/\.json$|(?<=^incoming\/[^/]+)\/.*$/, '');

const hashBase = (base: string): Buffer => createHash('sha256').update(base).digest();

/** In how many parts so many keys are swept. */
export const shardsFor = (keys: number): number => Math.max(1, Math.ceil(keys / KEYS_PER_SHARD));

/** Which part a base belongs to. The bytes are not those of the hash that is kept, so that shards stay even. */
export const shardOf = (base: string, shards: number): number => hashBase(base).readUInt32BE(HASH_BYTES) % shards;

/** The bases of one part, for KeepList. */
export function packKeep(bases: Iterable<string>, shard: number, shards: number): string {
  const hashes = [...new Set(bases)]
    .filter((base) => shardOf(base, shards) === shard)
    .map((base) => hashBase(base).subarray(0, HASH_BYTES));
  return Buffer.concat(hashes.sort(Buffer.compare)).toString('base64');
}

/** What was packed. */
export class KeepList {
  readonly #hashes = new Set<string>();

  constructor(packed: string) {
    const bytes = Buffer.from(packed, 'base64');
    for (let at = 0; at + HASH_BYTES <= bytes.length; at += HASH_BYTES) {
      this.#hashes.add(bytes.toString('latin1', at, at + HASH_BYTES));
    }
  }

  has(base: string): boolean {
    return this.#hashes.has(hashBase(base).toString('latin1', 0, HASH_BYTES));
  }
}
