/**
 * Plays the items of a program's list, one after the other for ever; the next item is opened while the current one
 * plays. An item that cannot be played is skipped, counted and tried again on its next turn.
 */
import { BlockPools } from '../../../lib/block-pool.ts';
import { type Clock, sleep } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/log.ts';
import {
  advance,
  computePlayhead,
  correctDuration,
  countTicksBefore,
  findItem,
  type Loop,
  resumeAfter,
  type TrackPlayhead,
} from '../../../programme/playhead.ts';
import { msToTicks, ticksToMs } from '../../../programme/ticks.ts';
import type { Program } from '../../../protocol/program.ts';
import { findPlace, isLeftOut, type Place } from '../../../resources/stream/item-place.ts';
import type { ProgramItem, Track } from '../../../resources/stream/playing.ts';
import { indexKey } from '../../rendition/format.ts';
import type { Storage } from '../../storage/storage.ts';
import { CuttableItem } from '../timeline/cuttable-item.ts';
import { EpochKeeper, type ItemStart } from '../timeline/epoch-keeper.ts';
import { type Gop, LoopingItem } from '../timeline/looping-item.ts';
import { createSlate } from '../timeline/slate.ts';
import type { TimelineItem } from '../timeline/splicer.ts';
import { ItemError, itemError } from './item-error.ts';
import type { ItemReader } from './item-reader.ts';
import { type OpenedItem, openItem } from './item-with-sound.ts';
import { measure } from './measure-list.ts';
import type { TrackKind } from './rendition.ts';
import { VerifiedChunks } from './verified-chunks.ts';

/** Wait after a whole round without a playable item, longer each time. */
const RETRY_MS = { first: 500, longest: 15_000 };
/** Limit of the broken items that are listed by name. */
const MAX_BROKEN = 20;

export interface TrackOptions {
  storage: Storage;
  kind: TrackKind;
  clock: Clock;
  log: Logger;
  signal: AbortSignal;
  /** Called when `next` may return something new, or an item has more media. */
  onData: () => void;
  /** Milliseconds of media made ahead of time; 0 when missing. */
  leadMs?: () => number;
  /** Returns true where something else is to be shown in the place of the items. */
  isReplaced?: () => boolean;
  /** Returns the slate of the stream's owner; undefined where there is none in memory. */
  ownSlate?: () => Gop | undefined;
}

/** Returns the index of item `id` that is nearest to its old index: a list may hold an item more than once. */
function nearest(items: readonly ProgramItem[], id: string, was: number): number | undefined {
  const found = items.flatMap((item, index) => (item.id === id ? [index] : []));
  return found.sort((a, b) => Math.abs(a - was) - Math.abs(b - was))[0];
}

/** Describes the item of a turn for display. */
function show(
  { id, name }: Pick<ProgramItem, 'id' | 'name'>,
  listing: Listing | undefined,
  turn: TrackPlayhead,
): ShownItem {
  const index = (listing && findItem(listing.loop, turn)) ?? 0;
  return { id, name, ...findPlace(listing?.lists, index) };
}

/** The list of one program version, with the measures that its first item needs. */
interface Listing {
  version: number;
  /** Undefined until the first item of a version that was published on air begins. */
  epochMs: number | undefined;
  items: readonly ProgramItem[];
  lists: Track['lists'];
  /** Whether items play the sounds that they name; those of pictures with a list of songs play none. */
  playsSounds: boolean;
  loop: Loop;
  /** Largest B-frame delay of the items, in ticks. */
  delayTicks: number;
  /** True when nothing is known of the items because the storage did not answer. */
  unanswered: boolean;
}

export interface TrackStats {
  /** Items that could not be played, by code, since the start. */
  skipped: Record<string, number>;
  /** Completed rounds, by the playhead. */
  loopCount: number;
  current: (ShownItem & ItemPosition) | null;
  next: ShownItem | null;
  /** False while no item of the list can be played. */
  playable: boolean;
  /** The version on air, and the epoch that puts another streamer at the same place; null before the first item. */
  clock: TrackEpoch | null;
  /** Items that could not be played at their last turn. */
  broken: BrokenTrackItem[];
  preparationBehind: PreparationBehind;
  /** Turns in which an item played with the sound of its rendition, since the one that it names failed. */
  soundFaults: number;
}

/** Ends of an item where its next chunk was not prepared yet. */
export interface PreparationBehind {
  /** Number since the start. */
  count: number;
  /** The last such item, until it is prepared or has been played further; null when there is none. */
  item: ShownItem | null;
  /** Time of that end (RFC 3339). */
  since: string | null;
}

