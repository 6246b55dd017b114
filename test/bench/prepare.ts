/**
 * Measures how soon a file is on air (`make bench-prepare`): from a link and from a tus upload to media at a receiver, and the import and
 * the rendition alone, each beside what people do by hand. The table is printed and appended to RESULTS.md.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { environment } from '../../src/core/settings/environment.ts';
import { ensurePrograms } from '../../tools/process/preflight.ts';
import { LOCAL_MAIN } from '../kit/system/app.ts';
import { encodeRows } from './prepare/encode.ts';
import { fairRows, HOUR_BYTES } from './prepare/fair.ts';
import { computeSeconds, makeClip, serveFiles } from './prepare/files.ts';
import { importRows, limitedRows } from './prepare/import.ts';
import { exportRows, filmRows, lineRows, type Stage, setStage, uploadRows } from './prepare/live.ts';
import { loudRows } from './prepare/loud.ts';
import { renditionRows } from './prepare/rendition.ts';
import { say } from './prepare/run.ts';
import { circumstances, collect, type Row, readVersion, report, selectParts, whole } from './report.ts';

const PARTS = [
  'rendition',
  'encode',
  'export',
  'loud',
  'clock',
  'line',
  'film',
  'tus',
  'fair',
  'fair-encoded',
  'import',
  'limited',
];
const HELP = `Usage: node test/bench/prepare.ts [options]

  --times N         runs of each row, which take turns with the peer's (3)
  --seconds S       length of the export of the parts export, loud, clock, line and rendition (180)
  --film-seconds S  length of the film that must be encoded (3600)
  --encode-seconds S  length of the source of the part encode (180)
  --upload-mb N     size of the file that is sent by tus (2000)
  --import-mb N     size of the file that is imported (10000)
  --fair-hours N    hours of media that another account sends (50)
  --minutes M       the longest time of the whole run (40)
  --only PARTS      some of ${PARTS.join(',')}
  --no-record       print the table, leave RESULTS.md as it is
  --help            this text

Needs the bundled roles (make setup), ffmpeg, curl, and nginx with its RTMP module; missing programs are installed. Ctrl-C ends
everything that it started.
`;
const { values } = parseArgs({
  options: {
    times: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '180' },
    'film-seconds': { type: 'string', default: '3600' },
    'encode-seconds': { type: 'string', default: '180' },
    'upload-mb': { type: 'string', default: '2000' },
    'import-mb': { type: 'string', default: '10000' },
    'fair-hours': { type: 'string', default: '50' },
    minutes: { type: 'string', default: '40' },
    only: { type: 'string', default: PARTS.join(',') },
    'no-record': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const MB = 1_000_000;
/** For the export, its copies and the recordings. */
const SPARE_BYTES = 4000 * MB;

/** Ends the run in time, and at Ctrl-C. */
function limitRun(minutes: number): AbortSignal {
  const over = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.on(name, () => {
      say(`${name}: ending what was started`);
      over.abort(new Error(`stopped by ${name}`));
    });
  const late = setTimeout(() => over.abort(new Error(`not done within ${minutes} minutes`)), minutes * 60_000);
  late.unref();
  return over.signal;
}

/** A source is on the disk up to four times: served, received, examined and stored. */
async function expectSpace(parts: readonly string[]): Promise<void> {
  const upload = parts.includes('tus') ? 4 * whole(values['upload-mb']) * MB : 0;
  const imported = parts.includes('import') ? 3 * whole(values['import-mb']) * MB : 0;
  const film = parts.includes('film') ? 5 * whole(values['film-seconds']) * MB : 0;
  const fair = parts.some((part) => part.startsWith('fair')) ? 2 * whole(values['fair-hours']) * HOUR_BYTES : 0;
  const needed = Math.max(upload, imported, film, fair) + SPARE_BYTES;
  const { bavail, bsize } = await statfs(tmpdir());
  const gb = (bytes: number) => `${(bytes / 1000 / MB).toFixed(0)} GB`;
  if (bavail * bsize < needed)
    throw new Error(`${tmpdir()} has ${gb(bavail * bsize)} left, and this takes ${gb(needed)}; name a smaller size`);
}

async function measure(parts: readonly string[], signal: AbortSignal): Promise<Row[]> {
  await using stack = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), 'loopstream-prepare-'));
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const server = await serveFiles(dir);
  stack.defer(() => server.close());
  const base = { dir, server, clip: await makeClip(dir, signal), times: whole(values.times), signal };
  const [seconds, uploadMb, importMb] = [values.seconds, values['upload-mb'], values['import-mb']].map(whole);
  const { rows, take } = collect(parts, say);
  // Without the system, which takes processor time.
  await take('rendition', () => renditionRows(base, seconds ?? 0));
  await take('encode', () => encodeRows(base, whole(values['encode-seconds'])));
  await take('import', () => importRows(base, computeSeconds((importMb ?? 0) * MB), `${importMb} MB`));
  await take('limited', () => limitedRows(base));
  if (!parts.some((part) => ['export', 'loud', 'clock', 'line', 'film', 'tus', 'fair', 'fair-encoded'].includes(part)))
    return rows;
  const stage: Stage = await setStage(base, stack);
  await take('export', () => exportRows(stage, seconds ?? 0));
  await take('loud', () => loudRows(stage, seconds ?? 0));
  await take('clock', async () => [
    ...(await exportRows(stage, seconds ?? 0, 'joined from parts')),
    ...(await exportRows(stage, seconds ?? 0, 'of a phone')),
  ]);
  await take('line', async () => [
    ...(await lineRows(stage, seconds ?? 0, { fits: true })),
    ...(await lineRows(stage, Math.min(900, whole(values['film-seconds'])), { fits: false })),
  ]);
  await take('film', () => filmRows(stage, whole(values['film-seconds'])));
  await take('tus', () => uploadRows(stage, computeSeconds((uploadMb ?? 0) * MB), `${uploadMb} MB`));
  await take('fair', () => fairRows(stage, whole(values['fair-hours']), { fits: true }));
  await take('fair-encoded', () => fairRows(stage, whole(values['fair-hours']), { fits: false }));
  return rows;
}

async function main(): Promise<void> {
  if (values.help) return void process.stdout.write(HELP);
  const parts = selectParts(values.only, PARTS);
  const signal = limitRun(whole(values.minutes));
  await ensurePrograms(
    [
      { command: 'curl', aptPackage: 'curl' },
      { command: 'ffmpeg', aptPackage: 'ffmpeg' },
      { command: 'nginx', aptPackage: 'nginx' },
      { file: '/usr/lib/nginx/modules/ngx_rtmp_module.so', aptPackage: 'libnginx-mod-rtmp' },
    ],
    { env: environment(), onProgress: say, signal },
  );
  if (!existsSync(LOCAL_MAIN)) throw new Error('Bundle the roles first: make setup');
  await expectSpace(parts);
  const about = circumstances([readVersion.ffmpeg()]);
  try {
    report(about, await measure(parts, signal), !values['no-record']);
  } catch (error) {
    if (!signal.aborted) throw error;
    say(`nothing is recorded: ${(signal.reason as Error).message}`);
    process.exitCode = 1;
  }
}

await main();
