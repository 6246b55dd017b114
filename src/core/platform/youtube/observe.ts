/** Observes destinations of YouTube: asks what the plan says, judges, reports, and runs the rounds of repairs. */
import { createHash } from 'node:crypto';
import { forEachConcurrently } from '../../lib/pool.ts';
import { createAccessTokens } from '../common/access-tokens.ts';
import { createSender } from '../common/http.ts';
import type { ApiObserverDeps, Observer, PlatformTarget } from '../common/observer.ts';
import { REPORT_EVERY_MS, type Sleep, startPolling } from '../common/polling.ts';
import type { PlatformVerdict } from '../common/verdict.ts';
import { createYoutubeClient, type YoutubeAccount, YoutubeError, type YoutubeOptions } from './client.ts';
import { explainVerdict, judgeYoutube, VIDEO_FRESH_MS } from './judge.ts';
import { createMeter } from './meter.ts';
import { HEALTH_EVERY_MS, HURRY_EVERY_MS, HURRY_FOR_MS, type PlannedCall, planCalls } from './plan.ts';
import { noteLive } from './repair.ts';
import { type RoundResult, runRound } from './round.ts';
import {
  isBroadcastLive,
  noteBroadcasts,
  noteIngest,
  noteVideo,
  noteVideos,
  setVideo,
  startWatching,
  toEvidence,
  toPlanTarget,
  type WatchedDestination,
} from './watched.ts';

/** Calls under way at the same time. */
const AT_ONCE = 8;
/** A Secret is read again after this time where its token or its key does not do. */
const SECRETS_AGAIN_MS = 60_000;
/** A round that brings nothing new is repeated less and less often. */
const QUIET_ROUND_MS = 60_000;
const LONG_QUIET_MS = 3_600_000;
/** The shortest time that a report holds. */
const MIN_VALID_MS = 1_000;

const digest = (secret: string): string => createHash('sha256').update(secret).digest('hex').slice(0, 16);

