/**
 * What another server made a moment ago. A client is sent to any replica: to one that has not heard yet of what it made at
 * another, where by the cache it does not exist. So the ids that a request names, wherever it names them, are asked for in
 * Kubernetes if they are that young; the time at which an id was made is its first part (ULID). How things looked before a
 * change by another replica can still be read for the moment until the watch tells of it.
 */
import type { FastifyInstance } from 'fastify';
import { decodeTime } from 'ulid';

/** Watches are behind by less; clocks of servers may differ by some of it. */
const YOUNG_MS = 10_000;
/** What is asked for at once for one request: nobody refers to more that is new. */
const MOST = 20;
const ID = /\b([a-z]{3})-([0-7][0-9a-hjkmnp-tv-z]{25})\b/g;

interface Learner {
  /** Whether this server has heard of it. */
  knows(id: string): boolean;
  learn(id: string): Promise<void>;
}

/** By the prefix of their ids, e.g. `str`. */
export type Learners = Readonly<Record<string, Learner>>;

/** The ids that `text` names, that nobody here knows and that were made a moment before `now`, each once, with who may learn it. */
export function newcomers(text: string, learners: Learners, now: number): ReadonlyMap<string, Learner> {
  const found = new Map<string, Learner>();
  ID.lastIndex = 0;
  for (let match = ID.exec(text); match; match = ID.exec(text)) {
    const [id, prefix = '', ulid = ''] = match;
    const learner = learners[prefix];
    // Nearly all ids are known, and to read the time of one takes several microseconds.
    if (!learner || learner.knows(id) || Math.abs(now - decodeTime(ulid)) >= YOUNG_MS) continue;
    found.set(id, learner);
    if (found.size === MOST) break;
  }
  return found;
}

/** On `app` after the guards: nothing is asked for whoever may not ask. */
export function learnNewcomers(app: FastifyInstance, learners: Learners): void {
  app.addHook('preHandler', ({ url, body, principal }, _reply, done) => {
    if (!principal) return done();
    const text = body !== null && typeof body === 'object' ? `${url}\n${JSON.stringify(body)}` : url;
    const young = newcomers(text, learners, Date.now());
    if (young.size === 0) return done();
    Promise.all([...young].map(([id, learner]) => learner.learn(id))).then(() => done(), done);
  });
}
