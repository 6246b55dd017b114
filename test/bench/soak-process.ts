/**
 * Sends a day of media as fast as one ffmpeg reads it: track, splicer, segmenter and queue as in a streamer, without its pace. soak.ts
 * starts it with --expose-gc. Arguments: storage directory, items as JSON, hours. Each hour of media prints a line: hours so far, MiB
 * resident, MiB held (heap and buffers) after a collection.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { systemClock } from '../../src/core/lib/clock.ts';
import { createLogger } from '../../src/core/lib/log.ts';
import { openStorage } from '../../src/core/pods/storage/open.ts';
import { OutputQueue } from '../../src/core/pods/streamer/output/output-queue.ts';
import { type Segment, Segmenter } from '../../src/core/pods/streamer/timeline/segment.ts';
import { Splicer } from '../../src/core/pods/streamer/timeline/splicer.ts';
import { TrackPlayer } from '../../src/core/pods/streamer/tracks/track.ts';
import type { ProgramItem } from '../../src/core/resources/stream/playing.ts';
import { buildProgram } from '../kit/make/streamer.ts';

const MIB = 2 ** 20;
/** A streamer sends this much at once while nobody watches its preview. */
const BATCH_MS = 500;

const [dir = '', list = '[]', hours = '24'] = process.argv.slice(2);
const items = JSON.parse(list) as ProgramItem[];
const untilMs = Number(hours) * 3_600_000;
const { gc } = globalThis;
if (!gc) throw new Error('run it with --expose-gc');

let wake: (() => void) | undefined;
const stop = new AbortController();
const track = new TrackPlayer({
  kind: 'video',
  storage: await openStorage(`file://${dir}`),
  clock: systemClock,
  log: createLogger('soak', 'warn'),
  signal: stop.signal,
  onData: () => wake?.(),
});
const program = buildProgram(items);
await track.load(program, program.video);
const splicer = new Splicer({ video: track.next, delayTicks: track.delayTicks });
const sinkArgs = ['-v', 'error', '-analyzeduration', '300000', '-f', 'flv', '-i', 'pipe:0', '-c', 'copy', '-f', 'flv'];
const ffmpeg = spawn('ffmpeg', [...sinkArgs, '-y', '/dev/null'], { stdio: ['pipe', 'ignore', 'inherit'] });
const queue = new OutputQueue({ profile: program.profile, sink: ffmpeg.stdin });
const segmenter = new Segmenter();
const send = (segment: Segment | undefined) => {
  if (!segment) return;
  queue.offer(segment);
  segment.release();
};

let toldMs = 0;
for (let sentMs = 0, flushedMs = 0; sentMs < untilMs; ) {
  const tag = splicer.step();
  if (!tag) {
    const { promise, resolve } = Promise.withResolvers<void>();
    wake = resolve;
    await promise;
    continue;
  }
  sentMs = tag.timestampMs;
  send(segmenter.add(tag));
  if (sentMs - flushedMs < BATCH_MS) continue;
  flushedMs = sentMs;
  send(segmenter.flush());
  // No media may be dropped: the loop waits for a slow sink.
  if (queue.blocked) await once(ffmpeg.stdin, 'drain');
  if (sentMs - toldMs < 3_600_000) continue;
  toldMs = sentMs;
  // The memory of buffers is freed after the collection that found them dead, and counted by the next.
  for (let i = 0; i < 3; i++) {
    gc();
    await setImmediate();
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  process.stdout.write(`${sentMs / 3_600_000} ${rss / MIB} ${(heapUsed + external) / MIB}\n`);
}
if (queue.dropped > 0) throw new Error(`${queue.dropped} GOPs were left out`);
stop.abort();
track.close();
ffmpeg.stdin.end();
await once(ffmpeg, 'exit');
