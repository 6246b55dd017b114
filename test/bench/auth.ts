/**
 * Measures the cost of authentication by an API key, an access token and a session: a Fastify behind the API's guards beside a bare one
 * with the same JSON. It also measures the time to authorize a hundred programs at once. The table is printed and appended to RESULTS.md.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openAuth } from '../../src/service/auth/open.ts';
import type { Credentials } from '../../src/service/auth/service.ts';
import { migrate } from '../../src/service/server/migrate.ts';
import { reserveFreePort } from '../../tools/process/ports.ts';
import { authorize, type Person, post, register, signIn } from '../kit/make/oauth.ts';
import { startTestPostgres } from '../kit/real/postgres.ts';
import { rateRow } from './api/compare.ts';
import type { LoadJobs } from './api/load.ts';
import type { PeerJobs } from './api/peers.ts';
import { startWorker } from './api/worker.ts';
import { flowRow } from './auth/flows.ts';
import type { GuardedJobs } from './auth/guarded.ts';
import { circumstances, type Row, report, whole } from './report.ts';

const HELP = `Usage: node test/bench/auth.ts [options]

  --rounds R     rounds of each row, which take turns with the peer's (20)
  --seconds S    for how long each side of a round is asked (1)
  --flows N      rounds of a hundred programs that are let in at once (3)
  --no-record    print the table, leave RESULTS.md as it is
  --help         this text

Takes about three minutes.
`;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '1' },
    flows: { type: 'string', default: '3' },
    'no-record': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const SECRET = 'a secret of the benchmark, long enough for the auth library';
const EMAIL = 'bench@example.com';
const CHECKS = 1_000_000;
const NO_LIMIT = '1000000000';
const ANSWER = {
  data: [{ id: 'str-1', name: 'Night loop', status: 'live' }],
  page: { hasMore: false, nextCursor: null },
};

type Known = Credentials & { what: string; headers: Record<string, string> };
type Database = { databaseUrl: string; authSecret: string };

/** Makes a signed-in person with a key. */
async function makePerson(url: string, database: Database): Promise<Person> {
  const { service, close } = openAuth(database);
  try {
    const [email, password] = [EMAIL, randomBytes(12).toString('base64url')];
    const accountId = await service.ensureUser({ email, firstName: 'Bench' });
    await service.setPassword(accountId, password);
    const { key, id: keyId } = await service.createApiKey(accountId, 'bench');
    const cookie = await signIn(url, { email, password });
    const call = () => Promise.reject(new Error('nothing is asked for here'));
    return { accountId, key, keyId, email, password, cookie, call };
  } finally {
    await close();
  }
}

/** Adds a key, a session, and an authorized program. */
async function letIn(url: string, person: Person): Promise<Known[]> {
  const { key, cookie } = person;
  const { access_token } = await authorize(url, person, await register(url));
  const authorization = `Bearer ${access_token}`;
  const none = { apiKey: undefined, authorization: undefined };
  return [
    { what: 'an API key', ...none, apiKey: key, headers: { 'x-api-key': key } },
    { what: 'an access token', ...none, authorization, headers: { authorization } },
    { what: 'a session', ...none, cookie, headers: { cookie } },
  ];
}

const TRIES = 40;

/** Returns the median milliseconds of refusals, for addresses in turn. */
async function refusals(url: string, emails: readonly string[]): Promise<number[]> {
  const took = emails.map((): number[] => []);
  for (let i = 0; i < TRIES; i += 1)
    for (const [at, email] of emails.entries()) {
      const since = performance.now();
      const { status } = await post(`${url}/api/auth/sign-in/email`, { email, password: 'not the password of it' });
      if (status !== 401) throw new Error(`a wrong password was answered with ${status}`);
      took[at]?.push(performance.now() - since);
    }
  return took.map((all) => all.sort((a, b) => a - b)[TRIES / 2] ?? 0);
}

async function measure(): Promise<Row[]> {
  await using started = new AsyncDisposableStack();
  const postgres = await startTestPostgres();
  started.defer(() => postgres.stop());
  const database = { databaseUrl: postgres.url, authSecret: SECRET };
  await migrate(database);
  const load = started.use(startWorker<LoadJobs>(join(import.meta.dirname, 'api/load.ts')));
  const peers = started.use(startWorker<PeerJobs>(join(import.meta.dirname, 'api/peers.ts')));
  const guarded = started.use(startWorker<GuardedJobs>(join(import.meta.dirname, 'auth/guarded.ts')));
  const port = String(await reserveFreePort());
  const environment = {
    LOOPSTREAM_DATABASE_URL: postgres.url,
    LOOPSTREAM_AUTH_SECRET: SECRET,
    LOOPSTREAM_PORT: port,
    LOOPSTREAM_CLIENT_REGISTRATIONS: NO_LIMIT,
    LOOPSTREAM_SIGN_IN_ATTEMPTS: NO_LIMIT,
  };
  const url = await guarded.start(environment, ANSWER);
  const bare = { url: `${await peers.fastify({ '/v1/answer': ANSWER })}/v1/answer` };
  const rounds = { rounds: whole(values.rounds), seconds: whole(values.seconds) };
  const person = await makePerson(url, database);
  const rows: Row[] = [];
  for (const { what, ...known } of await letIn(url, person)) {
    const { headers } = known;
    const ours = { url: `${url}/v1/answer`, headers };
    // The peer gets the same headers, and ignores them.
    const peer = { ...bare, headers };
    const row = { what: `a request with ${what}`, ours, peer, beside: 'bare Fastify, the same JSON' };
    rows.push({ ...(await rateRow(load, row, rounds)), bar: '≥ 0.6×' });
    const micros = await guarded.check(known, CHECKS);
    const took = `${micros.toFixed(2)} µs`;
    rows.push({ what: `… the check of it, warm`, ours: took, peer: '', beside: '', result: took, bar: '≤ 300 µs' });
  }
  rows.push(await flowRow(url, person, whole(values.flows)));
  const [known = 0, unknown = 0] = await refusals(url, [EMAIL, 'nobody@example.com']);
  rows.push({
    what: 'a wrong password for an address that has an account',
    ours: `${known.toFixed(1)} ms`,
    peer: `${unknown.toFixed(1)} ms`,
    beside: 'for one that has none',
    bar: 'alike',
    result: `${(known - unknown).toFixed(1)} ms apart`,
  });
  return rows;
}

async function main(): Promise<void> {
  if (values.help) return void process.stdout.write(HELP);
  const { version } = JSON.parse(readFileSync('node_modules/fastify/package.json', 'utf8')) as { version: string };
  report(circumstances([`Fastify ${version}`]), await measure(), !values['no-record']);
}

await main();
