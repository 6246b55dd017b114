/**
 * Plays the items of a program's list, one after the other for ever; the next item is opened while the current one
 * plays. An item that cannot be played is skipped, counted and tried again on its next turn.
 */
import { BlockPools } from '../../../lib/block-pool.ts';
import { type Clock, sleep } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/log.ts';
import { setNewest } from '../../../lib/newest.ts';
import { identifyTrack } from '../../../programme/identity.ts';
import { compileRule, GRID_TICKS, readStanding, recordStanding } from '../../../programme/program-rules.ts';
import { hasRules, joinTurn, type RuledLoop, startStanding, type Turn, takeTurn } from '../../../programme/rules.ts';
import { msToTicks, TICKS_PER_SECOND, ticksToMs } from '../../../programme/ticks.ts';
import type { Program } from '../../../protocol/program.ts';
import type { ReportedDrop } from '../../../protocol/report.ts';
import { MAX_RULES } from '../../../resources/playlist/rule-limits.ts';
import type { ListMove, MovedAnchor } from '../../../resources/stream/facts.ts';
import { findPlace, isLeftOut, type Place } from '../../../resources/stream/item-place.ts';
import type { ProgramItem, Track } from '../../../resources/stream/playing.ts';
import type { TrackStanding } from '../../../resources/stream/standing.ts';
import { listTrackItems } from '../../../resources/stream/track-items.ts';
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
import {
  correctLength,
  countEpoch,
  findNearest,
  findStart,
  findTurnItem,
  isSameTurn,
  listBroken,
  passOver,
  rebase,
  retake,
  type ShownItem,
  showItem,
  type TrackListing,
  take,
  takeOver,
} from './listing.ts';
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

/** A list with rules is anchored again after this time: what follows from an old anchor takes long to compute. */
const ANCHOR_TICKS = 86_400 * TICKS_PER_SECOND;
/** The place of a track of which nothing has played. */
const NOWHERE = takeTurn(
  { mode: 'sequential', seed: 0, durations: [] },
  startStanding({ mode: 'sequential', seed: 0, durations: [] }, 0),
  0,
);

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
  /** Rules that were left out, the newest last. */
  droppedRules: Omit<ReportedDrop, 'track'>[];
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
  anchor: Required<MovedAnchor>;
  /** Hash of the list that plays. */
  programme: string;
  /** Places of the items that take no time, since they cannot be played. */
  broken: number[];
  /** Where a list with rules stood at its epoch. */
  standing?: TrackStanding;
}

export interface BrokenTrackItem extends ShownItem {
  code: string;
  message: string;
}

export interface ItemPosition {
  /** Part of the item that has been on air, and its whole length; null while they are not known. */
  positionSeconds: number | null;
  durationSeconds: number | null;
}

/** A place among all items of a list: an item of a rule has none in the playlists of the stream. */
const findItemPlace = ({ items, lists }: Track, index: number): Place =>
  index < items.length ? findPlace(lists, index) : { playlistID: null, index: 0 };

/** Makes a list ready to be played. Only rules need the library of cron expressions. */
async function createLoop(
  { seed }: Program,
  { mode, items, rules = [], apart }: Track,
  kind: TrackKind,
  durations: readonly number[],
): Promise<RuledLoop> {
  const own = { mode, seed, apart, durations: durations.slice(0, items.length), gridTicks: GRID_TICKS[kind] };
  if (rules.length === 0) return own;
  const { findMoment } = await import('../../../programme/moments.ts');
  let first = items.length;
  const compiled = rules.map((rule) => {
    const lengths = { durations: durations.slice(first, first + rule.items.length) };
    first += rule.items.length;
    return compileRule(rule, lengths, seed, findMoment);
  });
  return { ...own, rules: compiled };
}

