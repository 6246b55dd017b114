/** Makes media whose pictures and sounds hold their numbers, and a storage for it that records requests. */
import { setImmediate } from 'node:timers/promises';
import { encodeHeader, encodeTag, TAG_AUDIO, TAG_VIDEO } from '../../../../../../src/core/pods/rendition/flv.ts';
import { DirectoryStorage } from '../../../../../../src/core/pods/storage/directory.ts';
import { type ReadRange, type Storage, StorageError } from '../../../../../../src/core/pods/storage/storage.ts';
import { type CutRendition, publishChunk, publishIndex } from '../../../../../kit/make/chunks.ts';

export const FPS = 30;
export const FRAME_TICKS = 4000;
export const GOP = 10;
export const FRAMES = 300;
export const item = { id: 'a', name: 'A', rendition: 'renditions/a.flv' };

/** A directory that records requests, and can be away or list too little. */
export class RecordedStorage extends DirectoryStorage {
  away = false;
  /** Keys of which a reader finds the object only after it has asked this often. */
  readonly late = new Map<string, number>();
  /** Number of the last chunks that a listing lacks. */
  unlisted = 0;
  asked: string[] = [];
  discarded: string[] = [];
  override head(name: string) {
    return this.#answer(name, async () => (this.#isLate(name) ? undefined : super.head(name)));
  }
  override read(name: string, range?: ReadRange, signal?: AbortSignal) {
    return this.#answer(name, async () => {
      if (this.#isLate(name)) throw new StorageError('not_found', 'It is not there yet.');
      const body = await super.read(name, range, signal);
      this.#underWay++;
      body.once('close', () => this.#underWay--);
      return body;
    });
  }
  override async *list(prefix: string) {
    const keys = [];
    for await (const name of super.list(prefix)) keys.push(name);
    yield* keys.slice(0, keys.length - 2 * this.unlisted);
  }
  async discard(name: string) {
    this.discarded.push(name);
  }
  #isLate(name: string): boolean {
    const left = this.late.get(name) ?? 0;
    this.late.set(name, left - 1);
    return left > 0;
  }
  /** Resolves when no request is under way: a reader that is not paced leaves the storage no time. */
  async settle(): Promise<void> {
    while (this.#underWay > 0) await setImmediate();
  }
  #underWay = 0;
  async #answer<T>(name: string, answer: () => Promise<T>): Promise<T> {
    this.asked.push(name);
    if (this.away) throw new StorageError('unavailable', 'It is away.');
    this.#underWay++;
    try {
      return await answer();
    } finally {
      this.#underWay--;
    }
  }
}

/** Builds a rendition whose pictures and sounds hold their numbers; `pad` bytes make a picture larger, `soundPad` a sound. */
export function buildMedia({ frames = FRAMES, pad = 100, soundPad = 20, hasVideo = true } = {}): Buffer {
  const numbered = (start: number[], n: number, more: number) => {
    const body = Buffer.alloc(start.length + 4 + more, 7);
    Buffer.from(start).copy(body);
    body.writeUInt32BE(n, start.length);
    return body;
  };
  const pictures = hasVideo
    ? Array.from({ length: frames }, (_, n) => ({
        at: Math.round((n * 1000) / FPS),
        tag: [TAG_VIDEO, numbered([n % GOP === 0 ? 0x17 : 0x27, 1, 0, 0, 0], n, pad)] as const,
      }))
    : [];
  const sounds = Array.from({ length: Math.round((frames * 48_000) / FPS / 1024) }, (_, n) => ({
    at: Math.round((n * 1024) / 48),
    tag: [TAG_AUDIO, numbered([0xaf, 1], n, soundPad)] as const,
  }));
  const tags = [...pictures, ...sounds].sort((a, b) => a.at - b.at || b.tag[0] - a.tag[0]);
  return Buffer.concat([
    encodeHeader({ audio: true, video: hasVideo }),
    ...(hasVideo ? [encodeTag(TAG_VIDEO, 0, Buffer.from([0x17, 0, 0, 0, 0, 1, 100, 0, 31]))] : []),
    encodeTag(TAG_AUDIO, 0, Buffer.from([0xaf, 0, 0x11, 0x90])),
    ...tags.map(({ at, tag: [type, body] }) => encodeTag(type, at, body)),
  ]);
}

export const numberIn = (body: Buffer, from: number) => body.readUInt32BE(from);

/** Publishes the first chunks of a rendition, and its index when it is complete. */
export async function publish(storage: Storage, cut: CutRendition, chunks: number, isComplete = false): Promise<void> {
  for (let at = 0; at < chunks; at++) await publishChunk(storage, item.rendition, cut, at);
  if (isComplete) await publishIndex(storage, item.rendition, cut);
}

/** Publishes a complete rendition under a key. */
export async function publishWhole(storage: Storage, key: string, cut: CutRendition): Promise<void> {
  for (const at of cut.bodies.keys()) await publishChunk(storage, key, cut, at);
  await publishIndex(storage, key, cut);
}

export const count = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);
