/**
 * Runs `loopstream clients`: lists the programs that users have authorized, and marks those that an operator has
 * reviewed.
 */
import { parseArgs } from 'node:util';
import { createDb, createPool, type Db } from '../db/pool.ts';
import { databaseConfig } from '../db/settings.ts';
import { environment } from '../settings/environment.ts';
import { ConfigError } from '../settings/settings.ts';
import { type ClientRow, findClient, listClients, setVerified } from './store.ts';

const HELP = `loopstream clients: the OAuth clients that were registered here

Usage: loopstream clients list
       loopstream clients verify <client id>
       loopstream clients unverify <client id>

Anybody may register a client under any name. People are told on the page of consent that nobody has checked who made one,
unless it is verified here: look first whether the addresses that it sends people back to are its maker's, which verify shows.
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
    if (!ACTIONS.includes(action)) throw new Error(`Say what is to be done: ${ACTIONS.join(', ')}.`);
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
    [clientId, name ?? '(no name)', verifiedAt ? 'verified' : 'unverified', `people: ${people}`].join('  '),
    ...parseUris(redirectUris).map((uri) => `    ${uri}`),
  ]
    .map((line) => `${line.replace(UNSEEN, '?')}\n`)
    .join('');

async function verify(db: Db, id: string, isVerified: boolean): Promise<string> {
  if (!(await findClient(db, id)))
    throw new ConfigError('There is no client with this id. See loopstream clients list.');
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
