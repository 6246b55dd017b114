/**
 * Runs `loopstream clients`: lists the programs that users have authorized, and marks those that an operator has
 * reviewed.
 */
import { parseArgs } from 'node:util';
import { environment } from '../../core/settings/environment.ts';
import { ConfigError } from '../../core/settings/settings.ts';
import { createDb, createPool, type Db } from '../db/pool.ts';
import { databaseConfig } from '../db/settings.ts';
import { type ClientRow, findClient, listClients, setVerified } from './store.ts';

const HELP = `loopstream clients: lists OAuth clients and marks the verified ones

Usage: loopstream clients list
       loopstream clients verify <client id>
       loopstream clients unverify <client id>

list      prints each client, its number of users and its redirect URIs
verify    removes the warning about an unknown developer from the consent page of the client
unverify  shows the warning again

Anyone can register a client under any name. Before you verify one, check that its redirect URIs belong to its developer.
The action list shows them.
`;

const MANY = 500;
const ACTIONS = ['list', 'verify', 'unverify'];
/** Clients choose their names at registration: control characters must not reach the terminal. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}]/gu;

function parse(args: string[]) {
  try {
    const { values, positionals } = parseArgs({
      args,
      options: { help: { type: 'boolean', default: false } },
      allowPositionals: true,
    });
    const [action = '', id = '', ...more] = positionals;
    if (values.help) return { help: true, action, id };
    if (!ACTIONS.includes(action))
      throw new Error(`The action is missing or unknown. Use one of: ${ACTIONS.join(', ')}.`);
    if (more.length > 0 || (action === 'list') !== (id === '')) throw new Error(`${action} is written another way.`);
    return { help: false, action, id };
  } catch (error) {
    throw new ConfigError(`${(error as Error).message} See loopstream clients --help.`);
  }
}

const parseUris = (stored: unknown): string[] => {
  const list: unknown = typeof stored === 'string' ? JSON.parse(stored) : stored;
  return Array.isArray(list) ? list.map(String) : [];
};

/** `abc  Scheduler  verified  3 people` and, below it, where it sends people back to. */
const formatClient = ({ clientId, name, verifiedAt, people, redirectUris }: ClientRow): string =>
  [
    [clientId, name ?? '(no name)', verifiedAt ? 'verified' : 'unverified', `users: ${people}`].join('  '),
    ...parseUris(redirectUris).map((uri) => `    ${uri}`),
  ]
    .map((line) => `${line.replace(UNSEEN, '?')}\n`)
    .join('');

async function verify(db: Db, id: string, isVerified: boolean): Promise<string> {
  if (!(await findClient(db, id)))
    throw new ConfigError('No OAuth client has this id. Run `loopstream clients list` to see the ids.');
  await setVerified(db, id, isVerified);
  const client = await findClient(db, id);
  return client ? formatClient(client) : '';
}

export async function clientsCommand(args: string[]): Promise<number> {
  const { help, action, id } = parse(args);
  if (help) {
    process.stdout.write(HELP);
    return 0;
  }
  const db = createDb(createPool(databaseConfig(environment()).databaseUrl, { searchPath: 'loopstream' }));
  try {
    const output =
      action === 'list'
        ? (await listClients(db, MANY)).map(formatClient).join('')
        : await verify(db, id, action === 'verify');
    process.stdout.write(output);
    return 0;
  } finally {
    await db.destroy();
  }
}
