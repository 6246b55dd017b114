/**
 * Runs one round of the repair of a broadcast: loads the state, reads, decides, stores the state, then does one step. It may die anywhere:
 * the next round, of whichever process, begins with the state that was stored (repair.ts).
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';
import { isSameJson } from '../../lib/json-equal.ts';
import type { Logger } from '../../lib/log.ts';
import type { ApiObserverDeps, StoredRepair } from '../common/observer.ts';
import type { RepairState } from '../common/repair-state.ts';
import {
  type BroadcastTemplate,
  joinBroadcasts,
  type Video,
  type YoutubeBroadcast,
  type YoutubeIngest,
} from './answers.ts';
import { affordsRepair } from './budget.ts';
import { type YoutubeAccount, type YoutubeClient, YoutubeError } from './client.ts';
import type { UnitMeter } from './meter.ts';
import { buildBroadcast, pickTemplate } from './new-broadcast.ts';
import {
  decideRepair,
  idsToRead,
  noteForbidden,
  noteInserted,
  noteRefused,
  type RepairDecision,
  type RepairReading,
  type RepairStep,
} from './repair.ts';

/** Another process has stored a state meanwhile. */
const CONFLICT_MS = 5_000;
/** Autostart and start are seen so long after they were asked for. */
const EFFECT_MS = 10_000;

export interface RoundDeps extends Pick<ApiObserverDeps, 'loadRepair' | 'saveRepair'> {
  client: YoutubeClient;
  meter: UnitMeter;
  clock: Clock;
  log: Logger;
  budgetUnits?: number | undefined;
}

export interface RoundInput {
  /** Of the destination. */
  key: string;
  account: YoutubeAccount;
  streamId: string;
  /** The broadcast whose page is watched. */
  watchedId: string | undefined;
  /** Broadcasts that are known to be over, whatever a list says. */
  endedIds: ReadonlySet<string>;
  resume: string | undefined;
}

export interface RoundResult {
  state: RepairState;
  step: RepairStep;
  /** When the next round is due. */
  nextMs: number;
  /** Whether the state or the platform was changed. */
  isChanged: boolean;
  atMs: number;
  ingest: YoutubeIngest | undefined;
  broadcasts: readonly YoutubeBroadcast[];
  videos: readonly Video[];
}

interface Read {
  reading: RepairReading;
  ingest: YoutubeIngest | undefined;
  videos: readonly Video[];
  templates: readonly BroadcastTemplate[];
}

async function readAll(state: RepairState, input: RoundInput, { client, clock }: RoundDeps): Promise<Read> {
  const { account, streamId, watchedId, endedIds } = input;
  const atMs = clock.now().getTime();
  const [ingest] = await client.listIngests([streamId], account);
  const isIngestActive = ingest?.status === 'active';
  const base = { atMs, streamId, isIngestActive, ...(watchedId !== undefined && { watchedId }) };
  // Nothing is done without media, so lists need not be paid for.
  if (!isIngestActive) return { reading: { ...base, broadcasts: [] }, ingest, videos: [], templates: [] };
  const ids = idsToRead(state, watchedId);
  const none = { broadcasts: [], templates: [] };
  const [upcoming, active, byId, videos] = [
    await client.listBroadcasts({ status: 'upcoming' }, account),
    await client.listBroadcasts({ status: 'active' }, account),
    ids.length > 0 ? await client.listBroadcasts({ ids }, account) : none,
    ids.length > 0 ? await client.listVideos(ids, account) : [],
  ];
  const lists = [upcoming, active, byId];
  const ended = videos.flatMap(({ id, endedMs }) => (endedMs === undefined ? [] : id));
  // A video shows a start sooner than the lists do.
  const started = videos.flatMap(({ id, startedMs, endedMs }): YoutubeBroadcast[] =>
    startedMs === undefined || endedMs !== undefined ? [] : [{ id, lifeCycle: 'live', description: '' }],
  );
  return {
    reading: {
      ...base,
      broadcasts: joinBroadcasts(...lists.map(({ broadcasts }) => broadcasts), started),
      endedIds: [...new Set([...ended, ...endedIds])],
    },
    ingest,
    videos,
    templates: lists.flatMap(({ templates }) => templates),
  };
}

