/** Tests the sounds of uploads: how loud they are and how high their peaks, by decoding what the Job has made, and where they lie. */
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { parseSummary } from '../../../src/core/pods/prepare/transcode/measure-sound.ts';
import { ffmpeg, media, room } from '../../kit/make/prepare.ts';
import { picture, rendition, TONE } from '../../kit/make/rendition.ts';

type Room = Awaited<ReturnType<typeof room>>;

const PROFILE = 'sound-14-1-6';
const TARGET_LUFS = -14;
const MAX_PEAK_DB = -1;
/** Samples of an AAC frame. */
const FRAME = 1024;

/** Makes the sound of a file, and measures it as a receiver does. */
async function soundOf(place: Room, path: string, type: 'video' | 'audio' = 'audio', profile = PROFILE) {
  const made = await rendition(place, path, type, profile);
  const meter = ['-af', 'ebur128=peak=true:framelog=verbose', '-f', 'null', '-'];
  const { stderr } = await ffmpeg('-v', 'info', '-i', made.file, ...meter);
  return { ...made, heard: parseSummary(stderr), loudness: made.index.loudness };
}

/** Decodes the left side of a file's sound to samples of 48 kHz. */
async function samplesOf(place: Room, file: string): Promise<Float32Array> {
  const raw = place.path(`${Math.random()}.raw`);
  await ffmpeg('-i', file, '-map', '0:a', '-af', 'pan=mono|c0=c0', '-ar', '48000', '-f', 'f32le', raw);
  const { buffer, byteOffset, byteLength } = await readFile(raw);
  return new Float32Array(buffer.slice(byteOffset, byteOffset + byteLength));
}

const audio = (source: string, ...output: string[]) => ({ audio: source, output });
const noise = (level: number, seconds = 4) => `anoisesrc=c=pink:r=48000:d=${seconds}:a=${level}:seed=7`;
/** Struck strings that die away: loud for a moment, and quiet as a whole. */
const PIANO = "aevalsrc='0.09*exp(-3*mod(t,1))*(sin(2*PI*261.6*t)+0.5*sin(2*PI*523.2*t))':s=48000:d=6";
const SQUARE = "aevalsrc='if(lt(mod(t*441,1),0.5),1,-1)':s=48000:d=4";
const FAR = "volume='if(lt(mod(t,4),2),1,0.1)':eval=frame";
const WIDE =
  "aevalsrc='0.5*sin(2*PI*220*t)|0.5*sin(2*PI*330*t)|0.4*sin(2*PI*440*t)|0.2*sin(2*PI*60*t)|0.3*sin(2*PI*550*t)|0.3*sin(2*PI*660*t)':c=5.1:s=48000:d=4";

describe('each item has the wanted loudness, or says what it lacks, and no peak passes the limit', () => {
  const items: [string, string, ReturnType<typeof audio>, string?, string?][] = [
    ['mono', 'in.wav', audio(`${noise(0.7)},aformat=channel_layouts=mono`)],
    ['5.1', 'in.wav', audio(WIDE)],
    ['8 kHz', 'in.wav', audio(noise(1), '-ar', '8000', '-ac', '1')],
    ['a square wave at 0 dB', 'in.wav', audio(SQUARE), 'cut'],
    ['a quiet piano', 'in.flac', audio(PIANO), 'boost'],
    ['silence', 'in.wav', audio('anullsrc=r=48000:cl=stereo,atrim=end=2'), 'silence'],
    ['music that was clipped', 'in.mp3', audio(`${noise(1)},volume=9dB,aformat=sample_fmts=s16`)],
    ['0.3 s', 'in.wav', audio(noise(0.5, 0.3)), 'silence'],
    ['a drum whose peaks are far above its loudness', 'in.wav', audio(drum(4)), 'peak', 'sound-14-1-12'],
    ['two voices of which one is far from the microphone', 'in.wav', audio(`${noise(1, 8)},${FAR}`)],
    ['very loud in floating point', 'in.wav', audio(`${noise(1)},volume=30dB`, '-c:a', 'pcm_f32le'), 'cut'],
  ];
  test.each(items)('%s', async (_what, name, source, limitedBy, profile) => {
    await using place = await room();
    const { heard, loudness } = await soundOf(place, await media(place.path(name), source), 'audio', profile);
    const { integratedLufs, truePeakDb } = loudness ?? {};
    expect({ integratedLufs, truePeakDb }).toEqual({
      integratedLufs: heard.integratedLufs,
      truePeakDb: heard.truePeakDb,
    });
    if (loudness?.limitedBy === undefined)
      expect(Math.abs((heard.integratedLufs ?? 0) - TARGET_LUFS)).toBeLessThanOrEqual(1);
    expect(loudness?.limitedBy).toBe(limitedBy);
    expect(heard.truePeakDb ?? Number.NEGATIVE_INFINITY).toBeLessThanOrEqual(MAX_PEAK_DB);
  });
});

