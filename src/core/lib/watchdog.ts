/**
 * Ends a process whose event loop stands while it computes. A stranger's text may make one step of the program endless, and
 * then no time limit, signal or request reaches the loop. A thread of its own looks on (watchdog-worker.ts).
 */
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Logger } from './log.ts';

/** How often the loop says that it turns, in milliseconds. */
const BEAT_MS = 500;
/** The thread does next to nothing. */
const MEMORY = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 };

export interface WatchdogOptions {
  /** Processor time of one step of the loop that ends the process. A busy node makes a step long, and takes none of it. */
  seconds: number;
  /** Exit status. Where the step cannot be interrupted, the process is killed instead. */
  exitCode: number;
  /** The file that is written before the end, and its text. */
  lastWords: { file: string; text: string };
}

/** Data of the thread. */
export interface WatchdogData extends WatchdogOptions {
  /** One number, which the loop raises. */
  beats: Int32Array;
}

/** Begins to watch the main thread; only Linux tells its processor time. Returns what ends it. */
export function startWatchdog(options: WatchdogOptions, log: Logger): () => Promise<void> {
  const beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const beating = setInterval(() => Atomics.add(beats, 0, 1), BEAT_MS).unref();
  // Beside this file in the sources, and in the bundle.
  const program = new URL(`./watchdog-worker${extname(import.meta.url)}`, import.meta.url);
  const workerData: WatchdogData = { ...options, beats };
  // The options of node itself are for the main thread.
  const worker = new Worker(program, { name: 'watchdog', workerData, resourceLimits: MEMORY, execArgv: [] });
  worker.on('error', (error) => log.warn({ err: error }, 'nothing ends a step that computes without an end'));
  worker.unref();
  return async () => {
    clearInterval(beating);
    await worker.terminate();
  };
}
