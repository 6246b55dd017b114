/** Watches destinations by an address that viewers open: each at its own pace, all in one process (verdict.ts decides). */
import { type Clock, sleep } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import { Slots } from '../../lib/slots.ts';
import type { Observer, ObserverDeps, PlatformTarget, Publishing } from '../common/observer.ts';
import {
  type Decoded,
  type DecoderOptions,
  type MediaInput,
  openDecoder,
  type PictureDecoder,
  unknownCost,
} from './decode.ts';
import { HlsReader } from './hls.ts';
import { OwnPictures, openPods } from './own-pictures.ts';
import type { LumaPicture } from './pictures.ts';
import { flvTags, samplePlay, type TagSource } from './play.ts';
import { playRtmp } from './rtmp.ts';
import { planNext, startWatch, takeLook, type WatchLook, type WatchState } from './verdict.ts';
import { ByteBudget, openWeb, WatchError, type Web, type WebOptions } from './web.ts';

export interface WatchObserverOptions extends WebOptions, DecoderOptions {}

/** Looks at once. Most of a look is waiting. Of those that wait for a place, the one whose last look was the shortest is next. */
const MAX_LOOKS = 256;
/** An address that has not been looked at waits for those that are known to be quick. */
const UNKNOWN_LOOK_MS = 1_000;
/** Media that take more than a run of the decoder may are tried again so late. */
const COSTLY_REST_MS = 60_000;
/** Bytes of answers that all looks hold together. */
const MAX_HELD_BYTES = 48 * 2 ** 20;
/** A verdict holds for so long without another look. */
const VALID_MS = 60_000;
const IDLE_MS = 20_000;
/** An address that has told nothing for so long is asked less often. */
const SILENT_AFTER_MS = 120_000;
const SILENT_LOOK_MS = 15_000;
/** Keeps looks of many destinations, which began together, apart. */
const FIRST_LOOK_MS = 1_000;

interface Parts extends Pick<ObserverDeps, 'report'> {
  web: Web;
  decoder: PictureDecoder;
  budget: ByteBudget;
  looks: Slots;
  pods: ReturnType<typeof openPods>;
  clock: Clock;
  log: Logger;
  options: WatchObserverOptions;
}

/** Throws ConfigError where a required part of the cage is missing. */
export function createWatchObserver(deps: ObserverDeps, options: WatchObserverOptions): Observer {
  const { signal, clock, log, report } = deps;
  const web = openWeb(options);
  const pods = openPods();
  const budget = new ByteBudget(MAX_HELD_BYTES);
  const decoder = openDecoder(options, log);
  const parts: Parts = { web, pods, budget, decoder, clock, log, options, report, looks: new Slots(MAX_LOOKS) };
  const watchers = new Map<string, Watcher>();
  const running = new Set<Promise<void>>();

  const start = (target: PlatformTarget): Watcher => {
    const watcher = new Watcher(target, parts);
    const run = watcher
      .run()
      .catch((error: unknown) => log.error({ err: error, destination: target.key }, 'watching failed'));
    running.add(run);
    void run.finally(() => running.delete(run));
    return watcher;
  };

  const endAll = async (): Promise<void> => {
    for (const watcher of watchers.values()) watcher.close();
    watchers.clear();
    await Promise.all(running);
    await Promise.all([web.close(), pods.destroy()]);
  };
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  const leave = () => void endAll().then(resolve, reject);
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });

  return {
    update: (targets) => {
      if (signal.aborted) return;
      const wanted = new Map(targets.map((target) => [target.key, target]));
      for (const [key, watcher] of watchers) {
        const target = wanted.get(key);
        if (target && watcher.takes(target)) continue;
        watcher.close();
        watchers.delete(key);
      }
      for (const [key, target] of wanted) if (!watchers.has(key)) watchers.set(key, start(target));
    },
    ended,
  };
}

class Watcher {
  readonly #parts: Parts;
  readonly #over = new AbortController();
  readonly #address: string;
  readonly #hls: HlsReader;
  #target: PlatformTarget;
  #play: TagSource | undefined;
  #own: { publishing: Publishing; pictures: OwnPictures } | undefined;
  #wake = new AbortController();
  readonly #cost = unknownCost();
  #lookMs = UNKNOWN_LOOK_MS;
  #decodesAgainMs = 0;
  /** Since when the address has told nothing. */
  #silentSinceMs: number | undefined;

