/**
 * Reads the URL and the key of a destination. The API server, the operator and the pods that publish all read them here, so that
 * nothing gets past one that another one would refuse.
 * Pure: no I/O, no clock.
 */

import { trimEndOf } from '../../lib/trim.ts';
import { countUtf8Bytes } from '../../lib/utf8.ts';
import { MAX_STREAM_ID_BYTES, readSrtOptions, SRT_OPTIONS } from './srt.ts';

const PROTOCOLS = ['rtmp', 'rtmps', 'srt'] as const;
const DEFAULT_PORTS = { rtmp: 1935, rtmps: 443, srt: 9000 } as const;

export interface Ingest {
  protocol: (typeof PROTOCOLS)[number];
  /** A name in lower-case ASCII (punycode), an IPv4 address of four decimal parts, or an IPv6 address without brackets. */
  host: string;
  port: number;
  /** RTMP: the path as it was written, without slashes at its ends; before a query the last one stays, as OBS sends it. */
  path: string;
  /** RTMP: from the question mark on, as it was written, or empty. */
  query: string;
  /** SRT: names and values for ffmpeg, from the table in srt.ts. */
  options: ReadonlyMap<string, string>;
}

export type IngestResult = { ingest: Ingest; problem?: undefined } | { ingest?: undefined; problem: string };

/** ffmpeg reads a preset in lines of at most 999 bytes, which hold a name as well. */
export const MAX_VALUE_BYTES = 900;
/** RFC 1035 2.3.4, with the underscore that some hosts have all the same. */
const LABEL = '[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?';
const NAME = new RegExp(`^(?=.{1,253}$)${LABEL}(\\.${LABEL})*\\.?$`);
const UNFIT = /[\s"'\\\p{Cc}]/u;

/**
 * The host as it will be connected to. A URL of an unknown scheme keeps its host as it was written, where a C library reads 0x7f.1,
 * 2130706433 and full-width digits as addresses; URLs of http have all those spelled in one way (WHATWG URL, 3.5).
 */
function readHost(opaque: string): string | undefined {
  const host = URL.parse(`http://${opaque}`)?.hostname;
  if (host === undefined) return undefined;
  if (host.startsWith('[')) return host.slice(1, -1);
  return NAME.test(host) ? host : undefined;
}

/** SRT knows no fragment, and its access control begins stream ids with `#!::`, which people paste as it is. */
function withoutFragment(text: string): string {
  const query = text.indexOf('?');
  return query < 0 ? text : text.slice(0, query) + text.slice(query).replaceAll('#', '%23');
}

/** RTMP sends what somebody wrote: a URL parser would encode some of it, and take `..` for a step up. */
function readApplication(text: string): { path: string; query: string } {
  const [, path = '', query = ''] = /^[^:/?#]+:\/*[^/?]*([^?]*)(.*)$/s.exec(text) ?? [];
  const from = path.replace(/^\/+/, '');
  return { path: query === '' ? trimEndOf(from, '/') : from, query };
}

/**
 * Problems are sentences that follow the name of the field and quote nothing but, by `quote`, the name of an option. Credentials
 * inside a URL would end up where URLs may be shown, so they are refused; read.ts takes them out before.
 */
export function readIngest(text: string, quote?: (name: string) => string): IngestResult {
  const url = URL.parse(/^srt:/i.test(text) ? withoutFragment(text) : text);
  if (!url) return { problem: 'must be a URL, such as rtmp://a.rtmp.youtube.com/live2' };
  // Parsing leaves out line breaks and tabs.
  if (UNFIT.test(text) || !text.isWellFormed()) {
    return { problem: 'must not contain spaces, quotes, backslashes or control characters' };
  }
  const protocol = PROTOCOLS.find((name) => url.protocol === `${name}:`);
  if (!protocol) return { problem: 'must begin with rtmp://, rtmps:// or srt://' };
  if (url.username || url.password)
    return { problem: 'must not contain a user name or password; give them as rtmpUser and rtmpPassword' };
  if (!url.hostname) return { problem: 'must name a host' };
  const host = readHost(url.hostname);
  if (host === undefined) return { problem: 'must have a valid DNS name or an IP address as its host' };
  const port = url.port === '' ? DEFAULT_PORTS[protocol] : Number(url.port);
  if (port === 0) return { problem: 'must name a port from 1 to 65535' };
  const shared = { protocol, host, port };
  if (protocol === 'srt') {
    const { options, problem } = readSrtOptions(url.searchParams, quote);
    return problem === undefined ? { ingest: { ...shared, path: '', query: '', options } } : { problem };
  }
  const { path, query } = readApplication(text);
  if (countUtf8Bytes(host + path + query) > MAX_VALUE_BYTES) {
    return { problem: `must have at most ${MAX_VALUE_BYTES} bytes` };
  }
  return { ingest: { ...shared, path, query, options: new Map() } };
}

/** Why a URL cannot be streamed to, or undefined when it can. */
export const findIngestUrlProblem = (text: string, quote?: (name: string) => string): string | undefined =>
  readIngest(text, quote).problem;

/** Stands where a value is that is shown to nobody. */
const HIDDEN = '…';

/**
 * Returns a URL, already parsed without a problem, as it may be shown. Passphrases and stream ids of SRT, the values in
 * a query of RTMP, and a key that ends the path (`key` is empty then) are hidden. Hidden parts cannot be read back.
 */
export function redactUrl(text: string, key = 'k'): string {
  const isSrt = /^srt:/i.test(text);
  const [, start = '', rest] = /^([^?#]*)(?:\?(.*))?/s.exec(isSrt ? withoutFragment(text) : text) ?? [];
  const base = isSrt || key !== '' || rest ? start : start.replace(/^(\w+:\/\/[^/]*\/+[^/]+\/).+$/, `$1${HIDDEN}`);
  if (!rest) return base;
  const pairs = rest
    .replace(/#.*$/s, '')
    .split('&')
    .map((pair) => {
      const [name = '', value] = pair.split(/=(.*)/s);
      if (isSrt && value !== undefined && SRT_OPTIONS.get(decoded(name))?.secret !== true) return pair;
      return value === undefined || value === '' ? (value === undefined ? HIDDEN : pair) : `${name}=${HIDDEN}`;
    });
  return `${base}?${pairs.join('&')}`;
}

/** Decodes a name as a query does: `%70assphrase` is the passphrase too. */
const decoded = (name: string): string => [...new URLSearchParams(`${name}=`).keys()][0] ?? '';

/** Whether it is a URL as it was shown, with values missing. */
export const hasHidden = (text: string): boolean => /…|%E2%80%A6/i.test(text);

/** Why a key cannot be used with a URL of this protocol; undefined when it can, as an empty one can. */
export function findIngestKeyProblem(key: string, protocol: Ingest['protocol']): string | undefined {
  if (UNFIT.test(key) || !key.isWellFormed()) {
    return 'must not contain spaces, quotes, backslashes or control characters';
  }
  const most = protocol === 'srt' ? MAX_STREAM_ID_BYTES : MAX_VALUE_BYTES;
  return countUtf8Bytes(key) > most ? `must have at most ${most} bytes` : undefined;
}
