/** `loopstream keys`: API keys from the command line, where there is no page yet to sign in to. */
import { parseArgs } from 'node:util';
import { databaseConfig, environment } from '../config.ts';
import { openAuth } from './open.ts';

const HELP = `Usage: loopstream keys create --email ADDRESS [--first-name NAME] [--last-name NAME] [--name KEY-NAME]
       loopstream keys revoke ID

create makes an API key for the account with this e-mail address, making the account when there is none. It prints the
key's id on stderr and the key, which is not kept and cannot be shown again, on stdout.
`;

/** Exit status 0, 1 when there is no such key, 2 for wrong arguments. */
export async function keysCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    strict: false,
    options: {
      email: { type: 'string' },
      'first-name': { type: 'string' },
      'last-name': { type: 'string' },
      name: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  const text = (name: keyof typeof values): string | undefined => {
    const value = values[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const [verb, id] = positionals;
  const email = text('email');
  const known = (verb === 'create' && email?.includes('@')) || (verb === 'revoke' && id);
  if (values.help || !known) {
    (values.help ? process.stdout : process.stderr).write(HELP);
    return values.help ? 0 : 2;
  }
  const { service, close } = openAuth(databaseConfig(environment()));
  try {
    if (verb === 'revoke' && id) return (await service.revokeApiKey(id)) ? 0 : 1;
    const address = email ?? '';
    const lastName = text('last-name');
    const firstName = text('first-name') ?? address.slice(0, address.indexOf('@'));
    const userId = await service.ensureUser({ email: address, firstName, ...(lastName ? { lastName } : {}) });
    const made = await service.createApiKey(userId, text('name') ?? 'command line');
    process.stderr.write(`id ${made.id}\n`);
    process.stdout.write(`${made.key}\n`);
    return 0;
  } finally {
    await close();
  }
}
