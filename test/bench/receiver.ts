/** Detects media at the receiver: its recording has grown beyond a file header and metadata. */
import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RtmpServer } from '../kit/real/rtmp.ts';

const METADATA_BYTES = 2000;
const LOOK_MS = 5;
const TIMEOUT_MS = 30_000;

/**
 * Returns milliseconds from now until media of this key is in a recording that is not among the first `known`. Rejects when the signal
 * aborts, after half a minute by default.
 */
export async function firstMedia(
  rtmp: RtmpServer,
  key: string,
  known = 0,
  signal = AbortSignal.timeout(TIMEOUT_MS),
): Promise<number> {
  const from = performance.now();
  while (!signal.aborted) {
    for (const path of (await rtmp.recordings(key)).slice(known))
      if ((await stat(path)).size > METADATA_BYTES) return performance.now() - from;
    await sleep(LOOK_MS);
  }
  throw new Error(`no media of ${key}`, { cause: signal.reason });
}
