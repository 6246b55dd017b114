/** Runs the streamer: wires files, engine, outputs and HTTP together, and takes them apart again. */
import { readFile } from 'node:fs/promises';
import { type Clock, sleep, systemClock } from '../../lib/clock.ts';
import type { Lifecycle } from '../../lib/lifecycle.ts';
import type { Logger } from '../../lib/log.ts';
import type { StreamerConfig } from '../../protocol/environment.ts';
import { confineSender } from '../confinement/confine.ts';
import type { CacheOptions } from '../storage/cache.ts';
import { AirtimeCounter } from './control/airtime.ts';
import { Commands } from './control/commands.ts';
import { type StreamerHttp, serveHttp } from './control/http.ts';
import { describeInterruption, Interruptions } from './control/interruptions.ts';
import { PublisherLock, type PublisherLockState } from './control/publisher-lock.ts';
import { Reporter } from './control/reporter.ts';
import { pickReport, type StatsParts, streamerStats } from './control/stats.ts';
import { readToken } from './control/tokens.ts';
import { createEngine, type Engine } from './engine.ts';
import { openMedia } from './media-storage.ts';
import { type FileEvents, readDestinationsFile, readProgramFile, watchFiles } from './mounted-files.ts';
import { sleepOnBeat } from './output/beat.ts';
import type { OutputTimeouts } from './output/output.ts';
import { Outputs } from './output/outputs.ts';
import type { DnsLookup } from './output/resolve.ts';

/** All processes must be gone within five seconds of SIGTERM. */
const FINISH_MS = 3000;

export interface StreamerOptions {
  /** Start of the timeline. Tests begin close to the wrap of 32 bits, which otherwise comes after 49.7 days. */
  timelineStartMs?: number;
  /** Overrides of the cache's times and sizes. */
  cache?: Partial<CacheOptions>;
  /** Overrides of the outputs' times. */
  timeouts?: Partial<OutputTimeouts>;
  /** Replaces DNS for the names of destinations. */
  lookup?: DnsLookup;
}

/**
 * Resolves when the stream runs, with the port that it listens on; the lifecycle ends it. Rejects when there is no
 * usable program, or when the port is taken.
 */
export async function startStreamer(
  config: StreamerConfig,
  lifecycle: Lifecycle,
  log: Logger,
  clock: Clock = systemClock,
  options: StreamerOptions = {},
): Promise<{ port: number }> {
  const airtime = new AirtimeCounter({ message: config.resultFile, history: config.sessionsFile }, clock, log);
  // The first deferred close runs last: media taken until the end counts.
  lifecycle.defer('time on air', () => airtime.close());
  const interruptions = new Interruptions();
  const { storage, cache } = await openMedia(config, lifecycle, log, options.cache);
  const first = await readProgramFile(config.programFile);
  const { timelineStartMs = 0, timeouts } = options;
  const engine = await createEngine(first, { storage, clock, log, timelineStartMs }, lifecycle);
  const { broadcaster } = engine;
  let startedAt: Date | undefined;
  const outputs = new Outputs({
    profile: () => engine.program().profile,
    ffmpeg: confineSender(config, log),
    caFile: config.caFile,
    allowPrivate: config.allowPrivateDestinations,
    lookup: options.lookup,
    broadcaster,
    clock,
    log,
    onConnected: () => (startedAt ??= clock.now()),
    onAirtime: (sinceMs, untilMs) => {
      airtime.add(sinceMs, untilMs);
      interruptions.add(sinceMs, untilMs);
    },
    onAirtimeLost: airtime.subtract,
    onChange: () => {
      const isLive = outputs.stats().some(({ connected }) => connected);
      interruptions.look(clock.monotonicMs(), { isLive, isTaking: outputs.takesMedia });
      reporter?.noteChange();
    },
    timeouts: { finishMs: FINISH_MS, ...timeouts },
  });
  /** Opens outputs for the destinations of the program while this pod holds the publisher lock. */
  const send = () => {
    const open = !lifecycle.signal.aborted && (lock === undefined || lock.state === 'acquired');
    outputs.set(open ? engine.program().destinations : []);
  };
  const podUid = config.podUidFile === undefined ? '' : (await readFile(config.podUidFile, 'utf8')).trim();
  const lock = createLock({ ...config, podUid }, lifecycle, (state) => {
    log.info({ publish: state }, state === 'acquired' ? 'this pod publishes' : 'this pod no longer publishes');
    send();
  });
  const parts = (video = engine.video.stats()): StatsParts => ({
    splice: engine.splicer.stats,
    broadcaster: broadcaster.stats(),
    video,
    audio: engine.soundtrack.track?.stats(),
    outputs: outputs.stats(),
    startedAt,
    now: clock.now(),
    programVersion: engine.program().version,
    profile: engine.findProfile(video.clock?.version),
    held: lock !== undefined && lock.state !== 'acquired',
    pushes: reporter?.isHeard ?? false,
    cache: cache(),
    runs: airtime.runs(),
    interruption: describeInterruption(interruptions.last, clock),
  });
  const reporter = createReporter({ ...config, podUid }, { parts, clock, log });
  const http = await serve(config, engine, { parts, lock, log });
  lifecycle.defer('http', () => http.close());
  if (reporter) {
    broadcaster.onBatch(reporter.check);
    lifecycle.defer('reports', () => reporter.close());
  }

  const loop = broadcaster.run(lifecycle.signal);
  lifecycle.defer('broadcaster', () => loop);
  outputs.configure((await readDestinationsFile(config.destinationsFile)) ?? new Map());
  await lock?.refresh();
  send();
  lifecycle.defer('destinations', () => outputs.close());
  const events: FileEvents = {
    onProgram: async (next) => {
      // A program of the same version can change the epoch or the destinations; the engine leaves the items alone then.
      await engine.take(next).finally(send);
    },
    onDestinations: (secrets) => outputs.configure(secrets),
    onPoll: () => lock?.refresh(),
  };
  const { signal } = lifecycle;
  const rhythm = { signal, sleep: (ms: number) => sleepOnBeat(broadcaster, clock, ms, signal) };
  const watching = watchFiles(config, first, events, log, rhythm);
  lifecycle.defer('files', () => watching);
  log.info({ port: http.port, destinations: first.destinations }, 'on air');
  return { port: http.port };
}

