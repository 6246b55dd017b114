/**
 * Defines the frames that a decoder sends its keeper about a running tool: a kind (one byte), a length (four bytes,
 * big-endian) and the bytes. The keeper trusts none of them: the decoder opens strangers' files. Pure: no I/O, no
 * clock.
 */
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';

/** A keeper's request, as one line of JSON. */
export const ToolRequest = Type.Object({
  tool: Type.Enum(['ffmpeg', 'ffprobe', 'drawText']),
  args: Type.Array(Type.String({ maxLength: 65_536 }), { maxItems: 512 }),
  /** True where the tool's stdin follows: all that the keeper sends after this line. */
  takesInput: Type.Optional(Type.Boolean()),
  /** True where nobody waits for it. */
  isBackground: Type.Optional(Type.Boolean()),
});
export type ToolRequest = Static<typeof ToolRequest>;
export const MAX_REQUEST_BYTES = 2 ** 18;

/** The end of a tool. */
export const ToolEnd = Type.Object({
  ok: Type.Boolean(),
  /** The reason of a failure, in a sentence. */
  message: Type.String({ maxLength: 512 }),
  /** True when something from outside ended it. */
  killed: Type.Boolean(),
  /** The last part of its stderr. */
  stderr: Type.String({ maxLength: 4096 }),
});
export type ToolEnd = Static<typeof ToolEnd>;

const OUTPUT = 1;
const END = 2;
const HEADER_BYTES = 5;
const MAX_END_BYTES = 65_536;

export class FrameError extends Error {
  override readonly name = 'FrameError';
}

function header(kind: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(HEADER_BYTES);
  bytes.writeUInt8(kind, 0);
  bytes.writeUInt32BE(length, 1);
  return bytes;
}

export const outputHeader = (length: number): Buffer => header(OUTPUT, length);

export function encodeEnd(end: ToolEnd): Buffer {
  const text = Buffer.from(JSON.stringify(end));
  return Buffer.concat([header(END, text.length), text]);
}

/** Parses a stream of frames: returns output at once, and the end when it is complete. */
export class FrameParser {
  readonly #onOutput: (bytes: Buffer) => void;
  readonly #onEnd: (end: ToolEnd) => void;
  #kind = 0;
  #left = 0;
  #kept: Buffer = Buffer.alloc(0);

  constructor(onOutput: (bytes: Buffer) => void, onEnd: (end: ToolEnd) => void) {
    this.#onOutput = onOutput;
    this.#onEnd = onEnd;
  }

  /** Throws FrameError for bytes that are no frame. */
  push(chunk: Buffer): void {
    let bytes = this.#kept.length > 0 ? Buffer.concat([this.#kept, chunk]) : chunk;
    this.#kept = Buffer.alloc(0);
    while (bytes.length > 0) {
      if (this.#left === 0) {
        if (bytes.length < HEADER_BYTES) break;
        this.#begin(bytes);
        bytes = bytes.subarray(HEADER_BYTES);
        continue;
      }
      const part = bytes.subarray(0, this.#left);
      if (this.#kind === END) {
        if (part.length < this.#left) break;
        this.#onEnd(parseEnd(part));
      } else this.#onOutput(part);
      this.#left -= part.length;
      bytes = bytes.subarray(part.length);
    }
    this.#kept = bytes;
  }

  #begin(bytes: Buffer): void {
    this.#kind = bytes.readUInt8(0);
    this.#left = bytes.readUInt32BE(1);
    const most = this.#kind === END ? MAX_END_BYTES : Number.POSITIVE_INFINITY;
    if ((this.#kind !== OUTPUT && this.#kind !== END) || this.#left === 0 || this.#left > most)
      throw new FrameError('the decoder sent an invalid frame');
  }
}

function parseEnd(bytes: Buffer): ToolEnd {
  let end: unknown;
  try {
    end = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw new FrameError('the decoder sent invalid JSON', { cause: error });
  }
  if (Value.Check(ToolEnd, end)) return end;
  throw new FrameError('the decoder sent an invalid end message');
}

/** Parses the request in a line; undefined when it is none. */
export function parseRequest(line: string): ToolRequest | undefined {
  try {
    const request: unknown = JSON.parse(line);
    return Value.Check(ToolRequest, request) ? request : undefined;
  } catch {
    return undefined;
  }
}
