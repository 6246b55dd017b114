/**
 * REST: the feed of changes, as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). It has no
 * memory: each connection begins with `reset`, after which whoever follows reads what he shows, so that nothing that happened
 * while he was away is missed and no server has to know what another one has told (`Last-Event-ID` is not looked at).
 */
import { Readable } from 'node:stream';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { AppError } from '../../lib/errors.ts';
import { CHANGING_NOUNS, type ChangingNoun, MONEY_NOUNS } from '../../lib/paging/change.ts';
import type { Scope } from '../../lib/scopes.ts';
import { requireScope } from '../operations/scopes.ts';
import type { ChangeService, Following, News } from './changes.ts';

/** Proxies end what is silent, often after 60 s; this also is how soon a feed ends whose key or session has. */
const BEAT_MS = 10_000;
/** Changes come in bursts, of which one line is enough: what follows the first one within this time goes with it. */
const GATHER_MS = 50;
/** Whoever takes nothing for this long is cut off. */
const STUCK_MS = 30_000;

interface Doors {
  changes: ChangeService;
  scopePrefix: string;
  /** Aborts when the server stops. */
  stopping: AbortSignal;
}

/** What stands between two empty lines, as a reader takes it apart; descriptions have no other word for a body without an end. */
const Event = Type.Object(
  {
    event: Type.Enum(['reset', 'change']),
    data: Type.String({
      description:
        'JSON: of `change` the noun, the id and what has become of it; of `reset` an empty object. Nouns are stream, destination, ' +
        'upload and playlist, and with the scope billing balance, topUp, invoice and deposit.',
    }),
  },
  { title: 'ChangeEvent' },
);

export const changeRoutes: FastifyPluginAsyncTypebox<Doors> = async (app, { changes, scopePrefix, stopping }) => {
  app.get(
    '/changes',
    {
      exposeHeadRoute: false,
      schema: {
        operationId: 'watchChanges',
        tags: ['account'],
        summary: 'What changes, as it changes',
        description:
          'Server-sent events without an end. `reset` comes first, and whenever changes were left out: what was read before ' +
          'may be old. `change` has a Change as its data: read what it names. Lines that begin with a colon show that the ' +
          'connection is alive, every ten seconds. It ends with the server, and when the credentials are no longer ' +
          'accepted; connect again, with pauses. To follow with EventSource is possible where a cookie is sent; others read ' +
          'the body as it comes.',
        response: { 200: { content: { 'text/event-stream': { schema: Type.Unsafe<unknown>(Event) } } } },
      },
    },
    async (request, reply) => {
      const isAllowed = async () => {
        const principal = await request.authenticateAgain();
        requireScope(principal, 'watchChanges', scopePrefix);
        return principal.accountId === request.principal.accountId;
      };
      const { accountId, scopes } = request.principal;
      const nouns = nounsFor(scopes);
      const follow: Follow = (wake, giveUp) => changes.follow(accountId, wake, nouns, giveUp);
      const feed = openFeed(follow, isAllowed, stopping);
      reply.raw.once('close', () => feed.destroy());
      return reply
        .type('text/event-stream')
        .header('cache-control', 'no-store')
        .header('x-accel-buffering', 'no')
        .send(feed);
    },
  );
};

/** What one with these scopes is told of. */
export const nounsFor = (scopes: ReadonlySet<Scope>): readonly ChangingNoun[] =>
  scopes.has('billing')
    ? CHANGING_NOUNS
    : CHANGING_NOUNS.filter((noun) => !(MONEY_NOUNS as readonly ChangingNoun[]).includes(noun));

const line = (news: News): string =>
  news === 'reset' ? 'event: reset\ndata: {}\n\n' : `event: change\ndata: ${JSON.stringify(news)}\n\n`;

/** Whether it may go on; when the database is away nobody knows, and then it may. */
async function isOver(isAllowed: () => Promise<boolean>): Promise<boolean> {
  try {
    return !(await isAllowed());
  } catch (error) {
    return (
      error instanceof AppError && ['unauthenticated', 'insufficient_scope', 'account_suspended'].includes(error.code)
    );
  }
}

type Follow = (wake: () => void, giveUp: () => void) => Following;

/** The bytes of one feed. Nothing is made before it can be sent, so that what waits is what `follow` keeps and no more. */
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
    if (wanted && following.hasNews) give(following.take().map(line).join(''));
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
      if (following.hasNews) soon();
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
