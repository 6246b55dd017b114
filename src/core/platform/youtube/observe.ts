/** Observes destinations of YouTube: asks what the plan says, judges, reports, and runs the rounds of repairs. */
import { forEachConcurrently } from '../../lib/pool.ts';
import { createAccessTokens } from '../common/access-tokens.ts';
import { createSender } from '../common/http.ts';
import type { ApiObserverDeps, Observer, PlatformTarget } from '../common/observer.ts';
import { REPORT_EVERY_MS, type Sleep, startPolling } from '../common/polling.ts';
import type { PlatformVerdict } from '../common/verdict.ts';
import { createYoutubeClient, type YoutubeAccount, YoutubeError, type YoutubeOptions } from './client.ts';
import { createConnections, isUnauthorized } from './connections.ts';
import { explainVerdict, judgeYoutube, VIDEO_FRESH_MS } from './judge.ts';
import { createMeter } from './meter.ts';
import { type PlannedCall, planCalls } from './plan.ts';
import { createRepairs, pickRepairers } from './repairs.ts';
import {
  noteBroadcasts,
  noteIngest,
  noteVideos,
  startWatching,
  toEvidence,
  toPlanTarget,
  type WatchedDestination,
} from './watched.ts';

/** Calls under way at the same time. */
const AT_ONCE = 8;
/** The shortest time that a report holds. */
const MIN_VALID_MS = 1_000;

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
  const connect = createConnections({ clock, client, readSecrets, hasClient });
  const repairs = createRepairs({ client, meter, clock, log, loadRepair, saveRepair, budgetUnits });

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

  const findAccount = (id: string): YoutubeAccount | undefined =>
    [...all.values()].find(({ account }) => account?.id === id)?.account;

  /** Picks an account that works to ask for what everybody may see, where there is no API key. */
  const pickPublicAccount = (): YoutubeAccount | undefined => {
    const connected = [...all.values()].filter(({ account }) => account !== undefined);
    return (connected.find((one) => !isUnauthorized(one, now())) ?? connected[0])?.account;
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

  const judge = (watched: WatchedDestination): PlatformVerdict => {
    const { target, repair } = watched;
    if (!target.publishing) return { status: 'Unknown', reason: 'not_sending', issues: [] };
    const isBlind = apiKey === undefined && !watched.account;
    const doubt = watched.doubt ?? (isBlind ? 'unauthorized' : undefined);
    const isStalled = repair.phase === 'stalled' && target.platform.policy === 'Repair';
    const verdict = explainVerdict(
      judgeYoutube(toEvidence(watched), now()),
      { publishingSinceMs: target.publishing.sinceMs, stalled: isStalled ? repair.stalled : undefined, doubt },
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
    const repairers = pickRepairers([...all.values()]);
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
        await attempt([watched], () => repairs.run(watched));
      },
      signal,
      AT_ONCE,
    );
    wasFound = hasFound();
    if (wasFound && mayWait) return 0;
    reportAll();
    return Math.min(plan.nextMs, ...[...repairers].map(repairs.findNextMs)) - now();
  };

  return startPolling({ signal, log }, poll, options.sleep);
}
