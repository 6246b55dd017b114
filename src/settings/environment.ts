/**
 * Reads the process environment; no other file does. config.ts gives its variables their meaning for a role. It imports
 * little, so that the smallest programs can use it for the environment of their child processes.
 */
import { type Env, reader } from './settings.ts';

/** The environment of this process, for main.ts to hand to the role it starts. */
export const environment = (): Env => process.env;

/**
 * Variables that ffmpeg and ffprobe need. They open files from strangers, so their environment must hold no credential.
 * Some variables point libraries to certificates and fonts, and one keeps a small process small. The last one marks the
 * processes of a pod for a node without containers.
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

const PREFIX = 'LOOPSTREAM_';
/** Read by the local system itself, set by what started it, or for tests: no role has such a setting. */
const NO_SETTING = /^LOOPSTREAM_(TO|RECEIVER|NODE_CONTAINER|WRITE_RESULTS|TEST_.*)$/;

/** Settings of roles, as `make run` hands them on. Empty values count as not set. */
const roleSettings = (env: Env): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value && name.startsWith(PREFIX) && !NO_SETTING.test(name) ? [[name, value]] : [],
    ),
  );

/** Reads the variables of the local system; everything else is an option on its command line. */
export const localEnvironment = (env: Env = environment()) => {
  const { text, optional, json } = reader(env);
  return Object.freeze({
    kubebuilderAssets: env.KUBEBUILDER_ASSETS || undefined,
    cacheDir: `${env.XDG_CACHE_HOME || `${env.HOME || '/var/tmp'}/.cache`}/loopstream`,
    /** For the programs that we start to install or build something: proxies and the like are theirs. */
    all: env,
    path: env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
    home: env.HOME ?? '/',
    /** `--to` without showing the key in the process list. */
    to: optional('TO'),
    logLevel: text('LOG_LEVEL', 'info'),
    /** LOOPSTREAM_* for the roles: each limit can be tried here. The addresses that connect the parts override them. */
    settings: Object.freeze(roleSettings(env)),
    /** Set by the supervisor for the receiver that it starts. */
    receiver: () => json<unknown>('RECEIVER'),
  });
};
export type LocalEnvironment = ReturnType<typeof localEnvironment>;
