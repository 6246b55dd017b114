/** Waits for conditions. */

/** Returns a delay between two checks. It grows from 20 to 200 ms: quick conditions are seen early, slow ones cost little. */
export function patience(): () => Promise<void> {
  let ms = 20;
  return async () => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    ms = Math.min(200, ms * 1.2);
  };
}

/** Multiplies each time limit. A limit only ends what would never end, and the machine may be slow and run other tests too. */
export const PATIENCE = 5;

/** Polls `check` until it returns something that is not false or undefined; rejects after `timeoutMs` times PATIENCE. */
export async function until<T>(
  what: string,
  check: () => T | false | undefined | Promise<T | false | undefined>,
  timeoutMs = 20_000,
): Promise<T> {
  const end = performance.now() + timeoutMs * PATIENCE;
  const wait = patience();
  for (;;) {
    const value = await check();
    if (value !== false && value !== undefined) return value;
    if (performance.now() > end) throw new Error(`not within ${timeoutMs * PATIENCE} ms: ${what}`);
    await wait();
  }
}
