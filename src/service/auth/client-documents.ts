/**
 * Reads Client ID Metadata Documents (draft-ietf-oauth-client-id-metadata-document; MCP 2025-11-25, Authorization): a
 * client's id is the https address of a document that describes it. Anybody can name such an address. So fetching
 * passes the gates of links (lib/guarded-agent.ts), follows no redirect, and has limits of time, size and number. A
 * stranger's machine decides how long it takes. So it has places of its own, shared among the addresses that ask, and
 * nobody may hold another scarce place meanwhile.
 */
import { type LookupAddress, promises } from 'node:dns';
import { LRUCache } from 'lru-cache';
import { type Dispatcher, request } from 'undici';
import { type AddressLookup, guardedAgent } from '../../core/lib/guarded-agent.ts';
import { isInternalHost } from '../../core/lib/public-address.ts';
import { findLinkRefusal } from '../../core/resources/upload/link.ts';
import { FairSlots } from '../lib/fair-slots.ts';
import { type Registration, readRegistration } from './requests.ts';

const TIMEOUT_MS = 5_000;
const CONNECT_TIMEOUT_MS = 2_000;
const MAX_BYTES = 16 * 1024;
const MAX_ID = 1000;
const MAX_DOCUMENTS = 1000;
/** Fetches at once, and those of one address and of one network. Beyond the line, the host counts as away. */
const PLACES = {
  total: 16,
  each: { address: 2, network: 4 },
  waiting: { total: 64, each: 4, ms: TIMEOUT_MS },
};
const DAY_MS = 86_400_000;
const FRESH_MS = { least: 5 * 60_000, usual: 3_600_000, most: DAY_MS };
/** Pause after a document that could not be used, and after a host that did not answer in full. */
const FAILED_MS = 60_000;

/** `refused`: the host says that there is no such client; `away`: it says nothing now. */
export type FoundDocument = { metadata: Registration } | 'refused' | 'away';

/** The source address that asks for a document, and the network that it is in. */
export interface DocumentAsker {
  address: string;
  network: string;
}

export interface DocumentOptions {
  /** Whether hosts of private networks may be asked; for `make run` and private installations. */
  allowPrivate: boolean;
  lookup?: AddressLookup;
}

/** Whether a client id is the address of a document, in the one spelling that it has (draft, section 3). */
export function isDocumentId(clientId: string): boolean {
  if (!clientId.startsWith('https://') || clientId.length > MAX_ID || !URL.canParse(clientId)) return false;
  const { href, pathname, username, password } = new URL(clientId);
  const isPlain = username === '' && password === '' && pathname !== '/' && !/[#\\]|%2e/i.test(clientId);
  return isPlain && href === clientId;
}

/** The metadata of a document that was served at `clientId`; undefined where it describes no acceptable client. */
export function readDocument(clientId: string, body: unknown): Registration | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const {
    client_id: id,
    client_secret: secret,
    token_endpoint_auth_method: method = 'none',
  } = body as Record<string, unknown>;
  // A public document holds no secret (draft, section 4.1).
  if (id !== clientId || secret !== undefined || method !== 'none') return undefined;
  const read = readRegistration(body);
  return 'refused' in read ? undefined : read.metadata;
}

/** How long an answer is taken without asking again (RFC 9111, section 5.2.2). */
export function parseFreshness(cacheControl: string): number {
  if (/\bno-(store|cache)\b/i.test(cacheControl)) return FRESH_MS.least;
  const seconds = /\bmax-age="?(\d+)/i.exec(cacheControl)?.[1];
  const asked = seconds === undefined ? FRESH_MS.usual : 1000 * Number(seconds);
  return Math.min(FRESH_MS.most, Math.max(FRESH_MS.least, asked));
}

/** Undefined where the document is too large, or not JSON. Rejects where it does not arrive. */
async function readBody(body: Dispatcher.ResponseData['body']): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    return undefined;
  }
}

/**
 * Resolves a public name without the threads of libuv, which check passwords too: a name server that never answers would
 * hold them.
 */
const publicLookup: AddressLookup = (hostname, _options, callback) => {
  const resolver = new promises.Resolver({ timeout: CONNECT_TIMEOUT_MS, tries: 1 });
  const ask = async (): Promise<LookupAddress[]> => {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const found = [
      ...(v4.status === 'fulfilled' ? v4.value : []).map((address) => ({ address, family: 4 })),
      ...(v6.status === 'fulfilled' ? v6.value : []).map((address) => ({ address, family: 6 })),
    ];
    if (found.length === 0) throw v4.status === 'rejected' ? v4.reason : new Error('The host name has no address.');
    return found;
  };
  ask().then(
    (addresses) => callback(null, addresses),
    (error) => callback(error, []),
  );
};

