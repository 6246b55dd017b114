/**
 * Carries out the operator's commands to a stream on air: skip, publish, stop. The operator shows a token from a Secret
 * that both read; without a token file all commands are refused. A second token lets its holder look.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Logger } from '../../../lib/log.ts';
import type { SkipAnswer, SkipRequest } from '../../../protocol/commands.ts';
import type { Program } from '../../../protocol/program.ts';
import { readReleaseRequest, readSkipRequest } from '../../../protocol/to-streamer.ts';
import type { TrackPlayer } from '../tracks/track.ts';
import type { PublisherLock } from './publisher-lock.ts';
import { readToken, type TokenFiles } from './tokens.ts';

/** The next item is open long before this limit, unless the storage does not answer. */
const SKIP_MS = 3000;

/** Status and body of the HTTP response. */
export interface CommandAnswer {
  status: 200 | 202 | 400 | 409;
  body: { code: string; clock?: SkipAnswer['clock'] };
}

export interface CommandsOptions {
  /** Without a file of the control token, all commands are refused; without one of the view token, everybody may look. */
  tokens: TokenFiles;
  video: TrackPlayer;
  /** Undefined while the program has no list of songs. */
  audio: () => TrackPlayer | undefined;
  /** Skips that were carried out before this process began. */
  skipped: Program['skipped'];
  /** Undefined when this process publishes without a lock. */
  lock?: PublisherLock | undefined;
  log: Logger;
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

function carries(authorization: string | undefined, token: string | undefined): boolean {
  const told = digest(/^Bearer (\S+)$/i.exec(authorization ?? '')?.[1] ?? '');
  return token !== undefined && timingSafeEqual(digest(token), told);
}

export class Commands {
  readonly #options: CommandsOptions;
  readonly #last: Partial<Record<SkipRequest['track'], { id: string; done: Promise<boolean> }>> = {};

  constructor(options: CommandsOptions) {
    this.#options = options;
    const { video, audio } = options.skipped ?? {};
    const done = Promise.resolve(true);
    if (video !== undefined) this.#last.video = { id: video, done };
    if (audio !== undefined) this.#last.audio = { id: audio, done };
  }

  /** Checks an Authorization header against the control token, in constant time. */
  async mayAsk(authorization: string | undefined): Promise<boolean> {
    return carries(authorization, await readToken(this.#options.tokens.controlTokenFile));
  }

  /** Checks an Authorization header against both tokens. */
  async mayLook(authorization: string | undefined): Promise<boolean> {
    const { viewTokenFile } = this.#options.tokens;
    if (viewTokenFile === undefined) return true;
    return carries(authorization, await readToken(viewTokenFile)) || (await this.mayAsk(authorization));
  }

  /** Acquires the publisher lock, if the request names this pod. */
  publish(body: unknown): CommandAnswer {
    const read = readReleaseRequest(body);
    const acquired = read.ok && (this.#options.lock?.acquire(read.message.podUID) ?? false);
    return acquired ? { status: 200, body: { code: 'released' } } : { status: 409, body: { code: 'not_released' } };
  }

  /** Releases the publisher lock; outputs send the rest of their queues. */
  stop(): CommandAnswer {
    this.#options.lock?.release();
    return { status: 200, body: { code: 'stopping' } };
  }

  /** Skips the current item. Returns 202 while the next item cannot play yet: the caller asks again. */
  async skip(body: unknown): Promise<CommandAnswer> {
    const { video, log } = this.#options;
    const audio = this.#options.audio();
    const read = readSkipRequest(body);
    if (!read.ok) return { status: 400, body: { code: 'request_invalid' } };
    const request = read.message;
    const track = request.track === 'audio' ? audio : video;
    if (!track) return { status: 409, body: { code: 'track_missing' } };
    let last = this.#last[request.track];
    if (last?.id !== request.id) {
      log.info({ track: request.track }, 'a skip was requested');
      last = { id: request.id, done: track.skip() };
      this.#last[request.track] = last;
    }
    const late = Promise.withResolvers<'late'>();
    const timer = setTimeout(late.resolve, SKIP_MS, 'late');
    const done = await Promise.race([last.done, late.promise]);
    clearTimeout(timer);
    if (done === 'late') return { status: 202, body: { code: 'skip_pending' } };
    if (!done) {
      delete this.#last[request.track];
      return { status: 409, body: { code: 'nothing_plays' } };
    }
    return {
      status: 200,
      body: { code: 'skipped', clock: { video: video.stats().clock, audio: audio?.stats().clock ?? null } },
    };
  }
}
