/**
 * How long this process has been on air: the time in which a destination took media, whichever of them; starting and
 * reconnecting are not in it. It is never above what a receiver sees from the first media of each connection to the last
 * (output/connection-airtime.ts), and falls short of it by what was taken since the last report where the connection broke off.
 *
 * The count outlives this process. It is written to the container's termination message, which kubelet reads whatever ended
 * the container, at each report: so a process that is killed loses as much. And to a file beside the media of the pod,
 * which the process after it goes on with: so the message of the last container tells of those before it too.
 */
import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs';
import { type Clock, kubeTime } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/log.ts';

/** One process that was on air. Times are RFC 3339, seconds have one digit behind the point. */
export interface Run {
  /** Rises from one process of a pod to the next. */
  run: number;
  startedAt: string;
  /** When media was taken last. */
  lastAt: string;
  onAirSeconds: number;
}

/**
 * More than this between two reports is not all on air: this process was held up, or the link nearly stood still. Reports come
 * twice a second, and every two seconds over a link that takes a fifth of the bitrate (output/connection-health.ts).
 */
const LONGEST_MS = 2500;
/** A termination message may have 4096 bytes; the runs before these are forgotten. */
const MAX_RUNS = 24;

export interface AirtimeFiles {
  /** Kubernetes reads it when the container has ended. */
  message?: string | undefined;
  /** Read by the next process of the same pod. */
  history?: string | undefined;
}

const isRun = (value: unknown): value is Run =>
  typeof value === 'object' &&
  value !== null &&
  'run' in value &&
  Number.isSafeInteger(value.run) &&
  'onAirSeconds' in value &&
  typeof value.onAirSeconds === 'number' &&
  'startedAt' in value &&
  'lastAt' in value;

/** The runs before this one; none where the file does not exist or cannot be read. */
function readRuns(path: string | undefined): Run[] {
  try {
    const told: unknown = path === undefined ? [] : JSON.parse(readFileSync(path, 'utf8')).runs;
    return Array.isArray(told) ? told.filter(isRun) : [];
  } catch {
    return [];
  }
}

/** A file that is written over in place: it may be mounted by itself, and whoever ends this process leaves it whole. */
class Slate {
  readonly #fd: number;
  #length = 0;

  constructor(path: string) {
    this.#fd = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  }

  write(text: string): void {
    // What is shorter than before is filled up: cutting the file off would be a second step.
    this.#length = Math.max(this.#length, text.length);
    writeSync(this.#fd, text.padEnd(this.#length), 0);
  }

  close(): void {
    closeSync(this.#fd);
  }
}

export class Airtime {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #before: readonly Run[];
  readonly #slates: Slate[] = [];
  readonly #run: number;
  #startedAt: string | undefined;
  #lastAt = '';
  #ms = 0;
  /** All before this moment (monotonic) is counted or was not on air. */
  #coveredMs = Number.NEGATIVE_INFINITY;

  constructor(files: AirtimeFiles, clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#log = log;
    this.#before = readRuns(files.history).slice(1 - MAX_RUNS);
    // The seconds of the clock, so that a history that was lost does not make it fall.
    this.#run = Math.max((this.#before.at(-1)?.run ?? 0) + 1, Math.floor(clock.now().getTime() / 1000));
    for (const path of [files.message, files.history]) {
      if (path === undefined) continue;
      try {
        this.#slates.push(new Slate(path));
      } catch (err) {
        this.#log.warn({ err }, 'the time on air cannot be written down');
      }
    }
    // A message without a word of this run still tells of those before it.
    if (this.#before.length > 0) this.#write();
  }

  /** A destination took media between these two moments of the monotonic clock, in milliseconds. */
  readonly taken = (sinceMs: number, untilMs: number): void => {
    const from = Math.max(sinceMs, this.#coveredMs, untilMs - LONGEST_MS);
    if (untilMs <= from) return;
    const now = this.#clock.now().getTime();
    const at = (ms: number) => kubeTime(new Date(now - Math.max(0, this.#clock.monotonicMs() - ms)));
    this.#startedAt ??= at(from);
    this.#ms += untilMs - from;
    this.#coveredMs = untilMs;
    this.#lastAt = at(untilMs);
    this.#write();
  };

  /** So much of what was counted was not on air after all: nobody has received it. */
  readonly lost = (ms: number): void => {
    if (ms <= 0 || this.#startedAt === undefined) return;
    this.#ms = Math.max(0, this.#ms - ms);
    this.#write();
  };

  /** This run, if it has been on air, behind those before it. */
  runs(): Run[] {
    if (this.#startedAt === undefined) return [...this.#before];
    const onAirSeconds = Math.floor(this.#ms / 100) / 10;
    return [...this.#before, { run: this.#run, startedAt: this.#startedAt, lastAt: this.#lastAt, onAirSeconds }];
  }

  /** No more is counted. */
  close(): void {
    this.#coveredMs = Number.POSITIVE_INFINITY;
    for (const slate of this.#slates.splice(0)) slate.close();
  }

  #write(): void {
    const text = JSON.stringify({ runs: this.runs() });
    for (const slate of [...this.#slates]) {
      try {
        slate.write(text);
      } catch (err) {
        this.#slates.splice(this.#slates.indexOf(slate), 1);
        slate.close();
        this.#log.warn({ err }, 'the time on air cannot be written down any more');
      }
    }
  }
}
