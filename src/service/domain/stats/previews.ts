/**
 * Shows live previews, and shares one connection among the viewers of a pod. A preview is the whole stream: the pod has no smaller
 * one, and encoding one would take a processor for each.
 */
import type { Readable } from 'node:stream';
import { AppError } from '../../lib/errors.ts';
import type { PreviewPlaces } from '../limits/preview-places.ts';
import { Broadcast } from './broadcast.ts';

export interface Wanted {
  accountId: string;
  streamId: string;
  /** Identifies the pod: previews with the same source share a connection. */
  source: string;
  /** Opens the pod's FLV until the signal aborts; undefined if the pod shows nothing. */
  open: (signal: AbortSignal) => Promise<Readable | undefined>;
}

export function createPreviews(places: PreviewPlaces) {
  const broadcasts = new Map<string, Promise<Broadcast | undefined>>();

  const begin = async ({ source, open }: Wanted): Promise<Broadcast | undefined> => {
    const over = new AbortController();
    const media = await open(over.signal);
    return media && new Broadcast(media, () => broadcasts.delete(source));
  };
  const findBroadcast = (wanted: Wanted): Promise<Broadcast | undefined> => {
    const known = broadcasts.get(wanted.source);
    if (known) return known;
    const begun = begin(wanted).catch(() => undefined);
    broadcasts.set(wanted.source, begun);
    void begun.then((broadcast) => broadcast ?? broadcasts.delete(wanted.source));
    return begun;
  };
  const join = async (wanted: Wanted, signal: AbortSignal) => {
    const broadcast = await findBroadcast(wanted);
    if (!broadcast || signal.aborted) throw new AppError('stream_not_live', 'The stream is not on air.');
    const media = broadcast.join();
    const leave = () => void media.destroy();
    signal.addEventListener('abort', leave);
    media.once('close', () => signal.removeEventListener('abort', leave));
    return { media, end: () => void media.push(null) };
  };

  return {
    /** Returns FLV that ends after a while, or when `signal` aborts. Rejects with `too_many_previews`, `server_busy`, `stream_not_live`. */
    open(wanted: Wanted, signal: AbortSignal): Promise<Readable> {
      const { accountId, streamId: uid } = wanted;
      return places.show({ accountId, uid, noun: 'stream' }, () => join(wanted, signal));
    },
  };
}