/** Finds the broadcast that the new one continues. */
async function findTemplate(
  { templates }: Read,
  { state }: RepairDecision,
  input: RoundInput,
  client: YoutubeClient,
): Promise<BroadcastTemplate | undefined> {
  const { streamId, account, watchedId } = input;
  const lastId = state.live?.broadcastId ?? watchedId;
  if (lastId !== undefined && templates.some(({ id }) => id === lastId))
    return pickTemplate(templates, streamId, lastId);
  const past = await client.listBroadcasts({ status: 'completed' }, account);
  return pickTemplate([...templates, ...past.templates], streamId, lastId);
}

/** Whether the API has said that this account may not insert, or not this. */
const isForbidden = ({ status, failure }: YoutubeError): boolean =>
  (status === 400 || status === 403) && (failure === 'unauthorized' || failure === 'refused');

/** Others write to the same object: a version that is out of date is no sign of another repair. */
const STORE_TRIES = 4;

/**
 * Stores a state in place of `before`. Returns the new version, or undefined if another process has stored a state meanwhile: then nothing
 * may be done.
 */
async function storeState(
  { loadRepair, saveRepair }: Pick<ApiObserverDeps, 'loadRepair' | 'saveRepair'>,
  key: string,
  before: StoredRepair,
  next: RepairState,
): Promise<string | undefined> {
  let { version } = before;
  for (let left = STORE_TRIES; left > 0; left--) {
    const saved = await saveRepair(key, next, version);
    if (saved !== undefined) return saved;
    const found = await loadRepair(key);
    if (!isSameJson(found.state, before.state)) return undefined;
    version = found.version;
  }
  return undefined;
}

export async function runRound(input: RoundInput, deps: RoundDeps): Promise<RoundResult> {
  const { client, meter, clock, log } = deps;
  const { key, account, streamId, resume } = input;
  const stored = await deps.loadRepair(key);
  const read = await readAll(stored.state, input, deps);
  const counter = await meter.read();
  const nowMs = clock.now().getTime();
  const decision = decideRepair(stored.state, read.reading, {
    nowMs,
    newMark: randomUUID(),
    isAffordable: affordsRepair(counter, nowMs, deps.budgetUnits),
    ...(resume !== undefined && { resume }),
  });
  const { step } = decision;
  const { ingest, videos } = read;
  const seen = { atMs: read.reading.atMs, ingest, videos, broadcasts: read.reading.broadcasts };
  const conflict: RoundResult = { ...seen, step, state: stored.state, nextMs: nowMs + CONFLICT_MS, isChanged: false };

  // Before the state is stored: an insert has to be sent soon afterwards.
  const template = step.kind === 'insert' ? await findTemplate(read, decision, input, client) : undefined;
  const isStored = decision.state !== stored.state;
  const version = isStored ? await storeState(deps, key, stored, decision.state) : stored.version;
  if (version === undefined) return conflict;
  const decided: StoredRepair = { state: decision.state, version };
  const isStep = !['none', 'wait', 'stalled'].includes(step.kind);
  const isChanged = isStored || isStep;
  const result = (state: RepairState, nextMs: number): RoundResult => ({ ...seen, step, state, nextMs, isChanged });
  if (isStep || (isStored && step.kind === 'stalled'))
    log.info(
      { destination: key, step: step.kind, reason: decision.state.stalled },
      'the repair of a broadcast goes on',
    );

  const insert = async ({ mark, sendByMs }: { mark: string; sendByMs: number }): Promise<RoundResult> => {
    let id: string;
    try {
      id = await client.insertBroadcast(buildBroadcast(template, mark, clock.now().getTime()), sendByMs, account);
    } catch (error) {
      if (!(error instanceof YoutubeError) || !error.isRefused) throw error;
      const state = isForbidden(error) ? noteForbidden(decision.state, resume) : noteRefused(decision.state);
      const isKept = (await storeState(deps, key, decided, state)) !== undefined;
      if (!isKept || !isForbidden(error)) throw error;
      return result(state, Number.POSITIVE_INFINITY);
    }
    const state = noteInserted(decision.state, id);
    const isKept = (await storeState(deps, key, decided, state)) !== undefined;
    return isKept ? result(state, nowMs) : conflict;
  };

  switch (step.kind) {
    case 'insert':
      return insert(step);
    case 'bind':
      await client.bindBroadcast(step.broadcastId, streamId, account);
      return result(decision.state, nowMs + EFFECT_MS);
    case 'start':
      await client.startBroadcast(step.broadcastId, account);
      return result(decision.state, nowMs + EFFECT_MS);
    case 'wait':
      return result(decision.state, step.untilMs);
    case 'stalled':
      return result(decision.state, Number.POSITIVE_INFINITY);
    default:
      return result(decision.state, nowMs);
  }
}
