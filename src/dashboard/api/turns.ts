/** Limits how many requests are under way at once. The others wait for their turn, in their order. */

type Turns = <T>(ask: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/** A request whose signal is aborted while it waits is never sent, and rejects with the signal's reason. */
export function createTurns(atOnce: number): Turns {
  let free = atOnce;
  const waiting: (() => void)[] = [];
  return async (ask, signal) => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      signal?.throwIfAborted();
      return await ask();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}
