/** Runs docker, kind and Helm for the cluster of `make run ARGS="--kind"`, and checks that they can run before anything starts. */
import { hostname } from 'node:os';
import { ConfigError } from '../../../src/core/settings/settings.ts';
import type { LocalEnvironment } from '../../process/environment.ts';
import { type CommandOptions, run } from '../../process/run.ts';
import { type EngineInfo, whyOutOfReach } from './engine.ts';

export type Commands = Record<Command, (args: readonly string[], options?: Options) => Promise<string>> & {
  /** The environment of the commands. */
  env: Record<string, string>;
};

type Command = 'docker' | 'kind' | 'helm';
type Options = Omit<CommandOptions, 'env' | 'cwd'>;

const ENGINE_GUIDE = 'https://docs.docker.com/engine/install/';
const PROGRAMS: Record<Command, { name: string; probe: string[]; guide: string }> = {
  docker: { name: 'the Docker client', probe: ['--version'], guide: ENGINE_GUIDE },
  kind: {
    name: 'kind',
    probe: ['version'],
    guide: 'https://kind.sigs.k8s.io/docs/user/quick-start/#installation',
  },
  helm: { name: 'Helm', probe: ['version', '--short'], guide: 'https://helm.sh/docs/intro/install/' },
};

/** Go's traces of the stack, and the words of the lines before an error, tell a person nothing. */
function readComplaint(stderr: string): string {
  const lines = stderr.trim().split('\n');
  const errors = lines.filter((line) => /^(error|fatal)\b/i.test(line.trim()));
  return (errors.length > 0 ? errors : lines.slice(-5)).join('\n').slice(-2000);
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1)?.trim() ?? '';

/** Returns the commands. Each resolves to its standard output, and rejects with the end of its complaint. */
export function createCommands({ all }: Pick<LocalEnvironment, 'all'>): Commands {
  // A variable of the user's may make kind take podman, and older clients build without BuildKit by default.
  const env = { ...(all as Record<string, string>), KIND_EXPERIMENTAL_PROVIDER: 'docker', DOCKER_BUILDKIT: '1' };
  const command = (program: Command) => async (args: readonly string[], options?: Options) => {
    const { ok, stdout, stderr } = await run(program, args, { timeoutMs: 60_000, ...options, env });
    if (ok) return stdout;
    throw new Error(`\`${program} ${args.slice(0, 2).join(' ')}\` failed: ${readComplaint(stderr)}`);
  };
  return { docker: command('docker'), kind: command('kind'), helm: command('helm'), env };
}

/** Returns the facts of the engine. ConfigError, one sentence with a link, says which program or engine `--kind` lacks. */
export async function requireKind(environment: Pick<LocalEnvironment, 'all'>): Promise<EngineInfo> {
  for (const [program, { name, probe, guide }] of Object.entries(PROGRAMS)) {
    const { ok } = await run(program, probe, { env: environment.all });
    if (!ok) throw new ConfigError(`--kind needs ${name}, and \`${program}\` does not run here. Install it: ${guide}`);
  }
  const { docker } = createCommands(environment);
  // `docker info` of older clients ends well without an engine.
  await docker(['version', '--format', '{{.Server.Version}}']).catch((error: Error) => {
    throw new ConfigError(
      `--kind needs a Docker engine, and none answers: ${lastLine(error.message)} Start it, or install it: ${ENGINE_GUIDE}`,
    );
  });
  const info = JSON.parse(await docker(['info', '--format', '{{json .}}'])) as EngineInfo;
  const why = whyOutOfReach(info, hostname());
  if (why === undefined) return info;
  throw new ConfigError(
    `--kind needs a Docker engine whose containers reach this machine; of the one that answers, ${why}. Install one here: ${ENGINE_GUIDE}`,
  );
}
