/**
 * Keeps what the operator granted to the first pod of a stream, which has no Secret: that it publishes, and the token of its viewers. The
 * grant holds for as long as the pod is there (operator/stream/first-start.ts), so a restarted container reads it again, whether the
 * operator runs or not.
 */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Grant } from '../../../protocol/grant.ts';
import { PUBLISHER_KEY, VIEW_TOKEN_KEY } from '../../../resources/common/names.ts';

/** Rejects where the directory cannot be written. The publisher comes last: with it, all of the grant is there. */
export async function saveGrant(directory: string, grant: Grant): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  for (const [name, text] of [
    [VIEW_TOKEN_KEY, grant.viewToken],
    [PUBLISHER_KEY, grant.publisher],
  ] as const) {
    const made = join(directory, `${name}.new`);
    await writeFile(made, text, { mode: 0o600 });
    await rename(made, join(directory, name));
  }
}

/** Returns the UID of the pod that the directory names; undefined where it names none. */
export const readGrantedPublisher = (directory: string): Promise<string | undefined> =>
  readFile(join(directory, PUBLISHER_KEY), 'utf8').catch(() => undefined);
