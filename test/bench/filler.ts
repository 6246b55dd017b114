/** Measures the cost of filler: streams of a still whose destination asks for a least bitrate, beside the same streams without. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { findLeastKbps } from '../../src/core/resources/destination/least-bitrate.ts';
import type { CostOptions } from './cost.ts';
import { makeMedia } from './media.ts';
import { measureBeside } from './pair.ts';
import type { Row } from './report.ts';

/** As few bytes as a slide takes. */
const STILL = [{ frames: 900, size: '1280x720', bitrateKbps: 150 }];

export async function measureFiller(root: string, options: CostOptions): Promise<Row[]> {
  const dir = join(root, 'filler');
  await mkdir(dir);
  const plain = await makeMedia(dir, 'still', STILL);
  const leastBitrateKbps = findLeastKbps('a.rtmp.youtube.com', plain.profile);
  return measureBeside(
    dir,
    { changed: { ...plain, leastBitrateKbps }, plain },
    {
      ...options,
      what: `a still filled up to ${leastBitrateKbps / 1000} Mbit/s, ${plain.profile}`,
      beside: 'the same without filler',
    },
  );
}
