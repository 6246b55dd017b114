/** Connects destinations with the account of their channel and with their stream there. */
import { createHash } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';
import type { ApiObserverDeps } from '../common/observer.ts';
import type { YoutubeClient } from './client.ts';
import { HEALTH_EVERY_MS } from './plan.ts';
import { setVideo, type WatchedDestination } from './watched.ts';

/** A Secret is read again after this time where its token or its key does not do. */
const SECRETS_AGAIN_MS = 60_000;

interface ConnectionDeps {
  clock: Clock;
  client: YoutubeClient;
  readSecrets: ApiObserverDeps['readSecrets'];
  /** Whether the installation has an OAuth client, without which a token is of no use. */
  hasClient: boolean;
}

/** Names a secret without keeping it. */
const digest = (secret: string): string => createHash('sha256').update(secret).digest('hex').slice(0, 16);

/** Whether the last failure was that its token, or that of the installation, is not accepted. */
export const isUnauthorized = ({ failure }: WatchedDestination, nowMs: number): boolean =>
  failure?.failure === 'unauthorized' && nowMs - failure.atMs < HEALTH_EVERY_MS;

function forgetAccount(watched: WatchedDestination): void {
  if (!watched.account && watched.doubt === undefined) return;
  watched.account = undefined;
  watched.streamId = undefined;
  watched.streamAskedMs = undefined;
  watched.ingest = undefined;
  watched.broadcasts = undefined;
  watched.ownVideo = undefined;
  watched.hadStream = false;
  watched.doubt = undefined;
  if (watched.target.platform.videoId === undefined) setVideo(watched, undefined);
}

/** Returns a function that reads the Secrets of a destination when that is due, and finds its stream on the channel of the token. */
export function createConnections({
  clock,
  client,
  readSecrets,
  hasClient,
}: ConnectionDeps): (watched: WatchedDestination) => Promise<void> {
  /** Undefined if the Secret has another token by now. */
  const readRefreshToken = async (key: string, accountId: string): Promise<string | undefined> => {
    const { refreshToken } = await readSecrets(key);
    return refreshToken !== undefined && digest(refreshToken) === accountId ? refreshToken : undefined;
  };

  return async (watched) => {
    const { target, streamId, secretsReadMs } = watched;
    const nowMs = clock.now().getTime();
    const everyMs = streamId === undefined || isUnauthorized(watched, nowMs) ? SECRETS_AGAIN_MS : HEALTH_EVERY_MS;
    if (target.platform.secretName === undefined) return forgetAccount(watched);
    if (secretsReadMs !== undefined && nowMs - secretsReadMs < everyMs) return;
    watched.secretsReadMs = nowMs;
    const { refreshToken, rtmpKey } = await readSecrets(target.key);
    const accountId = refreshToken === undefined || !hasClient ? undefined : digest(refreshToken);
    const keyId = rtmpKey === undefined ? undefined : digest(rtmpKey);
    if (accountId !== watched.account?.id || keyId !== watched.keyId) forgetAccount(watched);
    watched.keyId = keyId;
    watched.doubt = accountId === undefined ? 'unauthorized' : undefined;
    if (accountId === undefined) return;
    const { key } = target;
    watched.account ??= { id: accountId, readRefreshToken: () => readRefreshToken(key, accountId) };
    if (watched.streamId !== undefined) return;
    const { streamAskedMs, account } = watched;
    const isAskedLately = streamAskedMs !== undefined && nowMs - streamAskedMs < HEALTH_EVERY_MS;
    if (!isAskedLately && rtmpKey !== undefined && account) {
      watched.streamId = await client.findStream(rtmpKey, account);
      watched.streamAskedMs = nowMs;
    }
    if (watched.streamId === undefined) watched.doubt = watched.hadStream ? 'key_revoked' : 'other_account';
    else watched.hadStream = true;
  };
}
