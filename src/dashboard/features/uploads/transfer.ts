/** One file on its way by the protocol tus (https://tus.io/protocols/resumable-upload), as the stock client speaks it. */
import type { DetailedError, Upload } from 'tus-js-client';
import type { Upload as UploadRecord } from '../../../service/client/index.ts';
import { newKey } from '../../../service/client/send.ts';
import type { Api } from '../../api/api.ts';
import { describeProblem, type FieldMistake } from '../../api/problem.ts';
import { computeFingerprint, parseObjectID, type UnfinishedUploads } from './unfinished.ts';

export interface TransferEvents {
  progress: (bytes: number) => void;
  /** The server knows it, under this id. */
  begun: (objectID: string) => void;
  done: () => void;
  failed: (message: string) => void;
}

export interface FileTransfer {
  pause: () => Promise<void>;
  resume: () => void;
}

/** A connection that is lost is waited for: some minutes, before a person is asked. Milliseconds. */
const RETRY_DELAYS = [500, 1000, 2000, 4000, ...Array.from({ length: 30 }, () => 8000)];

/** No answer, a busy server, or a lock of another request for the same upload; all else is permanent. */
const isPassing = (status: number): boolean => status === 0 || status === 409 || status === 429 || status >= 500;

const readStatus = (error: Error | DetailedError): number | undefined =>
  'originalResponse' in error ? (error.originalResponse?.getStatus() ?? 0) : undefined;

/** The server's reason, if it gave one. */
function describeError(error: Error | DetailedError): string {
  const status = readStatus(error);
  if (status === undefined) return 'The file could not be read. It may have been moved or changed. Choose it again.';
  if (status === 0)
    return 'The connection was lost. The bytes sent so far are kept. Try again when the connection is back.';
  try {
    const body = 'originalResponse' in error ? error.originalResponse?.getBody() : '';
    const { detail, errors } = JSON.parse(body ?? '') as { detail?: unknown; errors?: FieldMistake[] };
    if (typeof detail === 'string') return describeProblem(detail, errors ?? []);
  } catch {
    // No problem document: something between us and the server has answered.
  }
  return 'The server did not accept the file. Try again in a moment.';
}

/** The client is loaded with the first file. A transfer of the same file that broke off goes on. */
export async function beginTransfer(
  api: Api,
  memory: UnfinishedUploads,
  { file, type }: { file: File; type: UploadRecord['type'] },
  events: TransferEvents,
): Promise<FileTransfer> {
  const { Upload: TusUpload } = await import('tus-js-client');
  const { url: endpoint, headers } = api.resumable();
  // Asked again because an answer was lost, the server makes one upload and not two.
  const key = newKey();
  let paused = false;
  const upload: Upload = new TusUpload(file, {
    endpoint,
    headers,
    metadata: { type, filename: file.name },
    retryDelays: RETRY_DELAYS,
    urlStorage: memory,
    fingerprint: async () => computeFingerprint(file),
    removeFingerprintOnSuccess: true,
    onBeforeRequest: (request) => {
      // The client forgets a stop that came before its start: such a request never goes out.
      if (paused) return new Promise<void>(() => undefined);
      if (request.getMethod() === 'POST') request.setHeader('Idempotency-Key', key);
      return undefined;
    },
    onShouldRetry: (error) => isPassing(readStatus(error) ?? 0),
    onUploadUrlAvailable: () => events.begun(parseObjectID(upload.url ?? '')),
    onProgress: events.progress,
    onSuccess: events.done,
    onError: (error) => events.failed(describeError(error)),
  });
  const [before] = await upload.findPreviousUploads();
  if (before) upload.resumeFromPreviousUpload(before);
  upload.start();
  return {
    pause: () => {
      paused = true;
      return upload.abort();
    },
    resume: () => {
      paused = false;
      upload.start();
    },
  };
}
