/**
 * Measures one account's effect on another (`make bench-fairness`): the time from a link to a live stream, alone and during an attack by
 * another account without credit. The table is printed and appended to RESULTS.md.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { sleep } from '../../src/core/lib/clock.ts';
import { makeClip } from '../kit/make/media.ts';
import { run } from '../kit/run.ts';
import { startSystem } from '../kit/system/system.ts';
import { type Call, makeAccount } from './fairness/account.ts';
import { attack } from './fairness/attack.ts';
import { serveFiles } from './prepare/files.ts';
import { circumstances, median, readVersion, report, whole } from './report.ts';

const BAR = 1.5;
/** The limit of the whole run. */
const LONGEST_MS = 540_000;
const HELP = `Usage: node test/bench/fairness.ts [options]

  --times N      imports and starts of each kind (5)
  --no-record    print the table, leave RESULTS.md as it is
  --help         this text

Needs the bundled roles (make setup). Takes about four minutes, and ends after nine.
`;
const { values } = parseArgs({
  options: {
    times: { type: 'string', default: '5' },
    'no-record': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const say = (text: string): void => void process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** Makes 1001 pictures, each 100,000 s after the one before: a megabyte that claims to last for three years. */
async function makeBomb(path: string): Promise<void> {
  const picture = 'color=size=64x64:rate=1';
  const slow = ['-vf', 'setpts=PTS*100000', '-fps_mode', 'passthrough', '-frames:v', '1001'];
  await run('ffmpeg', [
    ...['-v', 'error', '-y', '-f', 'lavfi', '-i', picture, ...slow],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-video_track_timescale', '1', path],
  ]);
}

/** Goes from a link to a live stream, and deletes all of it; returns milliseconds. */
async function goLive(call: Call, mediaUrl: string, rtmpUrl: string, signal: AbortSignal): Promise<number> {
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await call(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const until = async (what: string, check: () => Promise<boolean>) => {
    while (!(await check())) {
      if (signal.aborted) throw new Error(`not in time: ${what}`);
      await sleep(150);
    }
  };
  const began = performance.now();
  const { objectID } = await ask('POST', '/uploads/from-link', { type: 'VIDEO', url: mediaUrl });
  const rtmpKey = randomBytes(9).toString('hex');
  const { id: destinationID } = await ask('POST', '/destinations', { name: 'mine', rtmpUrl, rtmpKey });
  const wish = { name: 'mine', quality: 'q_720p', framerate: 'f_30', destinationID, videoUploadObjectID: objectID };
  const { id } = await ask('POST', '/streams', wish);
  await until('it is ready', async () => (await ask('GET', `/streams/${id}/readiness`)).ready);
  await ask('POST', `/streams/${id}/start`);
  await until('it is live', async () => (await ask('GET', `/streams/${id}`)).status === 'live');
  const took = performance.now() - began;
  await ask('DELETE', `/streams/${id}`);
  await until('it is gone', async () => (await call('GET', `/streams/${id}`)).status === 404);
  await ask('DELETE', `/destinations/${destinationID}`);
  await ask('DELETE', `/uploads/${objectID}`);
  return took;
}

async function main(): Promise<void> {
  if (values.help) return void process.stdout.write(HELP);
  const signal = AbortSignal.timeout(LONGEST_MS);
  const about = circumstances([readVersion.ffmpeg()]);
  await using started = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), 'loopstream-fairness-'));
  started.defer(() => rm(dir, { recursive: true, force: true }));
  await makeBomb(join(dir, 'bomb.mp4'));
  const files = await serveFiles(dir);
  started.defer(files.close);
  say('the system starts');
  const system = await startSystem(['--no-demo']);
  started.defer(() => system.close());
  const victim = await makeAccount(system, { credit: true });
  const times = whole(values.times);
  const measure = async (what: string, count = times): Promise<number[]> => {
    const took: number[] = [];
    for (let n = 0; n < count; n++) {
      // Each run has media of its own: an existing rendition is not prepared again.
      const name = `${what}-${n}.mp4`;
      await makeClip(join(dir, name), { seconds: 5, hertz: 300 + Math.floor(Math.random() * 1000) });
      took.push(await goLive(victim, `${files.url}/${name}`, system.facts.rtmpUrl, signal));
      say(`${what}: live after ${seconds(took.at(-1) ?? 0)}`);
    }
    return took;
  };
  await measure('warm', 1);
  const alone = median(await measure('alone'));
  const mallory = await makeAccount(system, { credit: false });
  const attacked = await attack(mallory, `${files.url}/bomb.mp4`);
  started.defer(() => attacked.stop());
  say(`the attack is under way: ${JSON.stringify(Object.fromEntries(attacked.answers))}`);
  const beside = median(await measure('attacked'));
  say(`its answers: ${JSON.stringify(Object.fromEntries(attacked.answers))}`);
  const ratio = beside / alone;
  const row = {
    what: `from a link to a live stream, median of ${times}, while another account attacks`,
    ours: seconds(beside),
    peer: 'the same alone',
    beside: seconds(alone),
    result: `${ratio.toFixed(2)}×`,
    bar: `≤ ${BAR}×`,
  };
  report(about, [row], !values['no-record']);
  if (ratio > BAR) process.exitCode = 1;
}

await main();
