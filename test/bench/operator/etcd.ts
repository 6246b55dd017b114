/** Measures what objects take in etcd, by the JSON gateway of its API: keys and values as they are stored. */
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { json } from 'node:stream/consumers';

export interface EtcdAccess {
  url: string;
  certFile: string;
  keyFile: string;
  caFile: string;
}

/** Keys of one answer: objects of 20 KB make it 10 MB. */
const PAGE = 500;

interface Range {
  kvs?: { key: string; value: string }[];
  more?: boolean;
}

const encode = (text: string): string => Buffer.from(text).toString('base64');
const countBytes = (base64: string): number => Buffer.byteLength(base64, 'base64');

function post<T>({ url, certFile, keyFile, caFile }: EtcdAccess, path: string, body: object): Promise<T> {
  const tls = { cert: readFileSync(certFile), key: readFileSync(keyFile), ca: readFileSync(caFile) };
  return new Promise((resolve, reject) => {
    const call = request(new URL(path, url), { method: 'POST', agent: false, ...tls }, (response) => {
      if (response.statusCode === 200) json(response).then((found) => resolve(found as T), reject);
      else reject(new Error(`etcd answered with status ${response.statusCode}`));
    });
    call.on('error', reject);
    call.end(JSON.stringify(body));
  });
}

/** Returns the bytes of all keys that begin with `prefix`, and of their values. */
export async function sumStoredBytes(etcd: EtcdAccess, prefix: string): Promise<number> {
  // The end of a range of keys is exclusive: the prefix with its last byte raised.
  const end = `${prefix.slice(0, -1)}${String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)}`;
  let bytes = 0;
  for (let from = prefix; ; ) {
    const page = { key: encode(from), range_end: encode(end), limit: PAGE };
    const { kvs = [], more = false } = await post<Range>(etcd, '/v3/kv/range', page);
    for (const { key, value } of kvs) bytes += countBytes(key) + countBytes(value);
    const last = kvs.at(-1);
    if (!more || !last) return bytes;
    from = `${Buffer.from(last.key, 'base64').toString()}\0`;
  }
}

/** Returns the bytes of the database file, with old versions that were not compacted yet. */
export const readDatabaseBytes = async (etcd: EtcdAccess): Promise<number> =>
  Number((await post<{ dbSize: string }>(etcd, '/v3/maintenance/status', {})).dbSize);
