/** Measures how long a minute of one account waits while another account prepares days of media: link → live, alone and beside them. */
import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { renditionJobName } from '../../../src/core/resources/common/names.ts';
import type { Client } from '../../../src/service/client/index.ts';
import { addAccount } from '../../kit/system/add-account.ts';
import { median, type Row } from '../report.ts';
import { type Clip, makeClip, makeDistinct, makeExport } from './files.ts';
import { goLiveFromLink, gone, judge, type Stage, type Start } from './live.ts';
import { during, formatRange, formatSeconds, run, say } from './run.ts';

const PROFILE = '1080p30';
const HOUR_SECONDS = 3600;
/** The most that an hour of the other account takes. */
export const HOUR_BYTES = 60_000_000;
const BAR_SECONDS = 15;
const MINUTE_SECONDS = 60;

/** Makes a clip with few bytes that must be encoded: it is small, and has one keyframe. */
async function makeSmallClip(dir: string, signal: AbortSignal): Promise<Clip> {
  const clip = { video: join(dir, 'small.mp4'), audio: join(dir, 'small.aac') };
  const quiet = ['-v', 'error', '-nostdin', '-y', '-f', 'lavfi', '-i'];
  const encoder = ['-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-g', '300', '-b:v', '60k'];
  await run('ffmpeg', [...quiet, 'testsrc=s=640x360:r=30:d=10', ...encoder, clip.video], signal);
  const sound = ['-ac', '2', '-c:a', 'aac', '-b:a', '32k', '-frames:a', '3000'];
  await run('ffmpeg', [...quiet, 'sine=440:r=48000:d=64', ...sound, clip.audio], signal);
  return clip;
}

/** Lets an account send so many hours, which a stream plays that is not started, and waits until its places are taken. */
async function sendHours(stage: Stage, client: Client, hours: number, stack: AsyncDisposableStack): Promise<void> {
  const { dir, server, rtmp, timeline, signal } = stage;
  const hour = join(dir, 'hour.mp4');
  await makeExport(await makeSmallClip(dir, signal), hour, { seconds: HOUR_SECONDS, fast: true }, signal);
  const from = performance.now();
  const uploads: string[] = [];
  for (let n = 0; n < hours; n++) {
    const file = `hour-${n}.mp4`;
    await copyFile(hour, join(dir, file));
    await makeDistinct(join(dir, file));
    stack.defer(() => rm(join(dir, file)));
    const { objectID } = await client.uploads.fromLink({ type: 'VIDEO', url: `${server.url}/${file}` });
    stack.defer(() => client.uploads.delete(objectID));
    uploads.push(objectID);
  }
  await rm(hour);
  const items = uploads.map((uploadObjectID) => ({ uploadObjectID }));
  const playlist = await client.playlists.create({ name: 'Days', kind: 'video', mode: 'sequential', items });
  stack.defer(() => client.playlists.delete(playlist.id));
  const destination = await client.destinations.create({ name: 'Days', rtmpUrl: rtmp.url, rtmpKey: 'days' });
  stack.defer(() => client.destinations.delete(destination.id));
  const stream = await client.streams.create({
    name: 'Days',
    quality: 'q_1080p',
    framerate: 'f_30',
    destinationID: destination.id,
    playlistIDs: [playlist.id],
  });
  stack.defer(async () => {
    await client.streams.delete(stream.id);
    await gone(() => client.streams.get(stream.id), signal);
  });
  const countJobs = () => {
    const jobs = uploads.map((upload) => `Pod ${renditionJobName(upload, PROFILE)}`);
    const running = timeline
      .since(from, uploads)
      .filter(({ object, state }) => /^runs$/.test(state) && jobs.some((job) => object.startsWith(job)));
    return new Set(running.map(({ object }) => object)).size;
  };
  // An account has at most half of the places.
  await during(`${hours} hours are sent, and two of them are being prepared`, async () => {
    while (countJobs() < 2) {
      signal.throwIfAborted();
      await sleep(200);
    }
  });
}

/** Puts a minute on air, several times. */
async function putOnAir(stage: Stage, clip: Clip, what: string): Promise<Start[]> {
  const file = join(stage.dir, 'minute.mp4');
  await makeExport(clip, file, { seconds: MINUTE_SECONDS, fast: true }, stage.signal);
  const starts: Start[] = [];
  for (let n = 0; n < stage.times; n++) {
    await makeDistinct(file);
    const start = await goLiveFromLink(stage, file);
    starts.push(start);
    say(`  ${what} ${n + 1} of ${stage.times}: live after ${formatSeconds(start.seconds)} (${start.way})`);
  }
  await rm(file);
  return starts;
}

/** Measures a minute that is copied, or one that must be encoded. */
export async function fairRows(stage: Stage, hours: number, { fits }: { fits: boolean }): Promise<Row[]> {
  await using stack = new AsyncDisposableStack();
  const clip = fits ? stage.clip : await makeClip(stage.dir, stage.signal, { fits });
  const alone = await putOnAir(stage, clip, 'alone');
  const { client } = await addAccount(stage.system);
  await sendHours(stage, client, hours, stack);
  const beside = await putOnAir(stage, clip, `beside ${hours} h`);
  const readSeconds = (starts: readonly Start[]) => starts.map(({ seconds }) => seconds);
  return [
    {
      what: `link → live, a minute (${beside[0]?.way}) beside ${hours} h of another account, median of ${stage.times}`,
      ours: formatRange(readSeconds(beside)),
      peer: formatRange(readSeconds(alone)),
      beside: 'the same minute alone',
      result: judge(median(readSeconds(beside)) - median(readSeconds(alone)), BAR_SECONDS),
      bar: `≤ ${BAR_SECONDS} s more`,
    },
  ];
}
