/** Measures two kinds of streams beside each other: started in turns, and watched at the same time. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { startRtmpServer } from '../kit/real/rtmp.ts';
import { type CostOptions, formatCores, formatMib, formatRatio, Side, watchSides } from './cost.ts';
import { firstMedia } from './receiver.ts';
import type { Row } from './report.ts';
import { type Media, startStreamer } from './senders.ts';

const RECORDED_BYTES = 2 ** 18;

/** Returns rows of the processor time and the memory of streams of `changed` beside those of `plain`. */
export async function measureBeside(
  dir: string,
  { changed, plain }: { changed: Media; plain: Media },
  { streams, warmUp, seconds, ...words }: CostOptions & { what: string; beside: string; cpuBar?: string },
): Promise<Row[]> {
  await mkdir(dir, { recursive: true });
  const rtmp = await startRtmpServer({ record: join(dir, 'received'), recordMaxBytes: RECORDED_BYTES });
  const [ours, peer] = [new Side(), new Side()];
  try {
    for (let i = 0; i < streams; i++) {
      ours.add(await startStreamer(changed, rtmp.url, `changed${i}`));
      peer.add(await startStreamer(plain, rtmp.url, `plain${i}`));
      await Promise.all([`changed${i}`, `plain${i}`].map((key) => firstMedia(rtmp, key)));
    }
    await watchSides([ours, peer], { warmUp, seconds });
  } finally {
    await Promise.all([ours.stop(), peer.stop()]);
    await rtmp.close();
  }
  const beside = `${words.beside}, ${streams} of each, after ${warmUp} s`;
  return [
    {
      ...{ what: `CPU of a stream, of one core: ${words.what}`, beside, bar: words.cpuBar ?? 'stated' },
      ...{ ours: formatCores(ours.cpu), peer: formatCores(peer.cpu), result: formatRatio(ours.cpu, peer.cpu) },
    },
    {
      ...{ what: `PSS of a stream: ${words.what}`, beside, bar: 'stated' },
      ...{ ours: formatMib(ours.pss), peer: formatMib(peer.pss), result: formatRatio(ours.pss, peer.pss) },
    },
  ];
}
