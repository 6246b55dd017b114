/**
 * Reads an HLS playlist (RFC 8216) as far as a watcher needs it: the cheapest rendition of a ladder, or the newest segments of a media
 * playlist. A playlist of a whole day costs no more than a short one: only its newest segments are parsed. Pure: no I/O, no clock.
 */
import { parse, setOptions, type types } from 'hls-parser';

// The parser would write each breach of the standard to the console. Servers breach it all the time, and players play them all the same.
setOptions({ silent: true, strictMode: false });

/** A playlist of 24 hours in segments of 2 s has about 3 MB. */
export const MAX_PLAYLIST_CHARACTERS = 4_000_000;
/** The newest segments that are looked at. */
export const KEPT_SEGMENTS = 64;
/** A rendition above this height is decoded less often (planNext in verdict.ts). */
export const LARGE_HEIGHT = 1080;

const MAX_TARGET_MS = 60_000;
/** Characters. Servers take no longer ones: nginx 8,192. */
const MAX_ADDRESS = 8_192;
/** A segment is no longer than a day. */
const MAX_DURATION_MS = 24 * 3_600_000;
/** ECMAScript: the latest time that a Date can say. */
const MAX_DATE_MS = 8.64e15;
const DEFAULT_TARGET_MS = 6_000;

export interface WatchedSegment {
  /** Media sequence number. */
  sequence: number;
  address: string;
  /** As the value of a Range header; null for a whole file. */
  range: string | null;
  durationMs: number;
  /** When it was recorded, by the clock of the server; null if the playlist does not say. */
  programAtMs: number | null;
  /** Where its key of AES-128 is; null for media in the clear. */
  keyAddress: string | null;
  /** 16 bytes; null where it follows from the number of the segment. */
  keyIv: Uint8Array | null;
  /** The initialization section (fMP4). */
  initAddress: string | null;
  /** Only a player with a licence can decode it. */
  isProtected: boolean;
}

export interface MediaPlaylist {
  targetMs: number;
  /** Nothing follows: the broadcast is over, or it is a recording. */
  isEnded: boolean;
  /** The newest segments that have media, oldest first. */
  segments: readonly WatchedSegment[];
}

export type PlaylistRead =
  | { kind: 'media'; playlist: MediaPlaylist }
  /** The rendition to watch. `height` is null if the ladder does not say. */
  | { kind: 'ladder'; address: string; height: number | null }
  /** A ladder without video. */
  | { kind: 'no_picture' }
  /** A page, a picture, an error message. */
  | { kind: 'not_media' }
  | { kind: 'too_large' };

/** Reads the text that `address` answered with. */
export function readPlaylist(text: string, address: string): PlaylistRead {
  if (text.length > MAX_PLAYLIST_CHARACTERS) return { kind: 'too_large' };
  const body = text.replace(/^\uFEFF/, '').trimStart();
  if (!body.startsWith('#EXTM3U')) return { kind: 'not_media' };
  const playlist = parseOrNull(keepNewest(body));
  if (!playlist) return { kind: 'not_media' };
  return playlist.isMasterPlaylist ? chooseRendition(playlist, address) : readMedia(playlist, address);
}

function parseOrNull(text: string): types.MasterPlaylist | types.MediaPlaylist | null {
  try {
    return parse(text) as types.MasterPlaylist | types.MediaPlaylist;
  } catch {
    return null;
  }
}

/** Resolves a reference of a playlist; null unless it leads to http or https. The spelling of a URL can be nine times as long. */
function resolveAddress(reference: string | undefined, base: string): string | null {
  const url = reference ? URL.parse(reference, base) : null;
  const isTaken = url && (url.protocol === 'http:' || url.protocol === 'https:') && url.href.length <= MAX_ADDRESS;
  return isTaken ? url.href : null;
}

const hasVideo = ({ codecs, resolution }: types.Variant): boolean =>
  resolution !== undefined || !codecs || /\b(avc|hvc|hev|dvh|av01|vp0?[89])/i.test(codecs);

/** H.264 is what every decoder reads, and costs least to decode. */
const isH264 = ({ codecs }: types.Variant): boolean => !codecs || /\bavc[13]/i.test(codecs);

