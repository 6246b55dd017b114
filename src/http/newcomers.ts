/**
 * What another server made a moment ago. A client is sent to any replica: to one that has not heard yet of what it made at
 * another, where by the cache it does not exist. So the ids that a request names, wherever it names them, are asked for in
 * Kubernetes if they are that young; the time at which an id was made is its first part (ULID). How things looked before a
 * change by another replica can still be read for the moment until the watch tells of it.
 */
import type { FastifyInstance } from 'fastify';

/** Watches are behind by less; clocks of servers may differ by some of it. */
const YOUNG_MS = 10_000;
/** What is asked for at once for one request: nobody refers to more that is new. */
const MOST = 20;
const ID = /\b([a-z]{3})-([0-7][0-9a-hjkmnp-tv-z]{25})\b/g;

/** Of Crockford's base 32, in their order. */
const SIGNS = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_LENGTH = 10;

/** When an id was made. The library's own way takes several microseconds, and each request comes by here. */
function madeAt(ulid: string): number {
  let ms = 0;
  for (let i = 0; i < TIME_LENGTH; i += 1) ms = ms * SIGNS.length + SIGNS.indexOf(ulid.charAt(i));
  return ms;
}

/** By the prefix of their ids, e.g. `str`. */
export type Learners = Readonly<Record<string, { learn(id: string): Promise<void> }>>;

/** The ids that `text` names and that were made a moment before `now`, each once, by their prefix. */
export function youngIds(text: string, now: number): { prefix: string; id: string }[] {
  const found = new Map<string, { prefix: string; id: string }>();
  for (const [id, prefix = '', ulid = ''] of text.matchAll(ID)) {
    if (Math.abs(now - madeAt(ulid)) < YOUNG_MS) found.set(id, { prefix, id });
    if (found.size === MOST) break;
  }
  return [...found.values()];
}

/** On `app` after the guards: nothing is asked for whoever may not ask. */
export function learnNewcomers(app: FastifyInstance, learners: Learners): void {
  app.addHook('preHandler', ({ url, body, principal }, _reply, done) => {
    if (!principal) return done();
    const text = body !== null && typeof body === 'object' ? `${url}\n${JSON.stringify(body)}` : url;
    const young = youngIds(text, Date.now());
    if (young.length === 0) return done();
    Promise.all(young.map(({ prefix, id }) => learners[prefix]?.learn(id))).then(() => done(), done);
  });
}
