/**
 * Measures the cost of streams beside bare ffmpeg with the same media. All rows are measured at the same time, so that all of them meet the
 * same machine: streams of several bitrates, streams with further outputs, and streams to a receiver that leaves RTMP's chunk size at 128.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Profile } from '../../src/core/resources/stream/profile.ts';
import { type RtmpServer, startRtmpServer } from '../kit/real/rtmp.ts';
import { prepareMedia, withLookAndSound } from './media.ts';
import { countSwitches, sumCpuSeconds, sumPssMib } from './processes.ts';
import { firstMedia } from './receiver.ts';
import { median, type Row } from './report.ts';
import { type Media, type Sender, startFfmpeg, startStreamer } from './senders.ts';

/** The result is the median of this many windows. */
const WINDOWS = 5;
/** Enough for a receiver to show that media has come; a minute of all streams would fill a gigabyte. */
const RECORDED_BYTES = 2 ** 18;
/** Outputs of a stream with further ones: at most five (resources/stream/spec.ts). */
const OUTPUTS = 5;

/** The product's own profiles send 4 Mbit/s (720p30) and 6 (1080p30). A quiet picture needs 1.6. */
const RATES: { profile: Profile; kbps: number; pssBar: number }[] = [
  { profile: '720p30', kbps: 1600, pssBar: 1.7 },
  { profile: '720p30', kbps: 4000, pssBar: 1.8 },
  { profile: '1080p30', kbps: 6000, pssBar: 1.9 },
];
const CPU_BAR = 0.7;
const SMALL_CHUNKS_BAR = 0.5;
const FURTHER_OUTPUT_BAR_MIB = 4;
/** With a logo and a title in the pictures, and a sound apart from them, beside the same stream without. */
const LOOK_BAR = 1.05;

export interface CostOptions {
  /** Streams of each side and row. */
  streams: number;
  /**
   * Seconds before the first window. A channel runs for days, and V8 takes more processor time to compile what is called often than the
   * stream itself takes: in the first minutes a figure is about the compiler.
   */
  warmUp: number;
  seconds: number;
}

/** Processes whose cost is one figure. */
export class Side {
  readonly #senders: Sender[] = [];
  /** One value for each window, for one stream: of a core, MiB, voluntary context switches a second. */
  readonly cpu: number[] = [];
  readonly pss: number[] = [];
  readonly switches: number[] = [];

  add(sender: Sender): void {
    this.#senders.push(sender);
  }

  /** Starts a window; the returned function ends it. */
  begin(): () => void {
    const pids = this.#senders.map(({ pid }) => pid);
    const [cpu, switches, fromMs] = [sumCpuSeconds(pids), countSwitches(pids), performance.now()];
    return () => {
      const unit = ((performance.now() - fromMs) / 1000) * pids.length;
      this.cpu.push((sumCpuSeconds(pids) - cpu) / unit);
      this.switches.push((countSwitches(pids) - switches) / unit);
      this.pss.push(sumPssMib(pids) / pids.length);
    };
  }