export interface TrackEpoch {
  version: number;
  /** RFC 3339. */
  epoch: string;
  /** A turn and when it began, as of the last move of the epoch: who does not know all lengths counts from there. */
  anchor: { round: number; turn: number; startedAt: string };
}

/** An item and its place in the stream's lists. */
export type ShownItem = { id: string; name: string } & Place;

export interface BrokenTrackItem extends ShownItem {
  code: string;
  message: string;
}

export interface ItemPosition {
  /** Part of the item that has been on air, and its whole length; null while they are not known. */
  positionSeconds: number | null;
  durationSeconds: number | null;
}

export class TrackPlayer {
  readonly #options: TrackOptions;
  /** The next item reads what the last one has left. */
  readonly #pools = new BlockPools();
  readonly #verified = new VerifiedChunks();
  #listing: Listing | undefined;
  /** The turn after the last one returned. */
  #cursor: TrackPlayhead | undefined;
  #ready: OpenedItem | undefined;
  #opening: Promise<void> | undefined;
  /** Rises when a new listing makes the item that is being opened useless. */
  #generation = 0;
  #changed = new AbortController();
  #playing: ItemReader | undefined;
  /** The turn of #playing. */
  #at: TrackPlayhead = { round: 0, turn: 0, offsetTicks: 0 };
  /** The length of #playing that its listing knows. */
  #notedTicks: number | undefined;
  /** The listing of #playing. */
  #onAir: Listing | undefined;
  #anchor: TrackEpoch['anchor'] | undefined;
  readonly #epoch = new EpochKeeper();
  #skipping: PromiseWithResolvers<void> | undefined;
  /** The item on air is to end before its time, since it was put in quarantine. */
  #isCut = false;
  readonly #skipped: Record<string, number> = {};
  readonly #broken = new Map<string, BrokenTrackItem>();
  /** Turns of items in which the sound that they name failed. */
  #soundFaults = 0;
  /** Keys of the sounds that failed and are still listed: each is logged once. */
  readonly #faultySounds = new Set<string>();
  #ranOut = 0;
  #behind: { item: ShownItem; rendition: string; preparedFrames: number; since: string } | undefined;
  #playable = true;
  /** Makes the item that plays while none of the list can; undefined for sound, which is silence then. */
  #slate: (() => TimelineItem) | undefined;
  /** The slate has played since the last item. */
  #rejoins = false;
  /** Loads the program again, after the storage did not answer for its list. */
  #again: (() => Promise<void>) | undefined;
  /** Number of the last load that began, and of the last that ended. */
  #loads = 0;
  #loaded = 0;

  constructor(options: TrackOptions) {
    this.#options = options;
  }

  get delayTicks(): number {
    return this.#listing?.delayTicks ?? 0;
  }

