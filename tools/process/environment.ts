/** Reads the environment of the local system. */
import { environment } from '../../src/core/settings/environment.ts';
import { type Env, reader } from '../../src/core/settings/settings.ts';

/** Settings of roles, and the variables of OpenTelemetry, which turn traces on. */
const PREFIXES = /^(LOOPSTREAM|OTEL)_/;
/** Read by the local system itself, set by what started it, or for tests: no role has such a setting. */
const NO_SETTING = /^LOOPSTREAM_(TO|RECEIVER|NODE_CONTAINER|WRITE_RESULTS|TEST_.*)$/;

/** Settings of roles, as `make run` hands them on. Empty values count as not set. */
const roleSettings = (env: Env): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value && PREFIXES.test(name) && !NO_SETTING.test(name) ? [[name, value]] : [],
    ),
  );

/** Reads the environment of the local system; everything else is an option on its command line. */
export const localEnvironment = (env: Env = environment()) => {
  return Object.freeze({
    kubebuilderAssets: env.KUBEBUILDER_ASSETS || undefined,
    cacheDir: `${env.XDG_CACHE_HOME || `${env.HOME || '/var/tmp'}/.cache`}/loopstream`,
    /** For the programs that we start to install or build something: proxies and the like are theirs. */
    all: env,
    path: env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
    home: env.HOME ?? '/',
    /** `--to` without showing the key in the process list. */
    to: env.LOOPSTREAM_TO || undefined,
    logLevel: reader(env).text('LOG_LEVEL'),
    /** LOOPSTREAM_* and OTEL_* for the roles: each limit can be tried here. Settings that connect the parts override it. */
    settings: Object.freeze(roleSettings(env)),
    /** Handed by the supervisor to the receiver it starts. */
    receiver: (): unknown => JSON.parse(env.LOOPSTREAM_RECEIVER ?? '{}'),
  });
};
export type LocalEnvironment = ReturnType<typeof localEnvironment>;
