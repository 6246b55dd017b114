/** Runs streamers in this process, each with its own files; makes three clips to loop, and a receiver that records. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import pino from 'pino';
import { expect } from 'vitest';
import { systemClock } from '../../../src/core/lib/clock.ts';
import { Lifecycle } from '../../../src/core/lib/lifecycle.ts';
import type { ShownStats } from '../../../src/core/pods/streamer/control/stats.ts';
import { type StreamerOptions, startStreamer } from '../../../src/core/pods/streamer/main.ts';
import { streamerConfig } from '../../../src/core/protocol/environment.ts';
import type { Program } from '../../../src/core/protocol/program.ts';
import { SKIP_PATH } from '../../../src/core/resources/common/names.ts';
import type { ProgramItem } from '../../../src/core/resources/stream/playing.ts';
import { type RtmpServer, startRtmpServer } from '../real/rtmp.ts';
import { until } from '../wait.ts';
import {
  computeSteps,
  type DestinationSecrets,
  makeRendition,
  type Packet,
  writeAtomically,
  writeDestination,
} from './streamer.ts';

/** The longest steps between two timestamps of a track: one frame, rounded to milliseconds. */
export const AUDIO_STEP_MS = 1024 / 48 + 1;
export const VIDEO_STEP_MS = 1000 / 30 + 1;

/** Expects rising timestamps without a step longer than one frame of the track. */
export function expectNoSeam(packets: Packet[]): void {
  for (const [track, longest] of [
    ['video', VIDEO_STEP_MS],
    ['audio', AUDIO_STEP_MS],
  ] as const) {
    const steps = computeSteps(packets, track);
    expect(steps.notIncreasing).toBe(0);
    expect(steps.longestMs).toBeLessThanOrEqual(longest);
  }
}

export const CONTROL_TOKEN = 'planted-control-token';

export interface Running {
  base: string;
  stats(): Promise<ShownStats>;
  status(path: string): Promise<number>;
  program(next: Program): Promise<void>;
  destination(name: string, ...secrets: DestinationSecrets): Promise<void>;
  /** Asks for a skip as the operator does; `token` is the right one by default. */
  skip(body: unknown, token?: string): Promise<Response>;
  /** The environment that the pod would have. */
  environment: Record<string, string>;
  log(): string;
  stop(): Promise<void>;
}

export interface Studio {
  /** The test's directory; its `storage` is the streamers' media storage. */
  root: string;
  items: ProgramItem[];
  rtmp: RtmpServer;
  /** Clean-up steps of the test; call `cleanUp` in afterEach. */
  cleanups: (() => Promise<void>)[];
  cleanUp(): Promise<void>;
  /** Starts a streamer; `cleanUp` stops it. */
  onAir(program: Program, destinations: Destinations, options?: OnAirOptions): Promise<Running>;
  close(): Promise<void>;
}

interface OnAirOptions extends StreamerOptions {
  /** Settings besides those of every test streamer. */
  env?: Record<string, string>;
}

type Destinations = Record<string, DestinationSecrets>;

export async function openStudio(): Promise<Studio> {
  const root = await mkdtemp(join(tmpdir(), 'onair-'));
  const storage = join(root, 'storage');
  const items = await Promise.all([
    makeRendition(storage, 'one', { frames: 73, hertz: 330 }),
    makeRendition(storage, 'two', { frames: 51, hertz: 440, bframes: 2 }),
    makeRendition(storage, 'three', { frames: 42, hertz: 550, size: '640x360' }),
  ]);
  const rtmp = await startRtmpServer({ record: join(root, 'recordings') });
  const cleanups: Studio['cleanups'] = [];
  return {
    root,
    items,
    rtmp,
    cleanups,
    cleanUp: async () => {
      for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
    },
    onAir: (program, destinations, options) => onAir(root, cleanups, program, destinations, options),
    close: async () => {
      await rtmp.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}

async function onAir(
  root: string,
  cleanups: Studio['cleanups'],
  program: Program,
  destinations: Destinations,
  options?: OnAirOptions,
): Promise<Running> {
  const dir = await mkdtemp(join(root, 'pod-'));
  const programFile = join(dir, 'program.json');
  const destinationsFile = join(dir, 'destinations.json');
  await writeAtomically(programFile, JSON.stringify(program));
  for (const [name, secrets] of Object.entries(destinations)) await writeDestination(destinationsFile, name, secrets);
  const tokenFile = join(dir, 'control-token');
  await writeAtomically(tokenFile, CONTROL_TOKEN);
  const environment = {
    LOOPSTREAM_CONTROL_TOKEN_FILE: tokenFile,
    LOOPSTREAM_PROGRAM_FILE: programFile,
    LOOPSTREAM_DESTINATIONS_FILE: destinationsFile,
    LOOPSTREAM_ALLOW_PRIVATE_DESTINATIONS: 'true',
    LOOPSTREAM_STORAGE_URL: `file://${join(root, 'storage')}`,
    LOOPSTREAM_HOST: '127.0.0.1',
    LOOPSTREAM_PORT: '0',
    ...options?.env,
  };
  const config = streamerConfig(environment);
  let lines = '';
  const sink = new Writable({
    write: (chunk, _, done) => {
      lines += chunk;
      done();
    },
  });
  const log = pino({ level: 'debug' }, sink);
  const lifecycle = new Lifecycle(log);
  cleanups.push(() => lifecycle.stop());
  const { port } = await startStreamer(config, lifecycle, log, systemClock, options);
  const base = `http://127.0.0.1:${port}`;
  return {
    base,
    stats: async () => (await fetch(`${base}/stats`)).json() as Promise<ShownStats>,
    status: async (path) => (await fetch(`${base}${path}`)).status,
    program: (next) => writeAtomically(programFile, JSON.stringify(next)),
    destination: (name, ...secrets) => writeDestination(destinationsFile, name, secrets),
    skip: (body, token = CONTROL_TOKEN) =>
      fetch(`${base}${SKIP_PATH}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        body: JSON.stringify(body),
      }),
    environment,
    log: () => lines,
    stop: () => lifecycle.stop(),
  };
}

export const live = (stream: Running) => until('live', async () => (await stream.stats()).live);
