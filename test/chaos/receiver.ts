/**
 * Where the streams are sent to: nginx, which records what it gets, and before it a tap for each stream, which notes when media
 * came. Both know nothing of how the service counts.
 */
import { packetsOf } from '../support/media.ts';
import { startRtmpServer } from '../support/rtmp.ts';
import { startTap, type Tap } from '../support/tap.ts';

export interface Receiver {
  tap(): Promise<Tap>;
  /** Seconds of media by the timestamps of what was recorded, of all recordings of the key; a part that was torn off may be left out. */
  mediaSeconds(key: string): Promise<number>;
  close(): Promise<void>;
}

export async function startReceiver(dir: string): Promise<Receiver> {
  const server = await startRtmpServer({ record: dir });
  const taps: Tap[] = [];
  return {
    async tap() {
      const tap = await startTap(server.port);
      taps.push(tap);
      return tap;
    },
    async mediaSeconds(key) {
      const files = await server.recordings(key);
      let seconds = 0;
      for (const file of files) {
        const { dts } = await packetsOf(file, 'v').catch(() => ({ dts: [] as number[] }));
        if (dts.length > 1) seconds += (dts.at(-1) ?? 0) - (dts[0] ?? 0);
      }
      return seconds;
    },
    async close() {
      for (const tap of taps) tap.close();
      await server.close();
    },
  };
}
