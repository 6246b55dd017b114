/**
 * Gets the pictures that we send from the pod that sends them: the keyframes of its preview, which cost it next to nothing. They are
 * decoded only when there is something to compare them with.
 */
import { Agent, request } from 'undici';
import { backoffMs } from '../../lib/backoff.ts';
import { type Clock, sleep } from '../../lib/clock.ts';
import { FlvParser } from '../../pods/rendition/flv.ts';
import { KEYFRAMES_PATH } from '../../resources/common/names.ts';
import type { Publishing } from '../common/observer.ts';
import type { Decoded, DecodingCost, MediaInput, PictureDecoder } from './decode.ts';
import { Keyframes } from './keyframes.ts';
import type { LumaPicture } from './pictures.ts';

const BACKOFF = { baseMs: 1_000, maxMs: 15_000 };
/** Without a keyframe for so long, the connection is made anew. */
const SILENCE_MS = 30_000;
/** Times of media that leave the clock by more than this begin anew. */
const JUMP_MS = 3_000;
/** How far two clocks part between two keyframes. */
const DRIFT_MS = 5;

/** As many keyframes are decoded although there is nothing to compare them with. */
const MOST_WAITING = 12;

/** Opens connections to pods; close it at the end. */
export const openPods = (): Agent => new Agent({ headersTimeout: SILENCE_MS, bodyTimeout: SILENCE_MS });

export interface OwnDeps {
  pods: Agent;
  clock: Clock;
  decoder: PictureDecoder;
  cost: DecodingCost;
}

export class OwnPictures {
  readonly #deps: OwnDeps;
  readonly #over = new AbortController();
  readonly #keyframes = new Keyframes();
  #pictures: LumaPicture[] = [];
  /** Clock minus time of the media, at the keyframe that was least late. */
  #offsetMs: number | undefined;
  readonly ended: Promise<void>;

  constructor(publishing: Publishing, deps: OwnDeps) {
    this.#deps = deps;
    this.ended = this.#follow(publishing);
  }

  /** Decodes an input, and in the same run the keyframes that have come since the last one. */
  async decodeBeside(input: MediaInput, signal: AbortSignal): Promise<Decoded> {
    const own = this.#takeInput();
    const [decoded, ours] = await this.#deps.decoder.decode([input, ...own], signal, this.#deps.cost);
    this.#add(ours);
    return decoded ?? { kind: 'failed' };
  }

  /** Takes the pictures that have been decoded since the last call. */
  async take(signal: AbortSignal): Promise<LumaPicture[]> {
    if (this.#keyframes.count >= MOST_WAITING) {
      const [ours] = await this.#deps.decoder.decode(this.#takeInput(), signal, this.#deps.cost);
      this.#add(ours);
    }
    const pictures = this.#pictures;
    this.#pictures = [];
    return pictures;
  }

  #takeInput(): MediaInput[] {
    const media = this.#keyframes.take();
    return media.length === 0 ? [] : [{ container: 'flv', media }];
  }

  #add(decoded: Decoded | undefined): void {
    const offsetMs = this.#offsetMs;
    if (decoded?.kind !== 'pictures' || offsetMs === undefined) return;
    this.#pictures.push(...decoded.pictures.map(({ ptsMs, luma }) => ({ atMs: ptsMs + offsetMs, luma })));
  }

  close(): void {
    this.#over.abort();
  }

  async #follow({ podUrl, readViewToken }: Publishing): Promise<void> {
    const { signal } = this.#over;
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      try {
        const token = await readViewToken();
        const { statusCode, body } = await request(`${podUrl}${KEYFRAMES_PATH}`, {
          dispatcher: this.#deps.pods,
          signal,
          headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
        });
        if (statusCode !== 200) body.on('error', () => undefined).destroy();
        else for await (const isKeyframe of this.#read(body as AsyncIterable<Buffer>)) if (isKeyframe) attempt = 0;
      } catch {
        // The pod has gone, or is not there yet.
      }
      await sleep(backoffMs(BACKOFF, attempt), signal).catch(() => undefined);
    }
  }

  async *#read(body: AsyncIterable<Buffer>): AsyncGenerator<boolean> {
    const parser = new FlvParser();
    for await (const chunk of body)
      for (const tag of parser.push(chunk)) {
        const isKeyframe = this.#keyframes.push(tag);
        if (isKeyframe) this.#setTime(tag.timestampMs);
        yield isKeyframe;
      }
  }

  #setTime(timestampMs: number): void {
    const foundMs = this.#deps.clock.now().getTime() - timestampMs;
    const knownMs = this.#offsetMs ?? foundMs;
    if (Math.abs(foundMs - knownMs) <= JUMP_MS) this.#offsetMs = Math.min(knownMs + DRIFT_MS, foundMs);
    else {
      this.#offsetMs = foundMs;
      this.#keyframes.keepNewest();
    }
  }
}