  /** Takes a program: the first one begins at its playhead, later ones at the end of the current item. */
  async load(program: Program, list: Track): Promise<void> {
    const load = ++this.#loads;
    const listing = await this.#list(program, list);
    // A newer program has arrived.
    if (load !== this.#loads) return;
    this.#loaded = load;
    // The current item plays on, and the caller brings the program again.
    if (this.#playing && listing.unanswered)
      throw new ItemError('storage_unavailable', 'The storage did not respond, so the new list cannot be loaded.');
    const told = Date.parse((this.#options.kind === 'audio' ? program.audioEpoch : undefined) ?? program.epoch);
    const epochMs = this.#onAir?.epochMs ?? told;
    const elapsed = msToTicks(this.#options.clock.now().getTime() - epochMs);
    if (this.#playing) {
      const index = this.#onAir ? findItem(this.#onAir.loop, this.#at) : undefined;
      const playing = nearest(listing.items, this.#playing.id, index ?? 0);
      this.#cursor = resumeAfter(listing.loop, elapsed, { playing, round: this.#at.round });
    } else {
      listing.epochMs = epochMs;
      this.#cursor = computePlayhead(listing.loop, elapsed);
    }
    // While no item is known to play, the list is tried from its beginning.
    this.#cursor ??= { round: 0, turn: 0, offsetTicks: 0 };
    for (const id of this.#broken.keys())
      if (!listing.items.some((item) => item.id === id && !isLeftOut(item))) this.#broken.delete(id);
    for (const key of this.#faultySounds)
      if (!listing.items.some(({ sound }) => sound === key)) this.#faultySounds.delete(key);
    if (!listing.items.some(({ rendition }) => rendition === this.#behind?.rendition)) this.#behind = undefined;
    this.#listing = listing;
    if (this.#options.kind === 'video') this.#slate = createSlate(program.profile);
    this.#again = listing.unanswered ? () => this.load(program, list) : undefined;
    this.#generation++;
    this.#changed.abort();
    this.#changed = new AbortController();
    this.#ready?.item.close();
    this.#ready = undefined;
    this.#isCut = this.#isToEndNow(listing);
    this.#open();
  }

  /** Whether the newest list leaves out the item on air, and not only from its end on. */
  #isToEndNow({ items }: Listing): boolean {
    return items.some(({ id, cut }) => cut === true && id === this.#playing?.id);
  }

  /** Implements the splicer's NextItem. */
  readonly next = (): TimelineItem | 'wait' | 'none' => {
    if (!this.#ready) return this.#playable ? 'wait' : this.#standIn();
    const { reader, item } = this.#ready;
    const before = this.#playing;
    this.#report(before);
    this.#ready = undefined;
    this.#playing = reader;
    this.#notedTicks = undefined;
    const cursor = this.#cursor;
    const listing = this.#listing;
    if (cursor && listing) {
      this.#setClock(listing, cursor, reader, before?.ranOut === true);
      this.#at = cursor;
      this.#cursor = advance(listing.loop, cursor);
    }
    this.#noteLength();
    this.#endSkip();
    this.#open();
    const { kind, isReplaced } = this.#options;
    const isSkipped = () => this.#skipping !== undefined && this.#ready !== undefined;
    // Where nothing else can play, the slate follows.
    const isCut = () => this.#isCut && (this.#ready !== undefined || !this.#playable);
    return new CuttableItem(item, kind, () => isSkipped() || isCut() || isReplaced?.() === true);
  };

  /** Returns what plays while no item can. */
  #standIn(): TimelineItem | 'none' {
    if (!this.#slate) return 'none';
    this.standAside();
    const own = this.#options.ownSlate?.();
    // Its end after each round lets in an item that can be played again.
    return own ? new LoopingItem(own, () => false) : this.#slate();
  }

  /** Plays nothing for a while, since something else is shown. The list goes on at the item behind the one that played. */
  standAside(): void {
    this.#report(this.#playing);
    this.#playing = undefined;
    this.#rejoins = true;
    this.#endSkip();
  }

  /** Reports that the item has ended before its time, where somebody asked for that. */
  #endSkip(): void {
    this.#isCut = false;
    this.#skipping?.resolve();
    this.#skipping = undefined;
  }

  /** Key of the card of the item that plays, by the newest list that has the item, or of the first one that will. */
  get card(): string | undefined {
    if (!this.#playing) return this.nextCard;
    const { loop, items } = this.#onAir ?? {};
    const index = loop && findItem(loop, this.#at);
    const newest = this.#listing?.items ?? [];
    const now = nearest(newest, this.#playing.id, index ?? 0);
    return now === undefined ? items?.[index ?? -1]?.card : newest[now]?.card;
  }

  /** Key of the card of the next item. */
  get nextCard(): string | undefined {
    return this.#upcoming()?.card;
  }

  /**
   * Ends the current item as soon as the next one can play, at once or within a few pictures. Resolves when the next
   * one has begun, with false when nothing plays.
   */
  async skip(): Promise<boolean> {
    if (!this.#playing) return false;
    this.#skipping ??= Promise.withResolvers();
    await this.#skipping.promise;
    return true;
  }

  stats(): TrackStats {
    return {
      skipped: this.#skipped,
      loopCount: this.#at.round,
      current: this.#playing ? { ...show(this.#playing, this.#onAir, this.#at), ...this.#findPosition() } : null,
      next: this.#nextItem(),
      playable: this.#playable,
      clock: this.#describeClock(),
      broken: [...this.#broken.values()].slice(0, MAX_BROKEN),
      preparationBehind: this.#showBehind(),
      soundFaults: this.#soundFaults,
    };
  }

  #describeClock(): TrackEpoch | null {
    const { version, epochMs } = this.#onAir ?? {};
    if (version === undefined || epochMs === undefined || !this.#anchor) return null;
    return { version, epoch: new Date(epochMs).toISOString(), anchor: this.#anchor };
  }

  #showBehind(): PreparationBehind {
    const { item = null, since = null } = (!this.#isPlayedFurther(this.#playing) && this.#behind) || {};
    return { count: this.#ranOut, item, since };
  }

  /** True once an item is read behind the place at which it ran out. */
  #isPlayedFurther(item: ItemReader | undefined): boolean {
    if (!item || item.rendition !== this.#behind?.rendition) return false;
    return item.readingFrom >= this.#behind.preparedFrames;
  }

  close(): void {
    this.#generation++;
    this.#ready?.item.close();
    this.#playing?.close();
  }

  /**
   * Records that `item` begins at `cursor`. Its epoch changes only after an item that ended early (by a skip, or because it ran
   * out) or with a new version.
   */
  #setClock(listing: Listing, cursor: TrackPlayhead, item: ItemReader, afterRunOut: boolean): void {
    const { clock, leadMs } = this.#options;
    const dueMs = clock.now().getTime() + (leadMs?.() ?? 0);
    const before = countTicksBefore(listing.loop, cursor);
    const epochMs = Math.round(dueMs - ticksToMs(before + item.startTicks));
    const isMoved = this.#moveEpoch(listing, {
      epochMs,
      knownMs: listing.epochMs,
      endedEarly: this.#skipping !== undefined || this.#isCut || afterRunOut,
      rejoins: this.#rejoins,
      monotonicMs: clock.monotonicMs(),
    });
    this.#rejoins = false;
    if (isMoved || this.#onAir !== listing) this.#setAnchor(listing, cursor);
    this.#onAir = listing;
  }

  /** Returns whether the epoch of a listing has moved by the start of an item. */
  #moveEpoch(listing: Listing, start: ItemStart): boolean {
    const before = listing.epochMs;
    listing.epochMs = this.#epoch.begin(start);
    return listing.epochMs !== before;
  }

  #setAnchor({ loop, epochMs }: Listing, { round, turn }: TrackPlayhead): void {
    if (epochMs === undefined) return;
    const startedMs = epochMs + ticksToMs(countTicksBefore(loop, { round, turn }));
    this.#anchor = { round, turn, startedAt: new Date(startedMs).toISOString() };
  }

  /** Records the true length of an item: 0 when it cannot be played. */
  #correctDuration(listing: Listing, cursor: TrackPlayhead, ticks: number): void {
    const corrected = correctDuration(listing.loop, findItem(listing.loop, cursor) ?? 0, ticks, this.#at);
    if (!corrected) return;
    listing.loop = corrected.loop;
    if (this.#onAir !== listing || listing.epochMs === undefined) return;
    listing.epochMs += ticksToMs(corrected.shiftTicks);
    this.#setAnchor(listing, this.#at);
  }

  #findPosition(): ItemPosition {
    const { loop, epochMs } = this.#onAir ?? {};
    const index = loop && findItem(loop, this.#at);
    if (!loop || epochMs === undefined || index === undefined) return { positionSeconds: null, durationSeconds: null };
    const durationMs = ticksToMs(loop.durations[index] ?? 0);
    const begin = countTicksBefore(loop, this.#at);
    const positionMs = this.#options.clock.now().getTime() - epochMs - ticksToMs(begin);
    // The item begins on air a little later than it is read.
    const positionSeconds = Math.max(0, Math.min(Math.round(positionMs), durationMs)) / 1000;
    return { positionSeconds, durationSeconds: Math.round(durationMs) / 1000 };
  }

  /** Records the length of the current item: it becomes known while the item plays, if the rest is still being prepared. */
  #noteLength(): void {
    const item = this.#playing;
    if (!item || !this.#onAir || item.ticks === this.#notedTicks) return;
    this.#notedTicks = item.ticks;
    this.#correctDuration(this.#onAir, this.#at, item.ticks);
  }

  #upcoming(): ProgramItem | undefined {
    const index = this.#listing && this.#cursor ? findItem(this.#listing.loop, this.#cursor) : undefined;
    return index === undefined ? undefined : this.#listing?.items[index];
  }

  /** Returns the next item that is not left out. */
  #nextItem(): ShownItem | null {
    const listing = this.#listing;
    let cursor = this.#cursor;
    if (!listing || !cursor) return null;
    for (let turn = 0; turn < listing.items.length; turn++) {
      const item = listing.items[findItem(listing.loop, cursor) ?? -1];
      if (item && !isLeftOut(item)) return show(item, listing, cursor);
      cursor = advance(listing.loop, cursor);
    }
    return null;
  }

  async #list(program: Program, list: Track) {
    const { storage, kind, signal } = this.#options;
    const onFault = (item: ProgramItem, error: unknown) =>
      this.#skip({ ...item, ...findPlace(list.lists, list.items.indexOf(item)) }, error);
    const { durations, delayTicks, unanswered } = await measure(list.items, { storage, kind, signal, onFault });
    const loop: Loop = { mode: list.mode, seed: program.seed, durations };
    const { version } = program;
    const { items, lists } = list;
    const playsSounds = kind === 'video' && !program.audio;
    const listing: Listing = { version, epochMs: undefined, items, lists, playsSounds, loop, delayTicks, unanswered };
    return listing;
  }

  /** Opens the next playable item, one at a time. */
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
    const { kind, signal } = this.#options;
    for (let failures = 0, retryMs = RETRY_MS.first; !signal.aborted; ) {
      const generation = this.#generation;
      const item = this.#upcoming();
      const cursor = this.#cursor;
      const listing = this.#listing;
      if (!item || !cursor || !listing) return;
      try {
        if (isLeftOut(item)) throw new ItemError('item_missing', 'The item is left out.');
        const opened = await this.#openItem(item, cursor, listing);
        if (generation === this.#generation) {
          this.#correctDuration(listing, cursor, opened.reader.ticks);
          this.#ready = opened;
          this.#playable = true;
          return;
        }
        opened.item.close();
      } catch (error) {
        if (generation !== this.#generation) continue;
        if (!isLeftOut(item)) this.#skip(show(item, listing, cursor), error);
        if (itemError(error).code !== 'storage_unavailable') this.#correctDuration(listing, cursor, 0);
        this.#cursor = advance(listing.loop, cursor);
        if (++failures % listing.items.length !== 0) continue;
        this.#playable = false;
        this.#options.onData();
        this.#options.log.error({ track: kind, retryMs }, 'no item can be played');
        await sleep(retryMs, AbortSignal.any([signal, this.#changed.signal])).catch(() => signal.throwIfAborted());
        retryMs = Math.min(retryMs * 2, RETRY_MS.longest);
        if (generation !== this.#generation) continue;
        this.#rejoin(listing);
        if (this.#loads === this.#loaded) await this.#again?.();
      }
    }
  }

  #openItem(item: ProgramItem, { offsetTicks }: TrackPlayhead, listing: Listing): Promise<OpenedItem> {
    const { storage, kind } = this.#options;
    const onData = () => {
      this.#noteLength();
      this.#options.onData();
    };
    const onSoundFault = (error: ItemError) => this.#noteSoundFault(item, error);
    const soundKey = listing.playsSounds ? item.sound : undefined;
    const shared = { pools: this.#pools, verified: this.#verified };
    return openItem({ storage, item, kind, offsetTicks, onData, soundKey, onSoundFault, ...shared });
  }

  #noteSoundFault({ id, name, sound = '' }: ProgramItem, error: ItemError): void {
    const { code } = error;
    this.#soundFaults++;
    if (this.#faultySounds.has(sound)) return;
    this.#faultySounds.add(sound);
    this.#options.log.warn(
      { item: id, itemName: name, storageKey: sound, code, err: error },
      'the item plays with the sound of its file: the sound made for this stream cannot be played',
    );
  }

  /** Moves on to where the clock stands meanwhile, unless an item of the list still plays. */
  #rejoin(listing: Listing): void {
    if (this.#playing || listing.epochMs === undefined) return;
    const elapsed = msToTicks(this.#options.clock.now().getTime() - listing.epochMs);
    this.#cursor = computePlayhead(listing.loop, elapsed) ?? this.#cursor;
  }

  #skip({ id, name, playlistID, index }: ShownItem, error: unknown): void {
    const { code, message } = itemError(error);
    this.#skipped[code] = (this.#skipped[code] ?? 0) + 1;
    this.#broken.set(id, { id, name, playlistID, index, code, message });
    this.#options.log.warn({ item: id, itemName: name, code, err: error }, message);
  }

  /** Reports an item that broke or ran out while it played. */
  #report(item: ItemReader | undefined): void {
    if (!item) return;
    const shown = show(item, this.#onAir, this.#at);
    if (item.error) this.#skip(shown, item.error);
    else this.#broken.delete(item.id);
    if (this.#isPlayedFurther(item)) this.#behind = undefined;
    if (item.ranOut) this.#noteRunOut(shown, item);
    void this.#checkBehind();
  }

  #noteRunOut(item: ShownItem, { rendition, preparedFrames }: ItemReader): void {
    const { clock, log } = this.#options;
    this.#ranOut++;
    const since = this.#behind?.rendition === rendition ? this.#behind.since : clock.now().toISOString();
    this.#behind = { item, rendition, preparedFrames, since };
    log.warn(
      { item: item.id, itemName: item.name, preparedFrames },
      'the item ended early: the rest is not prepared yet',
    );
  }

  /** An item of a long list may be prepared long before its next turn. */
  async #checkBehind(): Promise<void> {
    const behind = this.#behind;
    if (!behind) return;
    const index = await this.#options.storage.head(indexKey(behind.rendition)).catch(() => undefined);
    if (index && this.#behind === behind) this.#behind = undefined;
  }
}
