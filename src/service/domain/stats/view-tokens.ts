/**
 * Creates the tokens for reading statistics and previews from pods, from the key in the operator's Secret. Without a key (an older
 * operator) there are no tokens, and pods of that release require none.
 */
import { viewToken } from '../../../core/resources/stream/view-token.ts';

/** Shortest interval between two reads of the key. */
const AGAIN_MS = 10_000;

export type ViewTokens = ReturnType<typeof createViewTokens>;

/** `readKey` resolves to undefined if there is no key. */
export function createViewTokens(readKey: () => Promise<string | undefined>) {
  let key: Promise<string | undefined> | undefined;
  let readAt = Number.NEGATIVE_INFINITY;

  const read = (): Promise<string | undefined> => {
    readAt = performance.now();
    key = readKey().catch(() => undefined);
    return key;
  };
  const isOld = (): boolean => performance.now() - readAt >= AGAIN_MS;
  const buildToken = (found: string | undefined, uid: string) =>
    found === undefined ? undefined : viewToken(found, uid);

  return {
    async find(streamUid: string): Promise<string | undefined> {
      const found = await (key ?? read());
      return buildToken(found ?? (isOld() ? await read() : undefined), streamUid);
    },
    /** Works as `find`, with the key read again. */
    async findAnew(streamUid: string): Promise<string | undefined> {
      return buildToken(await (isOld() ? read() : key), streamUid);
    },
  };
}
