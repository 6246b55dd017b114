/**
 * A track: the items of a program's list, one after the other for ever, the next one opened while the last one plays. An
 * item that cannot be played is skipped, counted and tried again on its next turn.
 */
import { type Clock, sleep } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { Storage } from '../storage/storage.ts';
import type { Program, ProgramItem } from '../streams/program.ts';
import { itemError, loadDelay, loadIndex, type TrackKind } from './catalog.ts';
import { following, itemAt, type Loop, type Position, positionAt, resume } from './radio.ts';
import { ItemReader } from './source.ts';
import type { Item } from './splice.ts';
import { frameTicks, itemTicks, msToTicks, TICKS_PER_SECOND } from './timeline.ts';

/** A whole turn over the list without one item that plays: wait, longer each time. */
const RETRY_MS = { first: 500, longest: 15_000 };
/** A GOP is 2 s: nearer than this to an item's beginning counts as its beginning when versions change. */
const SNAP_TICKS = 2 * TICKS_PER_SECOND;

export interface TrackOptions {
  storage: Storage;
  kind: TrackKind;
  clock: Clock;
  log: Logger;
  signal: AbortSignal;
  /** Called when `next` may have a new answer, or an item more to give. */
  onData: () => void;
}

/** The list of one version of the program, with what has to be known of its items before the first of them plays. */
interface Listing {
  version: number;
  epoch: string;
  epochMs: number;
  items: readonly ProgramItem[];
  loop: Loop;
  /** Largest B-frame delay of its items, in ticks. */
  delayTicks: number;
}

export interface TrackStats {
  /** Items that could not be played, by code, since start. */
  skipped: Record<string, number>;
  /** Rounds that have been played through, by the radio clock. */
  loopCount: number;
  current: { id: string; name: string } | null;
  next: { id: string; name: string } | null;
  /** False when nothing of the list can be played. */
  playable: boolean;
}

export class Track {
  readonly #options: TrackOptions;
  #listing: Listing | undefined;
  /** The turn after the one given out last. */
  #cursor: Position | undefined;
  #ready: ItemReader | undefined;
  #opening: Promise<void> | undefined;
  /** Rises when a new listing makes what is being opened worthless. */
  #generation = 0;
  #changed = new AbortController();
  #playing: ItemReader | undefined;
  #playingRound = 0;
  readonly #skipped: Record<string, number> = {};
  #playable = true;

  constructor(options: TrackOptions) {
    this.#options = options;
  }

  get delayTicks(): number {
    return this.#listing?.delayTicks ?? 0;
  }

  /** Takes a program: the first is joined where its clock stands, a later one at the end of the item that plays. */
  async load(program: Program, list: { mode: 'sequential' | 'shuffle'; items: readonly ProgramItem[] }): Promise<void> {
    const listing = await this.#list(program, list);
    const elapsed = msToTicks(this.#options.clock.now().getTime() - listing.epochMs);
    const before = this.#listing;
    const playing = this.#playing;
    if (before && playing) {
      const index = listing.items.findIndex((item) => item.id === playing.id);
      const options = {
        playing: index < 0 ? undefined : index,
        sameEpoch: before.epoch === listing.epoch,
        snapTicks: SNAP_TICKS,
      };
      this.#cursor = resume(listing.loop, elapsed, options);
    } else {
      this.#cursor = positionAt(listing.loop, elapsed);
    }
    // Where nothing is known to play, the list is tried from its beginning until something does.
    this.#cursor ??= { round: 0, turn: 0, offsetTicks: 0 };
    this.#listing = listing;
    this.#generation++;
    this.#changed.abort();
    this.#changed = new AbortController();
    this.#ready?.close();
    this.#ready = undefined;
    this.#open();
  }

  /** The splicer's NextItem. */
  readonly next = (): Item | 'wait' | 'none' => {
    const item = this.#ready;
    if (!item) return this.#playable ? 'wait' : 'none';
    this.#report(this.#playing);
    this.#ready = undefined;
    this.#playing = item;
    const cursor = this.#cursor;
    const listing = this.#listing;
    if (cursor && listing) {
      this.#playingRound = cursor.round;
      this.#cursor = following(listing.loop, cursor);
    }
    this.#open();
    return item;
  };

  stats(): TrackStats {
    const { id, name } = this.#ready ?? this.#upcoming() ?? {};
    return {
      skipped: this.#skipped,
      loopCount: this.#playingRound,
      current: this.#playing ? { id: this.#playing.id, name: this.#playing.name } : null,
      next: id !== undefined && name !== undefined ? { id, name } : null,
      playable: this.#playable,
    };
  }

  close(): void {
    this.#generation++;
    this.#ready?.close();
    this.#playing?.close();
  }

  #upcoming(): ProgramItem | undefined {
    const index = this.#listing && this.#cursor ? itemAt(this.#listing.loop, this.#cursor) : undefined;
    return index === undefined ? undefined : this.#listing?.items[index];
  }

