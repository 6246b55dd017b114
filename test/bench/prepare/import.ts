/** Measures the import Job alone on a large file from loopback, beside `curl -o`: wall time, and memory at two sizes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MAIN } from '../../kit/system/app.ts';
import { median, type Row } from '../report.ts';
import { type Clip, type FileServer, makeExport } from './files.ts';
import { during, formatRange, formatSeconds, run, say, timed } from './run.ts';

const BAR = 1.3;
const SAMPLE_MS = 100;
const SMALL_SECONDS = 60;
/** A server that limits each connection, as many do. */
const CONNECTION_MBPS = 100;
const LIMITED_SECONDS = 450;
const LIMITED_BAR = 0.5;

/** Returns the largest resident set of a process so far, in MiB (proc(5), VmHWM); 0 after its end. */
function peakMib(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

interface Imported {
  seconds: number;
  peakMib: number;
}

/** Runs the Job as its pod does, without the container for ffprobe: fetched, hashed, read to its end, put into storage. */
async function importOnce(dir: string, url: string, signal: AbortSignal): Promise<Imported> {
  const work = join(dir, 'import');
  await mkdir(join(work, 'tmp'), { recursive: true });
  const resultFile = join(work, 'result');
  const from = performance.now();
  const child = spawn(process.execPath, [MAIN, 'prepare'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env.PATH,
      TMPDIR: join(work, 'tmp'),
      LOOPSTREAM_TASK: JSON.stringify({ action: 'import', type: 'video', url, sourceKey: 'sources/x' }),
      LOOPSTREAM_RESULT_FILE: resultFile,
      LOOPSTREAM_STORAGE_URL: pathToFileURL(join(work, 'media')).href,
      LOOPSTREAM_ALLOW_PRIVATE_LINKS: 'true',
    },
  });
  let stderr = '';
  child.stderr.on('data', (chunk) => (stderr += chunk));
  let peak = 0;
  const timer = setInterval(() => (peak = Math.max(peak, peakMib(child.pid ?? 0))), SAMPLE_MS);
  const kill = () => child.kill('SIGTERM');
  signal.addEventListener('abort', kill, { once: true });
  try {
    await once(child, 'exit');
    const seconds = (performance.now() - from) / 1000;
    signal.throwIfAborted();
    const result = await readFile(resultFile, 'utf8').catch(() => '');
    if (!result.includes('"media"')) throw new Error(`the import failed: ${result}\n${stderr}`);
    return { seconds, peakMib: peak };
  } finally {
    clearInterval(timer);
    signal.removeEventListener('abort', kill);
    await rm(work, { recursive: true, force: true });
  }
}

interface ImportOptions {
  dir: string;
  server: FileServer;
  clip: Clip;
  times: number;
  signal: AbortSignal;
}

/** Takes turns with curl. The disk is at rest before each: no side pays for what the other has written. */
export async function importRows(options: ImportOptions, seconds: number, size: string): Promise<Row[]> {
  const { dir, server, clip, times, signal } = options;
  const large = join(dir, 'large.mp4');
  const small = join(dir, 'small.mp4');
  await makeExport(clip, small, { seconds: SMALL_SECONDS, fast: false }, signal);
  await makeExport(clip, large, { seconds, fast: false }, signal);
  const copy = join(dir, 'by-curl.mp4');
  const settle = () => during('the disk is at rest (sync)', () => run('sync', ['-f', dir], signal));
  const byCurl: number[] = [];
  const ours: Imported[] = [];
  const ofSmall: Imported[] = [];
  for (let n = 0; n < times; n++) {
    await settle();
    const fetch = () => run('curl', ['-sS', '-f', '-o', copy, `${server.url}/large.mp4`], signal);
    byCurl.push(await during('curl fetches', () => timed(fetch)));
    await rm(copy);
    ofSmall.push(await importOnce(dir, `${server.url}/small.mp4`, signal));
    await settle();
    ours.push(await during('the Job imports', () => importOnce(dir, `${server.url}/large.mp4`, signal)));
    say(
      `  import ${n + 1} of ${times}: ${formatSeconds(ours[n]?.seconds ?? 0)}, curl ${formatSeconds(byCurl[n] ?? 0)}`,
    );
  }
  await Promise.all([rm(large), rm(small)]);
  const wall = ours.map((one) => one.seconds);
  const ratio = median(wall) / median(byCurl);
  const [memory, memoryOfSmall] = [ours, ofSmall].map((all) => median(all.map((one) => one.peakMib)));
  return [
    {
      what: `import of ${size} from loopback, median of ${times}`,
      ours: formatRange(wall),
      peer: formatRange(byCurl),
      beside: 'curl -o, taking turns',
      result: `${ratio.toFixed(2)}×: ${ratio <= BAR ? 'holds' : 'misses'}`,
      bar: `≤ ${BAR}×`,
    },
    {
      what: '… peak memory of its process (RSS)',
      ours: `${memory?.toFixed(0)} MiB`,
      peer: `${memoryOfSmall?.toFixed(0)} MiB`,
      beside: `the same of ${SMALL_SECONDS} s`,
      result: `${((memory ?? 0) / (memoryOfSmall ?? 1)).toFixed(2)}×`,
      bar: 'flat',
    },
  ];
}

/** Takes turns with curl on a server that limits the speed of each connection. */
export async function limitedRows({ dir, server, clip, times, signal }: ImportOptions): Promise<Row[]> {
  const path = join(dir, 'limited.mp4');
  await makeExport(clip, path, { seconds: LIMITED_SECONDS, fast: false }, signal);
  const copy = join(dir, 'by-curl.mp4');
  const url = `${server.url}/limited.mp4?mbps=${CONNECTION_MBPS}`;
  const byCurl: number[] = [];
  const ours: number[] = [];
  for (let n = 0; n < times; n++) {
    const fetch = () => run('curl', ['-sS', '-f', '-o', copy, url], signal);
    byCurl.push(await during('curl fetches', () => timed(fetch)));
    ours.push((await during('the Job imports', () => importOnce(dir, url, signal))).seconds);
  }
  await Promise.all([rm(path), rm(copy)]);
  const ratio = median(ours) / median(byCurl);
  return [
    {
      what: `import of ${LIMITED_SECONDS} s from a server that sends ${CONNECTION_MBPS} Mbit/s by each connection, median of ${times}`,
      ours: formatRange(ours),
      peer: formatRange(byCurl),
      beside: 'curl -o, taking turns',
      result: `${ratio.toFixed(2)}×: ${ratio <= LIMITED_BAR ? 'holds' : 'misses'}`,
      bar: `≤ ${LIMITED_BAR}×`,
    },
  ];
}
