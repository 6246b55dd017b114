/**
 * Measures what it costs to watch what viewers see, and looks for false alarms (`make bench-watch`): real streamers, nginx-rtmp with HLS,
 * and the judge on series of eight hours. The table is printed and appended to RESULTS.md.
 */
import { type ChildProcess, execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { ProgramItem } from '../../src/core/resources/stream/playing.ts';
import { reserveFreePort } from '../../tools/process/ports.ts';
import { makeFilmRendition } from '../kit/film/footage.ts';
import { LONG_SERIES } from '../kit/film/long-series.ts';
import { makeFilm } from '../kit/film/synthetic.ts';
import { playSeries } from '../kit/film/watch-series.ts';
import { live, openStudio, type Running, type Studio } from '../kit/make/onair.ts';
import { buildProgram, storeRendition } from '../kit/make/streamer.ts';
import { type RtmpServer, startRtmpServer } from '../kit/real/rtmp.ts';
import { sumPssMib } from './processes.ts';
import { circumstances, collect, type Row, report, selectParts, whole } from './report.ts';
import type { FromWatcher, Watched } from './watch-process.ts';

const PARTS = ['cost', 'real', 'series'];
const HELP = `Usage: node test/bench/watch.ts [options]

  --streams N    streams that are watched at once, beside one alone (10)
  --seconds S    for how long the cost is measured, after a warm-up of a minute (120)
  --minutes M    for how long a real film is watched (10)
  --film FILE    the real film; without it, a made one
  --ffmpeg FILE  the ffmpeg that decodes, as the image has it (make ffmpeg); by default the machine's own
  --only PARTS   some of ${PARTS.join(',')}
  --no-record    print the table, leave RESULTS.md as it is
  --help         this text
`;

const { values } = parseArgs({
  options: {
    streams: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '120' },
    minutes: { type: 'string', default: '10' },
    film: { type: 'string' },
    ffmpeg: { type: 'string', default: existsSync('dist/ffmpeg/ffmpeg') ? 'dist/ffmpeg/ffmpeg' : 'ffmpeg' },
    only: { type: 'string', default: PARTS.join(',') },
    'no-record': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const WARM_UP_MS = 60_000;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const say = (text: string) => void process.stderr.write(`${text}\n`);

interface Watching {
  process: ChildProcess;
  words: Map<string, string[]>;
  cpuSeconds: () => Promise<number>;
  end: () => Promise<void>;
}

async function startWatching(watched: Watched[]): Promise<Watching> {
  const child = fork(join(import.meta.dirname, 'watch-process.ts'), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const words = new Map<string, string[]>();
  let answered = Promise.withResolvers<number>();
  child.on('message', (message: FromWatcher) => {
    if ('cpuSeconds' in message) return answered.resolve(message.cpuSeconds);
    const { key, word } = message.verdict;
    const known = words.get(key) ?? [];
    if (known.at(-1) !== word) words.set(key, [...known, word]);
  });
  child.send({ ffmpeg: values.ffmpeg, watched });
  return {
    process: child,
    words,
    cpuSeconds: () => {
      answered = Promise.withResolvers();
      child.send('measure');
      return answered.promise;
    },
    end: async () => {
      child.send('end');
      await once(child, 'exit');
    },
  };
}

interface Stage {
  studio: Studio;
  rtmp: RtmpServer;
  hls: (name: string) => string;
}

async function withStage<T>(use: (stage: Stage) => Promise<T>): Promise<T> {
  const studio = await openStudio();
  const port = await reserveFreePort();
  const rtmp = await startRtmpServer({ record: join(studio.root, 'seen'), hls: { port } });
  try {
    return await use({ studio, rtmp, hls: (name) => `http://127.0.0.1:${port}/hls/${name}.m3u8` });
  } finally {
    await studio.cleanUp();
    await rtmp.close();
    await studio.close();
  }
}

const publish = async ({ studio, rtmp }: Stage, item: ProgramItem, name: string): Promise<Running> => {
  const stream = await studio.onAir(buildProgram([item]), { main: [rtmp.hlsUrl, name] });
  await live(stream);
  return stream;
};

async function measureCost(streams: number, seconds: number): Promise<Row[]> {
  return withStage(async (stage) => {
    const options = { seconds: 60, size: '1280x720', bitrateKbps: 1_600, draw: makeFilm(11).at };
    const item = await makeFilmRendition(join(stage.studio.root, 'storage'), 'film', options);
    const watched: Watched[] = [];
    const rows: Row[] = [];
    for (const count of [1, streams]) {
      while (watched.length < count) {
        const key = `s${watched.length}`;
        const { base } = await publish(stage, item, key);
        watched.push({ key, url: stage.hls(key), podUrl: base });
      }
      rows.push(await measureWatching(watched, seconds));
    }
    return rows;
  });
}

async function measureWatching(watched: Watched[], seconds: number): Promise<Row> {
  const watching = await startWatching(watched);
  await pause(WARM_UP_MS);
  const before = await watching.cpuSeconds();
  const sizes: number[] = [];
  for (let second = 0; second < seconds; second += 1) {
    await pause(1_000);
    sizes.push(sumPssMib([watching.process.pid ?? 0]));
  }
  const share = ((await watching.cpuSeconds()) - before) / seconds / watched.length;
  const seen = watched.filter(({ key }) => watching.words.get(key)?.at(-1) === 'True').length;
  await watching.end();
  const mean = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
  return {
    what: `watch ${watched.length} of 720p30 by HLS: processor of each, memory`,
    ours: `${(share * 100).toFixed(2)} %, ${mean.toFixed(0)} MiB (at most ${Math.max(...sizes).toFixed(0)}), ${seen} True`,
    peer: '–',
    beside: '–',
    result: `${(mean / watched.length).toFixed(1)} MiB each`,
    bar: '≤ 1 %; ≤ 40 MiB each',
  };
}

/** Makes a rendition of a real film, as Jobs do: a keyframe every two seconds. */
async function makeRealRendition({ studio }: Stage, film: string): Promise<ProgramItem> {
  return storeRendition(join(studio.root, 'storage'), 'real', 30, async (path) => {
    const video = ['-vf', 'scale=1280:720,fps=30', '-c:v', 'libx264', '-preset', 'veryfast', '-b:v', '2M', '-bf', '0'];
    const gop = ['-g', '60', '-keyint_min', '60', '-sc_threshold', '0', '-pix_fmt', 'yuv420p'];
    const sound = ['-c:a', 'aac', '-ar', '48000', '-ac', '2', '-f', 'flv', '-flvflags', 'no_duration_filesize'];
    execFileSync('ffmpeg', ['-v', 'error', '-y', '-i', film, ...video, ...gop, ...sound, path]);
  });
}

async function watchReal(minutes: number): Promise<Row[]> {
  return withStage(async (stage) => {
    const { rtmp, hls, studio } = stage;
    const draw = makeFilm(11).at;
    const item = values.film
      ? await makeRealRendition(stage, values.film)
      : await makeFilmRendition(join(studio.root, 'storage'), 'film', { seconds: 60, draw });
    const { base } = await publish(stage, item, 'real');
    // A server that encodes again chooses its own keyframes.
    const again = [
      '-vf',
      'scale=640:360',
      '-c:v',
      'libx264',
      '-preset',
      'ultrafast',
      '-g',
      '75',
      '-b:v',
      '500k',
      '-an',
    ];
    const encoder = spawn('ffmpeg', [
      '-v',
      'error',
      '-i',
      `${rtmp.hlsUrl}/real`,
      ...again,
      '-f',
      'flv',
      `${rtmp.hlsUrl}/again`,
    ]);
    const addresses = {
      hls: hls('real'),
      again: hls('again'),
      rtmp: `${rtmp.hlsUrl}/real`,
      flv: `${base}/preview.flv`,
    };
    const watched = Object.entries(addresses).map(([key, url]) => ({ key, url, podUrl: base }));
    const watching = await startWatching(watched);
    await pause(minutes * 60_000);
    const words = watched.map(({ key }) => watching.words.get(key) ?? []);
    await watching.end();
    encoder.kill('SIGKILL');
    for (const [at, { key }] of watched.entries()) say(`  ${key}: ${words[at]?.join(', ')}`);
    const alarms = words.flat().filter((word) => word.startsWith('False'));
    return [
      {
        what: `false alarms in ${minutes} min of ${values.film ? 'a real film' : 'a made film'}, by four addresses`,
        ours: `${alarms.length}${alarms.length > 0 ? `: ${alarms.join(', ')}` : ''}`,
        peer: '–',
        beside: '–',
        result: `${words.filter((one) => one.at(-1) === 'True').length} of ${watched.length} True at the end`,
        bar: '0',
      },
    ];
  });
}

async function playLong(): Promise<Row[]> {
  let alarms = 0;
  let count = 0;
  for (const [name, series] of Object.entries(LONG_SERIES)) {
    const played = playSeries({ ...series, lengthMs: 8 * 3_600_000 });
    const falses = played.changes.filter(({ verdict }) => verdict.status === 'False');
    say(`  ${name}: ${falses.length} false, ${(played.shares.True * 100).toFixed(0)} % True`);
    alarms += falses.length;
    count += 1;
  }
  const what = `false alarms of the judge on ${count} series of 8 h`;
  return [{ what, ours: String(alarms), peer: '–', beside: '–', result: '', bar: '0' }];
}

async function main(): Promise<void> {
  if (values.help) return void process.stdout.write(HELP);
  const parts = selectParts(values.only, PARTS);
  const [version = ''] = execFileSync(values.ffmpeg, ['-version'], { encoding: 'utf8' }).split(' Copyright');
  const about = circumstances([version]);
  const { rows, take } = collect(parts, say);
  await take('cost', () => measureCost(whole(values.streams), whole(values.seconds)));
  await take('real', () => watchReal(whole(values.minutes)));
  await take('series', playLong);
  report(about, rows, !values['no-record']);
}

await main();
