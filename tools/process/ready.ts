/** Waits until a part of the local system serves. Each rejects with the signal's reason once that is aborted. */
import { connect } from 'node:net';
import { sleep } from '../../src/core/lib/clock.ts';

const POLL_MS = 50;
const REQUEST_TIMEOUT_MS = 2_000;

/** Resolves when something accepts connections at 127.0.0.1:port. */
export async function untilListening(port: number, signal: AbortSignal): Promise<void> {
  for (;;) {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const socket = connect(port, '127.0.0.1')
      .once('connect', () => resolve(true))
      .once('error', () => resolve(false));
    const open = await promise;
    socket.destroy();
    if (open) return;
    await sleep(POLL_MS, signal);
  }
}

/** Resolves when a GET of `url` is answered with 200. */
export async function untilOk(url: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    const ok = await fetch(url, { signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) }).then(
      (response) => response.ok,
      () => false,
    );
    if (ok) return;
    await sleep(POLL_MS, signal);
  }
}
