/** Measures many live streams, whose pods push their reports: the operator's writes, requests, resources and restart. */
import { sleep } from '../../../src/core/lib/clock.ts';
import { sumCpuSeconds } from '../processes.ts';
import type { Row } from '../report.ts';
import { perStream, sum } from './audit.ts';
import type { BenchCluster } from './cluster.ts';
import { type OperatorProcess, readMemory, startOperator } from './process.ts';
import type { Pushes } from './pushes.ts';

const SETTLED_MS = 15_000;
const AFTER_RESTART_MS = 60_000;
const MAX_MIB = 400;
const MAX_PERCENT = 3;
const MAX_READY_MS = 5_000;

const judge = (holds: boolean): string => (holds ? 'holds' : 'missed');

const zero = (what: string, writes: ReadonlyMap<string, number>): Row => ({
  what,
  ours: sum(writes) === 0 ? '0' : `${sum(writes)} (${perStream(writes, 1)})`,
  peer: '–',
  beside: '–',
  result: judge(sum(writes) === 0),
  bar: '0',
});

const formatMib = ({ nowMib, peakMib }: ReturnType<typeof readMemory>): string =>
  `${nowMib.toFixed(0)} MiB (highest ${peakMib.toFixed(0)})`;

/** Scrapes the operator's metrics, as Prometheus does. Returns its requests so far, and the processor time of the scrape. */
async function scrape(operator: OperatorProcess): Promise<{ requests: number; cpuMs: number }> {
  const cpu = sumCpuSeconds([operator.pid]);
  const requests = sum(await operator.sumMetric('rest_client_requests_total', 'method'));
  return { requests, cpuMs: (sumCpuSeconds([operator.pid]) - cpu) * 1000 };
}

/** Returns the operator that runs afterwards. */
export async function measureSteady(
  cluster: BenchCluster,
  before: OperatorProcess,
  pushes: Pushes,
  count: number,
  forSeconds: number,
): Promise<{ rows: Row[]; operator: OperatorProcess }> {
  await pushes.reached(count);
  // The last streams' status may come a moment after they went on air.
  do await sleep(SETTLED_MS);
  while (sum(cluster.audit.takeWrites()) > 0);
  // The first scrape after a change of all streams formats all of them.
  await scrape(before);
  const { requests, cpuMs } = await scrape(before);
  pushes.take();
  const sides = [before.pid, cluster.kwokPid].map((pid) => ({ pid, cpu: sumCpuSeconds([pid]) }));
  await sleep(forSeconds * 1000);
  const steady = cluster.audit.takeWrites();
  const [ours, kwok] = sides.map(({ pid, cpu }) => ({
    ...readMemory(pid),
    percent: (100 * (sumCpuSeconds([pid]) - cpu)) / forSeconds,
  }));
  const { accepted, refused } = pushes.take();
  const requestsPerSecond = ((await scrape(before)).requests - requests) / forSeconds;
  await before.stop();
  cluster.audit.takeWrites();
  const operator = await startOperator(cluster);
  pushes.sendTo(operator.reportsUrl);
  await sleep(AFTER_RESTART_MS);
  const restarted = cluster.audit.takeWrites();
  const again = readMemory(operator.pid);
  const pushed = `${(accepted / forSeconds).toFixed(1)} reports a second${refused > 0 ? `, ${refused} refused` : ''}`;
  return {
    operator,
    rows: [
      zero(`writes in ${forSeconds} s with ${count} steady streams`, steady),
      zero(`writes in ${AFTER_RESTART_MS / 1000} s after a restart of the operator`, restarted),
      {
        what: `resident memory at ${count} streams`,
        ours: `${ours && formatMib(ours)}, started again ${formatMib(again)}`,
        peer: kwok ? formatMib(kwok) : '',
        beside: 'kwok, the same pods',
        result: judge(Math.max(ours?.peakMib ?? 0, again.peakMib) <= MAX_MIB),
        bar: `≤ ${MAX_MIB} MiB`,
      },
      {
        what: `CPU at ${count} steady streams, of one core (${pushed})`,
        ours: `${ours?.percent.toFixed(1)} %`,
        peer: `${kwok?.percent.toFixed(1)} %`,
        beside: 'kwok, the same pods',
        result: judge((ours?.percent ?? 0) <= MAX_PERCENT),
        bar: `≤ ${MAX_PERCENT} %`,
      },
      {
        what: `requests to kube-apiserver a second at ${count} steady streams`,
        ours: requestsPerSecond.toFixed(1),
        peer: '–',
        beside: '–',
        result: 'stated',
        bar: '–',
      },
      {
        what: `CPU of a scrape of the metrics of ${count} streams`,
        ours: `${cpuMs.toFixed(0)} ms`,
        peer: '–',
        beside: '–',
        result: 'stated',
        bar: '–',
      },
      {
        what: `start → caches filled at ${count} streams`,
        ours: `${(operator.readyMs / 1000).toFixed(2)} s`,
        peer: '–',
        beside: '–',
        result: judge(operator.readyMs <= MAX_READY_MS),
        bar: `≤ ${MAX_READY_MS / 1000} s`,
      },
    ],
  };
}
