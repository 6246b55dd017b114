/** Shows what a stream plays now to anyone who has its address, once its owner has turned that on. */
import { randomBytes } from 'node:crypto';
import { type Clock, kubeTime, systemClock } from '../../../core/lib/clock.ts';
import { ACCOUNT_LABEL, PUBLIC_NOW_ANNOTATION } from '../../../core/resources/common/names.ts';
import type { LoopStream } from '../../../core/resources/stream/resource.ts';
import type { Upload } from '../../../core/resources/upload/resource.ts';
import { findTags } from '../../../core/resources/upload/tags.ts';
import { AppError } from '../../lib/errors.ts';
import type { OwnedResources } from '../limits/owned-resources.ts';
import {
  buildPublicToken,
  formatPublicAccess,
  hashToken,
  isPublicToken,
  NONCE_BYTES,
  readPublicAccess,
} from './public-token.ts';
import type { PublicNow, PublicNowItem, StreamPublicNow, StreamPublicNowUpdate, StreamTimelineItem } from './record.ts';
import type { TimelineAsked, TimelineService } from './service.ts';

export type PublicNowService = ReturnType<typeof createPublicNowService>;

export interface PublicNowServiceDeps {
  streams: Pick<OwnedResources<LoopStream>, 'get' | 'find' | 'patch'>;
  uploads: Pick<OwnedResources<Upload>, 'find'>;
  /** Finds the streams of all accounts by the hash of their token. */
  findByHash: (hash: string) => readonly LoopStream[];
  /** Loads the namespace of an account, whose stream somebody reads without a key. */
  loadAccount: (accountId: string) => Promise<void>;
  timeline: Pick<TimelineService, 'now'>;
  secret: string;
  publicUrl: string;
  clock?: Clock;
}

const notFound = (): AppError =>
  new AppError(
    'stream_not_found',
    'No stream has this address. Its owner may have turned it off: ask for the new one.',
  );

export function createPublicNowService(deps: PublicNowServiceDeps) {
  const { streams, uploads, findByHash, loadAccount, timeline, secret, publicUrl, clock = systemClock } = deps;

  /** An address of before another LOOPSTREAM_AUTH_SECRET still works, and nobody can tell it. */
  const show = (stream: LoopStream): StreamPublicNow => {
    const access = readPublicAccess(stream);
    if (!access) return { enabled: false, url: null, since: null };
    const token = buildPublicToken(secret, stream.metadata.uid, access.nonce);
    const url = hashToken(token) === access.hash ? `${publicUrl}/v1/public/now/${token}` : null;
    return { enabled: true, url, since: access.since };
  };

  const buildAccess = ({ metadata }: LoopStream): string => {
    const nonce = randomBytes(NONCE_BYTES).toString('base64url');
    const hash = hashToken(buildPublicToken(secret, metadata.uid, nonce));
    return formatPublicAccess({ hash, nonce, since: kubeTime(clock.now()) });
  };

  /** The words that its owner gives an item: a name may be that of a file. */
  const showItem = (accountId: string, item: StreamTimelineItem): PublicNowItem => {
    const { startAt, endAt, durationSeconds, exact } = item;
    const upload = uploads.find(accountId, item.id);
    const { title = null, artist = null } = upload ? findTags(upload) : {};
    return { startAt, endAt, durationSeconds, title, artist, exact };
  };

  /** A stream that was copied with its annotations has the same hash: the address stays that of the first one. */
  const findOwner = (token: string): { accountId: string; stream: LoopStream } => {
    const found = isPublicToken(token) ? findByHash(hashToken(token)) : [];
    const [stream] = found.toSorted((a, b) => a.metadata.creationTimestamp.localeCompare(b.metadata.creationTimestamp));
    const accountId = stream?.metadata.labels?.[ACCOUNT_LABEL];
    if (!stream || accountId === undefined) throw notFound();
    return { accountId, stream };
  };

  return {
    /** Throws `stream_not_found`. */
    get: (accountId: string, id: string): StreamPublicNow => show(streams.get(accountId, id)),

    /** Turns the address on or off; one that is on stays. After it was off, there is another one. Throws `stream_not_found`. */
    async update(accountId: string, id: string, { enabled }: StreamPublicNowUpdate): Promise<StreamPublicNow> {
      const stream = streams.get(accountId, id);
      const now = show(stream);
      if (enabled ? now.url !== null : !now.enabled) return now;
      const annotations = { [PUBLIC_NOW_ANNOTATION]: enabled ? buildAccess(stream) : null };
      return show(await streams.patch(stream, { metadata: { annotations } }));
    },

    /** Reads what a stream plays now, by the secret part of its address, which needs no credential. Throws `stream_not_found`. */
    async read(token: string, asked: Pick<TimelineAsked, 'track'>): Promise<PublicNow> {
      const { accountId, stream } = findOwner(token);
      await loadAccount(accountId);
      const { name, uid } = stream.metadata;
      if (streams.find(accountId, name)?.metadata.uid !== uid) throw notFound();
      const { current, next, last, ...shared } = timeline.now(accountId, name, asked);
      const showAll = (items: StreamTimelineItem[]) => items.map((item) => showItem(accountId, item));
      return { ...shared, current: current && showItem(accountId, current), next: showAll(next), last: showAll(last) };
    },
  };
}
