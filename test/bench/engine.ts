/**
 * The engine beside what people run instead (`make bench`): what a stream costs, what a receiver sees at seams, and how long
 * it waits for media. Both sides run at the same time or take turns, into the same nginx-rtmp. The table is printed and
 * appended to RESULTS.md.
 */
import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startRtmpServer } from '../support/rtmp.ts';
import { measureCost } from './cost.ts';
import { LONG_CLIP, makeMedia, SHORT_CLIPS } from './media.ts';
import { circumstances, type Row, table } from './report.ts';
import { measureSeams } from './seams.ts';
import { measureReturn, measureStart } from './times.ts';

const PARTS = ['cost', 'seams', 'start', 'return'];
const HELP = `Usage: node test/bench/engine.ts [options]

  --streams N    streams of each side whose cost is measured (10)
  --seconds S    for how long their cost is measured, and the seams are watched (60)
  --only PARTS   some of ${PARTS.join(',')}
  --no-record    print the table, leave RESULTS.md as it is
  --help         this text

Needs ffmpeg, and nginx with its RTMP module. Ends within five minutes unless told otherwise.
`;

const { values } = parseArgs({
  options: {
    streams: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '60' },
    only: { type: 'string', default: PARTS.join(',') },
    'no-record': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const whole = (text: string): number => {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new Error(`${text} is not a whole number above 0`);
  return Number(text);
};

async function measure(streams: number, seconds: number, parts: readonly string[]): Promise<Row[]> {
  const root = await mkdtemp(join(tmpdir(), 'bench-'));
  const rtmp = await startRtmpServer({ record: join(root, 'recordings') });
  const say = (text: string) => process.stderr.write(`${text}\n`);
  try {
    say('making clips');
    const long = await makeMedia(root, 'long', LONG_CLIP);
    const short = await makeMedia(root, 'short', SHORT_CLIPS);
    const steps: Record<string, () => Promise<Row[]>> = {
      cost: () => measureCost(rtmp, long, { streams, seconds }),
      seams: () => measureSeams(rtmp, short, seconds),
      start: () => measureStart(rtmp, long, 5),
      return: () => measureReturn(rtmp, long, 4),
    };
    const rows: Row[] = [];
    for (const [name, step] of Object.entries(steps)) {
      if (!parts.includes(name)) continue;
      say(`measuring: ${name}`);
      rows.push(...(await step()));
    }
    return rows;
  } finally {
    await rtmp.close();
    await rm(root, { recursive: true, force: true });
  }
}

async function main(): Promise<void> {
  if (values.help) return void process.stdout.write(HELP);
  const parts = values.only.split(',');
  const unknown = parts.find((part) => !PARTS.includes(part));
  if (unknown !== undefined) throw new Error(`there is no part "${unknown}"`);
  const about = circumstances();
  execFileSync(process.execPath, [join(import.meta.dirname, '../../scripts/build.ts')], { stdio: 'ignore' });
  const text = table(await measure(whole(values.streams), whole(values.seconds), parts));
  process.stdout.write(`${about}\n\n${text}\n`);
  if (values['no-record']) return;
  const date = new Date().toISOString().slice(0, 16).replace('T', ' ');
  appendFileSync(join(import.meta.dirname, 'RESULTS.md'), `\n### ${date} UTC\n\n${about}\n\n${text}\n`);
}

await main();
