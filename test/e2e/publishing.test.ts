/** Tests that a published version is prepared, and on air when it is ready, on real parts, with an independent receiver. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { problems } from '../../src/service/client/index.ts';
import { reserveFreePort } from '../../tools/process/ports.ts';
import { makeClip, makeTone, readTrackPackets } from '../kit/make/media.ts';
import { readColours, readTones } from '../kit/make/probe.ts';
import { type RtmpServer, startRtmpServer } from '../kit/real/rtmp.ts';
import { type SharedSystem, shareSystem } from '../kit/system/share-system.ts';
import { tempDir } from '../kit/temp-dir.ts';
import { until } from '../kit/wait.ts';

/** Each clip has a tone and a colour of its own. */
const CLIPS = {
  film: { seconds: 3, hertz: 440, colour: 'red' },
  short: { seconds: 2, hertz: 660, colour: 'green' },
  long: { seconds: 20, hertz: 880, colour: 'blue' },
} as const;
const SONG_HERTZ = 1320;
const TONES = [...Object.values(CLIPS).map(({ hertz }) => hertz), SONG_HERTZ];

const dir = tempDir();
let system: SharedSystem;
let receiver: RtmpServer;
let files: ChildProcess;
/** The objectIDs of the uploads. None is prepared for any stream yet. */
const ids = { film: '', short: '', long: '', song: '' };

async function importAll(): Promise<void> {
  const port = await reserveFreePort();
  files = spawn('python3', ['-m', 'http.server', '--bind', '127.0.0.1', '--directory', dir, String(port)], {
    stdio: 'ignore',
  });
  const base = `http://127.0.0.1:${port}`;
  const answers = async () => (await fetch(base).catch(() => undefined))?.ok;
  await until('the media server answers', answers);
  const { uploads } = system.client;
  for (const name of Object.keys(ids) as (keyof typeof ids)[]) {
    const type = name === 'song' ? 'AUDIO' : 'VIDEO';
    ids[name] = (await uploads.fromLink({ type, url: `${base}/${name}.mp4` })).objectID;
  }
  for (const id of Object.values(ids))
    await until(`${id} is imported`, async () => (await uploads.get(id)).state === 'ready', 120_000);
}

beforeAll(async () => {
  receiver = await startRtmpServer({ record: join(dir, 'recordings') });
  for (const [name, clip] of Object.entries(CLIPS))
    await makeClip(join(dir, `${name}.mp4`), { ...clip, size: '320x180', fps: 25 });
  await makeTone(join(dir, 'song.mp4'), { seconds: 2, hertz: SONG_HERTZ });
  system = await shareSystem();
  await importAll();
});

afterAll(async () => {
  await receiver?.close();
  files?.kill();
});

const buildItems = (...names: (keyof typeof ids)[]) => names.map((name) => ({ uploadObjectID: ids[name] }));

type Media = Partial<Record<'playlistIDs' | 'audioPlaylistIDs', string[]>> & { videoUploadObjectID?: string };

/** Makes a stream of this media and puts it on air; its key is the name. */
async function putOnAir(name: string, media: Media): Promise<string> {
  const { destinations, streams } = system.client;
  const { id: destinationID } = await destinations.create({ name, rtmpUrl: receiver.url, rtmpKey: name });
  const { id } = await streams.create({ name, quality: '720p', framerate: 30, destinationID, ...media });
  await until('it is ready', async () => (await streams.readiness(id)).ready, 120_000);
  expect((await streams.start(id, { wait: 60 })).status).toBe('live');
  return id;
}

/** Waits until one of these is on air. */
async function plays(stream: string, ...names: (keyof typeof ids)[]): Promise<void> {
  const wanted = names.map((name) => ids[name]);
  const current = async () => (await system.client.streams.liveStats(stream)).current?.id ?? '';
  await until(`it plays ${names}`, async () => wanted.includes(await current()), 90_000);
}

