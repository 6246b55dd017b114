/**
 * Measures from a file to a live stream on a whole local system: a link to an export beside curl and `ffmpeg -c copy`, and a tus upload
 * beside the sending itself. The clock stops when an independent RTMP receiver has media.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { importJobName, podName, renditionJobName } from '../../../src/core/resources/common/names.ts';
import { type RtmpServer, startRtmpServer } from '../../kit/real/rtmp.ts';
import { type System, startSystem } from '../../kit/system/system.ts';
import { readLogs } from '../../kit/system/traces.ts';
import { firstMedia } from '../receiver.ts';
import { median, type Row } from '../report.ts';
import { startFfmpeg } from '../senders.ts';
import { type Clip, type Clock, changeClock, type FileServer, makeClip, makeDistinct, makeExport } from './files.ts';
import { during, formatRange, formatSeconds, run, say } from './run.ts';
import { type Mark, type Timeline, watchSystem } from './timeline.ts';

const PROFILE = '1080p30';
const TUS_CLIENT = join(import.meta.dirname, '../../kit/make/tus-client.ts');
const EXPORT_BAR_SECONDS = 3;
const CLOCK_BAR_SECONDS = 5;
const UPLOAD_BAR_SECONDS = 5;
const FILM_BAR_SECONDS = 30;
const LINE_MBPS = 50;
const LINE_BAR_SECONDS = 45;

export interface Stage {
  /** The folder of this run, which the server serves. */
  dir: string;
  server: FileServer;
  clip: Clip;
  system: System;
  rtmp: RtmpServer;
  timeline: Timeline;
  times: number;
  signal: AbortSignal;
}

/** Starts the local system and a receiver, and puts a short export on air once: the first start of each role is not measured. */
export async function setStage(base: Omit<Stage, 'system' | 'rtmp' | 'timeline'>, stack: AsyncDisposableStack) {
  const rtmp = await startRtmpServer({ record: join(base.dir, 'recordings') });
  stack.defer(() => rtmp.close());
  const system = await during('the local system starts (Ctrl-C takes effect after that)', () =>
    startSystem(['--no-demo']),
  );
  stack.defer(() => during('the local system ends', () => system.close()));
  base.signal.throwIfAborted();
  const timeline = await watchSystem(system, stack);
  const stage = { ...base, system, rtmp, timeline };
  const file = join(base.dir, 'warm.mp4');
  await makeExport(base.clip, file, { seconds: 10, fast: true }, base.signal);
  await goLiveFromLink(stage, file);
  await rm(file);
  return stage;
}

export interface Start {
  /** From the request, or from the begin of the sending, to the first media at the receiver. */
  seconds: number;
  /** The changes of the objects, by the watches. */
  marks: Mark[];
  /** The time of the first request, by performance.now(). */
  from: number;
  upload: string;
  stream: string;
  /** Copied or encoded: the pictures and the sound. */
  way: string;
}

/** Says how a rendition was made, by the log of its Job. */
async function readWay({ system, timeline }: Stage, upload: string): Promise<string> {
  const uids = [importJobName(upload), renditionJobName(upload, PROFILE)].flatMap((job) => timeline.podUids(job));
  const ways = (await readLogs(system))
    .filter(([place]) => uids.some((uid) => place.includes(uid)))
    .flatMap(([, text]) => [...text.matchAll(/"video":"(\w+)","audio":"(\w+)"/g)])
    .map(([, video, audio]) => `pictures: ${video}, sound: ${audio}`);
  return ways.at(-1) ?? 'unknown';
}

interface Waiting {
  stage: Stage;
  /** The time of the first request, by performance.now(). */
  from: number;
  upload: string;
  destination: readonly [rtmpKey: string, destinationID: string];
  /** The stream asks for even loudness. */
  isLoud?: boolean;
  /** Everything is needed until this resolves, though the stream is live. */
  after?: () => Promise<unknown>;
}

/** Creates a stream that waits for an upload, measures until its first media, and deletes everything. */
async function goLive({ stage, from, upload, destination: [rtmpKey, destinationID], isLoud = false, after }: Waiting) {
  const { system, rtmp, timeline, signal } = stage;
  const { client } = system;
  const { id } = await client.streams.create({
    name: 'Bench',
    quality: 'q_1080p',
    framerate: 'f_30',
    destinationID,
    videoUploadObjectID: upload,
    ...(isLoud && { loudness: {} }),
  });
  const over = new AbortController();
  try {
    await client.streams.start(id, { whenReady: true });
    const either = AbortSignal.any([signal, over.signal]);
    const last = () => {
      const mark = timeline.since(from, [upload, id]).at(-1);
      return mark ? `last change: ${mark.object} ${mark.state}` : 'no change yet';
    };
    await during(
      'the receiver has media of the stream',
      () => Promise.race([firstMedia(rtmp, rtmpKey, 0, either), timeline.rejectOnFailure(upload, either)]),
      last,
    );
    const seconds = (performance.now() - from) / 1000;
    signal.throwIfAborted();
    await after?.();
    const way = await readWay(stage, upload);
    return { seconds, marks: timeline.since(from, [upload, id]), from, upload, stream: id, way } satisfies Start;
  } finally {
    over.abort();
    await client.streams.delete(id);
    await during('the stream is gone', () => gone(() => client.streams.get(id), signal));
    await client.uploads.delete(upload);
    await client.destinations.delete(destinationID);
  }
}