  constructor(target: PlatformTarget, parts: Parts) {
    this.#parts = parts;
    this.#target = target;
    this.#address = target.platform.url ?? '';
    this.#hls = new HlsReader(this.#address, { ...parts, decode: this.#decode });
    if (/^rtmps?:/i.test(this.#address)) this.#play = playRtmp(this.#address, parts.options);
  }

  /** Takes the newest state of its destination; false where it is another one by now. */
  takes(target: PlatformTarget): boolean {
    if (target.uid !== this.#target.uid || (target.platform.url ?? '') !== this.#address) return false;
    const isOther = target.publishing?.sinceMs !== this.#target.publishing?.sinceMs;
    this.#target = target;
    if (isOther) this.#wake.abort();
    return true;
  }

  close(): void {
    this.#over.abort();
  }

  async run(): Promise<void> {
    const { signal } = this.#over;
    let state = startWatch(this.#now());
    let inMs = Math.random() * FIRST_LOOK_MS;
    let wantsSample = true;
    try {
      while (!signal.aborted) {
        await this.#rest(inMs);
        this.#followOwn();
        const look = await this.#lookOrFail(wantsSample);
        if (!look) {
          inMs = IDLE_MS;
          continue;
        }
        state = takeLook(state, look);
        this.#report(state);
        const plan = planNext(state, look.atMs, this.#hls.isLarge);
        wantsSample = plan.sample;
        inMs = this.#plan(state, look, plan.inMs);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#own?.pictures.close();
      await this.#own?.pictures.ended;
    }
  }

  #decode = async (input: MediaInput, signal: AbortSignal): Promise<Decoded> => {
    const decoded = this.#own
      ? await this.#own.pictures.decodeBeside(input, signal)
      : (await this.#parts.decoder.decode([input], signal, this.#cost))[0];
    if (decoded?.kind === 'too_costly') this.#decodesAgainMs = this.#monotonicMs() + COSTLY_REST_MS;
    return decoded ?? { kind: 'failed' };
  };

  #monotonicMs = (): number => this.#parts.clock.monotonicMs();

  #now = (): number => this.#parts.clock.now().getTime();

  /** Waits, or until another session of publishing begins. */
  async #rest(ms: number): Promise<void> {
    this.#wake = new AbortController();
    await sleep(ms, AbortSignal.any([this.#over.signal, this.#wake.signal])).catch(() => undefined);
    this.#over.signal.throwIfAborted();
  }

  /** Looks come up to a fifth sooner, so that those of many destinations stay apart. */
  #plan({ verdict }: WatchState, { read, publishingSinceMs, atMs }: WatchLook, plannedMs: number): number {
    if (publishingSinceMs === null) return IDLE_MS;
    if (read.kind !== 'fault' || verdict.status !== 'Unknown') this.#silentSinceMs = undefined;
    else this.#silentSinceMs ??= atMs;
    const isSilent = this.#silentSinceMs !== undefined && atMs - this.#silentSinceMs > SILENT_AFTER_MS;
    return (isSilent ? SILENT_LOOK_MS : plannedMs) * (1 - Math.random() / 5);
  }

  #followOwn(): void {
    const { publishing } = this.#target;
    if (this.#own?.publishing.podUrl === publishing?.podUrl) return;
    this.#own?.pictures.close();
    this.#own = publishing
      ? { publishing, pictures: new OwnPictures(publishing, { ...this.#parts, cost: this.#cost }) }
      : undefined;
  }

  #report({ verdict, lastSeenMs }: WatchState): void {
    if (this.#over.signal.aborted) return;
    const seenMs = lastSeenMs ?? this.#target.lastSeenMs;
    const { key } = this.#target;
    this.#parts.report(
      key,
      {
        status: verdict.status,
        ...(verdict.reason !== null && { reason: verdict.reason }),
        ...(seenMs !== undefined && { lastSeenMs: seenMs }),
        issues: [],
      },
      VALID_MS,
    );
  }

  /** An error that nobody foresaw ends this look, and not the watching. */
  async #lookOrFail(wantsSample: boolean): Promise<WatchLook | undefined> {
    try {
      return await this.#parts.looks.run(async () => {
        const beganMs = this.#monotonicMs();
        try {
          return await this.#look(wantsSample && beganMs >= this.#decodesAgainMs);
        } finally {
          this.#lookMs = this.#monotonicMs() - beganMs;
        }
      }, this.#lookMs);
    } catch (error) {
      this.#over.signal.throwIfAborted();
      this.#parts.log.warn({ err: error, destination: this.#target.key }, 'a look at a watch address failed');
      return undefined;
    }
  }

  async #look(wantsSample: boolean): Promise<WatchLook> {
    const { signal } = this.#over;
    const publishingSinceMs = this.#target.publishing?.sinceMs ?? null;
    const seen =
      publishingSinceMs === null ? { read: PLAY, sample: null, atMs: this.#now() } : await this.#see(wantsSample);
    const ours: LumaPicture[] = (await this.#own?.pictures.take(signal)) ?? [];
    return { ...seen, publishingSinceMs, ours };
  }

  async #see(wantsSample: boolean): Promise<Pick<WatchLook, 'read' | 'sample' | 'atMs'>> {
    try {
      if (!this.#play) {
        const seen = await this.#seeHls(wantsSample);
        if (seen) return seen;
        this.#play = flvTags(this.#address, this.#parts.web);
      }
      const sample = wantsSample
        ? await samplePlay(this.#play, { ...this.#parts, decode: this.#decode }, this.#over.signal)
        : null;
      if (sample === 'silent') return { read: { kind: 'play', isSilent: true }, sample: null, atMs: this.#now() };
      return { read: PLAY, sample, atMs: this.#now() };
    } catch (error) {
      if (!(error instanceof WatchError)) throw error;
      return { read: { kind: 'fault', fault: error.fault }, sample: null, atMs: this.#now() };
    }
  }

  /** Undefined where the address is HTTP-FLV. */
  async #seeHls(wantsSample: boolean): Promise<Pick<WatchLook, 'read' | 'sample' | 'atMs'> | undefined> {
    const { signal } = this.#over;
    const read = await this.#hls.read(signal);
    if (read.kind === 'flv') return undefined;
    const atMs = this.#now();
    const sample = wantsSample ? await this.#hls.sample(read.playlist, signal) : null;
    if (sample !== 'protected') return { read, sample, atMs };
    const segments = read.playlist.segments.map((segment) => ({ ...segment, isProtected: true }));
    return { read: { kind: 'media', playlist: { ...read.playlist, segments } }, sample: null, atMs };
  }
}

const PLAY = { kind: 'play' } as const;
