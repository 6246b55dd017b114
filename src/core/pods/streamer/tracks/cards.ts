/**
 * Shows the card of the song that plays, in the place of the pictures: two seconds that are repeated from memory until another song plays. A
 * song without a card has the pictures of the list.
 */

import type { Logger } from '../../../lib/log.ts';
import { settlesWithin } from '../../../lib/settle-within.ts';
import type { Storage } from '../../storage/storage.ts';
import { type Gop, LoopingItem } from '../timeline/looping-item.ts';
import type { TimelineItem } from '../timeline/splicer.ts';
import { itemError } from './item-error.ts';
import { readGop } from './read-gop.ts';

/** The start of a stream waits so long for the card of its first song. */
const PATIENCE_MS = 3000;
/** A card that cannot be read is tried again when its song plays again, and not before this time. */
const RETRY_MS = 30_000;

/** Keys of the cards of a list of songs. */
export interface CardKeys {
  /** Of the song that plays, or that will be the first one. */
  readonly card: string | undefined;
  readonly nextCard: string | undefined;
}

interface CardsOptions {
  storage: Storage;
  log: Logger;
  /** Returns the songs; undefined where there are none. */
  songs: () => CardKeys | undefined;
  /** Called when a card has been read. */
  onData: () => void;
}

interface Held {
  read: Promise<void>;
  gop?: Gop;
  failedAtMs?: number;
}

export class Cards {
  readonly #options: CardsOptions;
  /** The cards of this song and of the next one. */
  readonly #held = new Map<string, Held>();

  constructor(options: CardsOptions) {
    this.#options = options;
  }

  /** Whether the song that plays has a card that can be shown. */
  get isReady(): boolean {
    return this.#find() !== undefined;
  }

  /** Returns the card of the song that plays; undefined where it has none that can be shown. */
  next(): TimelineItem | undefined {
    const gop = this.#find();
    return gop && new LoopingItem(gop, () => this.#find() === gop);
  }

  /** Resolves when the first song's card can be shown, cannot be read, or does not come in time. */
  async prepare(): Promise<void> {
    this.#find();
    await settlesWithin(Promise.all([...this.#held.values()].map(({ read }) => read)), PATIENCE_MS);
  }

  /** Returns the card to show now, and has that of the next song read. */
  #find(): Gop | undefined {
    const { card, nextCard } = this.#options.songs() ?? {};
    for (const key of this.#held.keys()) if (key !== card && key !== nextCard) this.#held.delete(key);
    if (nextCard !== undefined) this.#hold(nextCard);
    return card === undefined ? undefined : this.#hold(card).gop;
  }

  #hold(key: string): Held {
    const known = this.#held.get(key);
    const isDue = known?.failedAtMs !== undefined && performance.now() - known.failedAtMs > RETRY_MS;
    if (known && !isDue) return known;
    const { storage, log, onData } = this.#options;
    const held: Held = { read: Promise.resolve() };
    this.#held.set(key, held);
    held.read = readGop(storage, key).then(
      (gop) => {
        held.gop = gop;
        onData();
      },
      (error: unknown) => {
        held.failedAtMs = performance.now();
        const { code } = itemError(error);
        log.warn({ storageKey: key, code, err: error }, 'the song plays without its card, which cannot be read');
      },
    );
    return held;
  }
}
