/**
 * Watches a real server, to which real streamers send, as viewers do. Faults are made as they happen: another program takes the name, or the
 * server in front of it changes what it passes on.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest';
import { reserveFreePort } from '../../../tools/process/ports.ts';
import { type FrontMode, type HlsFront, startHlsFront } from '../../kit/fake/hls-front.ts';
import { makeFilmRendition, makeFootage } from '../../kit/film/footage.ts';
import { makeFilm } from '../../kit/film/synthetic.ts';
import { openStudio, type Running, type Studio } from '../../kit/make/onair.ts';
import { buildProgram } from '../../kit/make/streamer.ts';
import { publishedBy, startWatching, type Watching } from '../../kit/make/watching.ts';
import { type RtmpServer, startRtmpServer } from '../../kit/real/rtmp.ts';
import { until } from '../../kit/wait.ts';

const movie = makeFilm(11);
const otherMovie = makeFilm(12);
const slate = makeFilm(13).at(0);
const black = new Uint8Array(576).fill(16);

/** Our own media, which are no fault: by the name of the stream. */
const OURS = {
  // Longer than the longest delay: a film shows itself again after each loop.
  film: { seconds: 90, draw: movie.at },
  still: { seconds: 10, draw: () => slate },
  'black film': { seconds: 10, draw: () => black },
  'film with a slate and black': {
    seconds: 60,
    draw: (timeMs: number) => (timeMs < 30_000 ? movie.at(timeMs) : timeMs < 45_000 ? slate : black),
  },
};
const named = (name: string) => name.replaceAll(' ', '-');

/** Media that others publish under the name of a stream, by the word for it. */
const THEIRS = {
  frozen: () => movie.at(20_000),
  black: () => black,
  other_picture: otherMovie.at,
};

let studio: Studio;
let rtmp: RtmpServer;
let front: HlsFront;
let watching: Watching;
let stream: Running;
let hls: (name: string) => string;
const streams = new Map<string, Running>();
const programs = new Map<string, ChildProcess>();

/** Publishes by an ffmpeg of its own, in the place of the one before. */
async function publish(name: string, input: string[], output = ['-f', 'flv', `${rtmp.hlsUrl}/${name}`]): Promise<void> {
  await stop(name);
  const args = ['-v', 'error', '-nostdin', ...input, '-c', 'copy', ...output];
  programs.set(name, spawn('ffmpeg', args, { stdio: 'ignore' }));
}

async function stop(name: string): Promise<void> {
  const program = programs.get(name);
  programs.delete(name);
  if (!program || program.exitCode !== null || program.signalCode !== null) return;
  const exit = once(program, 'exit');
  program.kill('SIGKILL');
  await exit;
}

const copyFilm = () => ['-i', `${rtmp.hlsUrl}/film`];
const footage = (name: string) => join(studio.root, `${name}.flv`);

beforeAll(async () => {
  studio = await openStudio();
  const port = await reserveFreePort();
  rtmp = await startRtmpServer({ record: join(studio.root, 'seen'), hls: { port, playlistSeconds: 90 } });
  hls = (name) => `http://127.0.0.1:${port}/hls/${name}.m3u8`;
  front = await startHlsFront(`http://127.0.0.1:${port}/hls`);
  watching = startWatching();
  for (const [name, draw] of Object.entries(THEIRS)) await makeFootage(footage(name), { seconds: 30, draw });
  for (const [name, options] of Object.entries(OURS)) {
    const item = await makeFilmRendition(join(studio.root, 'storage'), named(name), options);
    streams.set(name, await studio.onAir(buildProgram([item]), { main: [rtmp.hlsUrl, named(name)] }));
  }
  stream = streams.get('film') as Running;
  await until('the film is shown', () => existsSync(join(rtmp.hlsDir, 'film.m3u8')));
  for (const name of Object.keys(THEIRS)) await publish(name, copyFilm());
  for (const [name, by] of streams) if (name !== 'film') watch(name, hls(named(name)), by);
});
afterAll(async () => {
  await watching?.end();
  await Promise.all([...programs.keys()].map(stop));
  await studio?.cleanUp();
  await front?.close();
  await rtmp?.close();
  await studio?.close();
});

const watch = (key: string, url: string, by: Running = stream) => watching.add(key, url, publishedBy(by.base));

/** Watches an address until the test is over: one picture is decoded at a time, so each that is left makes the others wait. */
function watchMeanwhile({ onTestFinished }: TestContext, key: string, url: string): void {
  onTestFinished(() => watching.remove(key));
  watch(key, url);
}
const falses = (key: string) => watching.words(key).filter((word) => word.startsWith('False'));

