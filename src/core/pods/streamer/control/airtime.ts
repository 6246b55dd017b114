/**
 * Counts the time on air of this process: the time in which at least one destination took media, without starts and
 * reconnects. The count never exceeds the time that a receiver sees (output/connection-airtime.ts). Where a connection breaks
 * off, the media taken since the last report is missing.
 *
 * The count outlives this process. Each report is written to the container's termination message, which kubelet reads however
 * the container ended; a killed process loses only the time since the last report. It is also written to a history file on
 * the pod's volume, which the next process continues. So the message of the last container includes the runs before it.
 */
import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs';
import { type Clock, kubeTime } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/log.ts';
import type { Run, TimeOnAir } from '../../../protocol/report.ts';

/**
 * A longer gap between two reports counts only this much: this process did not run, or the link nearly stood still. Reports
 * come twice a second, or every two seconds over a link that takes a fifth of the bitrate (output/connection-health.ts).
 */
const LONGEST_MS = 2500;
/** A termination message has at most 4096 bytes, so older runs are dropped. */
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

/** Reads the runs before this one; none if the file does not exist or cannot be read. */
function readRuns(path: string | undefined): Run[] {
  try {
    const told: unknown = path === undefined ? [] : JSON.parse(readFileSync(path, 'utf8')).runs;
    return Array.isArray(told) ? told.filter(isRun) : [];
  } catch {
    return [];
  }
}

/** Overwrites a file in place: a file that is mounted by itself cannot be replaced, and a kill leaves one write whole. */
class InPlaceFile {
  readonly #fd: number;
  #length = 0;

  constructor(path: string) {
    this.#fd = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  }

  write(text: string): void {
    // A shorter text is padded: truncating the file would be a second step.
    this.#length = Math.max(this.#length, text.length);
    writeSync(this.#fd, text.padEnd(this.#length), 0);
  }

  close(): void {
    closeSync(this.#fd);
  }
}

export class AirtimeCounter {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #before: readonly Run[];
  readonly #files: InPlaceFile[] = [];
  readonly #run: number;
  #startedAt: string | undefined;
  #lastAt = '';
  #ms = 0;
  /** Time before this moment (monotonic) was counted, or was not on air. */
  #coveredMs = Number.NEGATIVE_INFINITY;

  constructor(files: AirtimeFiles, clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#log = log;
    this.#before = readRuns(files.history).slice(1 - MAX_RUNS);
    // The number is at least the clock's seconds, so that it rises even if the history was lost.
    this.#run = Math.max((this.#before.at(-1)?.run ?? 0) + 1, Math.floor(clock.now().getTime() / 1000));
    for (const path of [files.message, files.history]) {
      if (path === undefined) continue;
      try {
        this.#files.push(new InPlaceFile(path));
      } catch (err) {
        this.#log.warn({ err }, 'the time on air cannot be recorded');
      }
    }
    // The message lists the runs before this one even if this one never goes on air.
    if (this.#before.length > 0) this.#write();
  }

  /** Adds the time in which a destination took media, between two moments of the monotonic clock in milliseconds. */
  readonly add = (sinceMs: number, untilMs: number): void => {
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

  /** Subtracts counted time whose media did not arrive. */
  readonly subtract = (ms: number): void => {
    if (ms <= 0 || this.#startedAt === undefined) return;
    this.#ms = Math.max(0, this.#ms - ms);
    this.#write();
  };

  /** Returns the earlier runs, and this one if it has been on air. */
  runs(): Run[] {
    if (this.#startedAt === undefined) return [...this.#before];
    const onAirSeconds = Math.floor(this.#ms / 100) / 10;
    return [...this.#before, { run: this.#run, startedAt: this.#startedAt, lastAt: this.#lastAt, onAirSeconds }];
  }

  /** Stops counting. */
  close(): void {
    this.#coveredMs = Number.POSITIVE_INFINITY;
    for (const file of this.#files.splice(0)) file.close();
  }

  #write(): void {
    const report: TimeOnAir = { runs: this.runs() };
    const text = JSON.stringify(report);
    for (const file of [...this.#files]) {
      try {
        file.write(text);
      } catch (err) {
        this.#files.splice(this.#files.indexOf(file), 1);
        file.close();
        this.#log.warn({ err }, 'the time on air can no longer be recorded');
      }
    }
  }
}
