/** Attacks the import with random headers; `make fuzz-media` reads ten thousand of them. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkFile, createRandom, makeSeeds, mutate, writeLimitedProbe } from '../kit/make/fuzz-media.ts';
import { tempDir } from '../kit/temp-dir.ts';

test('no header of 100 takes an import beyond its caps of time, memory and output', async () => {
  const dir = tempDir();
  const [seeds, ffprobe] = [await makeSeeds(dir), await writeLimitedProbe(dir)];
  const outcomes = new Set<string>();
  for (let number = 0; number < 100; number++) {
    const { name, content } = seeds[number % seeds.length] ?? { name: '', content: Buffer.alloc(0) };
    const path = join(dir, `crafted.${name}`);
    await writeFile(path, mutate(content, createRandom(number)));
    outcomes.add(await checkFile(path, name === 'ogg' || name === 'wav' ? 'audio' : 'video', ffprobe));
  }
  // Both outcomes occurred: accepted headers, and refused ones.
  expect(outcomes).toContain('taken');
  expect(outcomes).toContain('media_unreadable');
  // Each header takes a process, on a machine that has other work.
}, 600_000);
