/**
 * Limits live previews in number and duration, and shares one connection among the viewers of a pod. A preview is the whole stream:
 * the pod has no smaller one, and encoding one would take a processor for each.
 */
import type { Readable } from 'node:stream';
import { AppError } from '../../lib/errors.ts';
import { FairSlots, SlotsFull } from '../../lib/fair-slots.ts';
import type { Quotas } from '../limits/quotas.ts';
import { Broadcast } from './broadcast.ts';

export interface PreviewLimits {
  /** Previews open at once on this server, for each stream and in all. The table of limits sets the number for each account. */
  perStream: number;
  perServer: number;
  /** Duration of a preview. */
  seconds: number;
}

/** Longest wait for a place that another account gives up. */
const WAIT_MS = 1_000;

export interface Wanted {
  accountId: string;
  streamId: string;
  /** Identifies the pod: previews with the same source share a connection. */
  source: string;
  /** Opens the pod's FLV until the signal aborts; undefined if the pod shows nothing. */
  open: (signal: AbortSignal) => Promise<Readable | undefined>;
}

export function createPreviews(
  { perStream, perServer, seconds }: PreviewLimits,
  quotas: Pick<Quotas, 'allowed' | 'check'>,
) {
  const places = new FairSlots({
    total: perServer,
    each: { account: perServer, stream: perStream },
    waiting: { total: perServer, each: 1, ms: WAIT_MS },
  });
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

  return {
    /** Returns FLV that ends after a while, or when `signal` aborts. Rejects with `too_many_previews`, `server_busy`, `stream_not_live`. */
    async open(wanted: Wanted, signal: AbortSignal): Promise<Readable> {
      const { accountId, streamId } = wanted;
      let end: () => void = () => undefined;
      const most = await quotas.allowed(accountId, 'previews');
      const release = await places
        .take({ account: accountId, stream: streamId }, { giveUp: () => end(), most })
        .catch(async (error: unknown) => {
          if (!(error instanceof SlotsFull)) throw error;
          if (error.limit === 'account') await quotas.check(accountId, { name: 'previews', used: most, wanted: 1 });
          throw refusal(error, perStream);
        });
      const broadcast = await findBroadcast(wanted);
      if (!broadcast || signal.aborted) {
        release();
        throw new AppError('stream_not_live', 'The stream is not on air.');
      }
      const viewer = broadcast.join();
      end = () => void viewer.push(null);
      const timer = setTimeout(end, seconds * 1000);
      const leave = () => void viewer.destroy();
      signal.addEventListener('abort', leave);
      viewer.once('close', () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', leave);
        release();
      });
      return viewer;
    },
  };
}

function refusal({ limit }: SlotsFull, perStream: number) {
  if (limit === 'stream')
    return new AppError(
      'too_many_previews',
      `The stream has ${perStream} previews open on this server already. Close one of them, or try again later.`,
    );
  return new AppError('server_busy', 'This server has as many previews open as it can. Try again later.');
}
