/**
 * Reads an HLS address as a viewer does: the ladder, the playlist of its cheapest rendition, and of its newest segments as much as their
 * keyframes need.
 */
import { createDecipheriv, createHash } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';
import type { Decoded, MediaContainer, MediaInput } from './decode.ts';
import {
  LARGE_HEIGHT,
  MAX_PLAYLIST_CHARACTERS,
  type MediaPlaylist,
  readPlaylist,
  type WatchedSegment,
} from './playlist.ts';
import type { WatchSample } from './verdict.ts';
import {
  type ByteBudget,
  decodeText,
  discard,
  readBody,
  readCoding,
  type TakeBytes,
  TEXT_CODINGS,
  WatchError,
  type Web,
  type WebAnswer,
} from './web.ts';

/** For all playlists of a look together, and for all of its segments, with their keys: a server must not hold a look by many slow answers. */
const PLAYLISTS_TIMEOUT_MS = 12_000;
const SEGMENTS_TIMEOUT_MS = 12_000;
/** The bytes of one segment that are read: its first keyframes are among them, whatever its size. */
const MAX_SEGMENT_BYTES = 8 * 2 ** 20;
/** Initialization is kept with its address, and has some kilobytes. */
const MAX_INIT_BYTES = 2 ** 16;
/** A longer playlist is not kept until it changes. */
const MAX_KEPT_BYTES = 2 ** 16;
const KEY_BYTES = 16;
/** A sample has so much of the newest media, of whatever segments. */
const SAMPLED_MS = 4_000;
const MAX_SAMPLED = 8;
/** Renditions come and go, and their addresses expire. */
const LADDER_MS = 60_000;

/** HTTP-FLV is seen by its first bytes. */
export type HlsRead = { kind: 'media'; playlist: MediaPlaylist } | { kind: 'flv' };

export interface ReaderDeps {
  web: Web;
  decode: (input: MediaInput, signal: AbortSignal) => Promise<Decoded>;
  budget: ByteBudget;
  clock: Clock;
}

interface Rendition {
  address: string;
  height: number | null;
  readAtMs: number;
}

interface Known {
  asked: string;
  etag: string;
  playlist: MediaPlaylist;
}

/** Limits that all fetches of one look share. */
interface Look {
  take: TakeBytes;
  late: AbortSignal;
  signal: AbortSignal;
}

export class HlsReader {
  readonly #address: string;
  readonly #deps: ReaderDeps;
  #rendition: Rendition | undefined;
  #known: Known | undefined;
  #sampled = '';
  #key: { address: string; bytes: Buffer } | undefined;
  #init: { address: string; bytes: Buffer } | undefined;

  constructor(address: string, deps: ReaderDeps) {
    this.#address = address;
    this.#deps = deps;
  }

  /** The cheapest rendition is larger than 1080 lines. */
  get isLarge(): boolean {
    return (this.#rendition?.height ?? 0) > LARGE_HEIGHT;
  }

  /** Throws WatchError, or the signal's reason. */
  async read(signal: AbortSignal): Promise<HlsRead> {
    const late = AbortSignal.timeout(PLAYLISTS_TIMEOUT_MS);
    return this.#deps.budget.spend((take, over) =>
      this.#readPlaylists({ take, late: AbortSignal.any([late, over]), signal }),
    );
  }

  async #readPlaylists(look: Look): Promise<HlsRead> {
    const now = this.#deps.clock.monotonicMs();
    if (this.#rendition && now - this.#rendition.readAtMs < LADDER_MS)
      try {
        const read = await this.#fetchPlaylist(this.#rendition.address, look);
        if (read.kind === 'media') return read;
      } catch (error) {
        // Its address may have expired, and the ladder has a new one.
        if (!(error instanceof WatchError)) throw error;
      }
    const first = await this.#fetchPlaylist(this.#address, look);
    if (first.kind !== 'ladder') {
      this.#rendition = undefined;
      return first;
    }
    this.#rendition = { address: first.address, height: first.height, readAtMs: now };
    const second = await this.#fetchPlaylist(first.address, look);
    if (second.kind === 'ladder') throw new WatchError('not_media');
    return second;
  }

