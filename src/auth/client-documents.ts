/**
 * Reads Client ID Metadata Documents (draft-ietf-oauth-client-id-metadata-document; MCP 2025-11-25, Authorization): a
 * client's id is the https address of a document that describes it. Anybody can name such an address. So fetching
 * passes the gates of links (lib/guarded-agent.ts), follows no redirect, and has limits of time, size and number.
 */
import { LRUCache } from 'lru-cache';
import { type Dispatcher, request } from 'undici';
import { type AddressLookup, guardedAgent } from '../lib/guarded-agent.ts';
import { isInternalHost } from '../lib/public-address.ts';
import { findLinkRefusal } from '../resources/upload/link.ts';
import { type Registration, readRegistration } from './requests.ts';

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 16 * 1024;
const MAX_ID = 1000;
const MAX_DOCUMENTS = 1000;
/** At work at once; who comes beyond that is answered as if the host were away. */
const MAX_FETCHES = 16;
const DAY_MS = 86_400_000;
const FRESH_MS = { least: 5 * 60_000, usual: 3_600_000, most: DAY_MS };
/** How long a host is left alone that has answered nothing to be used. */
const FAILED_MS = 30_000;

/** `refused`: the host says that there is no such client; `away`: it says nothing now. */
export type FoundDocument = { metadata: Registration } | 'refused' | 'away';

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

/** The metadata of a document that was served at `clientId`; undefined where it describes no client that can be let in. */
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

async function readBody(body: Dispatcher.ResponseData['body']): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error('The client metadata document is too large.');
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString());
}

async function fetchDocument(
  clientId: string,
  options: DocumentOptions,
): Promise<{ found: FoundDocument; forMs: number }> {
  const agent = guardedAgent({ ...options, forbid: (detail) => new Error(detail) });
  try {
    const { statusCode, headers, body } = await request(clientId, {
      dispatcher: agent,
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (statusCode >= 500 || statusCode === 429) return { found: 'away', forMs: FAILED_MS };
    const isJson = /^application\/([\w.-]+\+)?json *(;|$)/i.test(String(headers['content-type'] ?? ''));
    if (statusCode !== 200 || !isJson) return { found: 'refused', forMs: FAILED_MS };
    const metadata = readDocument(clientId, await readBody(body));
    if (!metadata) return { found: 'refused', forMs: FAILED_MS };
    return { found: { metadata }, forMs: parseFreshness(String(headers['cache-control'] ?? '')) };
  } catch {
    return { found: 'away', forMs: FAILED_MS };
  } finally {
    await agent.destroy();
  }
}

export interface ClientDocuments {
  /** Never rejects. The document is fetched once while its answer is fresh, for any number of callers. */
  find(clientId: string): Promise<FoundDocument>;
}

export function createClientDocuments(options: DocumentOptions): ClientDocuments {
  const known = new LRUCache<string, FoundDocument & {}>({ max: MAX_DOCUMENTS });
  const asking = new Map<string, Promise<FoundDocument>>();

  async function ask(clientId: string): Promise<FoundDocument> {
    const { hostname } = new URL(clientId);
    if (findLinkRefusal(clientId, options.allowPrivate) !== undefined || isInternalHost(hostname, options.allowPrivate))
      return 'refused';
    const { found, forMs } = await fetchDocument(clientId, options);
    known.set(clientId, found, { ttl: forMs });
    return found;
  }

  return {
    async find(clientId) {
      const fresh = known.get(clientId);
      if (fresh !== undefined) return fresh;
      const begun = asking.get(clientId);
      if (begun) return begun;
      if (asking.size >= MAX_FETCHES) return 'away';
      const found = ask(clientId).finally(() => asking.delete(clientId));
      asking.set(clientId, found);
      return found;
    },
  };
}
