/**
 * Measures the operator at scale (`make bench-operator`): thousands of streams on a real kube-apiserver with kwok's nodes. The peers are
 * bare pods, CronJobs and kwok's own controller on the same objects. The table is printed and appended to RESULTS.md.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measureCells } from './operator/cells.ts';
import { startCluster } from './operator/cluster.ts';
import { measureStreamCosts } from './operator/costs.ts';
import { measureHelpers } from './operator/helpers.ts';
import { measureLatency, measureSchedules, measureTakeover } from './operator/moments.ts';
import { prepareDestinations, prepareMedia } from './operator/objects.ts';
import { startOperator } from './operator/process.ts';
import { startPushes } from './operator/pushes.ts';
import { measureScale, removeStreams } from './operator/scale.ts';
import { measureSteady } from './operator/steady.ts';
import { circumstances, collect, type Row, report, selectParts, whole } from './report.ts';

const PARTS = ['helpers', 'latency', 'costs', 'schedules', 'scale', 'steady', 'takeover'];
/** Takes long and says nothing new in most runs, so only where it is asked for. */
const MORE_PARTS = ['cells'];
/** The cost of a stream does not depend on how many there are. */
const MOST_COSTS = 1000;
const HELP = `Usage: node test/bench/operator.ts [options]

  --streams N[,M]  streams that go on air at once, from few to many (2000,10000)
  --rounds R       rounds of costs, of schedules and of the smallest number; larger ones have one (3)
  --seconds S      for how long the most streams are watched when they are steady (300)
  --schedules N    schedules that start in the same second (1000)
  --only PARTS     some of ${[...PARTS, ...MORE_PARTS].join(',')}; without it, all but ${MORE_PARTS.join(',')}
  --cells M[,MIN]  live streams of all cells together, made within so many minutes (100000,15)
  --no-record      print the table, leave RESULTS.md as it is
  --help           this text

Builds the control plane and kwok when they are not there. Takes about half an hour.
`;

const { values } = parseArgs({
  options: {
    streams: { type: 'string', default: '2000,10000' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '300' },
    schedules: { type: 'string', default: '1000' },
    cells: { type: 'string', default: '100000,15' },
    only: { type: 'string', default: PARTS.join(',') },
    'no-record': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

async function measure(parts: readonly string[], say: (text: string) => void): Promise<Row[]> {
  const counts = values.streams.split(',').map(whole);
  const largest = Math.max(...counts);
  const schedules = whole(values.schedules);
  const { rows, take } = collect(parts, say);
  await take('helpers', () => measureHelpers(say));
  if (parts.every((part) => part === 'helpers')) return rows;
  const cluster = await startCluster(say);
  try {
    await prepareMedia(cluster.kube);
    let operator = await startOperator(cluster);
    say('making destinations');
    await prepareDestinations(cluster.kube, Math.max(largest, schedules));
    const pushes = await startPushes(cluster.kube, operator.reportsUrl);
    await take('latency', async () => [await measureLatency(cluster, 200)]);
    await take('costs', () =>
      measureStreamCosts(cluster, operator, Math.min(largest, MOST_COSTS), whole(values.rounds)),
    );
    await take('schedules', async () => [await measureSchedules(cluster, schedules, whole(values.rounds))]);
    for (const [index, count] of counts.entries()) {
      await take('scale', async () => {
        const found = await measureScale(cluster, operator, count, index === 0 ? whole(values.rounds) : 1);
        // The largest number stays on air for the next part.
        if (count !== largest || !(parts.includes('steady') || parts.includes('cells'))) await removeStreams(cluster);
        return found;
      });
    }
    await take('steady', async () => {
      const found = await measureSteady(cluster, operator, pushes, largest, whole(values.seconds));
      operator = found.operator;
      return found.rows;
    });
    await take('cells', async () => {
      const [most = 0, minutes = 0] = values.cells.split(',').map(Number);
      const found = await measureCells(cluster, operator, largest, { most, forMs: minutes * 60_000, say });
      operator = found.operator;
      return found.rows;
    });
    pushes.stop();
    if (parts.includes('takeover')) await removeStreams(cluster);
    await operator.stop();
    await take('takeover', async () => [await measureTakeover(cluster, 3)]);
    return rows;
  } finally {
    await cluster.stop();
  }
}

async function main(): Promise<void> {
  if (values.help) return void process.stdout.write(HELP);
  const parts = selectParts(values.only, [...PARTS, ...MORE_PARTS]);
  const about = circumstances(['Kubernetes 1.36.3', 'kwok 0.8.0']);
  execFileSync(process.execPath, [join(import.meta.dirname, '../../scripts/build.ts')], { stdio: 'ignore' });
  const rows = await measure(parts, (text) => process.stderr.write(`${text}\n`));
  report(about, rows, !values['no-record']);
}

await main();