function chooseRendition({ variants }: types.MasterPlaylist, base: string): PlaylistRead {
  const usable = variants
    .filter((variant) => !variant.isIFrameOnly && hasVideo(variant))
    .map((variant) => ({ variant, address: resolveAddress(variant.uri, base) }))
    .filter((one): one is { variant: types.Variant; address: string } => one.address !== null);
  const cost = ({ variant }: { variant: types.Variant }) => {
    const pixels = variant.resolution ? variant.resolution.width * variant.resolution.height : Number.MAX_SAFE_INTEGER;
    return [isH264(variant) ? 0 : 1, variant.bandwidth || Number.MAX_SAFE_INTEGER, pixels];
  };
  const [cheapest] = usable.sort((a, b) => compareLists(cost(a), cost(b)));
  if (!cheapest) return variants.length > 0 ? { kind: 'no_picture' } : { kind: 'not_media' };
  return { kind: 'ladder', address: cheapest.address, height: cheapest.variant.resolution?.height ?? null };
}

function compareLists(a: readonly number[], b: readonly number[]): number {
  for (const [index, value] of a.entries()) {
    const difference = value - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** A licence is needed unless the key is a plain file (RFC 8216, 4.3.2.4). */
function readKey(
  key: types.Key | undefined,
  base: string,
): Pick<WatchedSegment, 'keyAddress' | 'keyIv' | 'isProtected'> {
  const keyIv = key?.iv ? new Uint8Array(key.iv) : null;
  if (!key || key.method === 'NONE') return { keyAddress: null, keyIv, isProtected: false };
  const keyAddress = resolveAddress(key.uri, base);
  const isPlain = key.method === 'AES-128' && (!key.format || key.format === 'identity') && keyAddress !== null;
  return isPlain ? { keyAddress, keyIv, isProtected: false } : { keyAddress: null, keyIv, isProtected: true };
}

const toMs = (seconds: number | undefined): number =>
  Number.isFinite(seconds) ? Math.min(MAX_DURATION_MS, Math.max(0, Math.round((seconds ?? 0) * 1000))) : 0;

function readMedia(playlist: types.MediaPlaylist, base: string): PlaylistRead {
  const segments: WatchedSegment[] = [];
  let programAtMs: number | null = null;
  for (const segment of playlist.segments) {
    const durationMs = toMs(segment.duration);
    const said = segment.programDateTime?.getTime();
    if (said !== undefined && Number.isFinite(said)) programAtMs = said;
    // After a break, the time of what follows is not known until the playlist says it again.
    else if (segment.discontinuity) programAtMs = null;
    const address = resolveAddress(segment.uri, base);
    const { byterange } = segment;
    // Numbers above 2^53 are allowed (RFC 8216, 4.3.3.2), and lose their last digits.
    if (address && durationMs > 0 && !segment.gap && Number.isFinite(segment.mediaSequenceNumber))
      segments.push({
        sequence: segment.mediaSequenceNumber,
        address,
        range: byterange ? `bytes=${byterange.offset ?? 0}-${(byterange.offset ?? 0) + byterange.length - 1}` : null,
        durationMs,
        programAtMs,
        initAddress: resolveAddress(segment.map?.uri, base),
        ...readKey(segment.key, base),
      });
    if (programAtMs !== null) programAtMs += durationMs;
  }
  const longestMs = Math.max(0, ...segments.map(({ durationMs }) => durationMs));
  const targetMs = Math.min(MAX_TARGET_MS, toMs(playlist.targetDuration) || longestMs || DEFAULT_TARGET_MS);
  return { kind: 'media', playlist: { targetMs, isEnded: playlist.endlist, segments: segments.slice(-KEPT_SEGMENTS) } };
}

/** Tags that speak of the whole playlist, and stay in front of the newest segments. */
const OF_THE_WHOLE = /^#EXT(M3U|-X-(VERSION|TARGETDURATION|PLAYLIST-TYPE|DEFINE))\b/;
/** All other tags that are read. The parser needs a time for the rest that grows with the square of their number. */
const OF_SEGMENTS =
  /^#EXT(INF|-X-(STREAM-INF|MEDIA-SEQUENCE|DISCONTINUITY|DISCONTINUITY-SEQUENCE|KEY|MAP|BYTERANGE|PROGRAM-DATE-TIME|GAP|ENDLIST))\b/;
/** Longer lines are dropped: no address that works has so many characters, and no key. */
const MAX_LINE_CHARACTERS = 16_384;
/** Of one kind: statements of the whole playlist, and lines of the newest segments. */
const MAX_LINES = 4_096;
const MAX_VARIANTS = 128;

/** The lines that are read, without those that are not. */
function listLines(text: string): string[] {
  const body = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
  const lines: string[] = [];
  for (let [at, end] = [0, 0]; at < body.length; at = end + 1) {
    end = body.indexOf('\n', at);
    if (end < 0) end = body.length;
    if (end === at || end - at > MAX_LINE_CHARACTERS) continue;
    const line = body.slice(at, end);
    if (isAddress(line) || OF_THE_WHOLE.test(line) || OF_SEGMENTS.test(line)) lines.push(line);
  }
  return lines;
}

const isAddress = (line: string): boolean => !line.startsWith('#') && line.trim() !== '';

/**
 * Leaves out of a playlist what is not read, so that a hostile one takes no more time than any other. The oldest segments of a long media
 * playlist are cut off; their statements about the later ones stay: number, time, key and initialization.
 */
export function keepNewest(text: string): string {
  const all = listLines(text);
  if (all.some((line) => line.startsWith('#EXT-X-STREAM-INF'))) return keepVariants(all).join('\n');
  const whole = all.filter((line) => OF_THE_WHOLE.test(line)).slice(0, MAX_LINES);
  const lines = all.filter((line) => !OF_THE_WHOLE.test(line));
  let left = lines.reduce((count, line) => count + (isAddress(line) ? 1 : 0), 0) - KEPT_SEGMENTS;
  if (left <= 0) return [...whole, ...lines.slice(-MAX_LINES)].join('\n');
  let [sequence, discontinuities, cut, programAtMs, key, init] = [0, 0, 0, Number.NaN, '', ''];
  let [durationMs, index] = [0, 0];
  for (; left > 0; index += 1) {
    const line = lines[index] ?? '';
    const value = line.slice(line.indexOf(':') + 1);
    if (isAddress(line)) {
      [left, cut, programAtMs] = [left - 1, cut + 1, programAtMs + durationMs];
    } else if (line.startsWith('#EXTINF:')) durationMs = toMs(Number.parseFloat(value));
    else if (line.startsWith('#EXT-X-PROGRAM-DATE-TIME:')) programAtMs = Date.parse(value);
    else if (line.startsWith('#EXT-X-MEDIA-SEQUENCE:')) sequence = Number(value);
    else if (line.startsWith('#EXT-X-DISCONTINUITY-SEQUENCE:')) discontinuities += Number(value);
    else if (line.startsWith('#EXT-X-DISCONTINUITY')) {
      discontinuities += 1;
      programAtMs = Number.NaN;
    } else if (line.startsWith('#EXT-X-KEY:')) key = line;
    else if (line.startsWith('#EXT-X-MAP:')) init = line;
  }
  const tail = lines.slice(index).slice(-MAX_LINES);
  const isBreak = tail.slice(0, tail.findIndex(isAddress)).includes('#EXT-X-DISCONTINUITY');
  const saysTime = !isBreak && Math.abs(programAtMs) <= MAX_DATE_MS;
  const time = saysTime ? `#EXT-X-PROGRAM-DATE-TIME:${new Date(programAtMs).toISOString()}` : '';
  const numbers = [`#EXT-X-MEDIA-SEQUENCE:${sequence + cut}`, `#EXT-X-DISCONTINUITY-SEQUENCE:${discontinuities}`];
  return [...whole, ...numbers, key, init, time, ...tail].filter((line) => line !== '').join('\n');
}

/** The first variants. A ladder has some ten of them. */
function keepVariants(lines: readonly string[]): readonly string[] {
  let left = MAX_VARIANTS;
  const end = lines.findIndex((line) => isAddress(line) && --left === 0);
  return (end < 0 ? lines : lines.slice(0, end + 1)).slice(0, MAX_LINES);
}