  async #fetchPlaylist(
    address: string,
    { take, late, signal }: Look,
  ): Promise<HlsRead | { kind: 'ladder'; address: string; height: number | null }> {
    const known = this.#known?.asked === address ? this.#known : undefined;
    const headers = { 'accept-encoding': TEXT_CODINGS, ...(known && { 'if-none-match': known.etag }) };
    const answer = await this.#deps.web.ask(address, { late, signal, headers });
    if (answer.status === 304) {
      discard(answer.body);
      if (!known) throw new WatchError('not_media');
      return { kind: 'media', playlist: known.playlist };
    }
    const text = await readText(answer, take, signal);
    if (text === null) return { kind: 'flv' };
    const read = readPlaylist(text, answer.address);
    if (read.kind === 'ladder') return read;
    if (read.kind !== 'media') throw new WatchError(read.kind === 'too_large' ? 'playlist_too_large' : read.kind);
    const etag = [answer.headers.etag].flat()[0];
    const isKept = etag !== undefined && text.length <= MAX_KEPT_BYTES;
    this.#known = isKept ? { asked: address, etag, playlist: read.playlist } : undefined;
    return read;
  }

  /** Decodes the newest segments; null where there is nothing to say, since they have been sampled or did not arrive here. */
  async sample({ segments }: MediaPlaylist, signal: AbortSignal): Promise<WatchSample | 'protected' | null> {
    const newest = segments.at(-1);
    if (!newest || newest.isProtected) return null;
    const name = nameOf(newest);
    const last = segments.findLastIndex((segment) => nameOf(segment) === this.#sampled);
    if (last === segments.length - 1) return null;
    const chosen = chooseNewest(segments.slice(last + 1));
    const timeout = AbortSignal.timeout(SEGMENTS_TIMEOUT_MS);
    return this.#deps.budget.spend(async (take, over, hasAll) => {
      const look = { take, late: AbortSignal.any([timeout, over]), signal };
      const fetched = await this.#fetchSegments(chosen, look);
      hasAll();
      if (fetched === null || fetched === 'protected') return fetched;
      if (fetched === 'missing') return { kind: 'fault', fault: 'segments_missing' };
      const digest = createHash('sha256').update(fetched.newest).digest('hex');
      const decoded = await this.#decode(fetched.media, signal);
      if (decoded.kind === 'failed') return null;
      this.#sampled = name;
      if (decoded.kind === 'broken') return { kind: 'fault', fault: 'not_decodable' };
      const pictures = decoded.kind === 'pictures' ? decoded.pictures : [];
      return { kind: 'media', sequence: newest.sequence, digest, pictures };
    });
  }

  async #decode(media: readonly Buffer[], signal: AbortSignal): Promise<Decoded> {
    const container = findContainer(media[0] ?? Buffer.alloc(0));
    if (container === 'sound') return { kind: 'no_video' };
    return container === undefined ? { kind: 'broken' } : this.#deps.decode({ container, media }, signal);
  }

  /** Fetches segments, the newest first: without it, the others say nothing. Returns their media in order. */
  async #fetchSegments(
    chosen: readonly WatchedSegment[],
    look: Look,
  ): Promise<{ newest: Buffer; media: Buffer[] } | 'missing' | 'protected' | null> {
    const media: Buffer[] = [];
    let newest: Buffer | undefined;
    let leftBytes = MAX_SEGMENT_BYTES;
    for (const segment of chosen.toReversed()) {
      const got = await this.#fetchSegment(segment, leftBytes, look);
      if (!newest && typeof got === 'string') return got;
      if (!newest && got === null) return null;
      if (got === null || typeof got === 'string') break;
      newest ??= got.raw;
      media.unshift(got.clear);
      leftBytes -= got.readBytes;
      // A part of a segment can have nothing in front of it.
      if (got.isCut || leftBytes <= 0) break;
    }
    const init = await this.#fetchInit(chosen.at(-1)?.initAddress ?? null, look);
    if (!newest || init === null) return null;
    return { newest, media: [...init, ...media] };
  }

  async #fetchSegment(
    segment: WatchedSegment,
    maxBytes: number,
    look: Look,
  ): Promise<{ raw: Buffer; clear: Buffer; readBytes: number; isCut: boolean } | 'missing' | 'protected' | null> {
    try {
      const key = segment.keyAddress === null ? null : await this.#fetchKey(segment.keyAddress, look);
      if (key === 'protected') return key;
      const headers = segment.range === null ? {} : { range: segment.range };
      const answer = await this.#deps.web.ask(segment.address, { ...look, headers });
      const { bytes, isCut } = await readBody(answer, { maxBytes, ...look });
      const isWhole = segment.range === null || answer.status === 206;
      const raw = isWhole ? bytes : cutRange(bytes, segment.range ?? '');
      // A part that lies beyond what was sent, and bytes in a coding that nobody asked for, say nothing of what viewers get.
      if ((segment.range !== null && raw.length === 0) || readCoding(answer) !== '') return null;
      return { raw, clear: key ? decrypt(raw, key, segment) : raw, readBytes: bytes.length, isCut };
    } catch (error) {
      if (!(error instanceof WatchError)) throw error;
      return error.fault === 'address_not_found' || error.fault === 'server_failing' ? 'missing' : null;
    }
  }

  async #fetchKey(address: string, look: Look): Promise<Buffer | 'protected'> {
    if (this.#key?.address === address) return this.#key.bytes;
    try {
      const bytes = await this.#fetchSmall(address, KEY_BYTES, look);
      if (bytes.length !== KEY_BYTES) return 'protected';
      this.#key = { address, bytes };
      return bytes;
    } catch (error) {
      // Viewers who may see it have the key; that others do not is no fault.
      if (error instanceof WatchError && error.fault !== 'unreachable') return 'protected';
      throw error;
    }
  }

  async #fetchInit(address: string | null, look: Look): Promise<Buffer[] | null> {
    if (address === null) return [];
    if (this.#init?.address !== address)
      try {
        const bytes = await this.#fetchSmall(address, MAX_INIT_BYTES, look);
        if (bytes.length === 0) return null;
        this.#init = { address, bytes };
      } catch (error) {
        if (error instanceof WatchError) return null;
        throw error;
      }
    return [this.#init.bytes];
  }

  /** Empty where it has more. */
  async #fetchSmall(address: string, maxBytes: number, look: Look): Promise<Buffer> {
    const answer = await this.#deps.web.ask(address, look);
    const { bytes, isCut } = await readBody(answer, { maxBytes, ...look });
    return isCut ? Buffer.alloc(0) : bytes;
  }
}

