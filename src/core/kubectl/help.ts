/** Writes the help of the plugin and of each command. Pure: no I/O, no clock. */
import { CLUSTER_FLAGS, COMMANDS, HELP_FLAG } from './commands.ts';
import type { Command, Flags } from './shell/call.ts';

const pair = (left: string, right: string, width: number): string => `  ${left.padEnd(width)}  ${right}\n`;

function listFlags(flags: Flags): string {
  const rows = Object.entries(flags).map(([name, { short, value, description }]) => ({
    left: `${short ? `-${short}, ` : '    '}--${name}${value ? ` ${value}` : ''}`,
    description,
  }));
  const width = Math.max(...rows.map(({ left }) => left.length));
  return rows.map(({ left, description }) => pair(left, description, width)).join('');
}

export function describePlugin(): string {
  const width = Math.max(...Object.keys(COMMANDS).map((name) => name.length));
  const commands = Object.entries(COMMANDS).map(([name, { summary }]) => pair(name, summary, width));
  return `kubectl loop: streams of loopstream on air, in one view

Usage: kubectl loop COMMAND [arguments] [flags]

Commands:
${commands.join('')}
Flags of every command that asks the cluster:
${listFlags(CLUSTER_FLAGS)}
Exit status: 0 done, 1 not done or something is wrong, 2 wrong use.
To see the flags of a command, run: kubectl loop COMMAND --help
`;
}

export function describeCommand(name: string, { summary, usage, details, examples, flags, isLocal }: Command): string {
  const all = { ...flags, ...(!isLocal && CLUSTER_FLAGS), ...HELP_FLAG };
  return [
    `kubectl loop ${name}: ${summary}\n`,
    `Usage: kubectl loop ${name}${usage ? ` ${usage}` : ''} [flags]\n`,
    ...(details ? [`${details}\n`] : []),
    ...(examples ? [`Examples:\n${examples.map((example) => `  ${example}\n`).join('')}`] : []),
    `Flags:\n${listFlags(all)}`,
  ].join('\n');
}
