/** Runs rounds of the repair of a broadcast against the stand-in of YouTube, and may die between any two effects. */
import type { RepairState } from '../../../src/core/platform/common/repair-state.ts';
import {
  joinBroadcasts,
  readBroadcasts,
  readIngests,
  readNextPage,
  readVideos,
} from '../../../src/core/platform/youtube/answers.ts';
import {
  decideRepair,
  idsToRead,
  NEW_REPAIR,
  noteInserted,
  noteRefused,
  type RepairDecision,
  type RepairReading,
} from '../../../src/core/platform/youtube/repair.ts';
import type { YoutubeWorld } from '../fake/youtube.ts';

/** Where the process of a round dies. */
export const CRASHES = ['beforePersist', 'afterPersist', 'afterCall'] as const;
export type Crash = (typeof CRASHES)[number];

export interface Round {
  crash?: Crash | undefined;
  /** The step at which it dies; at any if missing. */
  at?: RepairDecision['step']['kind'];
  /** The process sleeps this long between persisting and calling, while others take its place. */
  pauseMs?: number | undefined;
}

const PREFIX = 'Kept on air. ';

export function createRepairer(world: YoutubeWorld, clock: { nowMs: number }, channelId = 'channel') {
  const { token, streamId } = world.addChannel(channelId);
  const asleep: { wakeMs: number; act: () => void }[] = [];
  // A compare and swap needs a version.
  let stored = { state: NEW_REPAIR, version: 0 };
  let marks = 0;
  let resume: string | undefined;
  const persist = (state: RepairState, version: number): boolean => {
    if (stored.version !== version) return false;
    stored = { state: structuredClone(state), version: version + 1 };
    return true;
  };
  const call = (method: 'GET' | 'POST', path: string, query: Record<string, string>, body?: Record<string, unknown>) =>
    world.request({
      method,
      path,
      query: { part: 'id,snippet,status,contentDetails', ...query },
      token,
      ...(body ? { body } : {}),
    });
  const listAll = (query: Record<string, string>) => {
    const found = [];
    let pageToken: string | undefined;
    do {
      const { body } = call('GET', 'liveBroadcasts', {
        maxResults: '50',
        ...query,
        ...(pageToken ? { pageToken } : {}),
      });
      found.push(...readBroadcasts(body));
      pageToken = readNextPage(body);
    } while (pageToken);
    return found;
  };
  const read = (state: RepairState): RepairReading => {
    const atMs = clock.nowMs;
    const [ingest] = readIngests(call('GET', 'liveStreams', { id: streamId }).body);
    const ids = idsToRead(state, watchedId);
    const upcoming = listAll({ broadcastStatus: 'upcoming' });
    const active = listAll({ broadcastStatus: 'active' });
    const byId = ids.length > 0 ? listAll({ id: ids.join(',') }) : [];
    const videos = ids.length > 0 ? readVideos(call('GET', 'videos', { id: ids.join(',') }).body) : [];
    return {
      atMs,
      streamId,
      isIngestActive: ingest?.status === 'active',
      broadcasts: joinBroadcasts(upcoming, active, byId),
      endedIds: videos.flatMap(({ id, endedMs }) => (endedMs === undefined ? [] : id)),
      ...(watchedId === undefined ? {} : { watchedId }),
    };
  };
  let watchedId: string | undefined;

  const insert = ({ step }: RepairDecision, version: number, crash: Crash | undefined): void => {
    if (step.kind !== 'insert' || clock.nowMs > step.sendByMs) return;
    const { status, body } = call(
      'POST',
      'liveBroadcasts',
      {},
      {
        snippet: {
          title: 'The channel',
          description: `${PREFIX}${step.mark}`,
          scheduledStartTime: new Date(clock.nowMs).toISOString(),
        },
        status: { privacyStatus: 'public' },
        contentDetails: { enableAutoStart: true, monitorStream: { enableMonitorStream: false } },
      },
    );
    if (crash === 'afterCall') return;
    if (status === 200) persist(noteInserted(stored.state, String(body.id)), version);
    else if (status < 500) persist(noteRefused(stored.state), version);
  };

  return {
    streamId,
    token,
    get state(): RepairState {
      return stored.state;
    },
    /** A person names the broadcast whose page is watched. */
    watch(id: string): void {
      watchedId = id;
    },
    resume(value: string): void {
      resume = value;
    },
    round({ crash: planned, at, pauseMs = 0 }: Round = {}): RepairDecision['step'] {
      const { state, version } = stored;
      const decision = decideRepair(state, read(state), {
        nowMs: clock.nowMs,
        newMark: `mark-${++marks}-of-${channelId}`,
        isAffordable: true,
        ...(resume === undefined ? {} : { resume }),
      });
      const { step } = decision;
      const crash = at === undefined || at === step.kind ? planned : undefined;
      if (crash === 'beforePersist') return step;
      const isChanged = decision.state !== state;
      if (isChanged && !persist(decision.state, version)) return step;
      if (crash === 'afterPersist') return step;
      const next = version + (isChanged ? 1 : 0);
      const act = () => {
        if (step.kind === 'insert') insert(decision, next, crash);
        if (step.kind === 'bind')
          call('POST', 'liveBroadcasts/bind', { id: step.broadcastId, streamId: step.streamId });
        if (step.kind === 'start')
          call('POST', 'liveBroadcasts/transition', { id: step.broadcastId, broadcastStatus: 'live' });
      };
      if (pauseMs > 0) asleep.push({ wakeMs: clock.nowMs + pauseMs, act });
      else act();
      return step;
    },
    /** Lets sleepers act whose time has come. */
    wake(): void {
      for (const one of asleep.filter(({ wakeMs }) => wakeMs <= clock.nowMs)) {
        asleep.splice(asleep.indexOf(one), 1);
        one.act();
      }
    },
    listOurs: () => world.list().filter(({ description }) => description.startsWith(PREFIX)),
  };
}