/** Returns the text of a playlist; null for HTTP-FLV, which has no end. */
async function readText(answer: WebAnswer, take: TakeBytes, signal: AbortSignal): Promise<string | null> {
  const isCoded = answer.headers['content-encoding'] !== undefined;
  let isFlv = false;
  const isWanted = (head: Buffer) => {
    isFlv = head.toString('latin1', 0, 3) === 'FLV';
    const text = head
      .toString('utf8')
      .replace(/^\uFEFF/, '')
      .trimStart();
    return isCoded || (!isFlv && (text === '' || text.startsWith('#EXTM3U'.slice(0, text.length))));
  };
  const { bytes, isCut } = await readBody(answer, { maxBytes: MAX_PLAYLIST_CHARACTERS, take, signal, isWanted });
  if (isFlv) return null;
  if (isCut) throw new WatchError(isWanted(bytes) ? 'playlist_too_large' : 'not_media');
  return decodeText(answer, bytes, MAX_PLAYLIST_CHARACTERS);
}

const nameOf = ({ sequence, address, range }: WatchedSegment): string => `${sequence} ${address} ${range ?? ''}`;

/** The newest segments that fit together, as many as have `SAMPLED_MS`. */
function chooseNewest(segments: readonly WatchedSegment[]): WatchedSegment[] {
  const chosen: WatchedSegment[] = [];
  let lengthMs = 0;
  for (const segment of segments.toReversed()) {
    const [next] = chosen;
    if (next && (lengthMs >= SAMPLED_MS || chosen.length >= MAX_SAMPLED)) break;
    if (next && (segment.initAddress !== next.initAddress || segment.isProtected)) break;
    chosen.unshift(segment);
    lengthMs += segment.durationMs;
  }
  return chosen;
}

/** A server that knows no ranges sends the whole file. */
function cutRange(bytes: Buffer, range: string): Buffer {
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range) ?? [];
  return bytes.subarray(Number(first), Number(last) + 1);
}

/** RFC 8216, 5.2: AES-128 in CBC mode. The number of the segment is the initialization vector where none is given. */
function decrypt(bytes: Buffer, key: Buffer, { keyIv, sequence }: WatchedSegment): Buffer {
  const iv = Buffer.alloc(KEY_BYTES);
  if (keyIv) iv.set(keyIv.subarray(0, KEY_BYTES));
  else iv.writeBigUInt64BE(BigInt.asUintN(64, BigInt(Math.trunc(sequence))), 8);
  const decipher = createDecipheriv('aes-128-cbc', key, iv).setAutoPadding(false);
  return decipher.update(bytes.subarray(0, bytes.length - (bytes.length % KEY_BYTES)));
}

const BOXES = new Set(['ftyp', 'styp', 'moof', 'moov', 'sidx', 'emsg', 'prft', 'free']);
const TS_PACKET_BYTES = 188;

/** By the first bytes, since names and types of segments mean little. */
function findContainer(bytes: Buffer): MediaContainer | 'sound' | undefined {
  if (bytes[0] === 0x47 && (bytes.length < TS_PACKET_BYTES + 1 || bytes[TS_PACKET_BYTES] === 0x47)) return 'mpegts';
  const start = bytes.toString('latin1', 0, 3);
  if (BOXES.has(bytes.toString('latin1', 4, 8))) return 'mov';
  if (start === 'FLV') return 'flv';
  // ID3 begins packed sound (RFC 8216, 3.4), and so does the sync word of AAC and MP3.
  return start === 'ID3' || ((bytes[0] ?? 0) === 0xff && ((bytes[1] ?? 0) & 0xe0) === 0xe0) ? 'sound' : undefined;
}
