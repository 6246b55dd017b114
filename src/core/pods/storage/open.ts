/** Opens the storage that a URL of the configuration names. */
import { fileURLToPath } from 'node:url';
import { DirectoryStorage } from './directory.ts';
import { parseS3Url } from './s3-url.ts';
import type { Storage, StorageOptions } from './storage.ts';

/**
 * `url` is `file:///absolute/path`, or `s3://bucket/prefix?endpoint=…&region=…&forcePathStyle=…`. Rejects with a
 * TypeError, in one sentence, for anything else. Makes no request yet.
 */
export async function openStorage(url: string, options: StorageOptions = {}): Promise<Storage> {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol === 's3:') {
    const address = parseS3Url(parsed);
    // The SDK is large: a process whose media is in a directory never loads it.
    const { S3Storage } = await import('./s3.ts');
    return new S3Storage(address, options);
  }
  if (parsed?.protocol !== 'file:' || parsed.host !== '') {
    const found = parsed?.protocol ?? 'text without a scheme';
    throw new TypeError(`The storage URL must look like file:///path or s3://bucket/prefix, not ${found}.`);
  }
  return new DirectoryStorage(fileURLToPath(parsed));
}
