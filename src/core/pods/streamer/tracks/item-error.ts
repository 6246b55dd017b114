/** Says why an item cannot be played. Pure: no I/O, no clock. */
import type { ItemErrorCode } from '../../../lib/codes/streams.ts';

export class ItemError extends Error {
  /**
   * `item_missing`: there is no rendition under this key. `item_invalid`: its index or its bytes are wrong.
   * `storage_unavailable`: the storage did not answer.
   */
  readonly code: ItemErrorCode;
  constructor(code: ItemError['code'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ItemError';
    this.code = code;
  }
}

/** Turns any error of a read into an ItemError. */
export function itemError(error: unknown): ItemError {
  if (error instanceof ItemError) return error;
  if (error instanceof Error && error.name === 'FlvError')
    return new ItemError('item_invalid', 'The rendition is damaged.', error);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'not_found') return new ItemError('item_missing', 'The rendition is not in the storage.', error);
  if (code === 'changed') return new ItemError('item_invalid', 'The rendition was replaced while it was read.', error);
  return new ItemError('storage_unavailable', 'The storage did not return the rendition.', error);
}
