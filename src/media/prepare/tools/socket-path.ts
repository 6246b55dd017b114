/** Paths of sockets: Linux takes 107 bytes (sun_path), which a directory of a pod may exceed. */
import { closeSync, existsSync, openSync } from 'node:fs';
import { basename, dirname } from 'node:path';

const MAX_BYTES = 107;

/** A path that means the same and is short enough, and what to do when it is needed no more. */
export function shortSocketPath(path: string): { path: string; release: () => void } {
  if (Buffer.byteLength(path) <= MAX_BYTES || !existsSync('/proc/self/fd')) return { path, release: () => undefined };
  const directory = openSync(dirname(path), 'r');
  let open = true;
  const release = () => {
    // Its number may be another's by the second time.
    if (open) closeSync(directory);
    open = false;
  };
  return { path: `/proc/self/fd/${directory}/${basename(path)}`, release };
}