export class TrackPlayer {
  readonly #options: TrackOptions;
  /** The next item reads what the last one has left. */
  readonly #pools = new BlockPools();
  readonly #verified = new VerifiedChunks();
  #listing: TrackListing | undefined;
  /** The turn after the last one returned. */
  #cursor: Turn | undefined;
  /** Ticks of that turn which have passed where it is joined. */
  #joinTicks = 0;
  #ready: OpenedItem | undefined;
  #opening: Promise<void> | undefined;
  /** Rises when a new listing makes the item that is being opened useless. */
  #generation = 0;
  #changed = new AbortController();
  #playing: ItemReader | undefined;
  /** The turn of #playing. */
  #at: Turn = NOWHERE;
  /** The length of #playing that its listing knows. */
  #notedTicks: number | undefined;
  /** The listing of #playing. */
  #onAir: TrackListing | undefined;
  #anchor: TrackEpoch['anchor'] | undefined;
  /** Moment at which the item on air began, or was joined. */
  #beganMs = 0;
  readonly #epoch = new EpochKeeper();
  #skipping: PromiseWithResolvers<void> | undefined;
  /** The item on air is to end before its time, since it was put in quarantine. */
  #isCut = false;
  readonly #skipped: Record<string, number> = {};
  readonly #broken = new Map<string, BrokenTrackItem>();
  /** Turns of items in which the sound that they name failed. */
  #soundFaults = 0;
  readonly #dropped = new Map<string, Omit<ReportedDrop, 'track'>>();
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
    const first = this.#findFirst(listing, program, epochMs);
    // While no item is known to play, the list is tried from its beginning.
    this.#cursor = first?.turn ?? take(listing, startStanding(listing.loop, countEpoch(listing)));
    this.#joinTicks = first?.joinTicks ?? 0;
    const items = listTrackItems(list);
    for (const id of this.#broken.keys())
      if (!items.some((item) => item.id === id && !isLeftOut(item))) this.#broken.delete(id);
    for (const key of this.#faultySounds) if (!items.some(({ sound }) => sound === key)) this.#faultySounds.delete(key);
    if (!items.some(({ rendition }) => rendition === this.#behind?.rendition)) this.#behind = undefined;
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
  #isToEndNow(listing: TrackListing): boolean {
    return listTrackItems(listing).some(({ id, cut }) => cut === true && id === this.#playing?.id);
  }

  /** Finds where a new list begins: behind the item that plays, or where the clock stands. */
  #findFirst(listing: TrackListing, program: Program, epochMs: number): { turn: Turn; joinTicks: number } | undefined {
    const { kind, clock } = this.#options;
    const nowMs = clock.now().getTime();
    const before = this.#onAir;
    const isRuled = hasRules(listing.loop) || (before !== undefined && hasRules(before.loop));
    if (before && (this.#playing || isRuled)) {
      const atMs = this.#playing ? countEpoch(before) + ticksToMs(this.#at.endTicks) : nowMs;
      const turn = takeOver(listing, before, this.#at, atMs, msToTicks(nowMs - epochMs));
      return turn && { turn, joinTicks: 0 };
    }
    listing.epochMs = epochMs;
    listing.origin = readStanding(listing.loop, program.standings?.[kind], epochMs);
    return joinTurn(listing.loop, listing.origin, epochMs, nowMs);
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
      this.#noteDropped(listing, cursor);
      this.#at = this.#setClock(listing, cursor, reader, before?.ranOut === true);
      this.#cursor = take(listing, this.#at.after);
      this.#joinTicks = 0;
    }
    this.#noteLength();
    this.#endSkip();
    this.#open();
    const { kind, isReplaced } = this.#options;
    const isSkipped = () => this.#skipping !== undefined && this.#ready !== undefined;
    // Where nothing else can play, the slate follows.
    const isCut = () => this.#isCut && (this.#ready !== undefined || !this.#playable);
    const isOver = () => isSkipped() || isCut() || isReplaced?.() === true;
    return new CuttableItem(item, kind, isOver, this.#limit(reader));
  };

  #noteDropped({ rules }: TrackListing, { dropped }: Turn): void {
    for (const { rule: index, dueMs, reason } of dropped) {
      const rule = rules[index]?.name ?? '';
      const due = new Date(dueMs).toISOString();
      this.#options.log.warn({ rule, due, reason }, 'a rule was due and was dropped');
      const { count = 0, since = due } = this.#dropped.get(rule) ?? {};
      setNewest(this.#dropped, rule, { rule, dueAt: due, reason, count: count + 1, since }, MAX_RULES);
    }
  }

  /** Returns the ticks that an item plays at most: a rule may cut it. The next turn begins before its last pictures are taken. */
  #limit(reader: ItemReader): () => number {
    let limitTicks = Number.POSITIVE_INFINITY;
    return () => {
      const { isCut, offsetTicks, startTicks, endTicks } = this.#at;
      if (this.#playing === reader)
        limitTicks = isCut ? offsetTicks + endTicks - startTicks - reader.startTicks : Number.POSITIVE_INFINITY;
      return limitTicks;
    };
  }

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
    const newest = this.#listing ? listTrackItems(this.#listing) : [];
    const now = findNearest(newest, this.#playing.id, this.#at.item);
    return now === undefined ? findTurnItem(this.#onAir, this.#at)?.card : newest[now]?.card;
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
    this.#decideSkip();
    this.#skipping ??= Promise.withResolvers();
    await this.#skipping.promise;
    return true;
  }

  /** Decides what plays next where the current item ends now: rules that were due at its end may not be due yet. */
  #decideSkip(): void {
    const listing = this.#listing;
    if (!listing || listing !== this.#onAir || !hasRules(listing.loop)) return;
    const { after } = takeTurn(listing.loop, this.#at.before, countEpoch(listing), true);
    const elapsedTicks = msToTicks(this.#options.clock.now().getTime() - countEpoch(listing));
    this.#turnTo(take(listing, { ...after, ticks: Math.max(this.#at.startTicks, elapsedTicks) }));
  }

  /** Plays another turn next. One that is open already stays so where it is the same. */
  #turnTo(turn: Turn): void {
    const before = this.#cursor;
    if (!before || turn.endTicks === turn.startTicks) return;
    this.#cursor = turn;
    if (isSameTurn(before, turn)) return;
    this.#generation++;
    this.#ready?.item.close();
    this.#ready = undefined;
    this.#open();
  }

  stats(): TrackStats {
    return {
      skipped: this.#skipped,
      loopCount: this.#at.before.round,
      current: this.#playing ? { ...showItem(this.#playing, this.#onAir, this.#at), ...this.#findPosition() } : null,
      next: this.#nextItem(),
      playable: this.#playable,
      clock: this.#describeClock(),
      broken: [...this.#broken.values()].slice(0, MAX_BROKEN),
      preparationBehind: this.#showBehind(),
      soundFaults: this.#soundFaults,
      droppedRules: [...this.#dropped.values()],
    };
  }

  #describeClock(): TrackEpoch | null {
    const listing = this.#onAir;
    if (listing?.epochMs === undefined || !this.#anchor) return null;
    const { version, programme, epochMs, loop, origin } = listing;
    const standing = origin && hasRules(loop) ? { standing: recordStanding(loop, origin) } : {};
    const epoch = new Date(epochMs).toISOString();
    return { version, programme, epoch, anchor: this.#anchor, broken: listBroken(listing), ...standing };
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
  #setClock(listing: TrackListing, cursor: Turn, item: ItemReader, afterRunOut: boolean): Turn {
    const { clock, leadMs } = this.#options;
    const dueMs = clock.now().getTime() + (leadMs?.() ?? 0);
    this.#beganMs = dueMs;
    const isJoined = !this.#onAir;
    const epochMs = Math.round(dueMs - ticksToMs(cursor.startTicks + item.startTicks - cursor.offsetTicks));
    const move = this.#findMove(listing, afterRunOut);
    const endedEarly = this.#skipping !== undefined || this.#isCut || afterRunOut;
    const hasEpochMoved = this.#moveEpoch(listing, {
      epochMs,
      knownMs: listing.epochMs,
      endedEarly,
      rejoins: this.#rejoins,
      monotonicMs: clock.monotonicMs(),
    });
    // Rules may have put the end of a skip into the turn that follows: the epoch is the same then.
    const isMoved = hasEpochMoved || endedEarly;
    this.#rejoins = false;
    const isNew = isMoved || this.#onAir !== listing || (hasRules(listing.loop) && cursor.startTicks > ANCHOR_TICKS);
    // A pod that takes over where its program says goes on with the anchor of the one before.
    const turn = isNew && (isMoved || !isJoined) ? rebase(listing, cursor) : cursor;
    if (isNew) this.#setAnchor(listing, turn, move ?? (isMoved ? 'Clock' : 'Renewal'));
    this.#onAir = listing;
    return turn;
  }

  /** Returns what makes the next item begin elsewhere than the list says, as far as that is known. */
  #findMove(listing: TrackListing, afterRunOut: boolean): ListMove | undefined {
    if (!this.#onAir) return 'Start';
    if (this.#skipping) return 'Skip';
    if (this.#isCut) return 'Quarantine';
    if (this.#onAir !== listing) return 'Edit';
    if (afterRunOut) return 'RunOut';
    return this.#rejoins ? 'Rejoin' : undefined;
  }

  /** Returns whether the epoch of a listing has moved by the start of an item. */
  #moveEpoch(listing: TrackListing, start: ItemStart): boolean {
    const before = listing.epochMs;
    listing.epochMs = this.#epoch.begin(start);
    return listing.epochMs !== before;
  }

  #setAnchor(listing: TrackListing, turn: Turn, move: ListMove): void {
    const { epochMs, origin, loop } = listing;
    if (epochMs === undefined) return;
    const { round, turn: nth } = origin && hasRules(loop) ? origin : turn;
    const startedMs = hasRules(loop) ? epochMs : findStart(listing, turn);
    const [startedAt = '', from = ''] = [startedMs, this.#beganMs].map((ms) => new Date(ms).toISOString());
    this.#anchor = { round, turn: nth, startedAt, from, lagMs: this.#epoch.lagMs, move };
  }

  /** Records the true length of the item of a turn: 0 when it cannot be played. */
  #correctDuration(listing: TrackListing, turn: Turn, ticks: number): void {
    if (!correctLength(listing, turn, ticks, this.#at)) return;
    if (this.#onAir === listing && listing.epochMs !== undefined) {
      this.#at = rebase(listing, retake(listing, this.#at));
      this.#setAnchor(listing, this.#at, 'Length');
    }
  }

  #findPosition(): ItemPosition {
    const listing = this.#onAir;
    const { rule, item, offsetTicks } = this.#at;
    const loop = rule === null ? listing?.loop : listing?.loop.rules?.[rule]?.loop;
    if (!listing || !loop || listing.epochMs === undefined) return { positionSeconds: null, durationSeconds: null };
    const durationMs = ticksToMs(loop.durations[item] ?? 0);
    const positionMs = this.#options.clock.now().getTime() - findStart(listing, this.#at) + ticksToMs(offsetTicks);
    // The item begins on air a little later than it is read.
    const positionSeconds = Math.max(0, Math.min(Math.round(positionMs), durationMs)) / 1000;
    return { positionSeconds, durationSeconds: Math.round(durationMs) / 1000 };
  }

  /** Records the length of the current item: it becomes known while the item plays, if the rest is still being prepared. */
  #noteLength(): void {
    const item = this.#playing;
    if (!item || !this.#onAir || item.ticks === this.#notedTicks) return;
    this.#notedTicks = item.ticks;
    const onAir = this.#onAir;
    this.#correctDuration(onAir, this.#at, item.ticks);
    if (this.#listing !== onAir || !this.#cursor) return;
    if (hasRules(onAir.loop)) this.#turnTo(take(onAir, this.#at.after));
    else this.#cursor = retake(onAir, this.#cursor);
  }

  #upcoming(): ProgramItem | undefined {
    return this.#cursor && findTurnItem(this.#listing, this.#cursor);
  }

  /** Returns the next item that is not left out. */
  #nextItem(): ShownItem | null {
    const listing = this.#listing;
    let cursor = this.#cursor;
    if (!listing || !cursor) return null;
    for (let turn = 0; turn < listing.items.length; turn++) {
      const item = findTurnItem(listing, cursor);
      if (item && !isLeftOut(item)) return showItem(item, listing, cursor);
      cursor = passOver(listing, cursor);
    }
    return null;
  }

  async #list(program: Program, list: Track): Promise<TrackListing> {
    const { storage, kind, signal } = this.#options;
    const all = listTrackItems(list);
    const onFault = (item: ProgramItem, error: unknown) =>
      this.#skip({ ...item, ...findItemPlace(list, all.indexOf(item)) }, error);
    const { durations, delayTicks, unanswered } = await measure(all, { storage, kind, signal, onFault });
    const loop = await createLoop(program, list, kind, durations);
    const { version, seed } = program;
    const { items, lists, rules = [] } = list;
    const playsSounds = kind === 'video' && !program.audio;
    const known = {
      version,
      programme: identifyTrack(list, seed),
      epochMs: undefined,
      expectedEpochMs: this.#options.clock.now().getTime(),
      origin: undefined,
    };
    return { ...known, items, lists, rules, playsSounds, loop, delayTicks, unanswered };
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
          this.#correctNext(listing, cursor, opened.reader.ticks);
          this.#ready = opened;
          this.#playable = true;
          return;
        }
        opened.item.close();
      } catch (error) {
        if (generation !== this.#generation) continue;
        if (!isLeftOut(item)) this.#skip(showItem(item, listing, cursor), error);
        if (itemError(error).code !== 'storage_unavailable') this.#correctNext(listing, cursor, 0);
        this.#cursor = passOver(listing, this.#cursor ?? cursor);
        this.#joinTicks = 0;
        if (++failures % listTrackItems(listing).length !== 0) continue;
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

  /** Records the true length of the item of the next turn. */
  #correctNext(listing: TrackListing, cursor: Turn, ticks: number): void {
    const startMs = findStart(listing, cursor);
    this.#correctDuration(listing, cursor, ticks);
    // The list may be counted from another moment now.
    const startTicks = msToTicks(startMs - countEpoch(listing));
    const { dropped } = cursor;
    if (!hasRules(listing.loop)) this.#cursor = retake(listing, cursor);
    else this.#cursor = { ...take(listing, { ...cursor.before, ticks: startTicks }), dropped };
  }

  #openItem(item: ProgramItem, { offsetTicks }: Turn, listing: TrackListing): Promise<OpenedItem> {
    const { storage, kind } = this.#options;
    const onData = () => {
      this.#noteLength();
      this.#options.onData();
    };
    const onSoundFault = (error: ItemError) => this.#noteSoundFault(item, error);
    const soundKey = listing.playsSounds ? item.sound : undefined;
    const shared = { pools: this.#pools, verified: this.#verified };
    return openItem({
      storage,
      item,
      kind,
      offsetTicks: offsetTicks + this.#joinTicks,
      onData,
      soundKey,
      onSoundFault,
      ...shared,
    });
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
  #rejoin(listing: TrackListing): void {
    if (this.#playing || listing.epochMs === undefined) return;
    const standing = listing.origin ?? startStanding(listing.loop, listing.epochMs);
    const joined = joinTurn(listing.loop, standing, listing.epochMs, this.#options.clock.now().getTime());
    if (!joined) return;
    this.#cursor = joined.turn;
    this.#joinTicks = joined.joinTicks;
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
    const shown = showItem(item, this.#onAir, this.#at);
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
