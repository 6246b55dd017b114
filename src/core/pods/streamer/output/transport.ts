/** Runs one ffmpeg process, which takes the stream on its standard input and sends it to one destination. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { Failure } from '../../../protocol/codes.ts';
import { toolEnvironment } from '../../../settings/environment.ts';
import { commandLine, type Executable } from '../../confinement/confine.ts';
import type { Address } from './address.ts';
import { classify, classifyEnd, failure, progressBytes, redact } from './failure.ts';

/** File descriptors behind the standard three. */
const PROGRESS_FD = 3;
const PRESET_FD = 4;
/**
 * ffmpeg reports when it has written something and this time has passed. Media comes in batches, twice a second, so
 * each batch gets one report.
 */
const REPORT_SECONDS = 0.1;
const STDERR_LINES = 20;
/** Time for the last output of an ended process to arrive; another process may hold its pipes open for ever. */
const LAST_WORDS_MS = 1000;
const GRACE_MS = 3000;

/**
 * RTMP consists of FLV tags, and ffmpeg's protocol takes them as bytes. The FLV demuxer and muxer would break the
 * clock. The muxer writes 31 bits of a timestamp, so a receiver sees it go back after 24.8 days. The demuxer drops
 * every timestamp of a connection older than 32 bits, 49.7 days. As bytes, all 32 bits arrive and wrap as they should.
 */
const UNTOUCHED = [...['-f', 'data', '-raw_packet_size', '65536', '-i', 'pipe:0', '-map', '0', '-flush_packets', '1']];
/** With less than 300 ms ffmpeg does not find the sound; the default of 5 s would delay the start. */
const REWRAPPED = [...['-analyzeduration', '300000', '-f', 'flv', '-i', 'pipe:0', '-map', '0:v', '-map', '0:a']];

/** Protocols that ffmpeg may open on the way to a destination; RTMPS uses a relay. */
const PROTOCOLS = { rtmp: 'rtmp,tcp', rtmps: 'rtmp,tcp', srt: 'srt' } as const;

/** Options behind the preset override it: the codec is always a copy. */
const ARGUMENTS = (address: Address): string[] => [
  ...['-hide_banner', '-nostdin', '-nostats', '-loglevel', 'level+error'],
  ...['-stats_period', String(REPORT_SECONDS), '-progress', `pipe:${PROGRESS_FD}`],
  ...['-protocol_whitelist', 'pipe', ...(address.format === 'flv' ? UNTOUCHED : REWRAPPED)],
  ...['-fpre', `/dev/fd/${PRESET_FD}`, '-c', 'copy'],
  ...['-f', address.format === 'flv' ? 'data' : address.format],
  ...['-protocol_whitelist', PROTOCOLS[address.protocol], address.url],
];

/** Opens a file without a name, so that no end of this process leaves it on disk. */
function nameless(content: string): number {
  const dir = mkdtempSync(join(tmpdir(), 'loopstream-'));
  try {
    const fd = openSync(join(dir, 'preset'), 'wx+', 0o600);
    // A write at a position leaves the descriptor's own position at the beginning.
    if (content !== '') writeSync(fd, content, 0);
    return fd;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

export interface TransportEvents {
  /** Called with the bytes that the destination's connection has taken so far. */
  onProgress: (bytes: number) => void;
}

export class FfmpegTransport {
  readonly #child: ChildProcess;
  readonly #secrets: readonly string[];
  readonly #graceMs: number;
  readonly #stderr: string[] = [];
  #killed: Failure | undefined;
  /** The process was asked to end, or has reported its end. */
  #done = false;
  /** Resolves with the reason when the process is gone. */
  readonly ended: Promise<Failure>;

  /** `graceMs`: time for the process to end after it is done. */
  constructor(ffmpeg: Executable, address: Address, events: TransportEvents, graceMs = GRACE_MS) {
    this.#secrets = address.secrets;
    this.#graceMs = graceMs;
    const preset = nameless(address.preset);
    try {
      const needs = { readFds: [PRESET_FD], fds: PRESET_FD + 1 };
      const [program, ...words] = commandLine(ffmpeg, ARGUMENTS(address), needs);
      this.#child = spawn(program, words, {
        stdio: ['pipe', 'ignore', 'pipe', 'pipe', preset],
        env: toolEnvironment(),
      });
    } finally {
      closeSync(preset);
    }
    this.ended = new Promise((resolve) => {
      this.#child.once('error', (error) => resolve(failure('exited', redact(error.message, this.#secrets))));
      const end = (code: number | null, signal: NodeJS.Signals | null) =>
        resolve(this.#killed ?? this.#reason(code, signal));
      this.#child.once('close', end);
      this.#child.once('exit', (code, signal) => {
        const timer = setTimeout(() => {
          for (const stream of this.#child.stdio) stream?.destroy();
          end(code, signal);
        }, LAST_WORDS_MS);
        this.#child.once('close', () => clearTimeout(timer));
      });
    });
    // Without a free descriptor there is no process either; its event, handled above, reports that.
    if (!this.#child.stdin) throw new Error('the pipe could not be created');
    // The end of the process reports a broken pipe; without a listener the error would end this process.
    this.stdin.on('error', () => undefined);
    this.#listen(events);
  }

  get stdin(): Writable {
    return this.#child.stdin as Writable;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Kills the process for this reason. If it had reported its end already, the reason is that it hung. */
  kill(reason: Failure): void {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const why = this.#stderr.length > 0 ? classify(this.#stderr).message : '';
    this.#killed ??= this.#done ? failure('hung', why) : reason;
    this.#child.kill('SIGKILL');
  }

  /** Lets the process send the rest and close its connection; kills it after the grace time. */
  async finish(): Promise<void> {
    this.stdin.end();
    this.#end();
    await this.ended;
  }

  /** Starts the grace time: closing the connection is all that is left. */
  #end(): void {
    if (this.#done) return;
    this.#done = true;
    const timer = setTimeout(() => this.kill(failure('hung')), this.#graceMs);
    for (const event of ['exit', 'error']) this.#child.once(event, () => clearTimeout(timer));
  }

  #listen(events: TransportEvents): void {
    const progress = this.#child.stdio[PROGRESS_FD] as Readable | null;
    let report = '';
    progress?.setEncoding('latin1').on('data', (text: string) => {
      // ffmpeg writes a report at once, so this is most often a whole one; its last line begins with `progress=`.
      report += text;
      const end = report.lastIndexOf('progress=');
      if (end < 0) return;
      const bytes = progressBytes(report);
      if (report.startsWith('progress=end', end)) this.#end();
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
    return signal || this.#stderr.length === 0 ? classifyEnd(code, signal) : classify(this.#stderr);
  }
}