  async stop(): Promise<void> {
    await Promise.all(this.#senders.map((sender) => sender.stop()));
  }
}

/** Watches all sides in the same windows, after they have warmed up. */
export async function watchSides(
  sides: readonly Side[],
  { warmUp, seconds }: Omit<CostOptions, 'streams'>,
): Promise<void> {
  await sleep(warmUp * 1000);
  for (let i = 0; i < WINDOWS; i++) {
    const ends = sides.map((side) => side.begin());
    await sleep((seconds * 1000) / WINDOWS);
    for (const end of ends) end();
  }
}

interface Pair {
  what: string;
  ours: Side;
  bare: Side;
}

/** Starts `streams` of each side with the same media, and waits until the receiver has media of all. */
async function startPair(
  what: string,
  media: Media,
  { rtmp, streams, outputs = 1 }: { rtmp: RtmpServer; streams: number; outputs?: number },
): Promise<Pair> {
  const pair = { what, ours: new Side(), bare: new Side() };
  const [file = ''] = media.files;
  const name = what.replaceAll(/\W+/g, '');
  for (let i = 0; i < streams; i++) {
    const keys = Array.from({ length: outputs }, (_, output) => `${name}ours${i}o${output}`);
    const bareKey = `${name}bare${i}`;
    pair.ours.add(await startStreamer(media, rtmp.url, ...keys));
    pair.bare.add(startFfmpeg(file, rtmp.url, bareKey));
    await Promise.all([...keys, bareKey].map((key) => firstMedia(rtmp, key)));
  }
  return pair;
}

export const formatRatio = (ours: readonly number[], bare: readonly number[]): string => {
  const ratios = ours.map((value, i) => value / (bare[i] ?? Number.NaN));
  return `${median(ratios).toFixed(2)}× (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)})`;
};
export const formatCores = (values: readonly number[]): string => `${(median(values) * 100).toFixed(2)} %`;
export const formatMib = (values: readonly number[]): string => `${median(values).toFixed(1)} MiB`;

export async function measureCost(root: string, { streams, warmUp, seconds }: CostOptions): Promise<Row[]> {
  const beside = `ffmpeg -stream_loop, ${streams} of each, after ${warmUp} s`;
  const media: Media[] = [];
  for (const rate of RATES) media.push(await prepareMedia(root, rate));
  const records = join(root, 'cost');
  await mkdir(records);
  const receive = (name: string, chunkBytes?: number) =>
    startRtmpServer({
      record: join(records, name),
      recordMaxBytes: RECORDED_BYTES,
      ...(chunkBytes !== undefined && { chunkBytes }),
    });
  const servers: RtmpServer[] = [];
  const pairs: Pair[] = [];
  try {
    const [rtmp, small] = [await receive('usual'), await receive('small', 128)];
    servers.push(rtmp, small);
    for (const [i, { kbps, profile }] of RATES.entries())
      pairs.push(await startPair(`${kbps / 1000} Mbit/s, ${profile}`, media[i] as Media, { rtmp, streams }));
    const [, middle] = media as [Media, Media];
    pairs.push(await startPair('chunks of 128 bytes', middle, { rtmp: small, streams }));
    pairs.push(await startPair(`${OUTPUTS} outputs`, middle, { rtmp, streams, outputs: OUTPUTS }));
    pairs.push(await startPair('logo, title and loudness', await withLookAndSound(middle), { rtmp, streams }));
    await watchSides(
      pairs.flatMap(({ ours, bare }) => [ours, bare]),
      { warmUp, seconds },
    );
  } finally {
    await Promise.all(pairs.flatMap(({ ours, bare }) => [ours.stop(), bare.stop()]));
    await Promise.all(servers.map((server) => server.close()));
  }
  const rates = pairs.slice(0, RATES.length);
  const [chunks, several, decorated] = pairs.slice(RATES.length) as [Pair, Pair, Pair];
  const one = rates[1] as Pair;
  const cpuRow = ({ what, ours, bare }: Pair, bar: number): Row => ({
    what: `CPU of a stream, of one core: ${what}`,
    ours: `${formatCores(ours.cpu)}, ${median(ours.switches).toFixed(1)} switches/s`,
    peer: `${formatCores(bare.cpu)}, ${median(bare.switches).toFixed(1)} switches/s`,
    beside,
    result: formatRatio(ours.cpu, bare.cpu),
    bar: `≤ ${bar}×`,
  });
  const lookRow = (what: 'CPU' | 'PSS', [ours, without]: readonly number[][], show: typeof formatMib): Row => ({
    what: `${what} of a stream with logo, title and loudness: ${one.what}`,
    ours: show(ours ?? []),
    peer: show(without ?? []),
    beside: `the same stream without, ${streams} of each`,
    result: formatRatio(ours ?? [], without ?? []),
    bar: `≤ ${LOOK_BAR}×`,
  });
  const further = several.ours.pss.map((value, i) => (value - (one.ours.pss[i] ?? Number.NaN)) / (OUTPUTS - 1));
  return [
    ...rates.map(({ what, ours, bare }, i) => ({
      what: `PSS of a stream: ${what}`,
      ours: formatMib(ours.pss),
      peer: formatMib(bare.pss),
      beside,
      result: formatRatio(ours.pss, bare.pss),
      bar: `≤ ${RATES[i]?.pssBar}×`,
    })),
    {
      what: `PSS of each further output: ${one.what}`,
      ours: formatMib(further),
      peer: formatMib(several.bare.pss),
      beside: 'one more ffmpeg -stream_loop',
      result: `+${formatMib(further)}`,
      bar: `≤ +${FURTHER_OUTPUT_BAR_MIB} MiB`,
    },
    ...rates.map((pair) => cpuRow(pair, CPU_BAR)),
    lookRow('PSS', [decorated.ours.pss, one.ours.pss], formatMib),
    lookRow('CPU', [decorated.ours.cpu, one.ours.cpu], formatCores),
    cpuRow({ ...chunks, what: `${one.what}, to a receiver with ${chunks.what}` }, SMALL_CHUNKS_BAR),
    {
      what: `CPU of each further output: ${one.what}`,
      ours: formatCores(several.ours.cpu.map((value, i) => (value - (one.ours.cpu[i] ?? Number.NaN)) / (OUTPUTS - 1))),
      peer: formatCores(several.bare.cpu),
      beside: 'one more ffmpeg -stream_loop',
      result: 'stated',
      bar: '–',
    },
  ];
}
