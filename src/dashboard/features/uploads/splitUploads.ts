/** Splits uploads into those that this browser has yet to send and all others. Pure: no I/O, no clock. */
import type { Upload } from '../../../service/client/index.ts';
import type { Sending } from './sender.ts';
import type { Unfinished } from './unfinished.ts';

interface Split {
  /** Begun before this page was loaded; their files have to be chosen again. */
  unfinished: Unfinished[];
  /** All others, each in one place only. */
  rest: Upload[];
}

/** The server says `importing` of uploads that have yet to come, too. An upload that it has whole is its own matter. */
export function splitUploads(
  uploads: readonly Upload[],
  sendings: readonly Pick<Sending, 'objectID'>[],
  remembered: readonly Unfinished[],
): Split {
  const sent = new Set(sendings.map(({ objectID }) => objectID));
  const whole = new Set(uploads.filter(({ state }) => state !== 'importing').map(({ objectID }) => objectID));
  const unfinished = remembered.filter(({ objectID }) => !sent.has(objectID) && !whole.has(objectID));
  const elsewhere = new Set([...sent, ...unfinished.map(({ objectID }) => objectID)]);
  return { unfinished, rest: uploads.filter(({ objectID }) => whole.has(objectID) || !elsewhere.has(objectID)) };
}
