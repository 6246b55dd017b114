/**
 * Reads the environment of the process: no other file does. This file imports nothing heavy, since the smallest programs hand parts of
 * it on to those that they start.
 */
import type { Env } from './settings.ts';

/** The environment of this process, for main.ts to hand to the role it starts. */
export const environment = (): Env => process.env;

/**
 * The variables that ffmpeg and ffprobe need, and no others: they open files that strangers made, and an attacker who reads
 * their environment must find no credential there. Some tell libraries where certificates and fonts are, one keeps a small
 * process small, and the last is the mark by which a node without containers finds the processes of a pod.
 */
const FOR_TOOLS = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'LC_ALL', 'TZ', 'LD_LIBRARY_PATH'].concat([
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'FONTCONFIG_PATH',
  'MALLOC_ARENA_MAX',
  'LOOPSTREAM_NODE_CONTAINER',
]);

/** The environment for ffmpeg and ffprobe. */
export const toolEnvironment = (env: Env = environment()): Record<string, string> =>
  Object.fromEntries(
    FOR_TOOLS.flatMap((name) => {
      const value = env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
