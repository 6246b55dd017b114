/** Tests that a preview shows the beginning of a source by the time that is played, whatever its timestamps are. */
import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { PREVIEW_PROFILE, PREVIEW_SECONDS } from '../../../../../../src/core/resources/upload/spec.ts';
import { ffmpeg, room } from '../../../../../kit/make/prepare.ts';
import { played, rendition } from '../../../../../kit/make/rendition.ts';

type Place = Awaited<ReturnType<typeof room>>;

/** Writes a recording of this many seconds whose timestamps begin at `offset`. */
async function record(place: Place, name: string, seconds: number, offset: number): Promise<Buffer> {
  await ffmpeg(
    ...['-f', 'lavfi', '-i', `testsrc2=s=160x90:r=10:d=${seconds}`],
    ...['-f', 'lavfi', '-i', `sine=440:r=48000:d=${seconds}`, '-c:v', 'mpeg2video', '-c:a', 'mp2'],
    ...['-output_ts_offset', String(offset), '-f', 'mpegts', place.path(name)],
  );
  return readFile(place.path(name));
}

describe('a preview of two joined recordings', () => {
  test.each([
    ['jumps an hour ahead', 0, 3600],
    ['goes back an hour', 3600, 0],
    ['jumps a minute ahead', 0, PREVIEW_SECONDS + 5],
  ])('has both where the clock %s', async (_, first, second) => {
    await using place = await room();
    const parts = [await record(place, 'a.ts', 4, first), await record(place, 'b.ts', 4, second)];
    await writeFile(place.path('joined.ts'), Buffer.concat(parts));
    const made = await rendition(place, place.path('joined.ts'), 'video', PREVIEW_PROFILE);
    expect(made.index.durationSeconds).toBeCloseTo(8, 0);
    const { silent, y } = await played(made.file);
    expect(y.length).toBe(made.index.video?.frames);
    // Padding at the end of the sound may be silent.
    expect(silent.filter((seconds) => seconds < 7.5)).toEqual([]);
  });

  test('ends after its time also where the clock jumps', async () => {
    await using place = await room();
    const half = PREVIEW_SECONDS / 2 + 5;
    const parts = [await record(place, 'a.ts', half, 0), await record(place, 'b.ts', half, 3600)];
    await writeFile(place.path('joined.ts'), Buffer.concat(parts));
    const made = await rendition(place, place.path('joined.ts'), 'video', PREVIEW_PROFILE);
    expect(made.index.durationSeconds).toBe(PREVIEW_SECONDS);
  });
});
