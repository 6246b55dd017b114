/**
 * Limits previews in number and duration: live ones of streams, and those of uploads. Each is whole media that nobody pays for, in the
 * memory of a server that all accounts share, so both take the same places.
 */
import type { Readable } from 'node:stream';
import { AppError } from '../../lib/errors.ts';
import { FairSlots, SlotsFull } from '../../lib/fair-slots.ts';
import type { Quotas } from './quotas.ts';

export interface PreviewLimits {
  /** Previews open at once on this server, of one stream or upload and in all. The table of limits sets the number for each account. */
  perStream: number;
  perServer: number;
  /** Duration of a preview. */
  seconds: number;
}

/** Longest wait for a place of another account. */
const WAIT_MS = 1_000;
/** A viewer that takes nothing for this long is disconnected. */
export const STALL_MS = 15_000;

export interface PreviewSubject {
  accountId: string;
  /** UID of the stream or upload. */
  uid: string;
  /** For a sentence. */
  noun: 'stream' | 'upload';
}

export interface OpenPreview {
  media: Readable;
  /** Ends the media cleanly, behind the bytes that it has produced. */
  end: () => void;
}

export type PreviewPlaces = ReturnType<typeof createPreviewPlaces>;

export function createPreviewPlaces(
  { perStream, perServer, seconds }: PreviewLimits,
  quotas: Pick<Quotas, 'allowed' | 'check'>,
) {
  const places = new FairSlots({
    total: perServer,
    each: { account: perServer, subject: perStream },
    waiting: { total: perServer, each: 1, ms: WAIT_MS },
  });

  const refuse = async ({ limit }: SlotsFull, { accountId, noun }: PreviewSubject, most: number): Promise<never> => {
    if (limit === 'account') await quotas.check(accountId, { name: 'previews', used: most, wanted: 1 });
    if (limit === 'subject')
      throw new AppError(
        'too_many_previews',
        `The ${noun} has ${perStream} previews open on this server already. Close one of them, or try again later.`,
      );
    throw new AppError('server_busy', 'This server has as many previews open as it can. Try again later.');
  };

  return {
    /**
     * Opens a preview within the limits. It ends after its time, or for an account without any. Rejects with `too_many_previews`,
     * `server_busy`, and the errors of `open`.
     */
    async show(subject: PreviewSubject, open: () => Promise<OpenPreview>): Promise<Readable> {
      const { accountId, uid } = subject;
      const most = await quotas.allowed(accountId, 'previews');
      const over = new AbortController();
      const release = await places
        .take({ account: accountId, subject: uid }, { giveUp: () => over.abort(), most })
        .catch((error: unknown) => {
          if (error instanceof SlotsFull) return refuse(error, subject, most);
          throw error;
        });
      const { media, end } = await open().catch((error: unknown) => {
        release();
        throw error;
      });
      const timers: NodeJS.Timeout[] = [];
      const finish = () => {
        end();
        // A viewer that does not read would keep its place for as long as it likes.
        timers.push(setTimeout(() => media.destroy(), STALL_MS));
      };
      timers.push(setTimeout(() => over.abort(), seconds * 1000));
      over.signal.addEventListener('abort', finish, { once: true });
      media.once('close', () => {
        over.signal.removeEventListener('abort', finish);
        for (const timer of timers) clearTimeout(timer);
        release();
      });
      if (media.destroyed) release();
      else if (over.signal.aborted) finish();
      return media;
    },
  };
}
