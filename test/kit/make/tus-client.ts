/**
 * Runs a stock tus client as a process of its own, to be killed. It sends the file and stores the upload's URL in another file, as clients
 * do. At the given share of the file it kills itself with SIGKILL. Standard output has its first offset.
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import * as tus from 'tus-js-client';

// The types leave out the parts for Node.
const { FileUrlStorage } = tus as typeof tus & { FileUrlStorage: new (path: string) => tus.UrlStorage };

export interface Sending {
  endpoint: string;
  apiKey: string;
  path: string;
  /** The file with the client's unfinished uploads. */
  memory: string;
  metadata?: Record<string, string>;
  onProgress?: (part: number) => void;
}

interface Sent {
  /** The upload's URL. */
  url: string;
  /** The server's offsets at the start of this transfer, and after each interruption. */
  offsets: number[];
}

/** Sends the file, resuming an unfinished upload; retries for as long as a server takes to restart. */
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
