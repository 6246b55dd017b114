/** Measures a receiver's wait for media: after a start, and after its own absence. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RtmpServer } from '../kit/real/rtmp.ts';
import { firstMedia } from './receiver.ts';
import { median, type Row } from './report.ts';
import { type Media, type Sender, startFfmpeg, startRestartLoop, startStreamer } from './senders.ts';

const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;
const range = (times: number[]): string =>
  `${seconds(median(times))} (${seconds(Math.min(...times))}–${seconds(Math.max(...times))})`;

/** Measures from the start of the process; the two sides alternate. */
export async function measureStart(rtmp: RtmpServer, media: Media, times: number): Promise<Row[]> {
  const ours: number[] = [];
  const bare: number[] = [];
  const timed = async (key: string, start: () => Promise<Sender>): Promise<number> => {
    const from = performance.now();
    const sender = await start();
    const before = performance.now() - from;
    const waited = await firstMedia(rtmp, key);
    await sender.stop();
    // `before` includes writing the pod's files, which Kubernetes does before the process starts: under 5 ms.
    return before + waited;
  };
  for (let i = 0; i < times; i++) {
    ours.push(await timed(`start-ours${i}`, () => startStreamer(media, rtmp.url, `start-ours${i}`)));
    const file = media.files[0] ?? '';
    bare.push(await timed(`start-bare${i}`, async () => startFfmpeg(file, rtmp.url, `start-bare${i}`)));
  }
  return [
    {
      what: 'start of the process → first media',
      ours: range(ours),
      peer: range(bare),
      beside: 'ffmpeg -stream_loop',
      result: `${seconds(median(ours) - median(bare))} more`,
      bar: '≤ 1 s more',
    },
  ];
}

/** Stops the receiver for some seconds, each time a little longer, and starts it again. */
export async function measureReturn(rtmp: RtmpServer, media: Media, times: number): Promise<Row[]> {
  const ours: number[] = [];
  const loop: number[] = [];
  const senders = [
    await startStreamer(media, rtmp.url, 'back-ours'),
    startRestartLoop(media.files[0] ?? '', rtmp.url, 'back-loop'),
  ];
  try {
    await Promise.all([firstMedia(rtmp, 'back-ours'), firstMedia(rtmp, 'back-loop')]);
    for (let i = 0; i < times; i++) {
      const known = await Promise.all(['back-ours', 'back-loop'].map(async (k) => (await rtmp.recordings(k)).length));
      await rtmp.stop();
      await sleep(3000 + 370 * i);
      await rtmp.start();
      const waits = [firstMedia(rtmp, 'back-ours', known[0]), firstMedia(rtmp, 'back-loop', known[1])] as const;
      const [a, b] = await Promise.all(waits);
      ours.push(a);
      loop.push(b);
      // A publish that lasts a second more is settled; the names of recordings count whole seconds.
      await sleep(2000);
    }
  } finally {
    await Promise.all(senders.map((sender) => sender.stop()));
  }
  return [
    {
      what: 'receiver is back → media',
      ours: range(ours),
      peer: range(loop),
      beside: 'ffmpeg in a restart loop, sleep 1',
      result: Math.max(...ours) <= 2000 ? 'holds' : 'misses',
      bar: '≤ 2 s',
    },
  ];
}
