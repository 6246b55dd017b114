/** Chooses the keeper of the media bytes by the URL that the configuration names. */
import { fileURLToPath } from 'node:url';
import { DirectoryStorage } from './directory.ts';
import type { Storage } from './storage.ts';

/** `url` is `file:///absolute/path`. Throws a TypeError, in one sentence, for anything else. Touches nothing yet. */
export function openStorage(url: string): Storage {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol !== 'file:' || parsed.host !== '') {
    throw new TypeError(`The storage URL must look like file:///path, not ${parsed?.protocol ?? JSON.stringify(url)}.`);
  }
  return new DirectoryStorage(fileURLToPath(parsed));
}
