/**
 * Shares one connection to a pod's preview among all viewers of this server: the pod serves one viewer for each API server. A
 * viewer starts at the next keyframe. A viewer that is too slow is disconnected.
 */
import { Readable } from 'node:stream';
import {
  encodeHeader,
  encodeTag,
  FlvParser,
  type FlvTag,
  isAacSequenceHeader,
  isAvcSequenceHeader,
  isKeyframe,
  TAG_SCRIPT,
} from '../../../core/pods/rendition/flv.ts';

/** Buffer limit of one viewer: more than a second of the highest quality. */
const MAX_BUFFERED_BYTES = 3 * 2 ** 20;

export class Broadcast {
  readonly #viewers = new Set<Readable>();
  readonly #joining = new Set<Readable>();
  readonly #headers = new Map<'metadata' | 'video' | 'audio', FlvTag>();
  readonly #parser = new FlvParser();
  readonly #source: Readable;
  readonly #onOver: () => void;

  /** Reads `source` (HTTP-FLV) until the last viewer has left. It calls `onOver` once, when nobody can join any more. */
  constructor(source: Readable, onOver: () => void) {
    this.#source = source;
    this.#onOver = onOver;
    source.on('data', (chunk: Buffer) => this.#take(chunk));
    source.once('close', () => this.#end());
    // Viewers see the same end after an error as after a normal end.
    source.on('error', () => undefined);
  }

  get viewers(): number {
    return this.#viewers.size;
  }

  /** Returns FLV from the next keyframe on. It ends with the source; destroying it leaves the broadcast. */
  join(): Readable {
    const viewer = new Readable({
      read: () => undefined,
      destroy: (error, done) => {
        this.#viewers.delete(viewer);
        this.#joining.delete(viewer);
        if (this.#viewers.size === 0) this.#source.destroy();
        done(error);
      },
    });
    this.#viewers.add(viewer);
    this.#joining.add(viewer);
    if (this.#source.destroyed || this.#source.readableEnded) viewer.push(null);
    return viewer;
  }

  #take(chunk: Buffer): void {
    let tags: FlvTag[];
    try {
      tags = this.#parser.push(chunk);
    } catch {
      return void this.#source.destroy();
    }
    for (const tag of tags) {
      if (this.#keepHeader(tag)) this.#send(tag);
      else if (isKeyframe(tag)) this.#letIn(tag);
      else this.#send(tag);
    }
  }

  #keepHeader(tag: FlvTag): boolean {
    const isVideo = isAvcSequenceHeader(tag);
    const name =
      tag.type === TAG_SCRIPT ? 'metadata' : isVideo ? 'video' : isAacSequenceHeader(tag) ? 'audio' : undefined;
    // A tag's body is a view into its chunk, which it would keep in memory.
    if (name) this.#headers.set(name, { ...tag, body: Buffer.from(tag.body) });
    return name !== undefined;
  }

  /** Starts waiting viewers at a keyframe, with the headers that must precede it. */
  #letIn(tag: FlvTag): void {
    if (this.#joining.size > 0) {
      const before = [encodeHeader({ audio: true, video: true })];
      for (const name of ['metadata', 'video', 'audio'] as const) {
        const header = this.#headers.get(name);
        if (header) before.push(encodeTag(header.type, name === 'metadata' ? 0 : tag.timestampMs, header.body));
      }
      const preamble = Buffer.concat(before);
      for (const viewer of this.#joining) viewer.push(preamble);
      this.#joining.clear();
    }
    this.#send(tag);
  }

  #send(tag: FlvTag): void {
    const bytes = encodeTag(tag.type, tag.timestampMs, tag.body);
    for (const viewer of this.#viewers) {
      if (this.#joining.has(viewer)) continue;
      if (viewer.readableLength + bytes.length > MAX_BUFFERED_BYTES) viewer.destroy();
      else viewer.push(bytes);
    }
  }

  #end(): void {
    this.#onOver();
    for (const viewer of this.#viewers) viewer.push(null);
  }
}