describe.concurrent('what viewers get is True', () => {
  const addresses: Record<string, () => string> = {
    'HLS playlists': () => hls('film'),
    'HTTP-FLV': () => `${stream.base}/preview.flv`,
    'RTMP play': () => `${rtmp.hlsUrl}/film`,
    'a ladder': () => front.url('ladder'),
    'segments with a key in the clear': () => front.url('encrypted'),
    'a delay of a minute': () => front.url('delayed'),
  };
  test.for(Object.entries(addresses))('by %s', async ([key, url], context) => {
    for (const mode of ['ladder', 'encrypted', 'delayed'] as const) front.turn(mode, mode);
    // A server that is late by a minute shows nothing in the first one.
    if (url().startsWith(front.url('delayed')))
      await until('a minute has passed', () => front.hasMedia('delayed'), 90_000);
    watchMeanwhile(context, key, url());
    await watching.says(key, 'True');
    expect(falses(key)).toEqual([]);
    expect(watching.verdict(key)?.lastSeenMs).toBeGreaterThan(Date.now() - 60_000);
  });

  test.for<[string, string[]]>([
    ['fragmented MP4', ['-hls_segment_type', 'fmp4']],
    ['ranges of one file', ['-hls_flags', 'single_file']],
  ])('by %s', async ([key, options], context) => {
    const name = named(key);
    await mkdir(join(rtmp.hlsDir, name), { recursive: true });
    const playlist = join(rtmp.hlsDir, name, 'film.m3u8');
    await publish(name, copyFilm(), ['-f', 'hls', '-hls_time', '2', '-hls_list_size', '8', ...options, playlist]);
    await until(`${key} is shown`, () => existsSync(playlist));
    watchMeanwhile(context, key, hls(`${name}/film`));
    await watching.says(key, 'True');
    expect(falses(key)).toEqual([]);
  });

  test('and of a ladder, only the cheapest rendition is fetched', async (context) => {
    front.turn('cheap', 'ladder');
    watchMeanwhile(context, 'cheap', front.url('cheap'));
    await watching.says('cheap', 'True');
    expect(front.asked('cheap')).toEqual(expect.arrayContaining(['film.m3u8', 'low.m3u8']));
    expect(front.asked('cheap')).not.toContain('4k.m3u8');
  });
});

describe.concurrent('a fault that begins under way is found, and is over when it is over', () => {
  test.for(Object.keys(THEIRS))('%s: another program has the name', async (reason, context) => {
    await until('the copy is shown', () => existsSync(join(rtmp.hlsDir, `${reason}.m3u8`)));
    watchMeanwhile(context, reason, hls(reason));
    await watching.says(reason, 'True');
    await publish(reason, ['-re', '-stream_loop', '-1', '-i', footage(reason)]);
    await watching.says(reason, `False ${reason}`);
    expect(falses(reason)).toEqual([`False ${reason}`]);
    await publish(reason, copyFilm());
    await watching.says(reason, 'True');
  });

  const MODES = {
    gone: 'address_not_found',
    failing: 'server_failing',
    page: 'no_playlist',
    old: 'old_segments',
    'segments-gone': 'segments_missing',
    'broken-segments': 'not_decodable',
  } as const satisfies Partial<Record<FrontMode, string>>;
  test.for(Object.entries(MODES) as [FrontMode, string][])('%s: %s', async ([mode, reason], context) => {
    watchMeanwhile(context, mode, front.url(mode));
    await watching.says(mode, 'True');
    front.turn(mode, mode);
    await watching.says(mode, `False ${reason}`);
    expect(falses(mode)).toEqual([`False ${reason}`]);
    front.turn(mode, 'pass');
    await watching.says(mode, 'True');
  });

  test('stopped: the server keeps its last playlist', async (context) => {
    await publish('stopped', copyFilm());
    await until('the copy is shown', () => existsSync(join(rtmp.hlsDir, 'stopped.m3u8')));
    watchMeanwhile(context, 'stopped', hls('stopped'));
    await watching.says('stopped', 'True');
    await stop('stopped');
    await watching.says('stopped', 'False not_advancing');
  });
});

describe.concurrent('an address that tells nothing of viewers stays Unknown', () => {
  test.for<[FrontMode, string]>([
    ['endless-page', 'not_media'],
    ['endless-playlist', 'playlist_too_large'],
    ['drip', 'unreachable'],
    ['moved', 'not_media'],
    ['drm', 'protected'],
  ])('%s: %s', async ([mode, reason], context) => {
    front.turn(mode, mode);
    watchMeanwhile(context, mode, front.url(mode));
    await watching.says(mode, `Unknown ${reason}`);
    expect(new Set(watching.words(mode).map((word) => word.split(' ')[0]))).toEqual(new Set(['Unknown']));
  });

  test.each([
    'http://127.0.0.1/a.m3u8',
    'http://[::1]/a.m3u8',
    'http://169.254.169.254/a.m3u8',
    'rtmp://10.0.0.1/live/a',
  ])('a private address: %s', async (url) => {
    const strict = startWatching({ allowPrivate: false });
    strict.add('private', url, publishedBy(stream.base));
    await strict.says('private', 'Unknown forbidden_address');
    await strict.end();
  });

  test('a stream that is not sent is not looked at', async () => {
    watching.add('not sent', front.url('not-sent'), null);
    await watching.says('not sent', 'Unknown not_sending');
    expect(front.asked('not-sent')).toEqual([]);
  });
});

/** Long enough for any fault to be called certain. */
const LOOKS = 40;
test.each(Object.keys(OURS).filter((name) => name !== 'film'))(
  'a %s that we send ourselves is no fault',
  async (name) => {
    await watching.looked(name, LOOKS);
    expect(falses(name)).toEqual([]);
  },
);
