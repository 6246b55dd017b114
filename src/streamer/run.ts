/** The streamer: wires files, tracks, splicer, station, destinations and HTTP together, and takes them apart again. */
import { type Clock, systemClock } from '../clock.ts';
import type { StreamerConfig } from '../config.ts';
import type { Lifecycle } from '../lifecycle.ts';
import type { Logger } from '../log.ts';
import type { CacheOptions } from '../storage/cache.ts';
import type { Program } from '../streams/program.ts';
import { Control } from './control.ts';
import { readProgram, readSecrets, watchFiles } from './files.ts';
import { serveHttp } from './http.ts';
import { openMedia } from './media.ts';
import { Sound } from './sound.ts';
import { Splicer } from './splice.ts';
import { Station } from './station.ts';
import { type StatsParts, streamerStats } from './stats.ts';
import { Target, type Timeouts } from './target.ts';
import { msToTicks } from './timeline.ts';
import { Track } from './track.ts';

/** For every process to be gone within five seconds of SIGTERM. */
const FINISH_MS = 3000;

/** All destinations of the program: the ones it names exist, the others are gone. */
class Targets {
  readonly #targets = new Map<string, Target>();
  readonly #make: (name: string) => Target;
  constructor(make: (name: string) => Target) {
    this.#make = make;
  }
  get names(): string[] {
    return [...this.#targets.keys()];
  }
  get all(): Target[] {
    return [...this.#targets.values()];
  }
  get(name: string): Target | undefined {
    return this.#targets.get(name);
  }
  async set(names: readonly string[], destinationsDir: string): Promise<void> {
    for (const name of this.names.filter((n) => !names.includes(n))) {
      void this.#targets.get(name)?.close();
      this.#targets.delete(name);
    }
    for (const name of names.filter((n) => !this.#targets.has(n))) {
      const target = this.#make(name);
      this.#targets.set(name, target);
      target.configure(await readSecrets(destinationsDir, name));
    }
  }
}

export interface StreamerOptions {
  /** Where the timeline begins: close to a wrap of 32 bits in a test, or else 49.7 days have to go by before it is seen. */
  timelineStartMs?: number;
  /** Other times and sizes than the cache's own. */
  cache?: Partial<CacheOptions>;
  /** Other times than a destination's own. */
  timeouts?: Partial<Timeouts>;
}

/**
 * Resolves when the stream runs; it ends with the lifecycle. Rejects when there is no usable program to begin with, or the
 * port is taken. Returns the port that is listened on.
 */
export async function startStreamer(
  config: StreamerConfig,
  lifecycle: Lifecycle,
  log: Logger,
  clock: Clock = systemClock,
  options: StreamerOptions = {},
): Promise<{ port: number }> {
  const { signal } = lifecycle;
  const { storage, cache } = await openMedia(config, lifecycle, log, options.cache);
  let program = await readProgram(config.programFile);
  let startedAt: Date | undefined;
  let station: Station | undefined;
  const onData = () => station?.notify();
  const leadMs = () => station?.leadMs ?? 0;
  const shared = { storage, clock, log, signal, onData, leadMs };
  const video = new Track({ ...shared, kind: 'video' });
  const sound = new Sound((ended) => new Track({ ...shared, kind: 'audio', signal: AbortSignal.any([signal, ended]) }));
  const load = async (next: Program) => {
    await video.load(next, next.video);
    await sound.load(next);
    program = next;
    log.info({ version: next.version, items: next.video.items.length }, 'program taken');
  };
  await load(program);
  const splicer = new Splicer({
    video: video.next,
    audio: sound.track?.next,
    delayTicks: video.delayTicks,
    startTicks: msToTicks(options.timelineStartMs ?? 0),
  });
  sound.attach(splicer);
  const running = new Station({ splicer, clock });
  station = running;
  lifecycle.defer('tracks', () => {
    splicer.close();
    video.close();
    sound.close();
  });

  const onConnected = () => {
    startedAt ??= clock.now();
  };
  const { profile } = program;
  const targets = new Targets(
    (name) =>
      new Target({
        name,
        profile,
        ffmpeg: config.ffmpeg,
        caFile: config.caFile,
        station: running,
        clock,
        log,
        onConnected,
        timeouts: { finishMs: FINISH_MS, ...options.timeouts },
      }),
  );
  const parts = (): StatsParts => ({
    splice: splicer.stats,
    station: running.stats(),
    video: video.stats(),
    audio: sound.track?.stats(),
    targets: targets.all.map((t) => t.stats()),
    startedAt,
    now: clock.now(),
    programVersion: program.version,
    cache: cache(),
  });
  const { controlTokenFile: tokenFile } = config;
  const control = new Control({ tokenFile, video, audio: () => sound.track, skipped: program.skipped, log });
  let registry: ReturnType<typeof import('./metrics.ts').streamerMetrics> | undefined;
  const http = await serveHttp({
    host: config.host,
    port: config.port,
    station: running,
    profile: () => profile,
    control,
    stats: () => streamerStats(parts()),
    // Loaded when it is first asked for: a stream that nobody scrapes does not carry its weight.
    metrics: async () => (registry ??= (await import('./metrics.ts')).streamerMetrics(parts)),
  });
  lifecycle.defer('http', () => http.close());

  const loop = running.run(signal);
  lifecycle.defer('station', () => loop);
  await targets.set(program.destinations, config.destinationsDir);
  lifecycle.defer('destinations', async () => void (await Promise.all(targets.all.map((t) => t.close()))));
  const watching = watchFiles(
    config,
    program.version,
    {
      onProgram: async (next) => {
        await load(next);
        await targets.set(next.destinations, config.destinationsDir);
      },
      onSecrets: (name, secrets) => targets.get(name)?.configure(secrets),
      destinations: () => targets.names,
    },
    log,
    signal,
  );
  lifecycle.defer('files', () => watching);
  log.info({ port: http.port, destinations: program.destinations }, 'on air');
  return { port: http.port };
}

/** The role: runs until the lifecycle stops. */
export async function runStreamer(config: StreamerConfig, lifecycle: Lifecycle, log: Logger): Promise<void> {
  await startStreamer(config, lifecycle, log);
}