/** Waits for this many more seconds of it. */
async function goesOn(stream: string, seconds: number): Promise<void> {
  const readFramesSent = async () => (await system.client.streams.liveStats(stream)).framesSent ?? 0;
  const before = await readFramesSent();
  await until(`${seconds} s more`, async () => (await readFramesSent()) >= before + seconds * 30, 90_000);
}

/** Stops the stream and returns the receiver's recording: one publish, in which no time goes back. */
async function stopAndFindRecording(stream: string, name: string): Promise<string> {
  expect((await system.client.streams.stop(stream, { wait: 60 })).status).toBe('stopped');
  await until('the receiver saw it leave', async () => (await receiver.log()).includes(name));
  const [recording = '', ...others] = await receiver.recordings(name);
  expect(others).toEqual([]);
  for (const track of ['v', 'a'] as const) {
    const { dts, notIncreasing } = await readTrackPackets(recording, track);
    expect(dts.length).toBeGreaterThan(0);
    expect(notIncreasing).toBe(0);
  }
  return recording;
}

test('a published version is prepared while the earlier one stays on air, and follows it without a reconnect', async () => {
  const { playlists, uploads } = system.client;
  const list = await playlists.create({ kind: 'video', mode: 'sequential', items: buildItems('film') });
  const stream = await putOnAir('published', { playlistIDs: [list.id] });
  const { version } = await playlists.update(list.id, { version: 1, items: buildItems('short', 'long') });
  const { publication } = await playlists.publish(list.id, { version });
  expect(publication).toMatchObject({ version, state: 'preparing', itemsReady: 0, itemsTotal: 2, progress: 0 });
  // The stream alone refers to its present items now.
  await expect(uploads.delete(ids.film)).rejects.toMatchObject({
    problem: { code: 'upload_in_use', streamIDs: [stream], playlistIDs: [] },
  });
  const progress: number[] = [];
  await until(
    'all of it is prepared',
    async () => {
      const { publication: now } = await playlists.get(list.id);
      if (now.progress !== progress.at(-1)) progress.push(now.progress);
      return now.state === 'ready';
    },
    180_000,
  );
  expect(progress.length).toBeGreaterThan(2);
  expect(progress).toEqual(progress.toSorted((a, b) => a - b));
  expect(progress.at(-1)).toBe(1);
  // The playhead decides which of them comes first.
  await plays(stream, 'short', 'long');
  await goesOn(stream, 2);
  const isDeleted = async () => {
    const error: unknown = await uploads.delete(ids.film).catch((reason: unknown) => reason);
    if (error !== undefined && !(error instanceof problems.UploadInUse)) throw error;
    return error === undefined;
  };
  await until('nothing plays what was before', isDeleted);
  const recording = await stopAndFindRecording(stream, 'published');
  const [before, ...after] = await readTones(recording, TONES);
  expect(before).toBe(CLIPS.film.hertz);
  expect([CLIPS.short.hertz, CLIPS.long.hertz]).toEqual(expect.arrayContaining(after));
  const [first, ...next] = await readColours(recording);
  expect(first).toBe(CLIPS.film.colour);
  expect([CLIPS.short.colour, CLIPS.long.colour]).toEqual(expect.arrayContaining(next));
  expect([after.length, next.length]).not.toContain(0);
});

test('an audio playlist plays over one video and over a video playlist, which alternate without a reconnect', async () => {
  const { playlists, streams } = system.client;
  const songs = await playlists.create({ kind: 'audio', mode: 'sequential', items: buildItems('song') });
  const clips = await playlists.create({ kind: 'video', mode: 'sequential', items: buildItems('long', 'short') });
  const stream = await putOnAir('sung', { videoUploadObjectID: ids.short, audioPlaylistIDs: [songs.id] });
  await goesOn(stream, 3);
  await streams.update(stream, { playlistIDs: [clips.id] });
  await plays(stream, 'long');
  await goesOn(stream, 3);
  const recording = await stopAndFindRecording(stream, 'sung');
  expect(await readTones(recording, TONES)).toEqual([SONG_HERTZ]);
  expect(await readColours(recording)).toEqual([CLIPS.short.colour, CLIPS.long.colour]);
});
