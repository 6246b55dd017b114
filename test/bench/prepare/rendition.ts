/** Measures the rendition Job alone on an export in three containers, beside `ffmpeg -c copy`. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { prepareOnce } from '../remux.ts';
import { median, type Row } from '../report.ts';
import { type Clip, makeExport, remuxFile } from './files.ts';
import { during, formatRange, formatSeconds, say, timed } from './run.ts';

const CONTAINERS = ['mp4', 'mkv', 'ts'];

interface RenditionOptions {
  dir: string;
  clip: Clip;
  times: number;
  signal: AbortSignal;
}

export async function renditionRows({ dir, clip, times, signal }: RenditionOptions, seconds: number): Promise<Row[]> {
  const work = join(dir, 'rendition');
  await mkdir(work);
  const source = (container: string) => join(work, `source.${container}`);
  await makeExport(clip, source('mp4'), { seconds, fast: true }, signal);
  for (const container of CONTAINERS.slice(1)) await remuxFile(source('mp4'), source(container), signal);
  const rows: Row[] = [];
  for (const container of CONTAINERS) {
    const ours: number[] = [];
    const peer: number[] = [];
    let way = '';
    const prepare = async () => {
      const log = await prepareOnce(work, source(container), { profile: '1080p30', signal });
      const found = [...log.matchAll(/"video":"(\w+)","audio":"(\w+)"/g)].at(-1);
      way = `pictures: ${found?.[1]}, sound: ${found?.[2]}`;
    };
    for (let n = 0; n < times; n++) {
      const copy = () => remuxFile(source(container), join(work, 'peer.flv'), signal);
      peer.push(await during(`ffmpeg copies the ${container}`, () => timed(copy)));
      ours.push(await during(`the Job makes the rendition of the ${container}`, () => timed(prepare)));
    }
    say(`  rendition of ${container}: ${formatRange(ours)}, ffmpeg ${formatRange(peer)}`);
    rows.push({
      what: `rendition of the export of ${seconds} s as ${container} (${way}), median of ${times}`,
      ours: formatRange(ours),
      peer: formatRange(peer),
      beside: 'ffmpeg -c copy, taking turns',
      result: `${formatSeconds(median(ours) - median(peer))} more`,
      bar: '–',
    });
  }
  await rm(work, { recursive: true });
  return rows;
}
