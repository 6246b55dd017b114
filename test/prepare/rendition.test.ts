import { copyFile, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { makeRendition } from '../../src/prepare/rendition.ts';
import { indexKey } from '../../src/rendition/index.ts';
import { FRAMERATES, profileOf } from '../../src/streams/profile.ts';
import { ffmpeg, media, room } from '../support/prepare.ts';
import { picture, pictureIn, rendition, shopOf, TONE, taskFor } from '../support/rendition.ts';

const DEMO = fileURLToPath(new URL('../../src/local/demo/bigbuckbunny.mp4', import.meta.url));

describe('any source becomes a rendition that keeps its promises', () => {
  const sources: [string, { video: string; audio?: string; output?: string[]; name?: string }, number][] = [
    ['no audio', { video: picture('320x180') }, 30],
    ['5.1 sound at 96 kHz', { video: picture('320x180'), audio: 'anoisesrc=r=96000:d=1,pan=5.1|c0=c0|c1=c0' }, 30],
    ['mono sound', { video: picture('320x180'), audio: `${TONE},aformat=channel_layouts=mono` }, 30],
    [
      'MPEG-4 in AVI with MP3',
      { video: picture('320x180'), audio: TONE, output: ['-c:v', 'mpeg4', '-c:a', 'libmp3lame'], name: 'in.avi' },
      30,
    ],
    [
      'a transport stream that begins late, with sound that begins later',
      {
        video: picture('320x180'),
        audio: 'sine=440:r=48000:d=0.7,adelay=300',
        output: ['-muxdelay', '3'],
        name: 'in.ts',
      },
      30,
    ],
    ['25 frames a second', { video: picture('320x180', 25), audio: TONE }, 30],
    ['23.976 frames a second', { video: picture('320x180', '24000/1001'), audio: TONE }, 30],
    ['50 frames a second', { video: picture('320x180', 50), audio: TONE }, 30],
    [
      'B-frames and open GOPs',
      { video: picture('320x180'), audio: TONE, output: ['-bf', '3', '-x264-params', 'open-gop=1:keyint=12'] },
      30,
    ],
    [
      'HEVC with 10 bits',
      {
        video: picture('320x180'),
        output: ['-c:v', 'libx265', '-pix_fmt', 'yuv420p10le', '-x265-params', 'log-level=none'],
      },
      30,
    ],
    [
      'interlaced MPEG-2 in a transport stream',
      {
        video: picture('720x576', 25),
        audio: TONE,
        output: ['-c:v', 'mpeg2video', '-flags', '+ildct+ilme'],
        name: 'in.ts',
      },
      30,
    ],
    [
      'a start that is not zero',
      { video: picture('320x180'), audio: TONE, output: ['-output_ts_offset', '7.3'], name: 'in.mkv' },
      30,
    ],
    ['a clip of 0.4 s', { video: picture('320x180', 30, 0.4), audio: 'sine=440:d=0.4' }, 12],
  ];
  test.each(sources)('%s', async (_what, { name = 'in.mp4', ...source }, frames) => {
    await using place = await room();
    const made = await rendition(place, await media(place.path(name), source));
    // Rounding to another frame rate may move the end by one frame.
    expect(Math.abs(made.videoTimes.length - frames)).toBeLessThanOrEqual(1);
    expect(made.video).toMatchObject({ width: 1280, height: 720, profile: 'High' });
  });

  test('an odd size keeps its shape between black borders', async () => {
    await using place = await room();
    const made = await rendition(
      place,
      await media(place.path('in.mkv'), { video: 'color=white:s=321x241:r=30:d=0.5' }),
    );
    expect(await pictureIn(made.file)).toEqual([960, 720, 160, 0]);
  });

  test('pixels that are not square are made square', async () => {
    await using place = await room();
    const video = 'color=white:s=720x576:r=30:d=0.5,setsar=16/15';
    const made = await rendition(place, await media(place.path('in.mkv'), { video }));
    expect(await pictureIn(made.file)).toEqual([960, 720, 160, 0]);
  });

  test('a phone’s portrait video stands upright', async () => {
    await using place = await room();
    const flat = await media(place.path('flat.mp4'), { video: 'color=white:s=640x360:r=30:d=0.5' });
    const turned = place.path('turned.mp4');
    await ffmpeg('-i', flat, '-c', 'copy', '-metadata:s:v:0', 'rotate=90', turned);
    const made = await rendition(place, turned);
    expect(await pictureIn(made.file)).toEqual([404, 720, 438, 0]);
  });

  test('sound and pictures stay together to the millisecond', async () => {
    await using place = await room();
    const moment = (yes: string, no: string) => `'if(between(t,1,1.2),${yes},${no})'`;
    const source = await media(place.path('in.mov'), {
      video: "color=black:s=640x360:r=30:d=1.5,drawbox=t=fill:c=white:enable='between(t,1,1.2)'",
      audio: `aevalsrc=${moment('sin(2*PI*1000*t)', '0')}:s=44100:d=1.5`,
      output: ['-c:a', 'pcm_s16le'],
    });
    const { file } = await rendition(place, source);
    const { stdout: levels } = await ffmpeg('-i', file, '-vf', 'signalstats,metadata=print:file=-', '-f', 'null', '-');
    const frames = levels.split('frame:').slice(1);
    const bright = frames.find((frame) => Number(/YAVG=(\S+)/.exec(frame)?.[1]) > 100) ?? '';
    expect(Number(/pts_time:(\S+)/.exec(bright)?.[1])).toBeCloseTo(1, 2);
    const silence = 'silencedetect=n=-30dB:d=0.1,ametadata=print:file=-';
    const { stdout: sound } = await ffmpeg('-i', file, '-af', silence, '-f', 'null', '-');
    expect(Number(/silence_end=(\S+)/.exec(sound)?.[1])).toBeCloseTo(1, 2);
  });

  test('the demo clip, 25 frames a second and 5.1, becomes 720p30', async () => {
    await using place = await room();
    const made = await rendition(place, DEMO);
    expect(made.videoTimes).toHaveLength(158);
    expect(made.index.durationSeconds).toBeCloseTo(5.28, 1);
  });
});

// Each quality and each frame rate, not all with all: what an encoder is told of both is a bitrate (plan.test.ts), and nine times
// as many pixels cost it nine times as much.
test.each([
  ...FRAMERATES.map((framerate) => ['720p', framerate] as const),
  ['1080p', 60] as const,
  ['1440p', 30] as const,
  ['2160p', 24] as const,
])(
  '%s in %d frames a second, over a GOP and more',
  async (quality, framerate) => {
    await using place = await room();
    // Pictures that stand still are encoded soon.
    const source = await media(place.path('in.mp4'), {
      video: 'smptebars=s=320x180:r=25:d=2.2',
      audio: 'sine=440:d=2.2',
    });
    const made = await rendition(place, source, 'video', profileOf(quality, framerate));
    expect(made.keyframes).toEqual([0, 2 * framerate]);
    expect(Math.abs(made.videoTimes.length - 2.2 * framerate)).toBeLessThanOrEqual(1);
    expect(made.video.profile).toBe('High');
  },
  120_000,
);

describe('sound alone', () => {
  test.each([
    [
      'MP3 with cover art',
      'in.mp3',
      ['-map', '1:a', '-map', '0:v', '-frames:v', '1', '-c:v', 'mjpeg', '-disposition:v', 'attached_pic'],
    ],
    ['mono FLAC', 'in.flac', ['-map', '1:a', '-ac', '1']],
    ['Opus', 'in.ogg', ['-map', '1:a', '-c:a', 'libopus']],
    ['the sound of a video', 'in.mp4', []],
  ])('%s becomes an audio rendition', async (_what, name, output) => {
    await using place = await room();
    const source = await media(place.path(name), { video: picture('320x180'), audio: TONE, output });
    const made = await rendition(place, source, 'audio');
    expect(made.video).toBeUndefined();
    expect(made.index.video).toBeUndefined();
    expect(made.index.durationSeconds).toBeCloseTo(1, 1);
  });

  test('cover art does not make a video of it', async () => {
    await using place = await room();
    const output = ['-map', '1:a', '-map', '0:v', '-frames:v', '1', '-c:v', 'mjpeg', '-disposition:v', 'attached_pic'];
    const source = await media(place.path('in.mp3'), { video: picture('320x180'), audio: TONE, output });
    await expect(rendition(place, source, 'video')).rejects.toMatchObject({ code: 'media_has_no_video' });
  });
});

describe('a rendition is made once', () => {
  const fitting = ['-profile:v', 'main', '-pix_fmt', 'yuv420p', '-bf', '0', '-g', '60', '-sc_threshold', '0'];

  test('a source that fits is copied picture by picture', async () => {
    await using place = await room();
    const output = [...fitting, '-b:v', '2M', '-maxrate', '2M', '-bufsize', '4M', '-ac', '2'];
    const source = await media(place.path('in.mp4'), {
      video: picture('1280x720', 30, 2.5),
      audio: 'sine=440:r=48000:d=2.5',
      output,
    });
    const made = await rendition(place, source);
    expect(made.video.profile).not.toBe('High');
    const hashes = async (path: string) =>
      (
        await ffmpeg('-i', path, '-map', '0:v', '-c', 'copy', '-bsf:v', 'h264_mp4toannexb', '-f', 'framehash', '-')
      ).stdout.match(/\b[0-9a-f]{64}\b/g);
    expect(await hashes(made.file)).toEqual(await hashes(source));
  });

  test('it is read once: its header is believed, and what comes out is proven', async () => {
    await using place = await room();
    const output = [...fitting, '-b:v', '2M', '-maxrate', '2M', '-bufsize', '4M', '-ac', '2'];
    const sound = 'sine=440:r=48000:d=2.6';
    const source = await media(place.path('in.mp4'), { video: picture('1280x720', 30, 2.5), audio: sound, output });
    await mkdir(place.path('media/sources'), { recursive: true });
    await copyFile(source, place.path('media/sources/x'));
    const ffprobe = place.path('ffprobe');
    await writeFile(ffprobe, `#!/bin/sh\necho asked >> '${place.path('asked')}'\nexec ffprobe "$@"\n`, { mode: 0o755 });
    const shop = { ...shopOf(place), tools: { ffmpeg: 'ffmpeg', ffprobe } };
    expect(await makeRendition(taskFor('video', '720p30'), shop)).toMatchObject({ durationSeconds: 2.5 });
    expect(await readFile(place.path('asked'), 'utf8')).toBe('asked\n');
  });

  test('one whose keyframes are elsewhere is encoded', async () => {
    await using place = await room();
    const output = [...fitting, '-g', '50', '-b:v', '2M'];
    const made = await rendition(
      place,
      await media(place.path('in.mp4'), { video: picture('1280x720', 30, 2.5), output }),
    );
    expect(made.video.profile).toBe('High');
  });

  test('the second time it is only looked up, and a missing index makes it anew', async () => {
    await using place = await room();
    const { file } = await rendition(place, await media(place.path('in.mp4'), { video: picture('320x180', 30, 0.5) }));
    const task = taskFor('video', '720p30');
    const first = await stat(file);
    await place.storage.delete('sources/x');
    expect(await makeRendition(task, shopOf(place))).toMatchObject({ state: 'ready' });
    expect((await stat(file)).ino).toBe(first.ino);
    await place.storage.delete(indexKey(task.renditionKey));
    await expect(makeRendition(task, shopOf(place))).rejects.toMatchObject({ code: 'not_found' });
  });

  test('stopping it in the middle leaves nothing', async () => {
    await using place = await room();
    await mkdir(join(place.dir, 'media', 'sources'), { recursive: true });
    await media(place.path('media/sources/x.mp4'), { video: picture('320x180', 30, 20) });
    const stop = new AbortController();
    const task = { ...taskFor('video', '720p60'), sourceKey: 'sources/x.mp4' };
    const shop = { ...shopOf(place, stop.signal), onProgress: () => stop.abort(new Error('SIGTERM')) };
    await expect(makeRendition(task, shop)).rejects.toThrow('SIGTERM');
    expect(await readdir(join(place.dir, 'media', '.tmp'))).toEqual([]);
    expect(await place.storage.head(task.renditionKey)).toBeUndefined();
  });
});
