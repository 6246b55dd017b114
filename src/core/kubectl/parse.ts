/** Parses the command line of a command by its flags. Pure: no I/O, no clock. */
import { parseArgs } from 'node:util';
import { CLUSTER_FLAGS, HELP_FLAG } from './commands.ts';
import { type Command, type Flags, type FlagValues, UsageError } from './shell/call.ts';

export interface Parsed {
  args: string[];
  flags: FlagValues;
}

const toOptions = (flags: Flags) =>
  Object.fromEntries(
    Object.entries(flags).map(([name, { type, short }]) => [name, { type, ...(short !== undefined && { short }) }]),
  );

export const allFlags = ({ flags, isLocal }: Pick<Command, 'flags' | 'isLocal'>): Flags => ({
  ...flags,
  ...(!isLocal && CLUSTER_FLAGS),
  ...HELP_FLAG,
});

/** Throws UsageError. With --help nothing else is checked. */
export function parseCommandLine(command: Command, words: readonly string[]): Parsed {
  const known = allFlags(command);
  const { values, positionals: args } = parse(known, words);
  if (values.help) return { args, flags: values };
  for (const [name, { values: allowed }] of Object.entries(known)) {
    const value = values[name];
    if (allowed && value !== undefined && !allowed.includes(String(value)))
      throw new UsageError(`--${name} is one of ${allowed.join(', ')}, not "${value}".`);
  }
  const { min, max } = command.arguments;
  if (args.length < min) throw new UsageError(`It needs ${command.usage}.`);
  if (args.length > max)
    throw new UsageError(
      max === 0 ? 'It takes no argument.' : `It takes ${command.usage}, and not "${args[max]}" too.`,
    );
  return { args, flags: values };
}

function parse(known: Flags, words: readonly string[]): { values: FlagValues; positionals: string[] } {
  try {
    const args = words.map((word) => {
      const bare = word.startsWith('--') ? known[word.slice(2)]?.bare : undefined;
      return bare === undefined ? word : `${word}=${bare}`;
    });
    const { values, positionals } = parseArgs({ args, options: toOptions(known), allowPositionals: true });
    return { values: values as FlagValues, positionals };
  } catch (error) {
    throw new UsageError((error as Error).message.split('. ', 1)[0]?.replace(/\.?$/, '.') ?? '');
  }
}
