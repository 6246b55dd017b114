/**
 * Compares the engine with common alternatives (`make bench-engine`): a stream's cost, a receiver's view of seams, and the wait for media.
 * Both sides run at the same time or alternate, into the same nginx-rtmp. The table is printed and appended to RESULTS.md.
 */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { environment } from '../../src/core/settings/environment.ts';
import { ensurePrograms } from '../../tools/process/preflight.ts';
import { startRtmpServer } from '../kit/real/rtmp.ts';
import { measureCost } from './cost.ts';
import { measureFiller } from './filler.ts';
import { LONG_CLIP, makeMedia, SHORT_CLIPS, SMALL_CLIPS } from './media.ts';
import { measureRemux, remuxRow } from './remux.ts';
import { circumstances, type Row, readVersion, report, selectParts, whole } from './report.ts';
import { measureRules } from './rules.ts';
import { measureSeams } from './seams.ts';
import { SENDER } from './senders.ts';
import { measureSoak } from './soak.ts';
import { measureReturn, measureStart } from './times.ts';

const PARTS = ['cost', 'filler', 'rules', 'start', 'return', 'soak', 'seams', 'remux'];
const HELP = `Usage: node test/bench/engine.ts [options]

  --streams N    streams of each side and row whose cost is measured (4)
  --warm-up S    for how long they run before, so that V8 has compiled what a stream of days needs (180)
  --seconds S    for how long their cost is measured (60)
  --seams S      for how many seconds the seams are watched (300)
  --hours H      hours of media that are sent while memory is watched (24)
  --only PARTS   some of ${PARTS.join(',')}
  --no-record    print the table, leave RESULTS.md as it is
  --help         this text

LOOPSTREAM_SENDER names the ffmpeg that sends; by default it is the built one (make sender), else the machine's own.

Needs ffmpeg, nginx with its RTMP module, and for the seams liquidsoap; what is missing is installed. Ends within a quarter of an hour
unless told otherwise.
`;

const { values } = parseArgs({
  options: {
    streams: { type: 'string', default: '4' },
    'warm-up': { type: 'string', default: '180' },
    seconds: { type: 'string', default: '60' },
    seams: { type: 'string', default: '300' },
    hours: { type: 'string', default: '24' },
    only: { type: 'string', default: PARTS.join(',') },
    'no-record': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

interface Sizes {
  streams: number;
  warmUp: number;
  seconds: number;
  seams: number;
  hours: number;
}

async function measure({ streams, warmUp, seconds, seams, hours }: Sizes, parts: readonly string[]): Promise<Row[]> {
  const root = await mkdtemp(join(tmpdir(), 'bench-'));
  const rtmp = await startRtmpServer({ record: join(root, 'recordings') });
  const say = (text: string) => process.stderr.write(`${text}\n`);
  try {
    say('making clips');
    const long = await makeMedia(root, 'long', LONG_CLIP);
    const short = await makeMedia(root, 'short', SHORT_CLIPS);
    const steps: Record<string, () => Promise<Row[]>> = {
      cost: () => measureCost(root, { streams, warmUp, seconds }),
      filler: () => measureFiller(root, { streams, warmUp, seconds }),
      rules: () => measureRules(root, { streams, warmUp, seconds }),
      seams: () => measureSeams(rtmp, short, seams),
      start: () => measureStart(rtmp, long, 5),
      return: () => measureReturn(rtmp, long, 4),
      remux: async () => [remuxRow(await measureRemux(await mkdtemp(join(root, 'remux-'))))],
      soak: async () => measureSoak(await makeMedia(root, 'small', SMALL_CLIPS), hours),
    };
    const take = async (name: string): Promise<Row[]> => {
      const step = parts.includes(name) ? steps[name] : undefined;
      if (!step) return [];
      say(`measuring: ${name}`);
      return step();
    };
    const rows: Row[] = [];
    for (const name of ['cost', 'filler', 'rules', 'start', 'return', 'soak']) rows.push(...(await take(name)));
    // The seams take minutes of real time and little processor time, and their timestamps do not depend on it.
    const both = await Promise.all([take('seams'), take('remux')]);
    return [...rows, ...both.flat()];
  } finally {
    await rtmp.close();
    await rm(root, { recursive: true, force: true });
  }
}

async function main(): Promise<void> {
  if (values.help) return void process.stdout.write(HELP);
  const parts = selectParts(values.only, PARTS);
  const hasSeams = parts.includes('seams');
  await ensurePrograms(
    [
      { command: 'ffmpeg', aptPackage: 'ffmpeg' },
      { command: 'nginx', aptPackage: 'nginx' },
      { file: '/usr/lib/nginx/modules/ngx_rtmp_module.so', aptPackage: 'libnginx-mod-rtmp' },
      ...(hasSeams ? [{ command: 'liquidsoap', aptPackage: 'liquidsoap' }] : []),
    ],
    { env: environment(), onProgress: (step) => process.stderr.write(`${step}\n`) },
  );
  const peers = [readVersion.ffmpeg(), ...(hasSeams ? [readVersion.liquidsoap()] : [])];
  const about = circumstances([...peers, `sender ${basename(SENDER)}`]);
  execFileSync(process.execPath, [join(import.meta.dirname, '../../scripts/build.ts')], { stdio: 'ignore' });
  const sizes = {
    streams: whole(values.streams),
    warmUp: whole(values['warm-up']),
    seconds: whole(values.seconds),
    seams: whole(values.seams),
    hours: whole(values.hours),
  };
  report(about, await measure(sizes, parts), !values['no-record']);
}

await main();
