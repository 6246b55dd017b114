/** Starts the role or the command that the command line names. */
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { ConfigError } from './settings/settings.ts';

/** Titles of groups of roles in the help, in their order. */
const GROUPS = {
  server: 'Servers',
  pod: 'Roles of pods, started by the operator',
  command: 'Commands',
} as const;

/** Returns the exit code; undefined while the role runs on, until a signal. */
export type ProcessRun = (args: string[]) => Promise<number | undefined>;

export interface ProcessRole {
  group: keyof typeof GROUPS;
  summary: string;
  run: ProcessRun;
}
export type Roles = Readonly<Record<string, ProcessRole>>;

const formatHelp = (roles: Roles): string => `loopstream: the Kubernetes operator that keeps looping media on air

Usage: loopstream <role> [options]

${Object.entries(GROUPS)
  .map(([key, title]) => {
    const rows = Object.entries(roles).filter(([, { group }]) => group === key);
    return `${title}:\n${rows.map(([name, { summary }]) => `  ${name.padEnd(18)} ${summary}\n`).join('')}`;
  })
  .join('\n')}
To see the options of a command, run: loopstream <command> --help
Settings are environment variables that begin with LOOPSTREAM_; docs/settings.md lists them.
Licences of the packages: THIRD_PARTY_NOTICES.txt in the image, and /third-party-notices.txt on the dashboard.
`;

async function runRole(roles: Roles, [name, ...args]: string[]): Promise<number | undefined> {
  const help = formatHelp(roles);
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(help);
    return name === undefined ? 2 : 0;
  }
  // A property of every object (`constructor`) is no role.
  const role = Object.hasOwn(roles, name) ? roles[name] : undefined;
  if (role) return role.run(args);
  process.stderr.write(`loopstream: "${name}" is not a role.\n\n${help}`);
  return 2;
}

/** Runs this process as the role that its command line names, one of `roles`. Exits when the role ends or fails. */
export async function start(roles: Roles): Promise<void> {
  // A checkout caches its compiled code beside its dependencies, which saves a fifth of each start. The image is read-only, and has no
  // types to strip.
  enableCompileCache(join(import.meta.dirname, '../../node_modules/.cache/loopstream'));
  try {
    const code = await runRole(roles, process.argv.slice(2));
    if (code !== undefined) process.exit(code);
  } catch (error) {
    const known = error instanceof ConfigError;
    process.stderr.write(
      `loopstream: ${known || !(error instanceof Error) ? String((error as Error).message ?? error) : error.stack}\n`,
    );
    process.exit(known ? 2 : 1);
  }
}
