import { describe, expect, test } from 'vitest';
import type {
  AudioStream,
  Scan,
  Source,
  StreamScan,
  VideoStream,
} from '../../../../../../src/core/pods/prepare/inspect/source.ts';
import { fitFilters, type PlanInput, planRendition } from '../../../../../../src/core/pods/prepare/transcode/plan.ts';
import {
  bitrateKbps,
  FRAMERATES,
  PROFILES,
  parseProfile,
  QUALITIES,
} from '../../../../../../src/core/resources/stream/profile.ts';
import { ffmpeg } from '../../../../../kit/make/prepare.ts';

const video = (changes: Partial<VideoStream> = {}): VideoStream => ({
  index: 0,
  codec: 'h264',
  profile: 'High',
  pixelFormat: 'yuv420p',
  width: 1280,
  height: 720,
  sampleAspect: [1, 1],
  rotation: 0,
  framerate: [30, 1],
  interlaced: false,
  reorderedFrames: 0,
  colorSpace: 'bt709',
  colorTransfer: 'bt709',
  declaredStartSeconds: 0,
  declaredEndSeconds: 10,
  frames: 300,
  ...changes,
});
const audio = (changes: Partial<AudioStream> = {}): AudioStream => ({
  index: 1,
  codec: 'aac',
  profile: 'LC',
  sampleRate: 48_000,
  channels: 2,
  declaredStartSeconds: 0,
  declaredEndSeconds: 10,
  ...changes,
});
const scanned = (changes: Partial<StreamScan> = {}): StreamScan => ({
  packets: 300,
  hidden: 0,
  startSeconds: 0,
  endSeconds: 10,
  largestStepSeconds: 0.034,
  bytes: 4_000_000,
  regular: true,
  ...changes,
});

interface Changes {
  source?: Partial<Source>;
  scan?: Partial<Scan>;
  input?: Partial<PlanInput>;
}
const plan = ({ source, scan, input }: Changes = {}) =>
  planRendition({
    path: '/media/sources/x',
    source: {
      format: 'mov,mp4,m4a,3gp,3g2,mj2',
      startSeconds: 0,
      declaredEndSeconds: 10,
      sizeBytes: 5_000_000,
      tracks: 2,
      video: video(),
      audio: audio(),
      ...source,
    },
    scan: { video: scanned(), audio: scanned(), ...scan },
    type: 'video',
    quality: '720p',
    framerate: 30,
    maxPixels: 8192 * 4320,
    canTonemap: true,
    allowCopy: true,
    ...input,
  });
const filters = (changes: Changes) => {
  const { args } = plan(changes);
  return args[args.indexOf('-vf') + 1] ?? '';
};

describe('a source that fits is copied', () => {
  test('pictures and sound', () => {
    expect(plan()).toMatchObject({ video: 'copy', audio: 'copy', durationSeconds: 10 });
  });

  const misfits: [string, Changes][] = [
    ['another codec', { source: { video: video({ codec: 'hevc' }) } }],
    ['another H.264 profile', { source: { video: video({ profile: 'High 10' }) } }],
    ['another pixel format', { source: { video: video({ pixelFormat: 'yuvj420p' }) } }],
    ['another size', { source: { video: video({ width: 1920, height: 1080 }) } }],
    ['pixels that are not square', { source: { video: video({ sampleAspect: [4, 3] }) } }],
    ['a rotation', { source: { video: video({ rotation: 90 }) } }],
    ['interlacing', { source: { video: video({ interlaced: true }) } }],
    ['HDR', { source: { video: video({ colorTransfer: 'smpte2084' }) } }],
    ['pictures that an edit list hides', { scan: { video: scanned({ hidden: 3 }) } }],
    ['irregular frames or keyframes', { scan: { video: scanned({ regular: false }) } }],
    ['more bits than destinations take', { scan: { video: scanned({ bytes: 20_000_000 }) } }],
    ['a container without exact times', { source: { format: 'avi' } }],
    ['a last picture that stays', { scan: { video: scanned({ packets: 280 }) } }],
    ['pictures that begin after the sound', { scan: { video: scanned({ startSeconds: 0.5 }) } }],
    ['a copy that failed before', { input: { allowCopy: false } }],
  ];
  test.each(misfits)('but %s is encoded', (_what, changes) => {
    expect(plan(changes).video).toBe('encode');
  });

  const misfitSounds: [string, Changes][] = [
    ['another codec', { source: { audio: audio({ codec: 'mp3' }) } }],
    ['HE-AAC', { source: { audio: audio({ profile: 'HE-AAC' }) } }],
    ['another sample rate', { source: { audio: audio({ sampleRate: 44_100 }) } }],
    ['5.1', { source: { audio: audio({ channels: 6 }) } }],
    ['holes', { scan: { audio: scanned({ regular: false }) } }],
    ['sound that ends before the pictures', { scan: { audio: scanned({ endSeconds: 9.8 }) } }],
    ['sound that begins after the pictures', { scan: { audio: scanned({ startSeconds: 0.2 }) } }],
  ];
  test.each(misfitSounds)('but sound with %s is encoded, and the pictures still copied', (_what, changes) => {
    expect(plan(changes)).toMatchObject({ video: 'copy', audio: 'encode' });
  });
});

