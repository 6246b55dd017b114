/** Runs one command of the plugin, and turns its errors into a sentence and an exit status: 0, 1 (not done), 2 (wrong use). */
import { ConfigError } from '../settings/settings.ts';
import { COMMANDS } from './commands.ts';
import { describeCommand, describePlugin } from './help.ts';
import { type Parsed, parseCommandLine } from './parse.ts';
import { type Command, CommandError, type CommandRun, UsageError } from './shell/call.ts';
import type { Cluster, ClusterFlags } from './shell/cluster.ts';
import { describeFailure } from './shell/failure.ts';
import { warn, write } from './shell/output.ts';

/** Resolves to the exit status. */
export async function runPlugin([name, ...words]: readonly string[]): Promise<number> {
  if (name === undefined || ['help', '--help', '-h'].includes(name)) {
    const [topic] = words;
    if (topic !== undefined && COMMANDS[topic]) write(describeCommand(topic, COMMANDS[topic]));
    else write(describePlugin());
    return name === undefined ? 2 : 0;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command) return runCommand(name, command, words);
  const misplaced = name.startsWith('-') ? ' Flags stand behind the command.' : '';
  warn(`kubectl loop: "${name}" is not a command.${misplaced} See kubectl loop --help.`);
  return 2;
}

async function runCommand(name: string, command: Command, words: readonly string[]): Promise<number> {
  let parsed: Parsed;
  try {
    parsed = parseCommandLine(command, words);
  } catch (error) {
    return explainError(name, error, '');
  }
  if (parsed.flags.help) {
    write(describeCommand(name, command));
    return 0;
  }
  let opened: Cluster | undefined;
  try {
    // The client of Kubernetes is most of the program.
    const [{ openCluster }, run] = await Promise.all([
      import('./shell/cluster.ts'),
      command.load() as Promise<CommandRun>,
    ]);
    const cluster = () => (opened ??= openCluster(parsed.flags as ClusterFlags));
    return await run({ ...parsed, cluster });
  } catch (error) {
    return explainError(name, error, opened?.namespace ?? '');
  } finally {
    await opened?.kube.close();
  }
}

/** An error without a sentence of ours is a bug, and shows where it is. */
function explainError(name: string, error: unknown, namespace: string): number {
  if (error instanceof UsageError) {
    warn(`kubectl loop ${name}: ${error.message} See kubectl loop ${name} --help.`);
    return 2;
  }
  const isKnown = error instanceof CommandError || error instanceof ConfigError;
  const sentence = isKnown ? error.message : describeFailure(error, namespace);
  warn(`kubectl loop ${name}: ${sentence ?? (error instanceof Error ? error.stack : String(error))}`);
  return 1;
}
