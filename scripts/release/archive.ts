/** Packs directories into archives whose bytes follow from names, contents and one time alone. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

export interface ArchiveOptions {
  /** Its entries, relative to it, are those of the archive. */
  dir: string;
  file: string;
  /** The time of all files, in seconds since 1970. */
  epoch: number;
  gzip: boolean;
  /** Entries of `dir`; all when left out. */
  names?: readonly string[];
  /** Keeps the permissions of the files. Otherwise everybody may read, and only the owner may write, whatever the umask was. */
  keepsModes?: boolean;
  signal?: AbortSignal | undefined;
}

export interface Digests {
  /** `sha256:…` of the file. */
  digest: string;
  /** Of what is in it before it is compressed. */
  content: string;
  bytes: number;
}

const HOW = [
  '--create',
  '--sort=name',
  '--format=gnu',
  '--hard-dereference',
  '--owner=0',
  '--group=0',
  '--numeric-owner',
];

/** Counts and hashes what goes through. */
function createMeasure() {
  const hash = createHash('sha256');
  let bytes = 0;
  const stream = new PassThrough();
  stream.on('data', (chunk: Buffer) => {
    hash.update(chunk);
    bytes += chunk.length;
  });
  return { stream, read: () => ({ digest: `sha256:${hash.digest('hex')}`, bytes }) };
}

/** Needs GNU tar. Rejects with its complaint. */
export async function writeArchive(options: ArchiveOptions): Promise<Digests> {
  const { dir, file, epoch, gzip, names = ['.'], keepsModes = false, signal } = options;
  const modes = keepsModes ? [] : ['--mode=u+rw,go+r,go-w,a+X'];
  const tar = spawn('tar', [...HOW, ...modes, `--mtime=@${epoch}`, '--directory', dir, '--', ...names], {
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
  });
  let complaint = '';
  tar.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  const ended = new Promise<void>((resolve, reject) => {
    tar.once('error', reject);
    tar.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`tar failed: ${complaint.trim()}`))));
  });
  const [content, packed] = [createMeasure(), createMeasure()];
  const compress: NodeJS.ReadWriteStream = gzip ? createGzip({ level: 6 }) : new PassThrough();
  const streams: [Readable, ...NodeJS.ReadWriteStream[]] = [tar.stdout, content.stream, compress, packed.stream];
  await Promise.all([ended, pipeline([...streams, createWriteStream(file)], { signal })]);
  return { ...packed.read(), content: content.read().digest };
}
