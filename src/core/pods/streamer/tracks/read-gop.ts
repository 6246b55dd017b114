/** Reads the pictures of a card or a slate into memory. */
import { MAX_CARD_BYTES } from '../../rendition/format.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Gop } from '../timeline/looping-item.ts';
import { ItemError } from './item-error.ts';
import { ItemReader } from './item-reader.ts';

/** Resolves with all pictures of a rendition of one GOP. Rejects with ItemError. */
export async function readGop(storage: Storage, rendition: string): Promise<Gop> {
  let arrival = Promise.withResolvers<void>();
  const onData = () => arrival.resolve();
  const item = { id: '', name: '', rendition };
  const reader = await ItemReader.open({ storage, item, kind: 'video', offsetTicks: 0, onData });
  try {
    reader.mute();
    const pictures: Buffer[] = [];
    let bytes = 0;
    for (;;) {
      arrival = Promise.withResolvers();
      const tag = reader.takeVideo();
      if (tag === 'end') break;
      if (tag === 'wait') await arrival.promise;
      else {
        bytes += tag.body.length;
        if (bytes > MAX_CARD_BYTES) throw new ItemError('item_invalid', 'The pictures are too large to be repeated.');
        pictures.push(Buffer.from(tag.body));
      }
    }
    const { videoHeader: header, frameTicks, delayFrames, error } = reader;
    if (error) throw error;
    if (!header || delayFrames > 0) throw new ItemError('item_invalid', 'It has no pictures that can be repeated.');
    return { header, pictures, frameTicks };
  } finally {
    reader.close();
  }
}
