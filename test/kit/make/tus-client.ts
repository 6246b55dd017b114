/**
 * A stock tus client as a process of its own, to be killed: sends the file and remembers in another file where to, as
 * clients do. At the given part of the way it is killed by SIGKILL. Standard output has the offset at which it began.
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import * as tus from 'tus-js-client';

// Its types leave out what it has for Node alone.
const { FileUrlStorage } = tus as typeof tus & { FileUrlStorage: new (path: string) => tus.UrlStorage };

export interface Sending {
  endpoint: string;
  apiKey: string;
  path: string;
  /** Where the client keeps what it has begun. */
  memory: string;
  metadata?: Record<string, string>;
  onProgress?: (part: number) => void;
}

interface Sent {
  /** The upload's URL. */
  url: string;
  /** What the server had at the beginning of this sending, and after each break in it. */
  offsets: number[];
}

/** Sends the file, from where it broke off if it was begun before; tries again for as long as a server takes to restart. */
export async function send({ endpoint, apiKey, path, memory, metadata = {}, onProgress }: Sending): Promise<Sent> {
  const offsets: number[] = [];
  const { size } = await stat(path);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const upload = new tus.Upload(createReadStream(path), {
    endpoint,
    uploadSize: size,
    headers: { 'X-API-Key': apiKey },
    metadata: { type: 'VIDEO', filename: 'my film.mp4', ...metadata },
    urlStorage: new FileUrlStorage(memory),
    fingerprint: async () => path,
    retryDelays: Array.from({ length: 600 }, () => 200),
    onProgress: (sent) => onProgress?.(sent / size),
    onAfterResponse: (request, response) => {
      if (request.getMethod() === 'HEAD') offsets.push(Number(response.getHeader('Upload-Offset')));
    },
    onSuccess: () => resolve(),
    onError: reject,
  });
  const [before] = await upload.findPreviousUploads();
  if (before) upload.resumeFromPreviousUpload(before);
  upload.start();
  await promise;
  return { url: upload.url ?? '', offsets };
}

if (import.meta.main) {
  const [json = '', killAt] = process.argv.slice(2);
  const onProgress = (part: number) => {
    if (part >= Number(killAt)) process.kill(process.pid, 'SIGKILL');
  };
  await send({ ...(JSON.parse(json) as Sending), onProgress });
}
