/**
 * Attacks the drawing of overlays: titles and pictures are anybody's. None of them gets a file of the machine into a picture, and what breaks
 * a program ends with a sentence. Fonts are Debian's alone, and nobody can add one.
 */
import { existsSync } from 'node:fs';
import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { commandLine } from '../../src/core/pods/confinement/confine.ts';
import type { LookTools } from '../../src/core/pods/prepare/look/draw.ts';
import { textArgs } from '../../src/core/pods/prepare/look/place.ts';
import { HOSTILE_TEXTS } from '../kit/make/hostile-texts.ts';
import { draw, drawOne, FRAME, lookTools, makeImageLayer, makeTextLayer } from '../kit/make/looks.ts';
import { makeMedia } from '../kit/make/made-media.ts';
import { run } from '../kit/run.ts';
import { tempDir } from '../kit/temp-dir.ts';

const LAUNCHER = 'dist/confine';
const available = existsSync(LAUNCHER) && /landlock=[1-9]\d* seccomp=1/.test((await run(LAUNCHER, ['--check'])).stdout);

let tools: LookTools;
beforeAll(async () => {
  tools = await lookTools(available ? 'required' : 'auto');
});

/** Returns tools of which a script draws the texts. */
async function replaceDrawText(script: string): Promise<LookTools> {
  const file = join(tempDir(), 'draw-text');
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
  return { ...tools, drawText: file };
}
const refusal = (layer: Parameters<typeof drawOne>[0], how = tools) =>
  drawOne(layer, tempDir(), { tools: how }).catch((error: unknown) => error);

describe('a title', () => {
  test('that names a file shows that name, whatever is in the file', async () => {
    const secret = join(tempDir(), 'secret');
    const texts = [
      `@${secret}`,
      `file://${secret}`,
      `x':textfile=${secret}:'`,
      `--text=${secret}`,
      `<img src="${secret}"/>`,
    ];
    const drawAll = async () => {
      const drawn = await draw(
        texts.map((text) => makeTextLayer(text, { sizePercent: 3 })),
        tempDir(),
        { tools },
      );
      return Promise.all(drawn.map(({ path }) => readFile(path)));
    };
    const without = await drawAll();
    await writeFile(secret, 'hunter2');
    expect(await drawAll()).toEqual(without);
    expect(new Set(without.map((bytes) => bytes.toString('base64'))).size).toBe(texts.length);
  });

  test('leaves nothing but its picture, even at the largest size', async () => {
    const dir = tempDir();
    for (const text of HOSTILE_TEXTS.filter((_, n) => n % 5 === 0)) {
      const drawn = await draw([makeTextLayer(text, { sizePercent: 100, outlineColor: '#000000' })], dir, { tools });
      expect(
        drawn.every(({ width, height }) => width <= 2 * FRAME.width && height <= FRAME.height),
        text,
      ).toBe(true);
    }
    expect(await readdir(dir)).toEqual(['layer-0.png']);
  });

  test.runIf(available)('that takes over the program can read no file and start no other program', async () => {
    const secret = join(tempDir(), 'secret');
    await writeFile(secret, 'hunter2');
    const { drawText } = tools;
    if (typeof drawText !== 'function') throw new Error('draw-text is not confined');
    const [launcher, ...words] = commandLine(drawText, textArgs(makeTextLayer('x'), FRAME));
    // The same launcher with the same rights, and another program.
    const rights = words.slice(0, words.indexOf('--') + 1);
    expect(rights).not.toContain('--network');
    const caged = await run(launcher, [...rights, 'cat', secret]).catch((error: { stderr: string }) => error);
    expect(caged.stderr).toMatch(/Permission denied/);
    expect(JSON.stringify(caged)).not.toContain('hunter2');
  });
});

describe('a program that a title has taken over', () => {
  test.each([
    ['that crashes', 'kill -SEGV $$', /The text of overlay 1 cannot be drawn: .*SIGSEGV/],
    ['that writes without an end', 'exec cat /dev/zero', /larger than the frame/],
    ['that writes no picture', 'echo hello; echo frame 0 0 9 9 >&2', /no PNG/],
    [
      'that claims a picture of 60,000 pixels a side',
      "printf '\\211PNG\\r\\n\\032\\n\\0\\0\\0\\rIHDR\\0\\0\\352\\140\\0\\0\\352\\140'; echo frame 0 0 9 9 >&2",
      /larger than the frame/,
    ],
    ['that puts its text nowhere', 'echo frame 1 2 999999999 3 >&2; echo x', /did not say where/],
  ])('%s ends the Job with a sentence, and the Job does not try again', async (_what, script, message) => {
    const error = await refusal(makeTextLayer('title'), await replaceDrawText(script));
    expect(error).toMatchObject({ name: 'PrepareError', again: false, message: expect.stringMatching(message) });
  });
});

describe('a picture', () => {
  test.each([
    ['a playlist of files', '#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n'],
    ['a list to concatenate', "ffconcat version 1.0\nfile '/etc/passwd'\n"],
    ['a drawing with a file in it', '<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/passwd"/></svg>'],
    ['a script of ImageMagick', 'push graphic-context\nimage over 0,0 0,0 "/etc/passwd"\n'],
  ])('that is %s is refused', async (_what, content) => {
    const path = join(tempDir(), 'logo.png');
    await writeFile(path, content);
    expect(await refusal(makeImageLayer(path))).toMatchObject({
      name: 'PrepareError',
      code: 'media_format_unsupported',
    });
  });

  test.each(['png', 'jpg', 'webp', 'gif'])('with broken bytes is drawn or refused: %s', async (extension) => {
    const dir = tempDir();
    const path = await makeMedia(
      join(dir, `a.${extension}`),
      '-f',
      'lavfi',
      '-i',
      'testsrc2=s=64x64:d=0.04',
      '-frames:v',
      '1',
    );
    const bytes = await readFile(path);
    for (let n = 1; n <= 4; n++) {
      const broken = Buffer.from(bytes);
      // Far from each other, and in the headers too.
      for (let at = 12 + n; at < broken.length; at += 11 * n) broken[at] = (broken[at] ?? 0) ^ (37 * n);
      await writeFile(path, broken);
      const made = await refusal(makeImageLayer(path));
      if (made instanceof Error) expect(made, `${n}`).toMatchObject({ name: 'PrepareError', again: false });
      else expect(made).toMatchObject({ width: expect.any(Number) });
    }
  });
});