interface Fetched {
  found: FoundDocument;
  forMs: number;
}

/** Rejects where the host does not answer in full. */
async function fetchDocument(clientId: string, options: DocumentOptions): Promise<Fetched> {
  const { allowPrivate, lookup = allowPrivate ? undefined : publicLookup } = options;
  const forbid = (detail: string) => new Error(detail);
  const agent = guardedAgent({ allowPrivate, lookup, connectTimeoutMs: CONNECT_TIMEOUT_MS, forbid });
  try {
    const { statusCode, headers, body } = await request(clientId, {
      dispatcher: agent,
      headers: { accept: 'application/json' },
      // Holds for the body too, however it trickles.
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (statusCode >= 500 || statusCode === 429) return { found: 'away', forMs: FAILED_MS };
    const isJson = /^application\/([\w.-]+\+)?json *(;|$)/i.test(String(headers['content-type'] ?? ''));
    const metadata = statusCode === 200 && isJson ? readDocument(clientId, await readBody(body)) : undefined;
    if (!metadata) return { found: 'refused', forMs: FAILED_MS };
    return { found: { metadata }, forMs: parseFreshness(String(headers['cache-control'] ?? '')) };
  } finally {
    await agent.destroy();
  }
}

export interface ClientDocuments {
  /** Returns what is known of a document, and waits for nobody. A document that was not loaded counts as away. */
  find(clientId: string): FoundDocument;
  /** Whether `load` would do `nothing`, `refresh` a document that was valid before, or `fetch` an unknown one. */
  plan(clientId: string): 'nothing' | 'refresh' | 'fetch';
  /** Fetches a document that is not fresh, once for any number of callers. Never rejects. */
  load(clientId: string, asker: DocumentAsker): Promise<FoundDocument>;
}

export function createClientDocuments(options: DocumentOptions): ClientDocuments {
  const known = new LRUCache<string, FoundDocument & {}>({ max: MAX_DOCUMENTS });
  /** Documents that were in order once. */
  const proven = new LRUCache<string, true>({ max: MAX_DOCUMENTS });
  /** Hosts, with their ports, that did not answer in full. */
  const silent = new LRUCache<string, true>({ max: MAX_DOCUMENTS, ttl: FAILED_MS });
  const asking = new Map<string, Promise<FoundDocument>>();
  const places = new FairSlots(PLACES);

  const isForbidden = (clientId: string): boolean =>
    findLinkRefusal(clientId, options.allowPrivate) !== undefined ||
    isInternalHost(new URL(clientId).hostname, options.allowPrivate);
  const isSilent = (clientId: string): boolean => silent.has(new URL(clientId).host);
  const find = (clientId: string): FoundDocument =>
    known.get(clientId) ?? (isDocumentId(clientId) && isForbidden(clientId) ? 'refused' : 'away');
  const plan = (clientId: string) => {
    if (!isDocumentId(clientId) || known.has(clientId) || isSilent(clientId) || isForbidden(clientId)) return 'nothing';
    return proven.has(clientId) ? 'refresh' : 'fetch';
  };

  /** Rejects with SlotsFull. */
  async function ask(clientId: string, asker: DocumentAsker): Promise<FoundDocument> {
    const release = await places.take({ ...asker });
    try {
      // The host may have been found silent while this one waited.
      if (isSilent(clientId)) return 'away';
      const { found, forMs } = await fetchDocument(clientId, options);
      known.set(clientId, found, { ttl: forMs });
      if (typeof found === 'object') proven.set(clientId, true);
      return found;
    } catch {
      silent.set(new URL(clientId).host, true);
      return 'away';
    } finally {
      release();
    }
  }

  return {
    find,
    plan,
    async load(clientId, asker) {
      if (plan(clientId) === 'nothing') return find(clientId);
      const begun = asking.get(clientId);
      if (begun) return begun;
      // Without a free place, the document counts as away for now.
      const found = ask(clientId, asker)
        .catch(() => 'away' as const)
        .finally(() => asking.delete(clientId));
      asking.set(clientId, found);
      return found;
    },
  };
}
