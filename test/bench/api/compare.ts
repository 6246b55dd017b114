/** Compares rates and latencies with a peer's, in alternating rounds, as rows of the table. */
import { median, type Row } from '../report.ts';
import type { LoadJobs, Rate, Target, Tls } from './load.ts';
import type { Remote } from './worker.ts';

export type Load = Remote<LoadJobs>;

export interface Rounds {
  rounds: number;
  seconds: number;
}

const WARM_UP_SECONDS = 2;

/** Returns each target's rates of all rounds; every round measures each, and every second one in the other order. */
async function takeTurns(load: Load, targets: Target[], { rounds, seconds }: Rounds): Promise<Rate[][]> {
  const rates = targets.map((): Rate[] => []);
  for (const target of targets) await load.rate([target], WARM_UP_SECONDS);
  for (let round = 0; round < rounds; round++) {
    const order = [...targets.keys()];
    for (const i of round % 2 === 0 ? order : order.reverse())
      rates[i]?.push(await load.rate([targets[i] as Target], seconds));
  }
  return rates;
}

const computeRatios = (ours: readonly number[], theirs: readonly number[]): number[] =>
  ours.map((value, i) => value / (theirs[i] ?? Number.NaN));
const spread = (ratios: readonly number[]): string =>
  `${median(ratios).toFixed(2)}× (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)})`;
const show = (rates: readonly Rate[]): string =>
  `${Math.round(median(rates.map(({ perSecond }) => perSecond)))}/s, p99 ${median(rates.map(({ p99Ms }) => p99Ms))} ms`;
const perSecond = (rates: readonly Rate[]): number[] => rates.map((rate) => rate.perSecond);

/** Compares requests a second of `ours` and `peer`. */
export async function rateRow(
  load: Load,
  { what, ours, peer, beside }: { what: string; ours: Target; peer: Target; beside: string },
  rounds: Rounds,
  bar = '≥ 0.5×',
): Promise<Row> {
  const [own = [], theirs = []] = await takeTurns(load, [ours, peer], rounds);
  const result = spread(computeRatios(perSecond(own), perSecond(theirs)));
  return { what, ours: show(own), peer: show(theirs), beside, result, bar };
}

/** Returns how much longer each of `larger` takes than `small`: two sizes of ours. */
export async function flatRows(
  load: Load,
  small: Target,
  larger: { what: string; target: Target }[],
  beside: string,
  rounds: Rounds,
  bar = '≤ 1.1× the time',
): Promise<Row[]> {
  const [base = [], ...rates] = await takeTurns(load, [small, ...larger.map(({ target }) => target)], rounds);
  return larger.map(({ what }, i) => {
    const own = rates[i] ?? [];
    const result = spread(computeRatios(perSecond(base), perSecond(own)));
    return { what, ours: show(own), peer: show(base), beside, result, bar };
  });
}

const percentile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN;

/** Compares p50 and p99 of `ours` and `peer`, which alternate request by request; `names` of each round are all new. */
export async function latencyRows(
  load: Load,
  what: string,
  targets: (Target & { tls?: Tls })[],
  names: string[][],
  beside: string,
): Promise<Row[]> {
  const [warmUp = [], ...rounds] = names;
  await load.latencies(targets, warmUp);
  const taken: number[][][] = [];
  for (const round of rounds) taken.push(await load.latencies(targets, round));
  return [0.5, 0.99].map((share) => {
    const [own = [], theirs = []] = [0, 1].map((i) => taken.map((round) => percentile(round[i] ?? [], share)));
    const ms = (values: readonly number[]) => `${median(values).toFixed(2)} ms`;
    return {
      what: `${what}, p${share * 100}`,
      ours: ms(own),
      peer: ms(theirs),
      beside,
      result: spread(computeRatios(own, theirs)),
      bar: '≤ 1.3×',
    };
  });
}
