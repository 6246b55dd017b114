/** Authorizes programs for a person, all at once: from their registration to their tokens. Each code is sent twice. */
import { askToken, codeForm, getCode, type Person, register } from '../../kit/make/oauth.ts';
import { median, type Row } from '../report.ts';

export const PROGRAMS = 100;

interface Round {
  ms: number;
  errors: number;
  /** Codes that gave tokens twice. */
  twice: number;
  tokens: Set<string>;
}

/** Sends one program's code twice at the same moment; returns the statuses and tokens. */
async function letInOnce(url: string, person: Person): Promise<{ statuses: number[]; tokens: string[] }> {
  const client = await register(url);
  const { asked, code } = await getCode(url, person, client);
  const form = codeForm(client, asked, code);
  const answers = await Promise.all([askToken(url, form), askToken(url, form)]);
  const bodies = (await Promise.all(answers.map((answer) => answer.json()))) as { access_token?: string }[];
  return {
    statuses: answers.map(({ status }) => status),
    tokens: bodies.flatMap(({ access_token: token }) => token ?? []),
  };
}

async function letInAll(url: string, person: Person): Promise<Round> {
  const since = performance.now();
  const all = await Promise.allSettled(Array.from({ length: PROGRAMS }, () => letInOnce(url, person)));
  const done = all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  return {
    ms: performance.now() - since,
    // One of the two must be refused; any other outcome is an error.
    errors: all.length - done.filter(({ statuses }) => statuses.every((status) => [200, 400].includes(status))).length,
    twice: done.filter(({ tokens }) => tokens.length > 1).length,
    tokens: new Set(done.flatMap(({ tokens }) => tokens)),
  };
}

/** `person` is signed in. */
export async function flowRow(url: string, person: Person, rounds: number): Promise<Row> {
  const all: Round[] = [];
  for (let n = 0; n < rounds; n++) all.push(await letInAll(url, person));
  const sum = (pick: (round: Round) => number) => all.reduce((total, round) => total + pick(round), 0);
  const [errors, twice, issued] = [sum((r) => r.errors), sum((r) => r.twice), sum((r) => r.tokens.size)];
  const times = all.map(({ ms }) => ms);
  const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`;
  const isRight = errors === 0 && twice === 0 && issued === rounds * PROGRAMS;
  return {
    what: `${PROGRAMS} programs at once, each from registration to tokens, its code sent twice; ${rounds} times`,
    ours: `${seconds(median(times))} (${seconds(Math.min(...times))}–${seconds(Math.max(...times))}); ${errors} errors, ${twice} issued twice`,
    peer: '–',
    beside: '–',
    result: isRight ? 'holds' : 'misses',
    bar: 'no error, none twice',
  };
}
