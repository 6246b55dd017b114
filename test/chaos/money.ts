/**
 * Tests money under faults (`make chaos-money`): the whole service with live streams and with deposits on a chain. Its API server, billing,
 * Postgres, the node agent, the chain's node and the senders of the streams are killed at times from a seed. At the end the table compares
 * each session's recording with its charge, and payments with credits, and the whole ledger is computed anew. Exits with 1 when something
 * does not hold.
 */
import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Lifecycle } from '../../src/core/lib/lifecycle.ts';
import { circumstances, readVersion, whole } from '../bench/report.ts';
import { recordRun } from '../bench/results.ts';
import { until } from '../kit/wait.ts';
import {
  countEntries,
  countPayments,
  countTwice,
  isCounted,
  readDeposits,
  readSessions,
  readStreams,
  reconcile,
} from './books.ts';
import { type Chain, startChain } from './chain.ts';
import { type Channel, makeChannels, pay, shoot } from './live.ts';
import { planShots } from './plan.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { type Stage, setStage } from './stage.ts';
import { buildLines, formatTable, type StreamFacts } from './verdict.ts';

const HELP = `Usage: node test/chaos/money.ts [options]

  --seconds N   for how long it is shot at (180)
  --streams N   live streams (3)
  --seed N      what is killed when: the same for the same seed (by chance unless told, and printed)
  --record      appends the table to test/bench/RESULTS.md
  --help        this text

Takes one to three minutes more than that: it begins with nothing, and waits until all is counted. Ctrl-C ends all of it.
`;
const OPTIONS = {
  seconds: { type: 'string', default: '180' },
  streams: { type: 'string', default: '3' },
  seed: { type: 'string' },
  record: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

const began = performance.now();
const say = (text: string) =>
  process.stdout.write(`[${((performance.now() - began) / 1000).toFixed(0).padStart(3)} s] ${text}\n`);

/** Resolves when nothing is left to happen: all streams off air, all usage counted, all payments credited. */
async function settle(stage: Stage, chain: Chain, channels: readonly Channel[]): Promise<void> {
  for (const { id } of channels)
    await until(
      'the stream is stopped',
      async () => {
        const { status } = await stage.client.streams.stop(id, { wait: 20 }).catch(() => ({ status: '' }));
        return status === 'stopped';
      },
      90_000,
    );
  say('all streams are off air; waiting until they are counted');
  await until('all is counted', () => isCounted(stage).catch(() => false), 90_000);
  await chain.settled();
  say('all deposits are in the chain; waiting until they are credited');
  const isCredited = async () => (await countPayments(stage)) === chain.sent.length;
  await until('all is credited', () => isCredited().catch(() => false), 60_000);
}

interface Run {
  stage: Stage;
  chain: Chain;
  receiver: Receiver;
  channels: readonly Channel[];
}

/** Makes the closing table, and returns whether all of it holds. */
async function judge(
  { stage, chain, receiver, channels }: Run,
  fired: string,
): Promise<{ holds: boolean; text: string }> {
  const all = await readStreams(stage);
  const facts: StreamFacts[] = [];
  for (const { id, key, tap } of channels) {
    const stream = all.get(id);
    if (!stream) throw new Error(`The stream ${id} is gone.`);
    const [sessions, mediaSeconds] = [await readSessions(stage, stream), await receiver.mediaSeconds(key)];
    facts.push({ name: key, sessions, publishes: await tap.publishes(), mediaSeconds });
  }
  const lines = facts.flatMap(buildLines);
  const total = (pick: (line: (typeof lines)[number]) => number) => lines.reduce((sum, line) => sum + pick(line), 0);
  const [wrong, deposits, twice] = [
    lines.filter(({ holds }) => !holds),
    await readDeposits(stage, chain),
    await countTwice(stage),
  ];
  const { ok, text } = await reconcile(stage);
  const holds = wrong.length === 0 && deposits.credited === deposits.sent && deposits.twice + twice === 0 && ok;
  const words = [
    `Killed: ${fired}.`,
    '',
    formatTable(facts),
    '',
    `- Seconds recorded at the receiver: ${total((line) => line.recorded).toFixed(1)}; charged: ${total((line) => line.charged).toFixed(1)}; sessions: ${lines.length}, of which ${wrong.length} do not hold (never above, at most 1 s below).`,
    `- Entries in the ledger: ${await countEntries(stage)}. Deposits sent: ${deposits.sent}; credited: ${deposits.credited}.`,
    `- Duplicates: ${deposits.twice + twice}. Differences: ${ok ? 0 : 'see below'}.`,
    `- ${holds ? 'All of it holds.' : 'It does not hold.'}`,
  ];
  return { holds, text: `${words.join('\n')}\n${ok ? '' : `\n${text}\n`}` };
}

async function perform(dir: string, lifecycle: Lifecycle, given: { seconds: number; streams: number; seed: number }) {
  const receiver = await startReceiver(join(dir, 'recordings'));
  lifecycle.defer('receiver', () => receiver.close());
  const chain = await startChain(dir);
  lifecycle.defer('chain', () => chain.stop());
  say('starting the service, each part a process of its own');
  const stage = await setStage(dir, chain, lifecycle);
  say('preparing the video and putting streams on air');
  const channels = await makeChannels(stage, receiver, given.streams);
  say(`${channels.length} streams are live; shooting for ${given.seconds} s`);
  const paying = new AbortController();
  const paid = pay(stage, chain, AbortSignal.any([paying.signal, lifecycle.signal]));
  const news = setInterval(() => {
    void countPayments(stage).then(
      (credited) => say(`  ${chain.sent.length} deposits sent, ${credited} credited`),
      () => undefined,
    );
  }, 20_000);
  const fired = await shoot({ stage, chain, channels }, planShots(given.seed, given.seconds), {
    seconds: given.seconds,
    say,
  }).finally(() => {
    clearInterval(news);
    paying.abort(new Error('over'));
  });
  await paid;
  say('the shooting is over; stopping the streams');
  await settle(stage, chain, channels);
  return judge({ stage, chain, receiver, channels }, fired);
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: OPTIONS });
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const seed = values.seed === undefined ? randomInt(1, 10_000) : whole(values.seed);
  const given = { seconds: whole(values.seconds), streams: whole(values.streams), seed };
  const about = circumstances([readVersion.ffmpeg(), 'PostgreSQL with fsync', 'anvil 1.7.1']);
  const command = `make chaos-money ARGS="--seed ${seed} --seconds ${given.seconds} --streams ${given.streams}"`;
  say(command);
  const dir = await mkdtemp(join(tmpdir(), 'loopstream-chaos-'));
  const lifecycle = new Lifecycle();
  lifecycle.exitStatus = 130;
  lifecycle.exitOnSignal();
  lifecycle.defer('files', () => rm(dir, { recursive: true, force: true }), 30_000);
  try {
    const { holds, text } = await perform(dir, lifecycle, given);
    const told = `\`${command}\`, ${((performance.now() - began) / 1000).toFixed(0)} s in all. ${about}\n\n${text}`;
    process.stdout.write(`\n${told}`);
    if (values.record) recordRun(told, ', money under fire');
    return holds ? 0 : 1;
  } catch (error) {
    // After Ctrl-C, later failures are a consequence of it.
    if (lifecycle.signal.aborted) return 130;
    throw error;
  } finally {
    say('ending all of it');
    await lifecycle.stop();
  }
}

process.exitCode = await main();
