/** Observes destinations of Twitch: asks for a hundred channels at once, judges, and reports. */
import { createAccessTokens } from '../common/access-tokens.ts';
import { createSender } from '../common/http.ts';
import type { Observer, ObserverDeps, PlatformTarget } from '../common/observer.ts';
import { REPORT_EVERY_MS, type Sleep, startPolling } from '../common/polling.ts';
import type { PlatformVerdict } from '../common/verdict.ts';
import { findUserId, parseChannel } from './channels.ts';
import { createTwitchClient, TwitchError, type TwitchOptions } from './client.ts';
import {
  FRESH_MS,
  judgeTwitch,
  planStreams,
  type TwitchEvidence,
  type TwitchFailure,
  USERS_PER_CALL,
} from './judge.ts';

const POLL_EVERY_MS = 30_000;
/** A login may be given to somebody else, and a channel that is not there may be made. */
const RESOLVE_EVERY_MS = 24 * 3_600_000;
const RESOLVE_MISSING_EVERY_MS = 600_000;
/** Two names a channel: a login of digits alone may be an id. */
const CHANNELS_PER_CALL = USERS_PER_CALL / 2;
const MIN_VALID_MS = 1_000;

interface WatchedChannel {
  target: PlatformTarget;
  resolvedMs?: number;
  userId?: string | undefined;
  askedMs?: number;
  evidence: TwitchEvidence;
}

export function createTwitchObserver(
  { clock, log, signal, report }: ObserverDeps,
  options: TwitchOptions & { sleep?: Sleep | undefined },
): Observer {
  const { clientId, clientSecret, tokenUrl } = options;
  const send = createSender(signal);
  const client = createTwitchClient({ send, tokens: createAccessTokens(send, tokenUrl, clock), clock }, options);
  const isSetUp = clientId !== undefined && clientSecret !== undefined;
  const all = new Map<string, WatchedChannel>();
  const now = () => clock.now().getTime();

  const follow = (targets: readonly PlatformTarget[]): void => {
    const keys = new Set(targets.map(({ key }) => key));
    for (const key of all.keys()) if (!keys.has(key)) all.delete(key);
    for (const target of targets) {
      const { key, uid, platform, lastSeenMs } = target;
      const known = all.get(key);
      const isSame = known?.target.uid === uid && known.target.platform.channel === platform.channel;
      if (known && isSame) known.target = target;
      else all.set(key, { target, evidence: lastSeenMs === undefined ? {} : { lastSeenMs } });
    }
  };

  const fail = (about: readonly WatchedChannel[], failure: TwitchFailure): void => {
    for (const { evidence } of about) evidence.failure = { atMs: now(), failure };
  };

  const attempt = async (about: readonly WatchedChannel[], act: () => Promise<void>): Promise<void> => {
    try {
      await act();
    } catch (error) {
      if (!(error instanceof TwitchError)) throw error;
      fail(about, error.failure);
    }
  };

  /** Login names to ids, which streams are asked by. */
  const resolve = async (channels: readonly WatchedChannel[]): Promise<void> => {
    const isDue = ({ resolvedMs, userId }: WatchedChannel) =>
      resolvedMs === undefined ||
      now() - resolvedMs >= (userId === undefined ? RESOLVE_MISSING_EVERY_MS : RESOLVE_EVERY_MS);
    const due = channels.filter(isDue);
    for (let from = 0; from < due.length; from += CHANNELS_PER_CALL) {
      const about = due.slice(from, from + CHANNELS_PER_CALL);
      const names = about.map(({ target }) => parseChannel(target.platform.channel ?? ''));
      await attempt(about, async () => {
        const logins = [...new Set(names.map(({ login }) => login).filter((login) => login !== ''))];
        const ids = [...new Set(names.flatMap(({ id }) => id ?? []))];
        const users = logins.length + ids.length > 0 ? await client.listUsers({ logins, ids }) : [];
        about.forEach((channel, index) => {
          const name = names[index];
          channel.resolvedMs = now();
          channel.userId = name && findUserId(name, users);
        });
      });
    }
  };

  const ask = async (channels: readonly WatchedChannel[]): Promise<void> => {
    const due = channels.filter(({ askedMs }) => askedMs === undefined || now() - askedMs >= POLL_EVERY_MS);
    for (const userIds of planStreams(due.length > 0 ? channels.flatMap(({ userId }) => userId ?? []) : [])) {
      const about = channels.filter(({ userId }) => userId !== undefined && userIds.includes(userId));
      const atMs = now();
      for (const channel of about) channel.askedMs = atMs;
      await attempt(about, async () => {
        const { streams, unreadableIds } = await client.listStreams(userIds);
        for (const { userId = '', evidence } of about) {
          const stream = streams.find((one) => one.userId === userId);
          const isUnreadable = unreadableIds.includes(userId);
          evidence.answer = { atMs, ...(stream && { stream }), isUnreadable };
          if (stream) delete evidence.absentSinceMs;
          else if (!isUnreadable) evidence.absentSinceMs ??= atMs;
        }
      });
    }
  };

  const judge = ({ target, userId, resolvedMs, evidence }: WatchedChannel): PlatformVerdict => {
    if (!target.publishing) return { status: 'Unknown', reason: 'not_sending', issues: [] };
    if (!isSetUp) return { status: 'Unknown', reason: 'unauthorized', issues: [] };
    if (resolvedMs !== undefined && userId === undefined)
      return { status: 'Unknown', reason: 'channel_not_found', issues: [] };
    const verdict = judgeTwitch({ ...evidence, publishedSinceMs: target.publishing.sinceMs }, now());
    if (verdict.lastSeenMs !== undefined) evidence.lastSeenMs = verdict.lastSeenMs;
    return verdict;
  };

  const poll = async (targets: readonly PlatformTarget[]): Promise<number> => {
    follow(targets);
    const sending = [...all.values()].filter(({ target }) => target.publishing);
    if (isSetUp && sending.length > 0) {
      await resolve(sending);
      await ask(sending);
    }
    for (const [key, channel] of all) {
      const verdict = judge(channel);
      const ageMs = verdict.status === 'True' ? now() - (verdict.lastSeenMs ?? now()) : 0;
      report(key, verdict, Math.max(MIN_VALID_MS, FRESH_MS - ageMs));
    }
    const dueMs = sending.flatMap(({ askedMs }) => (askedMs === undefined ? [] : askedMs + POLL_EVERY_MS));
    return Math.min(now() + REPORT_EVERY_MS, ...dueMs) - now();
  };

  return startPolling({ signal, log }, poll, options.sleep);
}
