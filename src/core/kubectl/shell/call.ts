/** Declares a command of the plugin: its flags, its arguments, and what it runs with. Pure: no I/O, no clock. */
import type { Cluster } from './cluster.ts';

/** A mistake in the command line: the process ends with status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A command that did not do what was asked for: its message is shown, and the process ends with status 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

export interface CommandFlag {
  type: 'string' | 'boolean';
  short?: string;
  description: string;
  /** How help names the value. */
  value?: string;
  /** Value of the flag where it stands alone: `--dry-run` is `--dry-run=server`. */
  bare?: string;
  /** Allowed values. */
  values?: readonly string[];
  /** The objects whose names are values. */
  names?: Completed;
}
export type Flags = Readonly<Record<string, CommandFlag>>;
export type FlagValues = Readonly<Record<string, string | boolean | undefined>>;

/** Candidates that completion offers for an argument: names of objects of a kind. */
export type Completed = 'streams' | 'uploads' | 'destinations' | 'objects' | 'namespaces';

/** The words of a call, parsed, and the way to its cluster. */
export interface Invocation<Values extends FlagValues = FlagValues> {
  args: readonly string[];
  flags: Values;
  /** Opens the cluster that the flags and KUBECONFIG name, once. */
  cluster(): Cluster;
}

/** Resolves to the exit status. */
export type CommandRun<Values extends FlagValues = FlagValues> = (call: Invocation<Values>) => Promise<number>;

export interface Command {
  summary: string;
  /** The arguments, as help names them. */
  usage: string;
  /** Further paragraphs of the help. */
  details?: string;
  examples?: readonly string[];
  flags: Flags;
  /** Number of arguments. */
  arguments: { min: number; max: number; names?: Completed };
  /** It needs no cluster, and has no flags that name one. */
  isLocal?: boolean;
  load: () => Promise<CommandRun<never>>;
}
