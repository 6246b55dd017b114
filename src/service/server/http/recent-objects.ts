/**
 * Loads objects that another replica created a moment ago. A client may reach a replica whose cache does not contain its new object
 * yet. The server therefore reads recent ids of a request from Kubernetes; an id begins with its creation time (ULID). An update by
 * another replica may stay invisible until the watch delivers it. Anybody can make up ids, so each part of a request has a number of
 * them, and each account a number that lead to nothing (domain/limits/loads.ts).
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { decodeTime } from 'ulid';

/** Watches lag less than this; part of it allows for clock differences of servers. */
const YOUNG_MS = 10_000;
/** Most ids that a request loads by its URL, which names an object and a part of it, and by its body. */
const MOST_IN_URL = 3;
const MOST_IN_BODY = 20;
const ID = /\b([a-z]{3})-([0-7][0-9a-hjkmnp-tv-z]{25})\b/g;

interface ObjectLoader {
  /** Returns whether the cache contains the object, in the namespace of the account. */
  isKnown(accountId: string, id: string): boolean;
  load(accountId: string, id: string): Promise<void>;
}

/** Services by the prefix of their ids, e.g. `str`. */
export type ObjectLoaders = Readonly<Record<string, ObjectLoader>>;

/** Returns up to `most` ids in `text` that are unknown here and were created a moment before `now`, with their services. */
export function findRecentObjects(
  accountId: string,
  text: string,
  loaders: ObjectLoaders,
  { now, most }: { now: number; most: number },
): ReadonlyMap<string, ObjectLoader> {
  const found = new Map<string, ObjectLoader>();
  ID.lastIndex = 0;
  for (let match = ID.exec(text); match; match = ID.exec(text)) {
    const [id, prefix = '', ulid = ''] = match;
    const loader = loaders[prefix];
    // Nearly all ids are known, and decoding the time of one takes several microseconds.
    if (!loader || loader.isKnown(accountId, id) || Math.abs(now - decodeTime(ulid)) >= YOUNG_MS) continue;
    found.set(id, loader);
    if (found.size === most) break;
  }
  return found;
}

const toText = (value: unknown): string => (value !== null && typeof value === 'object' ? JSON.stringify(value) : '');

/** Runs after the guards and the validation: a rejected request causes no reads. */
export function loadRecentObjects(app: FastifyInstance, loaders: ObjectLoaders): void {
  app.addHook('preHandler', ({ params, query, body, principal }: FastifyRequest, _reply, done) => {
    if (!principal) return done();
    const { accountId } = principal;
    const find = (text: string, most: number) => findRecentObjects(accountId, text, loaders, { now: Date.now(), most });
    const young = new Map([...find(toText([params, query]), MOST_IN_URL), ...find(toText(body), MOST_IN_BODY)]);
    if (young.size === 0) return done();
    Promise.all([...young].map(([id, loader]) => loader.load(accountId, id))).then(() => done(), done);
  });
}
