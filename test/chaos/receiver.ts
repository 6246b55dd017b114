/**
 * Receives the streams: nginx records them, and a tap before it for each stream records the times of media. Both are independent of the
 * service's own count.
 */

import { type FarTap, startTaps } from '../kit/fake/tap-process.ts';
import { readTrackPackets } from '../kit/make/media.ts';
import { startRtmpServer } from '../kit/real/rtmp.ts';

export interface Receiver {
  tap(): Promise<FarTap>;
  /** Seconds of media by the timestamps of all recordings of the key; a part that was cut off may be left out. */
  mediaSeconds(key: string): Promise<number>;
  close(): Promise<void>;
}

export async function startReceiver(dir: string): Promise<Receiver> {
  const server = await startRtmpServer({ record: dir });
  const taps = await startTaps();
  return {
    tap: () => taps.open(server.port),
    async mediaSeconds(key) {
      const files = await server.recordings(key);
      let seconds = 0;
      for (const file of files) {
        const { dts } = await readTrackPackets(file, 'v').catch(() => ({ dts: [] as number[] }));
        if (dts.length > 1) seconds += (dts.at(-1) ?? 0) - (dts[0] ?? 0);
      }
      return seconds;
    },
    async close() {
      await taps.close();
      await server.close();
    },
  };
}
