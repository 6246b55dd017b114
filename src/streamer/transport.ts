/** One ffmpeg process: takes the stream on its standard input and sends it to one destination. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { toolEnvironment } from '../config.ts';
import type { Address } from './address.ts';
import { classify, type Failure, failure, progressBytes, redact } from './failure.ts';

/** The descriptors that the child gets behind the standard three. */
const PROGRESS_FD = 3;
const PRESET_FD = 4;
const REPORT_SECONDS = 0.5;
const STDERR_LINES = 20;

const ARGUMENTS = (address: Address): string[] => [
  ...['-hide_banner', '-nostdin', '-nostats', '-loglevel', 'level+error'],
  ...['-stats_period', String(REPORT_SECONDS), '-progress', `pipe:${PROGRESS_FD}`],
  // Below 300 ms the sound is not found; the default of 5 s would hold back the start.
  ...['-analyzeduration', '300000', '-f', 'flv', '-i', 'pipe:0', '-map', '0:v', '-map', '0:a', '-c', 'copy'],
  ...['-fpre', `/dev/fd/${PRESET_FD}`],
  ...(address.format === 'flv' ? ['-flvflags', 'no_duration_filesize'] : []),
  ...['-f', address.format, address.url],
];

/** A descriptor of a file that has no name any more, so that nothing is left on disk whatever ends this process. */
function nameless(content: string): number {
  const dir = mkdtempSync(join(tmpdir(), 'loopstream-'));
  try {
    const fd = openSync(join(dir, 'preset'), 'wx+', 0o600);
    // Written at a position, which leaves the descriptor's own at the beginning.
    if (content !== '') writeSync(fd, content, 0);
    return fd;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

export interface TransportEvents {
  /** ffmpeg reported how many bytes the destination's connection has taken so far. */
  onProgress: (bytes: number) => void;
}

export class Transport {
  readonly #child: ChildProcess;
  readonly #secrets: readonly string[];
  readonly #stderr: string[] = [];
  #killed: Failure | undefined;
  /** Resolves when the process is gone, with why. */
  readonly ended: Promise<Failure>;

  constructor(ffmpeg: string, address: Address, events: TransportEvents) {
    this.#secrets = address.secrets;
    const preset = nameless(address.preset);
    try {
      this.#child = spawn(ffmpeg, ARGUMENTS(address), {
        stdio: ['pipe', 'ignore', 'pipe', 'pipe', preset],
        env: toolEnvironment(),
      });
    } finally {
      closeSync(preset);
    }
    // A broken pipe is told by the process's end; without a listener it would end this one.
    this.stdin.on('error', () => undefined);
    this.#listen(events);
    this.ended = new Promise((resolve) => {
      this.#child.once('error', (error) => resolve(failure('exited', redact(error.message, this.#secrets))));
      this.#child.once('close', (code, signal) => resolve(this.#killed ?? this.#reason(code, signal)));
    });
  }

  get stdin(): Writable {
    return this.#child.stdin as Writable;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Ends it at once, for this reason. */
  kill(reason: Failure): void {
    this.#killed ??= reason;
    this.#child.kill('SIGKILL');
  }

  /** Lets it send what it has and say goodbye; kills it after `graceMs`. */
  async finish(graceMs: number): Promise<void> {
    this.stdin.end();
    const timer = setTimeout(() => this.kill(failure('exited', 'killed while ending')), graceMs);
    await this.ended;
    clearTimeout(timer);
  }

  #listen(events: TransportEvents): void {
    const progress = this.#child.stdio[PROGRESS_FD] as Readable | null;
    let report = '';
    progress?.setEncoding('latin1').on('data', (text: string) => {
      // ffmpeg writes a report at once, so most often this is a whole one; its last line begins with `progress=`.
      report += text;
      const end = report.lastIndexOf('progress=');
      if (end < 0) return;
      const bytes = progressBytes(report);
      report = report.slice(end + 'progress='.length);
      if (bytes !== undefined) events.onProgress(bytes);
    });
    if (!this.#child.stderr) return;
    createInterface({ input: this.#child.stderr }).on('line', (line) => {
      this.#stderr.push(redact(line, this.#secrets).slice(0, 500));
      if (this.#stderr.length > STDERR_LINES) this.#stderr.shift();
    });
  }

  #reason(code: number | null, signal: NodeJS.Signals | null): Failure {
    if (this.#stderr.length > 0) return classify(this.#stderr);
    return failure('exited', signal ? `signal ${signal}` : `status ${code}`);
  }
}
