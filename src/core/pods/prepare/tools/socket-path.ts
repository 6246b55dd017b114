/** Shortens paths of sockets: Linux takes 107 bytes (sun_path), which a directory of a pod may exceed. */
import { closeSync, existsSync, openSync } from 'node:fs';
import { basename, dirname } from 'node:path';

const MAX_BYTES = 107;

/** Returns an equivalent path that is short enough, and a function to release it. */
export function shortSocketPath(path: string): { path: string; release: () => void } {
  if (Buffer.byteLength(path) <= MAX_BYTES || !existsSync('/proc/self/fd')) return { path, release: () => undefined };
  const directory = openSync(dirname(path), 'r');
  let open = true;
  const release = () => {
    // After the first close, the descriptor's number may belong to another file.
    if (open) closeSync(directory);
    open = false;
  };
  return { path: `/proc/self/fd/${directory}/${basename(path)}`, release };
}
