/** Tests that decoders show the slate as it is meant, in each profile. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { encodeHeader, encodeTag, isKeyframe, TAG_VIDEO } from '../../../../../../src/core/pods/rendition/flv.ts';
import { hasConstantBitrate } from '../../../../../../src/core/pods/streamer/timeline/sequence-parameters.ts';
import { createSlate } from '../../../../../../src/core/pods/streamer/timeline/slate.ts';
import { DIMENSIONS, PROFILES, parseProfile } from '../../../../../../src/core/resources/stream/profile.ts';
import { run } from '../../../../../kit/run.ts';
import { tempDir } from '../../../../../kit/temp-dir.ts';

/** Two items of the slate, one behind the other, as a file. */
function writeSlate(profile: string): { path: string; framerate: number } {
  const make = createSlate(profile);
  const { framerate = 0 } = parseProfile(profile) ?? {};
  const bodies = [1, 2].flatMap(() => {
    const item = make?.();
    if (!item) throw new Error('no slate');
    const pictures: Buffer[] = [];
    for (let tag = item.takeVideo(); typeof tag !== 'string'; tag = item.takeVideo()) pictures.push(tag.body);
    expect(pictures).toHaveLength(item.videoFrames);
    expect(item.takeAudio()).toBe('end');
    return [item.videoHeader as Buffer, ...pictures];
  });
  let frame = -1;
  const tags = bodies.map((body) => {
    if (body[1] === 1) frame++;
    return {
      type: TAG_VIDEO,
      timestampMs: Math.round((Math.max(0, frame) * 1000) / framerate),
      body,
      offset: 0,
    } as const;
  });
  expect(tags.filter(isKeyframe)).toHaveLength(2);
  const path = join(tempDir(), 'slate.flv');
  const written = tags.map(({ type, timestampMs, body }) => encodeTag(type, timestampMs, body));
  writeFileSync(path, Buffer.concat([encodeHeader({ audio: false, video: true }), ...written]));
  return { path, framerate };
}

test.each(PROFILES)(
  'the slate of %s is two bars on black, the same in each picture, without a decoder’s complaint',
  async (profile) => {
    const { path, framerate } = writeSlate(profile);
    const { quality = '720p' } = parseProfile(profile) ?? {};
    const { width, height } = DIMENSIONS[quality];
    const probed = await run('ffprobe', [
      '-v',
      'error',
      '-show_entries',
      'stream=width,height,pix_fmt,r_frame_rate,has_b_frames',
      '-of',
      'json',
      path,
    ]);
    expect(JSON.parse(probed.stdout).streams).toEqual([
      expect.objectContaining({ width, height, pix_fmt: 'yuv420p', r_frame_rate: `${framerate}/1`, has_b_frames: 0 }),
    ]);
    const decoded = await run('ffmpeg', ['-v', 'warning', '-i', path, '-f', 'framemd5', '-']);
    expect(decoded.stderr).toBe('');
    const sums = decoded.stdout
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => line.split(',').at(-1));
    expect(sums).toHaveLength(2 * framerate);
    expect(new Set(sums).size).toBe(1);
    const luma = `${path}.luma`;
    await run('ffmpeg', [
      '-v',
      'error',
      '-i',
      path,
      '-frames:v',
      '1',
      '-vf',
      'extractplanes=y',
      '-f',
      'rawvideo',
      luma,
    ]);
    const samples = readFileSync(luma);
    expect(samples).toHaveLength(width * height);
    const unit = width / 80;
    const readLine = (y: number) =>
      Array.from({ length: 80 }, (_, x) => samples[y * width + Math.floor((x + 0.5) * unit)]);
    const middle = readLine(height / 2);
    expect(middle.flatMap((value, x) => (value === 110 ? [x] : []))).toEqual([37, 38, 41, 42]);
    expect(middle.filter((value) => value === 16)).toHaveLength(76);
    expect(new Set(readLine(0))).toEqual(new Set([16]));
  },
);

test('its parameter set can be read, and is of no constant bitrate', () => {
  const item = createSlate('720p30')?.();
  expect(hasConstantBitrate(item?.videoHeader as Buffer)).toBe(false);
});

test('there is none of what is no profile', () => {
  expect(createSlate('preview')).toBeUndefined();
});
