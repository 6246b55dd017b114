/**
 * Serves the feed of changes as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html).
 * The feed has no memory: each connection begins with `reset`, after which the client reads its objects again. Nothing is missed
 * during a disconnect, and servers share no state (`Last-Event-ID` is ignored).
 */
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../lib/errors.ts';
import { CHANGING_NOUNS, type ChangingNoun, MONEY_NOUNS } from '../../lib/paging/change.ts';
import type { Scope } from '../../lib/scopes.ts';
import type { Operation } from '../operations/list.ts';
import { requireScope } from '../operations/scopes.ts';
import type { ChangeFeed, ChangeService, FeedItem } from './changes.ts';

/** Proxies close silent connections, often after 60 s. The beat also limits how long a feed outlives its key or session. */
export const BEAT_MS = 10_000;
/** Changes come in bursts: a feed sends those within this time after the first one together. */
const GATHER_MS = 50;
/** A client that reads nothing for this long is disconnected. */
export const STUCK_MS = 30_000;

interface FeedDeps {
  changes: ChangeService;
  scopePrefix: string;
  /** Aborts when the server stops. */
  stopping: AbortSignal;
}

export const changeHandlers = ({ changes, scopePrefix, stopping }: FeedDeps) => ({
  async watchChanges(request: FastifyRequest, reply: FastifyReply) {
    const isAllowed = checkAgain(request, 'watchChanges', scopePrefix);
    const { accountId, scopes } = request.principal;
    const nouns = nounsFor(scopes);
    const follow: Follow = (wake, giveUp) => changes.follow(accountId, wake, nouns, giveUp);
    return sendFeed(reply, openFeed(follow, isAllowed, stopping));
  },
});

/** Returns the check of whether a feed may go on: its credentials are accepted still, and of the same account. */
export const checkAgain =
  (request: FastifyRequest, operation: Operation, scopePrefix: string) => async (): Promise<boolean> => {
    const principal = await request.authenticateAgain();
    requireScope(principal, operation, scopePrefix);
    return principal.accountId === request.principal.accountId;
  };

/** The feed ends when its client leaves. */
export function sendFeed(reply: FastifyReply, feed: Readable): FastifyReply {
  reply.raw.once('close', () => feed.destroy());
  return reply
    .type('text/event-stream')
    .header('cache-control', 'no-store')
    .header('x-accel-buffering', 'no')
    .send(feed);
}

/** Returns the nouns that these scopes may follow. */
export const nounsFor = (scopes: ReadonlySet<Scope>): readonly ChangingNoun[] =>
  scopes.has('billing')
    ? CHANGING_NOUNS
    : CHANGING_NOUNS.filter((noun) => !(MONEY_NOUNS as readonly ChangingNoun[]).includes(noun));

const line = (news: FeedItem): string =>
  news === 'reset' ? 'event: reset\ndata: {}\n\n' : `event: change\ndata: ${JSON.stringify(news)}\n\n`;

const ENDING = ['unauthenticated', 'api_key_expired', 'insufficient_scope', 'key_limited', 'account_suspended'];

/** Returns whether access was revoked. If the database is unavailable, the feed continues. */
export async function isOver(isAllowed: () => Promise<boolean>): Promise<boolean> {
  try {
    return !(await isAllowed());
  } catch (error) {
    return error instanceof AppError && ENDING.includes(error.code);
  }
}

type Follow = (wake: () => void, giveUp: () => void) => ChangeFeed;

/** Streams the lines of one feed. It creates a line only when the client can take it, so `follow` holds the whole backlog. */
function openFeed(follow: Follow, isAllowed: () => Promise<boolean>, stopping: AbortSignal): Readable {
  let wanted = false;
  let wantedAt = performance.now();
  let gathering: NodeJS.Timeout | undefined;

  const give = (text: string): void => {
    wanted = feed.push(text);
    wantedAt = performance.now();
  };
  const send = (): void => {
    gathering = undefined;
    if (wanted && following.hasItems) give(following.take().map(line).join(''));
  };
  const soon = (): void => {
    gathering ??= setTimeout(send, GATHER_MS);
  };
  const end = (): void => {
    wanted = false;
    clearTimeout(gathering);
    feed.push(null);
  };

  const following = follow(soon, end);
  const feed = new Readable({
    highWaterMark: 16 * 1024,
    read() {
      wanted = true;
      if (following.hasItems) soon();
    },
    destroy(error, done) {
      following.end();
      clearTimeout(gathering);
      clearInterval(beat);
      stopping.removeEventListener('abort', end);
      done(error);
    },
  });
  const beat = setInterval(async () => {
    if (!wanted && performance.now() - wantedAt > STUCK_MS) return void feed.destroy();
    if (await isOver(isAllowed)) end();
    else if (wanted && !feed.destroyed) give(': alive\n\n');
  }, BEAT_MS);
  stopping.addEventListener('abort', end);
  if (stopping.aborted) end();
  return feed;
}
