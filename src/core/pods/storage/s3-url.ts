/** Parses the address of a storage in S3. Pure: no I/O, no clock. */
import { trimEndOf } from '../../lib/trim.ts';
import { isStorageKey } from './key.ts';

export interface S3Address {
  bucket: string;
  /** Prefix of every key; empty, or ends with a slash. */
  prefix: string;
  region: string;
  /** URL of a server other than Amazon's. */
  endpoint: string | undefined;
  /** True where the bucket is in the path of the URL, not in the host name. */
  forcePathStyle: boolean;
}

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const PARAMETERS = new Set(['endpoint', 'region', 'forcePathStyle']);

/**
 * Parses `s3://bucket/prefix?endpoint=http://host:9000&region=eu-central-1&forcePathStyle=true`; only the bucket is
 * required. With an endpoint the path style is the default, because few other servers have a host name for each bucket.
 * Throws a TypeError in one sentence that repeats only parameter names of the URL: people write keys into URLs.
 */
export function parseS3Url(url: URL): S3Address {
  if (url.username !== '' || url.password !== '') throw wrong('must not contain credentials');
  if (!BUCKET.test(url.host)) throw wrong('must name a bucket: s3://bucket/prefix');
  const prefix = trimEndOf(url.pathname.replace(/^\/+/, ''), '/');
  if (prefix !== '' && !isStorageKey(prefix)) throw wrong('must have a prefix of the characters A-Z a-z 0-9 . _ - /');
  for (const name of url.searchParams.keys()) {
    if (!PARAMETERS.has(name)) throw wrong(`must have no other parameters than ${[...PARAMETERS].join(', ')}`);
  }
  const endpoint = url.searchParams.get('endpoint') || undefined;
  if (endpoint !== undefined && !isEndpoint(endpoint)) {
    throw wrong('must have an endpoint such as http://host:port');
  }
  const style = url.searchParams.get('forcePathStyle') ?? String(endpoint !== undefined);
  if (style !== 'true' && style !== 'false') throw wrong('must have true or false as forcePathStyle');
  return {
    bucket: url.host,
    prefix: prefix && `${prefix}/`,
    region: url.searchParams.get('region') || 'us-east-1',
    endpoint,
    forcePathStyle: style === 'true',
  };
}

const wrong = (what: string) => new TypeError(`The storage URL ${what}.`);

function isEndpoint(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return (url?.protocol === 'http:' || url?.protocol === 'https:') && url.username === '' && url.password === '';
}