describe('encoding', () => {
  test.each(PROFILES)('%s has closed GOPs of two seconds without B-frames at the table’s bitrate', (profile) => {
    const { quality, framerate } = parseProfile(profile) ?? expect.fail();
    const line = plan({ input: { allowCopy: false, quality, framerate } }).args.join(' ');
    const gop = 2 * framerate;
    expect(line).toContain(`-bf 0 -g ${gop} -keyint_min ${gop} -sc_threshold 0 -flags +cgop`);
    const kbps = bitrateKbps(quality, framerate);
    expect(line).toContain(`-b:v ${kbps}k -maxrate ${kbps}k -bufsize ${2 * kbps}k`);
  });

  test('fills and cuts the sound, and takes silence where there is none', () => {
    expect(plan({ input: { allowCopy: false } }).args.join(' ')).toContain('apad,atrim=end=12');
    const silent = plan({ source: { audio: undefined } });
    expect(silent.audio).toBe('silence');
    expect(silent.args.join(' ')).toContain('-t 12 -f lavfi -i anullsrc=r=48000:cl=stereo');
  });

  test('of sound alone leaves the pictures out and keeps the sound’s own length', () => {
    const sound = plan({ input: { type: 'audio' }, source: { audio: audio({ codec: 'mp3' }) } });
    expect(sound).toMatchObject({ video: 'none', audio: 'encode' });
    expect(sound.args).toContain('-vn');
    expect(sound.args.join(' ')).not.toContain('apad');
  });

  test('drops frames before the work on them and doubles them after it', () => {
    const order = (fps: number) => {
      const chain = filters({ source: { video: video({ framerate: [fps, 1] }) }, input: { allowCopy: false } });
      return chain.indexOf('select=') - chain.indexOf('scale=');
    };
    expect(order(60)).toBeLessThan(0);
    expect(plan({ input: { allowCopy: false } }).args.join(' ')).toContain('-fps_mode cfr -r 30');
  });

  test('makes a frame of each field where the profile has room for them', () => {
    const changes = { source: { video: video({ interlaced: true, framerate: [25, 1] as const }) } };
    expect(filters(changes)).toContain('yadif=mode=send_frame');
    expect(filters({ ...changes, input: { framerate: 60 } })).toContain('yadif=mode=send_field');
  });

  test('maps HDR to SDR where ffmpeg can', () => {
    const changes = { source: { video: video({ colorTransfer: 'arib-std-b67' }) } };
    expect(filters(changes)).toContain('tonemap');
    expect(filters({ ...changes, input: { canTonemap: false } })).not.toContain('tonemap');
  });

  test('opens the upload under lock and key', () => {
    const { args } = plan();
    const input = args.indexOf('-i');
    expect(args.slice(0, input)).toContain('-format_whitelist');
    expect(args.slice(0, input).join(' ')).toContain('-protocol_whitelist file,pipe');
    expect(args[input + 1]).toBe('file:/media/sources/x');
  });
});

test('every profile has a bitrate, and more pixels or frames never have less', () => {
  expect(bitrateKbps('720p', 60)).toBe(6000);
  const rates = QUALITIES.map((quality) => FRAMERATES.map((framerate) => bitrateKbps(quality, framerate)));
  for (const [row, rate] of rates.entries()) {
    expect(rate).toEqual(rate.toSorted((a, b) => a - b));
    expect(rate[0]).toBeGreaterThanOrEqual(rates[row - 1]?.[0] ?? 1000);
  }
});

test.each([
  ['the same shape', '1920x1080', '1', '1280:720:0:0'],
  ['4:3', '640x480', '1', '960:720:160:0'],
  ['cinema', '1920x800', '1', '1280:532:0:94'],
  ['portrait', '1080x1920', '1', '404:720:438:0'],
  ['PAL widescreen', '720x576', '64/45', '1280:720:0:0'],
  ['a strip', '400x4000', '1', '72:720:604:0'],
])('%s fits into the frame with even borders', async (_what, size, aspect, box) => {
  const filters = [
    `setsar=${aspect}`,
    'format=yuv444p',
    ...fitFilters(1280, 720),
    'cropdetect=limit=20:round=2:reset=0:skip=0',
  ];
  const args = ['-f', 'lavfi', '-i', `color=white:s=${size}:r=1:d=2`, '-vf', filters.join(','), '-f', 'null', '-'];
  const { stderr } = await ffmpeg('-v', 'info', ...args);
  expect(stderr).toContain(`crop=${box}`);
});
