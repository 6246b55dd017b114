/**
 * The only place that looks at the environment itself; what its variables mean for a role is in config.ts. It brings no more than
 * itself: the smallest programs have to know what to hand on to those that they start.
 */
import { type Env, reader } from './settings.ts';

/** The environment of this process, for main.ts to hand to the role it starts. */
export const environment = (): Env => process.env;

/**
 * What ffmpeg and ffprobe need of it, and nothing else: they open files that strangers made, and whoever may look into
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

/** What the local system reads of its environment; everything else is an option on its command line. */
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
    /** LOOPSTREAM_* for the roles: each limit can be tried here. What connects the parts with each other overrides it. */
    settings: Object.freeze(roleSettings(env)),
    /** Handed by the supervisor to the receiver it starts. */
    receiver: () => json<unknown>('RECEIVER'),
  });
};
export type LocalEnvironment = ReturnType<typeof localEnvironment>;
