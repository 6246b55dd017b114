/** Measures the memory of the API server under load, while its cached objects change. */
import { setInterval } from 'node:timers/promises';
import type { Kube } from '../../../src/core/kube/types.ts';
import { readMemory } from '../operator/process.ts';
import { median, type Row } from '../report.ts';
import type { Load } from './compare.ts';
import type { Target } from './load.ts';
import { observe } from './objects.ts';

const SAMPLE_MS = 1_000;
/** A process that has just read ten thousand objects has not settled yet. */
const SETTLING = 1 / 5;

async function heapMib(opsUrl: string): Promise<number> {
  const text = await (await fetch(`${opsUrl}/metrics`)).text();
  return Number(/^nodejs_heap_size_used_bytes(?:\{.*\})? (\S+)$/m.exec(text)?.[1]) / 2 ** 20;
}

/** Reads every kind in turn for `seconds`, while a status is written each second. */
export async function memoryRows(
  { load, kube, api }: { load: Load; kube: Kube; api: { pid: number; opsUrl: string } },
  targets: Target[],
  ids: readonly string[],
  seconds: number,
): Promise<Row[]> {
  const resident: number[] = [];
  const heap: number[] = [];
  const over = new AbortController();
  const sample = async () => {
    let n = 0;
    for await (const _ of setInterval(SAMPLE_MS, undefined, { signal: over.signal })) {
      resident.push(readMemory(api.pid).nowMib);
      heap.push(await heapMib(api.opsUrl));
      await observe(kube, ids[n++ % ids.length] ?? '', new Date());
    }
  };
  const samples = sample().catch((error) => {
    if (!over.signal.aborted) throw error;
  });
  await load.rate(targets, seconds);
  over.abort();
  await samples;
  // The collector lets the heap fill up: its lowest value shows the live part.
  return [
    growthRow('resident memory', resident, median, seconds, ids.length),
    growthRow('heap at its lowest', heap, (values) => Math.min(...values), seconds, ids.length),
  ];
}

function growthRow(
  what: string,
  samples: readonly number[],
  pick: (values: readonly number[]) => number,
  seconds: number,
  count: number,
): Row {
  const settled = samples.slice(Math.floor(samples.length * SETTLING));
  const third = Math.ceil(settled.length / 3);
  const [first, last] = [pick(settled.slice(0, third)), pick(settled.slice(-third))];
  return {
    what: `${what} at ${count} streams, ${seconds} s of load`,
    ours: `${first.toFixed(0)} MiB, later ${last.toFixed(0)} MiB`,
    peer: '–',
    beside: '–',
    result: `${(last / first).toFixed(2)}×`,
    bar: 'flat: ≤ 1.05×',
  };
}
