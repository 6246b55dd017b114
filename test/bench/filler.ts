/** Measures the cost of filler: streams of a still whose destination asks for a least bitrate, beside the same streams without. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findLeastKbps } from '../../src/core/resources/destination/least-bitrate.ts';
import { startRtmpServer } from '../kit/real/rtmp.ts';
import { type CostOptions, formatCores, formatMib, formatRatio, Side, WINDOWS } from './cost.ts';
import { makeMedia } from './media.ts';
import { firstMedia } from './receiver.ts';
import type { Row } from './report.ts';
import { startStreamer } from './senders.ts';

/** As few bytes as a slide takes. */
const STILL = [{ frames: 900, size: '1280x720', bitrateKbps: 150 }];
const RECORDED_BYTES = 2 ** 18;

export async function measureFiller(root: string, { streams, warmUp, seconds }: CostOptions): Promise<Row[]> {
  const dir = join(root, 'filler');
  await mkdir(dir);
  const media = await makeMedia(dir, 'still', STILL);
  const leastBitrateKbps = findLeastKbps('a.rtmp.youtube.com', media.profile);
  const rtmp = await startRtmpServer({ record: join(dir, 'received'), recordMaxBytes: RECORDED_BYTES });
  const [filled, plain] = [new Side(), new Side()];
  try {
    for (let i = 0; i < streams; i++) {
      filled.add(await startStreamer({ ...media, leastBitrateKbps }, rtmp.url, `filled${i}`));
      plain.add(await startStreamer(media, rtmp.url, `plain${i}`));
      await Promise.all([`filled${i}`, `plain${i}`].map((key) => firstMedia(rtmp, key)));
    }
    await sleep(warmUp * 1000);
    for (let i = 0; i < WINDOWS; i++) {
      const ends = [filled.begin(), plain.begin()];
      await sleep((seconds * 1000) / WINDOWS);
      for (const end of ends) end();
    }
  } finally {
    await Promise.all([filled.stop(), plain.stop()]);
    await rtmp.close();
  }
  const what = `a still filled up to ${leastBitrateKbps / 1000} Mbit/s, ${media.profile}`;
  const shared = { beside: `the same without filler, ${streams} of each, after ${warmUp} s`, bar: 'stated' };
  return [
    {
      ...{ what: `CPU of a stream, of one core: ${what}`, ...shared },
      ...{ ours: formatCores(filled.cpu), peer: formatCores(plain.cpu), result: formatRatio(filled.cpu, plain.cpu) },
    },
    {
      ...{ what: `PSS of a stream: ${what}`, ...shared },
      ...{ ours: formatMib(filled.pss), peer: formatMib(plain.pss), result: formatRatio(filled.pss, plain.pss) },
    },
  ];
}