type PodConfig = StreamerConfig & { podUid: string };

/** Undefined without a publisher file. A pod that publishes lingers at its end until the next one takes over. */
function createLock(
  { publisherFile: file, podUid, lingerSeconds }: PodConfig,
  lifecycle: Lifecycle,
  onChange: (state: PublisherLockState) => void,
): PublisherLock | undefined {
  if (file === undefined) return undefined;
  const lock = new PublisherLock({ podUid, file, onChange });
  lifecycle.linger = async () => {
    if (lock.state !== 'acquired') return;
    const over = new AbortController();
    await Promise.race([lock.released, sleep(lingerSeconds * 1000, over.signal).catch(() => undefined)]);
    over.abort(new Error('over'));
  };
  return lock;
}

/** Undefined where the operator gave no address, or no token to show there. */
function createReporter(
  config: PodConfig,
  { parts, clock, log }: { parts: () => StatsParts; clock: Clock; log: Logger },
): Reporter | undefined {
  const { reportsUrl: url, podUid, controlTokenFile } = config;
  if (url === undefined || controlTokenFile === undefined) return undefined;
  const token = () => readToken(controlTokenFile);
  return new Reporter({ url, podUid, token, report: () => pickReport(streamerStats(parts())), clock, log });
}

function serve(
  config: StreamerConfig,
  engine: Engine,
  { parts, lock, log }: { parts: () => StatsParts; lock: PublisherLock | undefined; log: Logger },
): Promise<StreamerHttp> {
  const { host, port, metricsPort } = config;
  const { broadcaster, video, soundtrack } = engine;
  const { skipped } = engine.program();
  let registry: ReturnType<typeof import('./control/metrics.ts').streamerMetrics> | undefined;
  return serveHttp({
    host,
    port,
    metricsPort,
    broadcaster,
    profile: () => engine.program().profile,
    commands: new Commands({ tokens: config, video, audio: () => soundtrack.track, skipped, lock, log }),
    stats: () => streamerStats(parts()),
    // prom-client is loaded on the first scrape: a stream that is not scraped does not carry its weight.
    metrics: async () => (registry ??= (await import('./control/metrics.ts')).streamerMetrics(parts)),
  });
}

/** Runs the role until the lifecycle stops. */
export async function runStreamer(config: StreamerConfig, lifecycle: Lifecycle, log: Logger): Promise<void> {
  await startStreamer(config, lifecycle, log);
}
