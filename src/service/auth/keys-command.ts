/** Runs `loopstream keys`: manages keys where nobody can sign in yet, or where signing in gives no right to. */
import { parseArgs } from 'node:util';
import { environment } from '../../core/settings/environment.ts';
import { ConfigError } from '../../core/settings/settings.ts';
import { databaseConfig } from '../db/settings.ts';
import { readReach } from '../lib/reach.ts';
import { SCOPES, type Scope } from '../lib/scopes.ts';
import type { KeyBounds } from './keys.ts';
import { openAuth } from './open.ts';

const DAY_SECONDS = 86_400;

const HELP = `loopstream keys: creates an API key for an account, and the account if it does not exist

Usage: loopstream keys --email you@example.org [--first-name You] [--name "purpose of the key"]
                       [--scopes read,write] [--labels team=news] [--days 90]
       loopstream keys rotate-signing [--revoke]

--scopes: what the key may do, of ${SCOPES.join(', ')}. Without it, the key has the full access of the account.
--labels: limits the key to objects with such labels, as kubectl get -l does. Without it, the key reaches all objects.
--days: when the key expires. Without it, the key is valid until it is revoked.

The command prints the key once, to standard output. The database stores only its hash.

rotate-signing signs access tokens with a new key from now on. Tokens that were issued before stay valid until they expire.
With --revoke, they end within a minute: use it if the signing key was stolen.
`;

function parse(args: string[]) {
  const options = {
    email: { type: 'string' },
    'first-name': { type: 'string' },
    name: { type: 'string', default: 'command line' },
    scopes: { type: 'string' },
    labels: { type: 'string' },
    days: { type: 'string' },
    revoke: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  } as const;
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    const [action = 'create', ...more] = positionals;
    if (!['create', 'rotate-signing'].includes(action) || more.length > 0)
      throw new Error(`"${positionals.join(' ')}" is not a command.`);
    return { ...values, action };
  } catch (error) {
    throw new ConfigError(`${(error as Error).message} See loopstream keys --help.`);
  }
}

export async function keysCommand(args: string[]): Promise<number> {
  const { email, 'first-name': firstName, name, help, action, revoke, ...given } = parse(args);
  if (help) {
    process.stdout.write(HELP);
    return 0;
  }
  if (action === 'rotate-signing') return rotate(revoke);
  if (!email?.includes('@'))
    throw new ConfigError(
      'The option --email is missing or is not an e-mail address. It names the account. See loopstream keys --help.',
    );
  const bounds = readBounds(given);
  const { service, close } = openAuth(databaseConfig(environment()));
  try {
    const userId = await service.ensureUser({ email, firstName: firstName ?? email.split('@')[0] ?? email });
    const { key } = await service.createApiKey(userId, name, bounds);
    process.stdout.write(`${key}\n`);
    return 0;
  } finally {
    await close();
  }
}

interface GivenBounds {
  scopes?: string | undefined;
  labels?: string | undefined;
  days?: string | undefined;
}

function readBounds({ scopes, labels, days }: GivenBounds): KeyBounds {
  const named = scopes?.split(',');
  const unknown = named?.find((name) => !SCOPES.includes(name as Scope));
  if (unknown !== undefined)
    throw new ConfigError(`"${unknown}" is not a scope. Use ${SCOPES.join(', ')}. See loopstream keys --help.`);
  if (days !== undefined && !/^[1-9]\d{0,3}$/.test(days))
    throw new ConfigError('The option --days is not a number from 1 to 9999. See loopstream keys --help.');
  try {
    if (labels !== undefined) readReach(labels);
  } catch (error) {
    throw new ConfigError(`The option --labels ${(error as Error).message}. See loopstream keys --help.`);
  }
  return {
    scopes: named as Scope[] | undefined,
    labelSelector: labels,
    expiresInSeconds: days === undefined ? undefined : Number(days) * DAY_SECONDS,
  };
}

async function rotate(revoke: boolean): Promise<number> {
  const { service, close } = openAuth(databaseConfig(environment()));
  try {
    await service.rotateSigningKey({ revoke });
    process.stdout.write('The server signs access tokens with a new key from now on.\n');
    return 0;
  } finally {
    await close();
  }
}
