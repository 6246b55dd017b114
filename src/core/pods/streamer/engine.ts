/**
 * Builds the engine of a stream: tracks read items, the splicer joins them, and the broadcaster sends them at the speed
 * of the clock.
 */
import type { Clock } from '../../lib/clock.ts';
import type { Lifecycle } from '../../lib/lifecycle.ts';
import type { Logger } from '../../lib/log.ts';
import { msToTicks } from '../../programme/ticks.ts';
import type { Program } from '../../protocol/program.ts';
import type { Storage } from '../storage/storage.ts';
import { Broadcaster } from './output/broadcaster.ts';
import { Splicer } from './timeline/splicer.ts';
import { Cards } from './tracks/cards.ts';
import { OwnSlate } from './tracks/own-slate.ts';
import { Soundtrack } from './tracks/soundtrack.ts';
import { TrackPlayer } from './tracks/track.ts';

export interface EngineOptions {
  storage: Storage;
  clock: Clock;
  log: Logger;
  /** Start of the timeline, in milliseconds. */
  timelineStartMs: number;
}

export interface Engine {
  splicer: Splicer;
  broadcaster: Broadcaster;
  video: TrackPlayer;
  soundtrack: Soundtrack;
  /** Returns the program that plays. */
  program(): Program;
  /** Returns the profile of a version of the program; that on air is of an earlier one until its item has ended. */
  findProfile(version: number | undefined): string;
  /**
   * Takes another program. A program of the same version can only change its destinations. Rejects when the storage
   * does not answer for the new items; the old program plays on.
   */
  take(program: Program): Promise<void>;
}

/** Resolves when the first program is loaded; the broadcaster does not run yet. The lifecycle closes the engine. */
export async function createEngine(first: Program, options: EngineOptions, lifecycle: Lifecycle): Promise<Engine> {
  const { storage, clock, log, timelineStartMs } = options;
  const { signal } = lifecycle;
  let broadcaster: Broadcaster | undefined;
  const onData = () => broadcaster?.notify();
  const leadMs = () => broadcaster?.leadMs ?? 0;
  const shared = { storage, clock, log, signal, onData, leadMs };
  const slate = new OwnSlate({ storage, log, signal });
  const video: TrackPlayer = new TrackPlayer({
    ...{ ...shared, kind: 'video', isReplaced: () => cards.isReady, ownSlate: () => slate.gop },
  });
  const soundtrack = new Soundtrack(
    (ended) => new TrackPlayer({ ...shared, kind: 'audio', signal: AbortSignal.any([signal, ended]) }),
  );
  const cards = new Cards({ storage, log, songs: () => soundtrack.track, onData });
  const nextPictures = () => {
    const card = cards.next();
    if (!card) return video.next();
    video.standAside();
    return card;
  };
  let program = first;
  const profiles = new Map<number, string>();
  const keepProfile = ({ version, profile }: Program) => {
    const onAir = video.stats().clock?.version ?? version;
    for (const old of profiles.keys()) if (old < onAir) profiles.delete(old);
    profiles.set(version, profile);
  };
  const load = async (next: Program) => {
    await video.load(next, next.video);
    await soundtrack.load(next);
    program = next;
    slate.take(next.slate);
    keepProfile(next);
    log.info({ version: next.version, items: next.video.items.length }, 'program taken');
  };
  const take = async (next: Program) => {
    const { destinations } = next;
    if (next.version === program.version) program = next;
    else {
      // New destinations do not wait for the new items to load.
      program = { ...program, destinations };
      await load(next);
    }
  };
  await load(first);
  await cards.prepare();
  const splicer = new Splicer({
    video: nextPictures,
    audio: soundtrack.track?.next,
    delayTicks: video.delayTicks,
    startTicks: msToTicks(timelineStartMs),
  });
  soundtrack.attach(splicer);
  const findProfile = (version = program.version) => profiles.get(version) ?? program.profile;
  broadcaster = new Broadcaster({ splicer, clock });
  lifecycle.defer('tracks', () => {
    splicer.close();
    video.close();
    soundtrack.close();
  });
  return { splicer, broadcaster, video, soundtrack, program: () => program, findProfile, take };
}