/** Polls until the object cannot be read any more. */
export async function gone(read: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await read().then(Boolean, () => false))) await sleep(200);
}

async function makeDestination({ system, rtmp }: Stage): Promise<[rtmpKey: string, destinationID: string]> {
  const rtmpKey = randomBytes(9).toString('hex');
  const { id } = await system.client.destinations.create({ name: 'Bench', rtmpUrl: rtmp.url, rtmpKey });
  return [rtmpKey, id];
}

export async function goLiveFromLink(
  stage: Stage,
  file: string,
  { query = '', isLoud = false }: { query?: string; isLoud?: boolean } = {},
): Promise<Start> {
  const destination = await makeDestination(stage);
  const from = performance.now();
  const url = `${stage.server.url}/${file.slice(stage.dir.length + 1)}${query}`;
  const { objectID } = await stage.system.client.uploads.fromLink({ type: 'VIDEO', url });
  return goLive({ stage, from, upload: objectID, destination, isLoud });
}

/** Downloads by curl, sends by ffmpeg; returns seconds to the first media. */
async function goLiveByHand({ dir, server, rtmp, signal }: Stage, file: string): Promise<number> {
  const copy = join(dir, 'by-hand.mp4');
  const key = randomBytes(9).toString('hex');
  const from = performance.now();
  await run('curl', ['-sS', '-f', '-o', copy, `${server.url}/${file.slice(dir.length + 1)}`], signal);
  const sender = startFfmpeg(copy, rtmp.url, key);
  try {
    await during('the receiver has media of ffmpeg', () => firstMedia(rtmp, key, 0, signal));
    return (performance.now() - from) / 1000;
  } finally {
    await sender.stop();
    await rm(copy);
  }
}

type Step = [what: string, object: string, state: RegExp];

/** The steps of a start, in their order. */
const listSteps = ({ upload, stream }: Start): Step[] => [
  ['the Job of the import exists', `Job ${importJobName(upload)}`, /^there$/],
  ['its container runs', `Pod ${importJobName(upload)}`, /^runs$/],
  ['the import has ended', `Pod ${importJobName(upload)}`, /^ended$/],
  ['the upload is imported', `Upload ${upload}`, /, 1080p30 |^ready/],
  ['the container of the rendition runs', `Pod ${renditionJobName(upload, PROFILE)}`, /^runs$/],
  ['the rendition has ended', `Pod ${renditionJobName(upload, PROFILE)}`, /^ended$/],
  ['the rendition is ready', `Upload ${upload}`, /, 1080p30 ready/],
  ['the streamer runs', `Pod ${podName(stream)}`, /^runs$/],
];

/** Returns for each step before the first media the seconds since the one before, in the order in which they came. */
function splitStart(start: Start): [what: string, seconds: number][] {
  const liveAt = start.from + start.seconds * 1000;
  const steps = listSteps(start)
    .flatMap(([what, object, state]) => {
      const mark = start.marks.find((one) => one.object.startsWith(object) && state.test(one.state));
      return mark && mark.at <= liveAt ? [{ what, at: mark.at }] : [];
    })
    .sort((a, b) => a.at - b.at);
  const all = [{ what: '', at: start.from }, ...steps, { what: 'the receiver has media', at: liveAt }];
  return all.slice(1).map(({ what, at }, step) => [what, (at - (all[step]?.at ?? at)) / 1000]);
}

/** Prints every change of a start, for the search for lost time. */
function explain(start: Start): void {
  for (const { at, object, state } of start.marks)
    say(`    ${formatSeconds((at - start.from) / 1000).padStart(8)}  ${object}: ${state}`);
}

const STATED = { peer: '–', beside: '–', bar: '–', result: 'stated' };

/** Makes a row for each step of the starts: medians. */
function stepRows(starts: readonly Start[]): Row[] {
  const laps = starts.map(splitStart);
  return (laps[0] ?? []).map(([what]) => ({
    ...STATED,
    what: `… then until ${what}`,
    ours: formatSeconds(median(laps.flatMap((one) => one.find(([name]) => name === what)?.[1] ?? []))),
  }));
}

