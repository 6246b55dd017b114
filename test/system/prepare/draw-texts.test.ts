/**
 * Tests that texts which break other programs are drawn as they were when people looked at them: test/system/prepare/texts/ has a picture of
 * each. LOOPSTREAM_KEEP_TEXTS=true keeps those that are drawn now; look at them.
 */
import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readPngSize } from '../../../src/core/pods/prepare/look/place.ts';
import { environment } from '../../../src/core/settings/environment.ts';
import { HOSTILE_TEXTS } from '../../kit/make/hostile-texts.ts';
import { drawOne, makeTextLayer } from '../../kit/make/looks.ts';
import { run } from '../../kit/run.ts';
import { tempDir } from '../../kit/temp-dir.ts';

const KEPT = join(import.meta.dirname, 'texts');
const FRAME = { width: 640, height: 360 };

/** Compares two pictures of one size on grey, by structural similarity: 1 is the same. */
async function compare(path: string, other: string, { width, height }: { width: number; height: number }) {
  const onGrey = (n: number) =>
    `color=gray:s=${width + 16}x${height + 16}[g${n}];[g${n}][${n}]overlay=format=rgb,format=gbrp[p${n}]`;
  const graph = `${onGrey(0)};${onGrey(1)};[p0][p1]ssim`;
  const args = ['-hide_banner', '-nostats', '-i', path, '-i', other, '-filter_complex', graph, '-frames:v', '1'];
  const { stderr } = await run('ffmpeg', [...args, '-f', 'null', '-']);
  return Number(/ All:(\d\.\d+|inf)/.exec(stderr)?.[1]);
}

test.each(HOSTILE_TEXTS.map((text, index) => [index, JSON.stringify(text).slice(0, 40), text] as const))(
  'text %i is drawn as it should be: %s',
  async (index, _name, text) => {
    const drawn = await drawOne(makeTextLayer(text, { sizePercent: 6 }), tempDir(), { frame: FRAME });
    const kept = join(KEPT, `${index}.png`);
    if (environment().LOOPSTREAM_KEEP_TEXTS) {
      await mkdir(KEPT, { recursive: true });
      await copyFile(drawn.path, kept);
    }
    const { width, height } = drawn;
    expect({ width, height }).toEqual(readPngSize(await readFile(kept)));
    expect(await compare(drawn.path, kept, drawn)).toBeGreaterThanOrEqual(0.99);
  },
);
