/** `loopstream keys`: the first API key of an account, for an installation that nobody can sign in to yet. */
import { parseArgs } from 'node:util';
import { ConfigError, databaseConfig, environment } from '../config.ts';
import { openAuth } from './open.ts';

const HELP = `loopstream keys: creates an API key for an account, and the account when there is none

Usage: loopstream keys --email you@example.org [--first-name You] [--name "what it is for"]

The key is printed once, to standard output; only its hash is stored.
`;

function parse(args: string[]) {
  const options = {
    email: { type: 'string' },
    'first-name': { type: 'string' },
    name: { type: 'string', default: 'command line' },
    help: { type: 'boolean', default: false },
  } as const;
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    throw new ConfigError(`${(error as Error).message} See loopstream keys --help.`);
  }
}

export async function keysCommand(args: string[]): Promise<number> {
  const { email, 'first-name': firstName, name, help } = parse(args);
  if (help) {
    process.stdout.write(HELP);
    return 0;
  }
  if (!email?.includes('@')) throw new ConfigError('--email names the account. See loopstream keys --help.');
  const { service, close } = openAuth(databaseConfig(environment()));
  try {
    const userId = await service.ensureUser({ email, firstName: firstName ?? email.split('@')[0] ?? email });
    const { key } = await service.createApiKey(userId, name);
    process.stdout.write(`${key}\n`);
    return 0;
  } finally {
    await close();
  }
}
