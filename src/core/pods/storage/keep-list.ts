/**
 * Packs the list of objects that a sweep must keep, small enough for a Job's environment: the first bytes of a hash for
 * each key. A collision (one chance in 10^13 for a million keys) would keep an object that nobody needs, never delete
 * one that is needed.
 * Pure: no I/O, no clock.
 */
import { createHash } from 'node:crypto';
import { parseChunkKey, stripSuffix } from '../rendition/format.ts';

const HASH_BYTES = 8;
/** An environment variable takes 128 KiB on Linux (MAX_ARG_STRLEN); this number of hashes takes 86,000 characters. */
const KEYS_PER_SHARD = 8000;

/** The pieces of an upload: below its key. */
const INCOMING = /^incoming\/[^/]+/;

/**
 * Returns the base of a key. Objects that belong together share one: a rendition, its index, its plan, its chunks and their entries; the
 * pieces of an upload. Each of them begins with it.
 */
export const getBaseKey = (key: string): string =>
  INCOMING.exec(key)?.[0] ?? parseChunkKey(key)?.renditionKey ?? stripSuffix(key);

const hashBase = (base: string): Buffer => createHash('sha256').update(base).digest();

/** Returns the number of parts for this many keys. */
export const shardsFor = (keys: number): number => Math.max(1, Math.ceil(keys / KEYS_PER_SHARD));

/** Returns the part of a base. Its bytes are not those of the kept hash, so that parts stay even. */
export const computeShard = (base: string, shards: number): number => hashBase(base).readUInt32BE(HASH_BYTES) % shards;

/** Packs the bases of one part for KeepList. */
export function packKeep(bases: Iterable<string>, shard: number, shards: number): string {
  const hashes = [...new Set(bases)]
    .filter((base) => computeShard(base, shards) === shard)
    .map((base) => hashBase(base).subarray(0, HASH_BYTES));
  return Buffer.concat(hashes.sort(Buffer.compare)).toString('base64');
}

/** Reads a packed list. */
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
