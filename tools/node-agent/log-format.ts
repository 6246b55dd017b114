/**
 * Formats and parses the lines of a container's log file: `<RFC 3339> <stdout|stderr> <F|P> <text>`, as container
 * runtimes write them for a kubelet. P marks a piece of a line that goes on in the next record. Pure: no I/O, no clock.
 */

export type OutputStream = 'stdout' | 'stderr';

/** Longer lines are cut into pieces, so that a program that never ends its line cannot fill the memory. */
export const MAX_PIECE_BYTES = 16 * 1024;

export interface LogQuery {
  /** The last so many lines. */
  tailLines?: number | undefined;
  /** Not what is older than this, in milliseconds since the epoch. */
  sinceMs?: number | undefined;
  timestamps?: boolean | undefined;
  limitBytes?: number | undefined;
}

const NEWLINE = 0x0a;

/** Turns a stream of bytes into records; what is not a whole line yet is kept until it is. */
export class LineSplitter {
  readonly #stream: OutputStream;
  #rest: Buffer = Buffer.alloc(0);

  constructor(stream: OutputStream) {
    this.#stream = stream;
  }

  records(chunk: Buffer, time: string): Buffer[] {
    const records: Buffer[] = [];
    let data = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    for (;;) {
      const end = data.indexOf(NEWLINE);
      if (end !== -1 && end <= MAX_PIECE_BYTES) {
        records.push(this.#record('F', data.subarray(0, end), time));
        data = data.subarray(end + 1);
      } else if (data.length > MAX_PIECE_BYTES) {
        records.push(this.#record('P', data.subarray(0, MAX_PIECE_BYTES), time));
        data = data.subarray(MAX_PIECE_BYTES);
      } else break;
    }
    // A copy, so that a few bytes do not keep the whole chunk in memory.
    this.#rest = Buffer.from(data);
    return records;
  }

  /** Returns the rest when the stream ends without a newline. */
  end(time: string): Buffer[] {
    if (this.#rest.length === 0) return [];
    const record = this.#record('F', this.#rest, time);
    this.#rest = Buffer.alloc(0);
    return [record];
  }

  #record(tag: 'F' | 'P', text: Buffer, time: string): Buffer {
    return Buffer.concat([Buffer.from(`${time} ${this.#stream} ${tag} `), text, Buffer.from('\n')]);
  }
}

interface Parsed {
  time: string;
  text: Buffer;
  whole: boolean;
}

function parse(record: Buffer): Parsed | undefined {
  const first = record.indexOf(0x20);
  const second = record.indexOf(0x20, first + 1);
  const third = record.indexOf(0x20, second + 1);
  if (first === -1 || second === -1 || third === -1) return undefined;
  return {
    time: record.toString('latin1', 0, first),
    text: record.subarray(third + 1),
    whole: record[second + 1] === 0x46,
  };
}

function* readRecords(file: Buffer): Generator<Buffer> {
  for (let from = 0; from < file.length; ) {
    const end = file.indexOf(NEWLINE, from);
    yield file.subarray(from, end === -1 ? file.length : end);
    from = end === -1 ? file.length : end + 1;
  }
}

/** Selects the requested part of a log file's bytes. Malformed records are left out. */
export function selectLog(file: Buffer, query: LogQuery): Buffer {
  const { tailLines, sinceMs, timestamps, limitBytes } = query;
  const lines: Buffer[][] = [];
  let open: Buffer[] | undefined;
  for (const record of readRecords(file)) {
    const parsed = parse(record);
    if (!parsed || (sinceMs !== undefined && Date.parse(parsed.time) < sinceMs)) continue;
    const begins = open === undefined;
    const line: Buffer[] = open ?? [];
    if (begins) lines.push(line);
    if (begins && timestamps) line.push(Buffer.from(`${parsed.time} `));
    line.push(parsed.text);
    if (parsed.whole) line.push(Buffer.from('\n'));
    open = parsed.whole ? undefined : line;
  }
  const wanted = tailLines === undefined ? lines : tailLines <= 0 ? [] : lines.slice(-tailLines);
  const output = Buffer.concat(wanted.flat());
  return limitBytes === undefined ? output : output.subarray(0, limitBytes);
}