export const judge = (seconds: number, bar: number): string =>
  `${formatSeconds(seconds)} more: ${seconds <= bar ? 'holds' : 'misses'}`;

/** Measures from the link of an export to the first media, taking turns with curl and ffmpeg. */
export async function exportRows(stage: Stage, seconds: number, clock?: Clock): Promise<Row[]> {
  const file = join(stage.dir, 'export.mp4');
  const even = clock === undefined ? file : join(stage.dir, 'even.mp4');
  await makeExport(stage.clip, even, { seconds, fast: true }, stage.signal);
  if (clock !== undefined) await changeClock(even, file, clock, stage.signal);
  const bar = clock === undefined ? EXPORT_BAR_SECONDS : CLOCK_BAR_SECONDS;
  const starts: Start[] = [];
  const byHand: number[] = [];
  for (let n = 0; n < stage.times; n++) {
    await makeDistinct(file);
    byHand.push(await goLiveByHand(stage, file));
    const start = await goLiveFromLink(stage, file);
    starts.push(start);
    say(
      `  export ${n + 1} of ${stage.times}: live after ${formatSeconds(start.seconds)}, by hand ${formatRange([byHand[n] ?? 0])}`,
    );
    explain(start);
  }
  await rm(file);
  const ours = starts.map((start) => start.seconds);
  const more = median(ours) - median(byHand);
  return [
    {
      what: `link → live, a 1080p30 export of ${seconds} s with B-frames${clock ? `, ${clock}` : ''} (${starts[0]?.way}), median of ${stage.times}`,
      ours: formatRange(ours),
      peer: formatRange(byHand),
      beside: 'curl -o, then ffmpeg -c copy',
      result: judge(more, bar),
      bar: `≤ ${bar} s more`,
    },
    ...stepRows(starts),
  ];
}

/**
 * Measures from the import of a film that must be encoded to its first media. The stream starts with the first chunks, so the length of the
 * film does not matter.
 */
export async function filmRows(stage: Stage, seconds: number): Promise<Row[]> {
  const file = join(stage.dir, 'film.mp4');
  const clip = await makeClip(stage.dir, stage.signal, { fits: false });
  await makeExport(clip, file, { seconds, fast: true }, stage.signal);
  const starts: Start[] = [];
  for (let n = 0; n < stage.times; n++) {
    await makeDistinct(file);
    const start = await goLiveFromLink(stage, file);
    starts.push(start);
    say(`  film ${n + 1} of ${stage.times}: live after ${formatSeconds(start.seconds)}`);
    explain(start);
  }
  await rm(file);
  const sinceImport = starts.map((start) => {
    const [imported = start.from] = start.marks.flatMap(({ at, object, state }) =>
      object.startsWith(`Upload ${start.upload}`) && /, 1080p30 |^ready/.test(state) ? [at] : [],
    );
    return start.seconds - (imported - start.from) / 1000;
  });
  const held = median(sinceImport) <= FILM_BAR_SECONDS;
  return [
    {
      what: `import → live, ${seconds} s of 1080p30 with a keyframe every 10 s (${starts[0]?.way}), median of ${stage.times}`,
      ours: formatRange(sinceImport),
      peer: '–',
      beside: '–',
      result: held ? 'holds' : 'misses',
      bar: `≤ ${FILM_BAR_SECONDS} s at any length`,
    },
    ...stepRows(starts),
  ];
}

/**
 * Measures from the link of an export to the first media over a line of 50 Mbit/s, beside the time that the whole file takes there. A
 * fast-start MP4 is on air while it is still arriving.
 */
export async function lineRows(stage: Stage, seconds: number, { fits }: { fits: boolean }): Promise<Row[]> {
  const file = join(stage.dir, 'line.mp4');
  const clip = fits ? stage.clip : await makeClip(stage.dir, stage.signal, { fits: false });
  await makeExport(clip, file, { seconds, fast: true }, stage.signal);
  const starts: Start[] = [];
  for (let n = 0; n < stage.times; n++) {
    await makeDistinct(file);
    const start = await goLiveFromLink(stage, file, { query: `?mbps=${LINE_MBPS}` });
    starts.push(start);
    say(`  line ${n + 1} of ${stage.times}: live after ${formatSeconds(start.seconds)}`);
    explain(start);
  }
  const lineSeconds = ((await stat(file)).size * 8) / (LINE_MBPS * 1e6);
  await rm(file);
  const ours = starts.map((start) => start.seconds);
  return [
    {
      what: `link → live over ${LINE_MBPS} Mbit/s, a 1080p30 export of ${seconds} s (${starts[0]?.way}), median of ${stage.times}`,
      ours: formatRange(ours),
      peer: formatSeconds(lineSeconds),
      beside: 'the whole file over that line',
      result: median(ours) <= LINE_BAR_SECONDS ? 'holds' : 'misses',
      bar: `≤ ${LINE_BAR_SECONDS} s`,
    },
    ...stepRows(starts),
  ];
}