export function createYoutubeObserver(
  deps: ApiObserverDeps,
  options: YoutubeOptions & { sleep?: Sleep | undefined },
): Observer {
  const { clock, log, signal, report, readSecrets, loadRepair, saveRepair, updateShared } = deps;
  const { apiKey, clientId, clientSecret, budgetUnits, tokenUrl } = options;
  const send = createSender(signal);
  const tokens = createAccessTokens(send, tokenUrl, clock);
  const meter = createMeter(updateShared, clock, budgetUnits);
  const client = createYoutubeClient({ send, tokens, meter, clock }, options);
  const all = new Map<string, WatchedDestination>();
  let wasFound = false;
  const now = () => clock.now().getTime();
  const hasClient = clientId !== undefined && clientSecret !== undefined;

  /** Runs calls about destinations. A call that fails is evidence about all of them. */
  const attempt = async (about: readonly WatchedDestination[], act: () => Promise<void>): Promise<void> => {
    try {
      await act();
    } catch (error) {
      if (signal.aborted) return;
      // A store of ours has failed, which says nothing of YouTube.
      if (!(error instanceof YoutubeError)) return log.warn({ err: error }, 'YouTube could not be asked');
      for (const watched of about) watched.failure = { atMs: now(), failure: error.failure };
    }
  };

  const follow = (targets: readonly PlatformTarget[]): void => {
    const keys = new Set(targets.map(({ key }) => key));
    for (const key of all.keys()) if (!keys.has(key)) all.delete(key);
    for (const target of targets) {
      const known = all.get(target.key);
      const isSame = known?.target.uid === target.uid && known.target.platform.videoId === target.platform.videoId;
      const watched = known && isSame ? known : startWatching(target, now());
      if (watched.target.resume !== target.resume) Object.assign(watched.repair, { nextMs: now(), changedMs: now() });
      if (watched.target.editedMs !== target.editedMs) delete watched.secretsReadMs;
      watched.target = target;
      all.set(target.key, watched);
    }
  };

  /** Reads the Secrets of a destination, and finds its stream on the channel of the token. */
  const connect = async (watched: WatchedDestination): Promise<void> => {
    const { target, streamId, secretsReadMs } = watched;
    const nowMs = now();
    const everyMs = streamId === undefined || isUnauthorized(watched) ? SECRETS_AGAIN_MS : HEALTH_EVERY_MS;
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

  /** Undefined if the Secret has another token by now. */
  const readRefreshToken = async (key: string, accountId: string): Promise<string | undefined> => {
    const { refreshToken } = await readSecrets(key);
    return refreshToken !== undefined && digest(refreshToken) === accountId ? refreshToken : undefined;
  };

  const isUnauthorized = ({ failure }: WatchedDestination): boolean => failure?.failure === 'unauthorized';

  const findAccount = (id: string): YoutubeAccount | undefined =>
    [...all.values()].find(({ account }) => account?.id === id)?.account;

  /** Picks an account that works to ask for what everybody may see, where there is no API key. */
  const pickPublicAccount = (): YoutubeAccount | undefined => {
    const connected = [...all.values()].filter(({ account }) => account !== undefined);
    return (connected.find((one) => !isUnauthorized(one)) ?? connected[0])?.account;
  };

  const askVideos = async (ids: readonly string[]): Promise<void> => {
    const about = [...all.values()].filter(({ videoId }) => videoId !== undefined && ids.includes(videoId));
    const atMs = now();
    for (const watched of about) watched.videoAskedMs = atMs;
    await attempt(about, async () => {
      const videos = await client.listVideos(ids, apiKey === undefined ? pickPublicAccount() : undefined);
      for (const watched of about) noteVideos(watched, ids, videos, atMs, false);
    });
  };

  const askOwner = async (call: Exclude<PlannedCall, { kind: 'videos' }>): Promise<void> => {
    const account = findAccount(call.channelId);
    if (!account) return;
    const atMs = now();
    const own = [...all.values()].filter((one) => one.account?.id === account.id && one.streamId !== undefined);
    if (call.kind === 'liveStreams') {
      const about = own.filter(({ streamId }) => call.streamIds.includes(streamId ?? ''));
      for (const watched of about) watched.ingestAskedMs = atMs;
      await attempt(about, async () => {
        const ingests = await client.listIngests(call.streamIds, account);
        for (const watched of about) {
          const value = ingests.find(({ id }) => id === watched.streamId);
          noteIngest(watched, value, atMs);
          // The key was deleted on the platform, or renewed.
          if (!value) Object.assign(watched, { streamId: undefined, streamAskedMs: undefined, secretsReadMs: 0 });
        }
      });
      return;
    }
    for (const watched of own) watched.ownAskedMs = atMs;
    await attempt(own, async () => {
      if (call.kind === 'broadcasts') {
        const { broadcasts } = await client.listBroadcasts({ status: 'active' }, account);
        for (const watched of own) noteBroadcasts(watched, broadcasts, atMs);
        return;
      }
      const videos = await client.listVideos(call.videoIds, account);
      for (const watched of own) noteVideos(watched, call.videoIds, videos, atMs, true);
    });
  };

  /** One destination for each key of the platform: two would make two broadcasts. */
  const pickRepairers = (): Set<WatchedDestination> => {
    const candidates = [...all.values()].filter(
      ({ target, account, streamId }) =>
        target.platform.policy === 'Repair' && target.publishing && account && streamId !== undefined,
    );
    const byStream = Map.groupBy(candidates, ({ account, streamId }) => `${account?.id} ${streamId}`);
    return new Set(
      [...byStream.values()].flatMap(
        (group) => group.toSorted((a, b) => (a.target.key < b.target.key ? -1 : 1))[0] ?? [],
      ),
    );
  };

  const loadProgress = async ({ target, repair }: WatchedDestination): Promise<void> => {
    if (repair.phase !== undefined) return;
    const { state } = await loadRepair(target.key);
    Object.assign(repair, { phase: state.phase, stalled: state.stalled, resume: state.resume });
    repair.notedId = state.live?.broadcastId;
  };

  /** A later repair has to know which broadcast viewers saw last. */
  const storeLive = async (watched: WatchedDestination): Promise<void> => {
    const { target, videoId, repair, lastSeenMs, broadcasts } = watched;
    const isOurs = broadcasts?.value?.some(({ id }) => id === videoId);
    if (videoId === undefined || videoId === repair.notedId || lastSeenMs === undefined || !isOurs) return;
    const { state, version } = await loadRepair(target.key);
    const next = noteLive(state, videoId, lastSeenMs);
    if (next === state || (await saveRepair(target.key, next, version)) !== undefined) repair.notedId = videoId;
  };

  /** A round that brings nothing new is repeated less often the longer nothing happens. */
  const paceQuietRound = ({ repair, target }: WatchedDestination): number => {
    const quietMs = now() - Math.max(repair.changedMs, target.publishing?.sinceMs ?? 0, target.editedMs ?? 0);
    if (quietMs < HURRY_FOR_MS) return HURRY_EVERY_MS;
    return quietMs < LONG_QUIET_MS ? QUIET_ROUND_MS : HEALTH_EVERY_MS;
  };

  const paceRound = ({ nextMs, isChanged, step }: RoundResult, watched: WatchedDestination): number => {
    if (isChanged || nextMs === Number.POSITIVE_INFINITY) return nextMs;
    const paceMs = paceQuietRound(watched);
    // A confirmation is waited for exactly.
    return step.kind === 'wait' && paceMs === HURRY_EVERY_MS ? nextMs : Math.max(nextMs, now() + paceMs);
  };

  const repairOne = async (watched: WatchedDestination): Promise<void> => {
    const { target, account, streamId, videoId, endedIds, repair } = watched;
    if (!account || streamId === undefined) return;
    await loadProgress(watched);
    const nowMs = now();
    const isLive = isBroadcastLive(watched, nowMs);
    if (isLive) repair.changedMs = nowMs;
    if (isLive && repair.phase === 'idle') return storeLive(watched);
    const isStalled = repair.phase === 'stalled' && repair.resume === target.resume && !isLive;
    if (isStalled || nowMs < repair.nextMs) return;
    // A failed round is repeated after this time.
    repair.nextMs = nowMs + paceQuietRound(watched);
    const input = { key: target.key, account, streamId, watchedId: videoId, endedIds, resume: target.resume };
    const result = await runRound(input, { client, meter, clock, log, loadRepair, saveRepair, budgetUnits });
    const { state, atMs, ingest, broadcasts, videos } = result;
    if (result.isChanged) repair.changedMs = nowMs;
    repair.nextMs = paceRound(result, watched);
    Object.assign(repair, { phase: state.phase, stalled: state.stalled, resume: state.resume });
    noteIngest(watched, ingest, atMs);
    watched.ingestAskedMs = atMs;
    if (ingest?.status === 'active') noteBroadcasts(watched, broadcasts, atMs);
    const seen = videos.find(({ id }) => id === watched.videoId);
    if (seen) noteVideo(watched, seen, atMs, true);
    repair.notedId = state.live?.broadcastId;
  };

  const judge = (watched: WatchedDestination): PlatformVerdict => {
    const { target, repair } = watched;
    if (!target.publishing) return { status: 'Unknown', reason: 'not_sending', issues: [] };
    const isBlind = apiKey === undefined && !watched.account;
    const doubt = watched.doubt ?? (isBlind ? 'unauthorized' : undefined);
    const { stalled } = repair.phase === 'stalled' ? repair : {};
    const verdict = explainVerdict(
      judgeYoutube(toEvidence(watched), now()),
      { publishingSinceMs: target.publishing.sinceMs, stalled, doubt },
      now(),
    );
    watched.lastSeenMs = verdict.lastSeenMs;
    return verdict.status === 'True' && watched.videoId !== undefined
      ? { ...verdict, broadcastId: watched.videoId }
      : verdict;
  };

  const reportAll = (): void => {
    for (const [key, watched] of all) {
      const verdict = judge(watched);
      // True holds as long as its answer is fresh.
      const ageMs = verdict.status === 'True' ? now() - (verdict.lastSeenMs ?? now()) : 0;
      report(key, verdict, Math.max(MIN_VALID_MS, VIDEO_FRESH_MS - ageMs));
    }
  };

  const poll = async (targets: readonly PlatformTarget[]): Promise<number> => {
    follow(targets);
    const sending = [...all.values()].filter(({ target }) => target.publishing);
    if (sending.length === 0) {
      reportAll();
      return REPORT_EVERY_MS;
    }
    await forEachConcurrently(
      sending,
      async (watched) => {
        await attempt([watched], () => connect(watched));
      },
      signal,
      AT_ONCE,
    );
    const before = sending.map(({ videoId }) => videoId);
    const repairers = pickRepairers();
    const isAsking = sending.some(({ account }) => account) || apiKey !== undefined;
    const counter = await meter.read();
    const planned = sending.flatMap((watched) => toPlanTarget(watched, repairers.has(watched), now()) ?? []);
    const plan = planCalls(isAsking ? planned : [], counter, now(), budgetUnits);
    if (plan.isExhausted) for (const watched of sending) watched.failure = { atMs: now(), failure: 'quota_exhausted' };
    await forEachConcurrently(
      plan.calls,
      (call) => (call.kind === 'videos' ? askVideos(call.videoIds) : askOwner(call)),
      signal,
      AT_ONCE,
    );
    // A broadcast that was just found is asked for before it is reported: its viewers are in that answer.
    const hasFound = () => sending.some(({ videoId }, index) => videoId !== before[index]);
    const mayWait = !wasFound;
    wasFound = hasFound();
    if (wasFound && mayWait) return 0;
    // The first report of an end does not wait for the repair.
    reportAll();
    await forEachConcurrently(
      [...repairers],
      async (watched) => {
        await attempt([watched], () => repairOne(watched));
      },
      signal,
      AT_ONCE,
    );
    wasFound = hasFound();
    if (wasFound && mayWait) return 0;
    reportAll();
    const rounds = [...repairers].flatMap((watched) =>
      isBroadcastLive(watched, now()) && watched.repair.phase === 'idle' ? [] : watched.repair.nextMs,
    );
    return Math.min(plan.nextMs, ...rounds) - now();
  };

  const forgetAccount = (watched: WatchedDestination): void => {
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
  };

  return startPolling({ signal, log }, poll, options.sleep);
}
