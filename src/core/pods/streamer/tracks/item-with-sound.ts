/**
 * Plays the pictures of an item with sound that was made apart from them, for instance as loud as the other items of the stream. The item
 * plays with the sound of its rendition where that one cannot be played, or no longer.
 */
import { settlesWithin } from '../../../lib/settle-within.ts';
import { AUDIO_FRAME_TICKS, TICKS_PER_SECOND, ticksToMs } from '../../../programme/ticks.ts';
import type { FlvTag } from '../../rendition/flv.ts';
import type { TimelineItem } from '../timeline/splicer.ts';
import { countTicks } from '../timeline/ticks.ts';
import { ItemError, itemError } from './item-error.ts';
import { ItemReader, type OpenOptions } from './item-reader.ts';

/** The item before plays meanwhile, and is not to run out: a sound that is not there then plays at the next turn. */
const PATIENCE_MS = 3000;
/** A sound is as long as its pictures, within an AAC frame. One that differs by more belongs to something else. */
const MAX_DIFFERENCE_TICKS = TICKS_PER_SECOND;
const HALF_FRAME_TICKS = AUDIO_FRAME_TICKS / 2;

interface Options extends OpenOptions {
  /** Storage key of the sound; undefined for an item that plays with that of its rendition, or without any. */
  soundKey: string | undefined;
  /** Called with the reason when the item begins or goes on with the sound of its rendition. */
  onSoundFault: (error: ItemError) => void;
}

/** An item that can play, and the reader of its rendition. Closing the item closes the reader. */
export interface OpenedItem {
  reader: ItemReader;
  item: TimelineItem;
}

/** Opens an item with the sound that it names. Rejects with ItemError when its rendition cannot play. */
export async function openItem(options: Options): Promise<OpenedItem> {
  const reader = await ItemReader.open(options);
  const { soundKey } = options;
  if (soundKey === undefined) return { reader, item: reader };
  try {
    const sound = await openSound(reader, soundKey, options);
    return { reader, item: new ItemWithSound(reader, sound, options.onSoundFault) };
  } catch (error) {
    options.onSoundFault(itemError(error));
    return { reader, item: reader };
  }
}

/** Opens a sound at the AAC frame that is nearest to the first picture of its item. */
async function openSound(reader: ItemReader, key: string, options: Options): Promise<ItemReader> {
  const item = { ...options.item, rendition: key };
  const offsetTicks = reader.startTicks + HALF_FRAME_TICKS;
  const opening = ItemReader.open({ ...options, kind: 'audio', item, offsetTicks });
  if (!(await settlesWithin(opening, PATIENCE_MS))) {
    opening.then(
      (late) => late.close(),
      () => undefined,
    );
    throw new ItemError('storage_unavailable', 'The storage did not return the sound in time.');
  }
  const sound = await opening;
  const fits = sound.frameTicks === 0 && Math.abs(sound.ticks - reader.ticks) <= MAX_DIFFERENCE_TICKS;
  if (fits) return sound;
  sound.close();
  throw new ItemError('item_invalid', 'The sound does not fit the pictures.');
}

class ItemWithSound implements TimelineItem {
  readonly #pictures: ItemReader;
  readonly #onSoundFault: Options['onSoundFault'];
  /** Undefined once the rendition's own sound plays. */
  #sound: ItemReader | undefined;
  /** AAC frames played so far. */
  #played = 0;
  /** The rendition's first sound that is played, until it is due. */
  #early: FlvTag | undefined;
  #isOwnDue = false;

  constructor(pictures: ItemReader, sound: ItemReader, onSoundFault: Options['onSoundFault']) {
    this.#pictures = pictures;
    this.#sound = sound;
    this.#onSoundFault = onSoundFault;
    pictures.mute();
  }

  get id(): string {
    return this.#pictures.id;
  }
  get name(): string {
    return this.#pictures.name;
  }
  get videoHeader(): Buffer | undefined {
    return this.#pictures.videoHeader;
  }
  get audioHeader(): Buffer | undefined {
    return (this.#sound ?? this.#pictures).audioHeader;
  }
  get frameTicks(): number {
    return this.#pictures.frameTicks;
  }
  get videoFrames(): number {
    return this.#pictures.videoFrames;
  }
  get delayFrames(): number {
    return this.#pictures.delayFrames;
  }

  takeVideo(): FlvTag | 'wait' | 'end' {
    return this.#pictures.takeVideo();
  }

  takeAudio(): FlvTag | 'wait' | 'end' {
    const tag = this.#takeSound() ?? this.#takeOwn();
    if (tag !== 'wait') this.#played++;
    return tag;
  }

  mute(): void {
    this.#sound?.close();
    this.#pictures.mute();
  }

  close(): void {
    this.#sound?.close();
    this.#pictures.close();
  }

  /** Undefined when the sound has failed. */
  #takeSound(): FlvTag | 'wait' | 'end' | undefined {
    const tag = this.#sound?.takeAudio();
    if (tag !== 'end' || !this.#sound) return tag;
    const { error, ranOut } = this.#sound;
    if (!error && !ranOut) return 'end';
    this.#sound.close();
    this.#sound = undefined;
    this.#pictures.unmute();
    this.#onSoundFault(error ?? new ItemError('item_missing', 'The rest of the sound is not in the storage.'));
    return undefined;
  }

  /** Returns the rendition's own sound: silence (`end`) until its first frame that has not been read over is due. */
  #takeOwn(): FlvTag | 'wait' | 'end' {
    if (this.#isOwnDue) return this.#pictures.takeAudio();
    const { startTicks, delayFrames, frameTicks } = this.#pictures;
    // Times in a file are of decoding: what is heard with a picture lies behind it by the delay.
    const dueTicks = startTicks + countTicks(delayFrames, frameTicks) + this.#played * AUDIO_FRAME_TICKS;
    for (;;) {
      const tag = this.#early ?? this.#pictures.takeAudio();
      if (typeof tag === 'string') return tag;
      this.#early = tag;
      if (tag.timestampMs > ticksToMs(dueTicks + HALF_FRAME_TICKS)) return 'end';
      this.#early = undefined;
      if (tag.timestampMs < ticksToMs(dueTicks - HALF_FRAME_TICKS)) continue;
      this.#isOwnDue = true;
      return tag;
    }
  }
}
