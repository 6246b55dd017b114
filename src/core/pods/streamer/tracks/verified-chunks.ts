/**
 * Remembers the chunks whose content was as their index says. A loop reads the same chunks for days, and a hash of each reading takes a tenth
 * of a stream's processor time. An object that is replaced has another version. A disk that rots changes no version, so a chunk is
 * verified again after an hour. Pure: no I/O, no clock.
 */

import { setNewest } from '../../../lib/newest.ts';

/** Eight hours of chunks of pictures and of sound, in a fifth of a MiB. A longer list is verified in each round. */
const MAX_CHUNKS = 2048;
const VALID_MS = 3_600_000;

interface Verified {
  version: string;
  atMs: number;
}

/** Times are milliseconds of a clock that never goes back. */
export class VerifiedChunks {
  /** By the keys of the objects; the one that was added first is the first to go. */
  readonly #verified = new Map<string, Verified>();

  has(key: string, version: string, nowMs: number): boolean {
    const known = this.#verified.get(key);
    return known?.version === version && nowMs - known.atMs < VALID_MS;
  }

  add(key: string, version: string, nowMs: number): void {
    setNewest(this.#verified, key, { version, atMs: nowMs }, MAX_CHUNKS);
  }
}
