/**
 * Fetches the rest of a body by ranges of it, several at a time (RFC 9110 14): many servers limit the speed of each connection. The bytes
 * are passed on in order, so those that come too early wait in memory, within a limit.
 */

export interface RangeOptions {
  /** Connections at a time, the first one included. */
  connections: number;
  /** A request for each is worth its round trip, and all that wait fit into memory. */
  rangeBytes: number;
  /** Time for which the first connection is measured. */
  measureMs: number;
  /** A file that comes sooner at the speed of one connection is fetched by it. */
  minSecondsLeft: number;
}

export const RANGES: RangeOptions = { connections: 4, rangeBytes: 8 * 2 ** 20, measureMs: 2_000, minSecondsLeft: 5 };
/** Ranges that may wait for a slower one in front of them. */
const SPARE = 2;

/** Requests bytes [start, end). Rejects for every other answer than these bytes of the same content. */
export type OpenRange = (start: number, end: number, signal: AbortSignal) => Promise<AsyncIterable<Buffer>>;

/** One range on its way. */
class Range {
  readonly start: number;
  readonly end: number;
  received = 0;
  isOver = false;
  #failure: unknown;
  #moved = Promise.withResolvers<void>();
  /** A server that sends byte by byte takes no more memory than another. */
  readonly #bytes: Buffer;

  constructor(start: number, end: number) {
    this.start = start;
    this.end = end;
    this.#bytes = Buffer.allocUnsafeSlow(end - start);
  }

  get isWhole(): boolean {
    return this.isOver && this.#failure === undefined;
  }

  /** Resolves when the range is there or has failed. */
  async fetch(open: OpenRange, signal: AbortSignal): Promise<void> {
    try {
      for await (const chunk of await open(this.start, this.end, signal)) {
        if (this.received + chunk.length > this.#bytes.length) throw new Error('the server sent more than the range');
        chunk.copy(this.#bytes, this.received);
        this.received += chunk.length;
        this.#move();
      }
      if (this.received < this.#bytes.length) throw new Error('the server sent less than the range');
    } catch (error) {
      this.#failure = error ?? new Error('the range has failed');
    }
    this.isOver = true;
    this.#move();
  }

  #move(): void {
    this.#moved.resolve();
    this.#moved = Promise.withResolvers();
  }

  /** Yields the bytes as they come. Rejects with the failure behind the last one. */
  async *bytes(): AsyncGenerator<Buffer> {
    for (let at = 0; ; ) {
      const { received } = this;
      if (received > at) {
        yield this.#bytes.subarray(at, received);
        at = received;
      } else if (this.#failure !== undefined) throw this.#failure;
      else if (this.isOver) return;
      else await this.#moved.promise;
    }
  }
}

export class Ranges {
  readonly start: number;
  readonly #end: number;
  readonly #open: OpenRange;
  readonly #options: RangeOptions;
  readonly #over = new AbortController();
  readonly #signal: AbortSignal;
  /** In order, the one that is passed on first. */
  readonly #ranges: Range[] = [];
  #next: number;
  #connections: number;
  #hasFailed = false;

  /** Begins at `start` while the first connection brings what is in front of that. */
  constructor(start: number, end: number, open: OpenRange, signal: AbortSignal, options: RangeOptions) {
    this.start = start;
    this.#next = start;
    this.#end = end;
    this.#open = open;
    this.#options = options;
    this.#signal = AbortSignal.any([signal, this.#over.signal]);
    this.#connections = options.connections - 1;
    this.#fill();
  }

  /** Bytes that have come. */
  get received(): number {
    return this.#ranges.reduce((sum, { received }) => sum + received, 0);
  }

  /** False once an answer was not what was asked for. */
  get isFine(): boolean {
    return !this.#hasFailed;
  }

  #fill(): void {
    const { connections, rangeBytes } = this.#options;
    while (
      this.isFine &&
      this.#next < this.#end &&
      this.#ranges.length < connections + SPARE &&
      this.#ranges.filter(({ isOver }) => !isOver).length < this.#connections
    ) {
      const range = new Range(this.#next, Math.min(this.#end, this.#next + rangeBytes));
      this.#next = range.end;
      this.#ranges.push(range);
      void range.fetch(this.#open, this.#signal).then(() => {
        this.#hasFailed ||= !range.isWhole;
        this.#fill();
      });
    }
  }

  /** Yields the bytes from `start` on, now that the first connection is free. Rejects where a range has failed, behind all bytes in front of it. */
  async *bytes(): AsyncGenerator<Buffer> {
    this.#connections = this.#options.connections;
    this.#fill();
    for (let range = this.#ranges[0]; range; range = this.#ranges[0]) {
      yield* range.bytes();
      this.#ranges.shift();
      this.#fill();
    }
  }

  /** Ends all requests. */
  close(): void {
    this.#over.abort(new Error('the ranges are not needed'));
    this.#ranges.length = 0;
  }
}
