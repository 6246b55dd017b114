/**
 * The tokens that pods are shown by whoever asks them for numbers or the preview, made of the key that the operator keeps in a
 * Secret. Without one (an operator of an older release) nothing is shown, and pods of that release ask for nothing.
 */
import { viewToken } from '../../resources/stream/view-token.ts';

/** The key is not asked for more often than this. */
const AGAIN_MS = 10_000;

export type ViewTokens = ReturnType<typeof createViewTokens>;

/** `readKey` resolves to undefined where there is no key. */
export function createViewTokens(readKey: () => Promise<string | undefined>) {
  let key: Promise<string | undefined> | undefined;
  let readAt = Number.NEGATIVE_INFINITY;

  const read = (): Promise<string | undefined> => {
    readAt = performance.now();
    key = readKey().catch(() => undefined);
    return key;
  };
  const isOld = (): boolean => performance.now() - readAt >= AGAIN_MS;
  const tokenOf = (found: string | undefined, uid: string) => (found === undefined ? undefined : viewToken(found, uid));

  return {
    async find(streamUid: string): Promise<string | undefined> {
      const found = await (key ?? read());
      return tokenOf(found ?? (isOld() ? await read() : undefined), streamUid);
    },
    /** As `find`, of the key as it is now. */
    async findAnew(streamUid: string): Promise<string | undefined> {
      return tokenOf(await (isOld() ? read() : key), streamUid);
    },
  };
}
