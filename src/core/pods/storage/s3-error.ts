/** Converts errors of S3 to StorageErrors that say what to do. Pure: no I/O, no clock. */
import { StorageError } from './storage.ts';

const REFUSED = new Set([
  'InvalidAccessKeyId',
  'SignatureDoesNotMatch',
  'InvalidToken',
  'ExpiredToken',
  'InvalidClientTokenId',
  // versitygw's name for an unknown key id.
  'XAdminUserNotFound',
]);
const FULL = new Set(['QuotaExceeded', 'InsufficientStorage', 'XMinioStorageFull', 'InsufficientCapacity']);
const ELSEWHERE = new Set(['PermanentRedirect', 'AuthorizationHeaderMalformed', 'IllegalLocationConstraintException']);
const HTTP_INSUFFICIENT_STORAGE = 507;

interface Answer {
  name: string;
  /** HTTP status; undefined when there was no answer. */
  status: number | undefined;
  /** The system's code without an answer, e.g. ECONNREFUSED. */
  code: string | undefined;
}

/** Reads the common parts of the SDK's errors, whose classes differ from call to call. */
export function readAnswer(error: unknown): Answer {
  const { name, code, $metadata } = (error ?? {}) as { name?: unknown; code?: unknown; $metadata?: unknown };
  const status = ($metadata as { httpStatusCode?: unknown } | undefined)?.httpStatusCode;
  return {
    name: typeof name === 'string' ? name : 'Error',
    status: typeof status === 'number' ? status : undefined,
    code: typeof code === 'string' ? code : undefined,
  };
}

/** Converts an error of the SDK about `bucket`. Aborts and StorageErrors stay as they are. */
export function s3Error(error: unknown, bucket: string): unknown {
  const answer = readAnswer(error);
  if (error instanceof StorageError || answer.name === 'AbortError') return error;
  const { code, message } = explain(answer, bucket);
  // The SDK's error holds the request's headers and, after a wrong signature, the key id. Only its name goes on.
  const { name, status, code: system } = answer;
  const cause = new Error([name, status && `HTTP ${status}`, system].filter(Boolean).join(', '));
  return new StorageError(code, message, cause);
}

/** True if a retry may help: there was no answer, or one of a server in trouble. */
export function mayPass(error: unknown): boolean {
  const { status } = readAnswer(error);
  return status === undefined || status >= 500 || status === 429;
}

function explain({ name, status, code }: Answer, bucket: string): Pick<StorageError, 'code' | 'message'> {
  const unavailable = (message: string) => ({ code: 'unavailable' as const, message });
  if (name === 'NoSuchKey') return { code: 'not_found', message: 'The object does not exist.' };
  if (name === 'NoSuchBucket') return unavailable(`Bucket ${bucket} does not exist in the S3 storage. Create it.`);
  if (FULL.has(name) || status === HTTP_INSUFFICIENT_STORAGE) {
    return { code: 'full', message: 'The S3 storage is full.' };
  }
  if (name === 'CredentialsProviderError') {
    return unavailable(
      'The S3 storage has no credentials. Name a Secret in LOOPSTREAM_STORAGE_SECRET, or set LOOPSTREAM_S3_ACCESS_KEY_ID and LOOPSTREAM_S3_SECRET_ACCESS_KEY.',
    );
  }
  if (REFUSED.has(name) || status === 401) {
    return unavailable('The S3 storage rejected the credentials. Check the access key ID and the secret access key.');
  }
  if (name === 'RequestTimeTooSkewed')
    return unavailable('The clocks of the S3 storage and of this machine differ. Set both clocks.');
  if (ELSEWHERE.has(name) || status === 301) {
    return unavailable(`Bucket ${bucket} is in another region. Correct the region in the storage URL.`);
  }
  // An answer to HEAD has no body, so wrong credentials and missing rights look the same.
  if (status === 403) {
    return unavailable(
      `The S3 storage denies these credentials access to bucket ${bucket}. Check the permissions and the name of the bucket.`,
    );
  }
  if (name === 'PreconditionFailed') return { code: 'changed', message: 'The object was replaced while it was read.' };
  if (status !== undefined) return unavailable(`The S3 storage returned HTTP ${status}.`);
  return unavailable(`The S3 storage cannot be reached${code ? ` (${code})` : ''}.`);
}
