/** Reads the credentials of S3 from two files, which Kubernetes mounts from the keys of a Secret. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type StorageCredentials, StorageError } from './storage.ts';

/** Names of the files, which are the keys of the Secret. */
const FILES = ['accessKeyId', 'secretAccessKey'] as const;
const READS = 3;

async function readBoth(directory: string): Promise<StorageCredentials> {
  const read = async (file: string): Promise<string> => {
    const text = (await readFile(join(directory, file), 'utf8')).trim();
    if (text === '') throw new Error(`${file} is empty`);
    return text;
  };
  try {
    return { accessKeyId: await read(FILES[0]), secretAccessKey: await read(FILES[1]) };
  } catch (error) {
    const message = `The credentials of the S3 storage cannot be read: its Secret needs the keys ${FILES.join(' and ')}.`;
    throw new StorageError('unavailable', message, error);
  }
}

/** Rejects with StorageError `unavailable`. */
export async function readCredentials(directory: string): Promise<StorageCredentials> {
  let found = await readBoth(directory);
  // Kubernetes replaces both files at once, which may happen between the two reads.
  for (let reads = 1; reads < READS; reads++) {
    const again = await readBoth(directory);
    if (again.accessKeyId === found.accessKeyId && again.secretAccessKey === found.secretAccessKey) break;
    found = again;
  }
  return found;
}
