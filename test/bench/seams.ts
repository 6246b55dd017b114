/**
 * Measures a receiver's view of seams: three clips of different length, and the alternatives without us, all at the same time. Halfway ours
 * gets another version of its list, for which the peers would need a restart.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { computeSteps, readPackets } from '../kit/make/streamer.ts';
import type { RtmpServer } from '../kit/real/rtmp.ts';
import type { Row } from './report.ts';
import { type Media, startConcat, startFfmpeg, startLiquidsoap, startStreamer } from './senders.ts';

async function inspectRecording(rtmp: RtmpServer, key: string) {
  const paths = await rtmp.recordings(key);
  const path = paths.at(-1);
  if (path === undefined || paths.length > 1) throw new Error(`${key}: ${paths.length} recordings, not one`);
  const packets = await readPackets(path);
  const video = computeSteps(packets, 'video');
  const audio = computeSteps(packets, 'audio');
  return {
    notIncreasing: video.notIncreasing + audio.notIncreasing,
    videoMs: video.longestMs,
    audioMs: audio.longestMs,
  };
}

export async function measureSeams(rtmp: RtmpServer, media: Media, seconds: number): Promise<Row[]> {
  const streamer = await startStreamer(media, rtmp.url, 'seam-ours');
  const senders = [
    streamer,
    startFfmpeg(media.files[0] ?? '', rtmp.url, 'seam-loop'),
    await startConcat(media, rtmp.url, 'seam-concat'),
    await startLiquidsoap(media, rtmp.url, 'seam-liquidsoap'),
  ];
  await sleep(seconds * 500);
  await streamer.publish(media.items.toReversed(), 2);
  await sleep(seconds * 500);
  await Promise.all(senders.map((sender) => sender.stop()));
  const ours = await inspectRecording(rtmp, 'seam-ours');
  const peers = {
    '-stream_loop, one clip': 'seam-loop',
    'concat demuxer, three clips': 'seam-concat',
    'liquidsoap, three clips': 'seam-liquidsoap',
  };
  const rows: Row[] = [];
  for (const [beside, key] of Object.entries(peers)) {
    const peer = await inspectRecording(rtmp, key);
    const row = (what: string, key: keyof typeof ours, unit: string, bar: number, shown: string): Row => ({
      what: `${what}, ${seconds} s`,
      ours: `${ours[key]}${unit}`,
      peer: `${peer[key]}${unit}`,
      beside,
      result: ours[key] <= bar ? 'holds' : 'misses',
      bar: shown,
    });
    rows.push(
      row('timestamps that do not increase', 'notIncreasing', '', 0, '0'),
      row('largest video step', 'videoMs', ' ms', 1000 / 30 + 1, '≤ 34.3 ms'),
      row('largest audio step', 'audioMs', ' ms', 1024 / 48 + 1, '≤ 22.3 ms'),
    );
  }
  return rows;
}
