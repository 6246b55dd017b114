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

interface ObjectLoader {
  /** Returns whether the cache contains the object, in the namespace of the account. */
  isKnown(accountId: string, id: string): boolean;
  load(accountId: string, id: string): Promise<void>;
}

/** Services by the prefix of their ids, e.g. `str`. */
export type ObjectLoaders = Readonly<Record<string, ObjectLoader>>;

/** Returns the ids in `text` that are unknown here and were created a moment before `now`, with their services. */
export function findRecentObjects(
  accountId: string,
  text: string,
  loaders: ObjectLoaders,
  now: number,
): ReadonlyMap<string, ObjectLoader> {
  const found = new Map<string, ObjectLoader>();
  ID.lastIndex = 0;
  for (let match = ID.exec(text); match; match = ID.exec(text)) {
    const [id, prefix = '', ulid = ''] = match;
    const loader = loaders[prefix];
    // Nearly all ids are known, and decoding the time of one takes several microseconds.
    if (!loader || loader.isKnown(accountId, id) || Math.abs(now - decodeTime(ulid)) >= YOUNG_MS) continue;
    found.set(id, loader);
    if (found.size === MOST) break;
  }
  return found;
}

/** Runs after the guards: a rejected request causes no reads. */
export function loadRecentObjects(app: FastifyInstance, loaders: ObjectLoaders): void {
  app.addHook('preHandler', ({ url, body, principal }, _reply, done) => {
    if (!principal) return done();
    const text = body !== null && typeof body === 'object' ? `${url}\n${JSON.stringify(body)}` : url;
    const { accountId } = principal;
    const young = findRecentObjects(accountId, text, loaders, Date.now());
    if (young.size === 0) return done();
    Promise.all([...young].map(([id, loader]) => loader.load(accountId, id))).then(() => done(), done);
  });
}
