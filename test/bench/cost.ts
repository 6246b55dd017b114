/** Measures the cost of N streams beside N bare ffmpeg at the same time, so that both meet the same machine. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RtmpServer } from '../kit/real/rtmp.ts';
import { sumCpuSeconds, sumPssMib } from './processes.ts';
import { firstMedia } from './receiver.ts';
import { median, type Row } from './report.ts';
import { type Media, type Sender, startFfmpeg, startStreamer } from './senders.ts';

/** The result is the median of this many windows. */
const WINDOWS = 5;
const WARM_UP_MS = 15_000;

export interface CostOptions {
  streams: number;
  seconds: number;
}

export async function measureCost(rtmp: RtmpServer, media: Media, { streams, seconds }: CostOptions): Promise<Row[]> {
  const ours: Sender[] = [];
  const bare: Sender[] = [];
  const file = media.files[0] ?? '';
  try {
    for (let i = 0; i < streams; i++) {
      ours.push(await startStreamer(media, rtmp.url, `ours${i}`));
      bare.push(startFfmpeg(file, rtmp.url, `bare${i}`));
      await Promise.all([firstMedia(rtmp, `ours${i}`), firstMedia(rtmp, `bare${i}`)]);
    }
    await sleep(WARM_UP_MS);
    const sides = [ours, bare].map((side) => side.map(({ pid }) => pid));
    const windows: { cpu: number[]; pss: number[] }[] = [];
    for (let i = 0; i < WINDOWS; i++) {
      const before = sides.map(sumCpuSeconds);
      const from = performance.now();
      await sleep((seconds * 1000) / WINDOWS);
      const took = (performance.now() - from) / 1000;
      const cpu = sides.map((side, s) => (sumCpuSeconds(side) - (before[s] ?? 0)) / took / streams);
      windows.push({ cpu, pss: sides.map((side) => sumPssMib(side) / streams) });
    }
    return (['cpu', 'pss'] as const).map((kind) => {
      const side = (s: number) => median(windows.map((w) => w[kind][s] ?? Number.NaN));
      const ratios = windows.map((w) => (w[kind][0] ?? 0) / (w[kind][1] ?? 1));
      const format = (s: number) => (kind === 'cpu' ? `${(side(s) * 100).toFixed(2)} %` : `${side(s).toFixed(1)} MiB`);
      return {
        what: kind === 'cpu' ? 'CPU of a stream, of one core' : 'PSS of a stream',
        ours: format(0),
        peer: format(1),
        beside: `ffmpeg -stream_loop, ${streams} of each`,
        result: `${median(ratios).toFixed(2)}× (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)})`,
        bar: kind === 'cpu' ? '≤ 0.85×' : '≤ 1.8×',
      };
    });
  } finally {
    await Promise.all([...ours, ...bare].map((sender) => sender.stop()));
  }
}
