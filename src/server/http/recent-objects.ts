/**
 * Loads objects that another replica created a moment ago. A client may reach a replica whose cache does not contain its new object
 * yet. The server therefore reads recent ids of a request from Kubernetes; an id begins with its creation time (ULID). An update by
 * another replica may stay invisible until the watch delivers it.
 */
import type { FastifyInstance } from 'fastify';
import { decodeTime } from 'ulid';

/** Watches lag less than this; part of it allows for clock differences of servers. */
const YOUNG_MS = 10_000;
/** Most ids that one request loads; no request refers to more new ones. */
const MOST = 20;
const ID = /\b([a-z]{3})-([0-7][0-9a-hjkmnp-tv-z]{25})\b/g;

interface Learner {
  /** Returns whether the cache contains the object. */
  knows(id: string): boolean;
  learn(id: string): Promise<void>;
}

/** Services by the prefix of their ids, e.g. `str`. */
export type Learners = Readonly<Record<string, Learner>>;

/** Returns the ids in `text` that are unknown here and were created a moment before `now`, with their services. */
export function newcomers(text: string, learners: Learners, now: number): ReadonlyMap<string, Learner> {
  const found = new Map<string, Learner>();
  ID.lastIndex = 0;
  for (let match = ID.exec(text); match; match = ID.exec(text)) {
    const [id, prefix = '', ulid = ''] = match;
    const learner = learners[prefix];
    // Nearly all ids are known, and decoding the time of one takes several microseconds.
    if (!learner || learner.knows(id) || Math.abs(now - decodeTime(ulid)) >= YOUNG_MS) continue;
    found.set(id, learner);
    if (found.size === MOST) break;
  }
  return found;
}

/** Runs after the guards: a rejected request causes no reads. */
export function learnNewcomers(app: FastifyInstance, learners: Learners): void {
  app.addHook('preHandler', ({ url, body, principal }, _reply, done) => {
    if (!principal) return done();
    const text = body !== null && typeof body === 'object' ? `${url}\n${JSON.stringify(body)}` : url;
    const young = newcomers(text, learners, Date.now());
    if (young.size === 0) return done();
    Promise.all([...young].map(([id, learner]) => learner.learn(id))).then(() => done(), done);
  });
}
