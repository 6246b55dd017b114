/** Measures whether even loudness delays the start: from a link to the first media, beside the same without. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { median, type Row } from '../report.ts';
import { makeDistinct, makeExport } from './files.ts';
import { goLiveFromLink, judge, type Stage } from './live.ts';
import { formatRange, formatSeconds, say } from './run.ts';

const BAR_SECONDS = 0.3;

export async function loudRows(stage: Stage, seconds: number): Promise<Row[]> {
  const file = join(stage.dir, 'loud.mp4');
  await makeExport(stage.clip, file, { seconds, fast: true }, stage.signal);
  const [ours, without]: [number[], number[]] = [[], []];
  for (let n = 0; n < stage.times; n++) {
    for (const isLoud of n % 2 === 0 ? [true, false] : [false, true]) {
      await makeDistinct(file);
      const start = await goLiveFromLink(stage, file, { isLoud });
      (isLoud ? ours : without).push(start.seconds);
      say(`  ${isLoud ? 'with' : 'without'} loudness: live after ${formatSeconds(start.seconds)}`);
    }
  }
  await rm(file);
  return [
    {
      what: `link → live with loudness, a 1080p30 export of ${seconds} s, median of ${stage.times}`,
      ours: formatRange(ours),
      peer: formatRange(without),
      beside: 'the same without, taking turns',
      result: judge(median(ours) - median(without), BAR_SECONDS),
      bar: `≤ ${BAR_SECONDS} s more`,
    },
  ];
}