  async #list(program: Program, list: { mode: 'sequential' | 'shuffle'; items: readonly ProgramItem[] }) {
    const { storage, kind, signal } = this.#options;
    const durations: number[] = [];
    let delayTicks = 0;
    for (const item of list.items) {
      try {
        const index = await loadIndex(storage, item, kind, signal);
        const delay = kind === 'video' ? await loadDelay(storage, item, index, signal) : 0;
        const video = index.video;
        if (video) delayTicks = Math.max(delayTicks, delay * (frameTicks(video.frameRateNum, video.frameRateDen) ?? 0));
        durations.push(itemTicks(index, kind));
      } catch (error) {
        signal.throwIfAborted();
        this.#skip(item, error);
        durations.push(0);
      }
    }
    const { version, epoch, seed } = program;
    const loop: Loop = { mode: list.mode, seed, durations };
    return { version, epoch, epochMs: Date.parse(epoch), items: list.items, loop, delayTicks };
  }

  /** Opens the next item that plays, once at a time. */
  #open(): void {
    if (this.#opening) return;
    this.#opening = this.#openNext()
      .catch((error: unknown) => {
        if (!this.#options.signal.aborted) this.#options.log.error({ err: error }, 'opening the next item failed');
      })
      .finally(() => {
        this.#opening = undefined;
        this.#options.onData();
      });
  }

  async #openNext(): Promise<void> {
    const { storage, kind, onData, signal } = this.#options;
    for (let failures = 0, retryMs = RETRY_MS.first; !signal.aborted; ) {
      const generation = this.#generation;
      const item = this.#upcoming();
      const cursor = this.#cursor;
      const listing = this.#listing;
      if (!item || !cursor || !listing) return;
      try {
        const opened = await ItemReader.open({ storage, item, kind, offsetTicks: cursor.offsetTicks, onData });
        if (generation === this.#generation) {
          this.#ready = opened;
          this.#playable = true;
          return;
        }
        opened.close();
      } catch (error) {
        if (generation !== this.#generation) continue;
        this.#skip(item, error);
        this.#cursor = following(listing.loop, cursor);
        if (++failures % listing.items.length !== 0) continue;
        this.#playable = false;
        onData();
        this.#options.log.error({ track: kind, retryMs }, 'no item can be played');
        await sleep(retryMs, AbortSignal.any([signal, this.#changed.signal])).catch(() => signal.throwIfAborted());
        retryMs = Math.min(retryMs * 2, RETRY_MS.longest);
      }
    }
  }

  #skip(item: ProgramItem, error: unknown): void {
    const { code, message } = itemError(error);
    this.#skipped[code] = (this.#skipped[code] ?? 0) + 1;
    this.#options.log.warn({ item: item.id, name: item.name, code, err: error }, message);
  }

  /** An item that broke while it was played. */
  #report(item: ItemReader | undefined): void {
    if (item?.error) this.#skip({ id: item.id, name: item.name, rendition: '' }, item.error);
  }
}