/** Reads the upload's id from the file in which the client keeps its unfinished uploads. */
async function readUpload(memory: string, signal: AbortSignal): Promise<string> {
  for (;;) {
    signal.throwIfAborted();
    const url = /"uploadUrl":"([^"]+)"/.exec(await readFile(memory, 'utf8').catch(() => ''))?.[1];
    if (url) return url.split('/').at(-1) ?? '';
    await sleep(5);
  }
}

interface Sent {
  start: Start;
  sendingSeconds: number;
  /** From the begin of the sending until the upload is prepared in whole. */
  readySeconds: number;
}

/** Sends a file by a stock tus client, with a stream that waits for it. */
async function goLiveFromUpload(stage: Stage, file: string): Promise<Sent> {
  const { system, dir } = stage;
  const memory = join(dir, `sending-${randomBytes(4).toString('hex')}.json`);
  const destination = await makeDestination(stage);
  const endpoint = `${system.facts.apiUrl}/uploads/resumable`;
  const sending = JSON.stringify({ endpoint, apiKey: system.facts.apiKey, path: file, memory });
  const over = new AbortController();
  const signal = AbortSignal.any([stage.signal, over.signal]);
  const from = performance.now();
  // A process of its own: the measurement does not slow the sending. It never reaches the share 2, at which it would kill itself.
  const child = spawn(process.execPath, [TUS_CLIENT, sending, '2'], { stdio: ['ignore', 'ignore', 'inherit'] });
  const kill = () => child.kill('SIGKILL');
  signal.addEventListener('abort', kill, { once: true });
  const ended = once(child, 'exit').then(([status]) => {
    if (status !== 0) {
      over.abort(new Error(`the tus client ended with ${status}`));
      signal.throwIfAborted();
    }
    const seconds = (performance.now() - from) / 1000;
    say(`  the sending took ${formatSeconds(seconds)}`);
    return seconds;
  });
  // A failure that comes before anything waits for it is thrown below.
  ended.catch(() => undefined);
  try {
    const upload = await readUpload(memory, signal);
    let readySeconds = Number.NaN;
    const after = async () => {
      await ended;
      const isReady = () =>
        stage.timeline
          .since(from, [upload])
          .some(({ object, state }) => object === `Upload ${upload}` && /^ready/.test(state));
      await during('the upload is ready', async () => {
        while (!isReady()) await sleep(50, undefined, { signal });
      });
      readySeconds = (performance.now() - from) / 1000;
    };
    const start = await goLive({ stage: { ...stage, signal }, from, upload, destination, after });
    return { start, sendingSeconds: await ended, readySeconds };
  } finally {
    over.abort(new Error('over'));
    await ended.catch(() => undefined);
    await rm(memory, { force: true });
  }
}

/** Measures from the begin of a tus upload to the first media, beside the sending in the same run. */
export async function uploadRows(stage: Stage, seconds: number, size: string): Promise<Row[]> {
  const file = join(stage.dir, 'upload.mp4');
  await makeExport(stage.clip, file, { seconds, fast: true }, stage.signal);
  const all: Sent[] = [];
  for (let n = 0; n < stage.times; n++) {
    await makeDistinct(file);
    const sent = await goLiveFromUpload(stage, file);
    all.push(sent);
    const { start, sendingSeconds, readySeconds } = sent;
    say(
      `  upload ${n + 1} of ${stage.times}: live ${formatSeconds(start.seconds - sendingSeconds)}, ready ` +
        `${formatSeconds(readySeconds - sendingSeconds)} after the sending`,
    );
    explain(start);
  }
  await rm(file);
  const more = median(all.map(({ start, sendingSeconds }) => start.seconds - sendingSeconds));
  return [
    {
      what: `tus upload of ${size} → live (${all[0]?.start.way}), median of ${stage.times}`,
      ours: formatRange(all.map(({ start }) => start.seconds)),
      peer: formatRange(all.map(({ sendingSeconds }) => sendingSeconds)),
      beside: 'the sending itself',
      result: judge(more, UPLOAD_BAR_SECONDS),
      bar: `≤ ${UPLOAD_BAR_SECONDS} s more`,
    },
    {
      ...STATED,
      what: '… until all of it is prepared, after the sending',
      ours: formatRange(all.map(({ readySeconds, sendingSeconds }) => readySeconds - sendingSeconds)),
    },
    ...stepRows(all.map(({ start }) => start)),
  ];
}