/** Clicks at known times over a quiet tone. */
function drum(seconds: number): string {
  return `aevalsrc='if(lt(mod(t-0.25,0.5),0.003)*gt(t,0.2),0.95*sin(2*PI*2000*t),0.03*sin(2*PI*300*t))':s=44100:d=${seconds}`;
}

describe('the sound of a video lies as in its rendition', () => {
  test.each([
    ['it begins later than the pictures, at 44.1 kHz', 'in.mkv', ['-c:a', 'pcm_s16le', '-af', 'asetpts=PTS+0.7/TB'], 5],
    ['it ends before them', 'in.mkv', ['-c:a', 'flac'], 3],
    ['they begin late, in a transport stream', 'in.ts', ['-muxdelay', '3', '-c:a', 'aac', '-b:a', '256k'], 4],
  ])('%s', async (_what, name, output, seconds) => {
    await using place = await room();
    const source = { video: picture('160x90', 25, 4), audio: drum(seconds), output };
    const path = await media(place.path(name), source);
    const plain = await rendition(place, path);
    const sound = await soundOf(place, path, 'video');
    expect(sound.loudness?.gainDb).not.toBe(0);
    expect(sound.streams).toBe(1);
    expect(Math.abs(sound.audioTimes.length - plain.audioTimes.length)).toBeLessThanOrEqual(1);
    const [one, other] = await Promise.all([plain.file, sound.file].map((file) => samplesOf(place, file)));
    const clicks = findClicks(one ?? new Float32Array());
    expect(clicks.length).toBeGreaterThan(4);
    const shifts = findClicks(other ?? new Float32Array()).map((at, click) => Math.abs(at - (clicks[click] ?? 0)));
    expect(shifts).toHaveLength(clicks.length);
    expect(Math.max(...shifts)).toBeLessThan(FRAME / 8);
  });
});

/** Returns the samples with which clicks begin: the first ones of a quarter of the highest level. */
function findClicks(samples: Float32Array): number[] {
  const loud = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0) / 4;
  const found: number[] = [];
  for (const [at, sample] of samples.entries())
    if (Math.abs(sample) > loud && at - (found.at(-1) ?? -48_000) > 9600) found.push(at);
  return found;
}

test('a video without sound has a sound of silence, which no stream needs', async () => {
  await using place = await room();
  const path = await media(place.path('in.mp4'), { video: picture('160x90', 25, 1) });
  const { index } = await soundOf(place, path, 'video');
  expect(index.loudness).toEqual({ gainDb: 0, limitedBy: 'silence' });
});

test('sound that needs no gain is the sound of the file, bit for bit', async () => {
  await using place = await room();
  const sure = ['-c:a', 'aac', '-b:a', '128k', '-ac', '2', '-ar', '48000'];
  const path = await media(place.path('in.mp4'), {
    video: picture('160x90', 30, 4),
    ...audio(`${noise(0.4)}`, ...sure),
  });
  const loud = (await soundOf(place, path, 'video')).loudness?.sourceLufs ?? 0;
  const { index, file } = await soundOf(place, path, 'video', `sound${Math.round(loud)}-1-6`);
  expect(index.loudness?.gainDb).toBe(0);
  const hash = async (of: string) => {
    const { stdout } = await ffmpeg('-i', of, '-map', '0:a', '-c', 'copy', '-f', 'framehash', '-');
    return stdout
      .split('\n')
      .flatMap((line) => (line === '' || line.startsWith('#') ? [] : [line.split(',').at(-1)?.trim()]));
  };
  const [own, copied] = [await hash(path), await hash(file)];
  expect(copied.length).toBeGreaterThan(180);
  expect(own.join(' ')).toContain(copied.join(' '));
});

test('both of two mono tracks have the gain, each on its side', async () => {
  await using place = await room();
  const path = place.path('in.mov');
  const tones = [220, 880].flatMap((hertz) => ['-f', 'lavfi', '-i', `sine=${hertz}:r=48000:d=2`]);
  const inputs = ['-f', 'lavfi', '-i', picture('160x90', 25, 2), ...tones];
  const maps = ['-map', '0', '-map', '1', '-map', '2', '-c:v', 'mpeg2video', '-c:a', 'pcm_s16le', '-ac', '1'];
  await ffmpeg(...inputs, ...maps, path);
  const { loudness, heard } = await soundOf(place, path, 'video');
  expect(loudness?.gainDb).toBeGreaterThan(0.5);
  expect(loudness?.integratedLufs).toBe(heard.integratedLufs);
  expect(heard.integratedLufs).toBeCloseTo(TARGET_LUFS, 0);
});

test('a sound that was made before is not made again, and has the same measures', async () => {
  await using place = await room();
  const path = await media(place.path('in.wav'), audio(TONE));
  const first = await soundOf(place, path);
  const { loudness } = await soundOf(place, path);
  expect(loudness).toEqual(first.loudness);
});
