/** Measures many live streams: the operator's writes, resources and restart. */
import { sleep } from '../../../src/lib/clock.ts';
import { sumCpuSeconds } from '../processes.ts';
import type { Row } from '../report.ts';
import { perStream, sum } from './audit.ts';
import type { BenchCluster } from './cluster.ts';
import { type OperatorProcess, readMemory, startOperator } from './process.ts';

const SETTLED_MS = 15_000;
const AFTER_RESTART_MS = 60_000;
const MAX_MIB = 600;

const zero = (what: string, writes: ReadonlyMap<string, number>): Row => ({
  what,
  ours: sum(writes) === 0 ? '0' : `${sum(writes)} (${perStream(writes, 1)})`,
  peer: '–',
  beside: '–',
  result: sum(writes) === 0 ? 'holds' : 'missed',
  bar: '0',
});

/** Returns the operator that runs afterwards. */
export async function measureSteady(
  cluster: BenchCluster,
  before: OperatorProcess,
  count: number,
  forSeconds: number,
): Promise<{ rows: Row[]; operator: OperatorProcess }> {
  // The last streams' status may come a moment after they went on air.
  do await sleep(SETTLED_MS);
  while (sum(cluster.audit.takeWrites()) > 0);
  const sides = [before.pid, cluster.kwokPid].map((pid) => ({ pid, cpu: sumCpuSeconds([pid]) }));
  await sleep(forSeconds * 1000);
  const steady = cluster.audit.takeWrites();
  const [ours, kwok] = sides.map(({ pid, cpu }) => ({
    ...readMemory(pid),
    percent: (100 * (sumCpuSeconds([pid]) - cpu)) / forSeconds,
  }));
  await before.stop();
  cluster.audit.takeWrites();
  const operator = await startOperator(cluster);
  await sleep(AFTER_RESTART_MS);
  const restarted = cluster.audit.takeWrites();
  const { peakMib } = readMemory(operator.pid);
  const mib = (usage: typeof ours) =>
    usage ? `${usage.nowMib.toFixed(0)} MiB (highest ${usage.peakMib.toFixed(0)})` : '';
  return {
    operator,
    rows: [
      zero(`writes in ${forSeconds} s with ${count} steady streams`, steady),
      zero(`writes in ${AFTER_RESTART_MS / 1000} s after a restart of the operator`, restarted),
      {
        what: `resident memory at ${count} streams`,
        ours: `${mib(ours)}, started again ${peakMib.toFixed(0)}`,
        peer: mib(kwok),
        beside: 'kwok, the same pods',
        result: Math.max(ours?.peakMib ?? 0, peakMib) <= MAX_MIB ? 'holds' : 'missed',
        bar: `≤ ${MAX_MIB} MiB`,
      },
      {
        what: `CPU at ${count} steady streams, of one core`,
        ours: `${ours?.percent.toFixed(1)} %`,
        peer: `${kwok?.percent.toFixed(1)} %`,
        beside: 'kwok, the same pods',
        result: 'stated',
        bar: '–',
      },
      {
        what: `start → caches filled at ${count} streams`,
        ours: `${(operator.readyMs / 1000).toFixed(2)} s`,
        peer: '–',
        beside: '–',
        result: 'stated',
        bar: '–',
      },
    ],
  };
}
