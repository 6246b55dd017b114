/** A few at a time: enough that the way to a server is not what is waited for, few enough that it is not all its work. */
const AT_ONCE = 16;

/**
 * Does the work for each of the items, also where it fails for some of them: rejects at the end then, with the first error.
 * Begins no more when the signal is aborted, and rejects with its reason.
 */
export async function eachOf<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
  signal: AbortSignal,
  atOnce = AT_ONCE,
): Promise<void> {
  let next = 0;
  let failed: { error: unknown } | undefined;
  const worker = async () => {
    while (next < items.length && !signal.aborted) {
      const item = items[next++] as T;
      try {
        await work(item);
      } catch (error) {
        failed ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  signal.throwIfAborted();
  if (failed) throw failed.error;
}
