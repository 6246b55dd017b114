/** Reads so many media files (ARGS, 10,000) with crafted headers: none takes a Job beyond its caps. `make fuzz-media`. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkFile, createRandom, makeSeeds, mutate, writeLimitedProbe } from '../kit/make/fuzz-media.ts';

const AT_ONCE = 3;
const count = Number(process.argv[2] ?? 10_000);
const dir = await mkdtemp(join(tmpdir(), 'fuzz-media-'));
const outcomes = new Map<string, number>();
const beyond: string[] = [];
const startedAt = performance.now();
let next = 0;
let slowest = 0;

async function work(seeds: Awaited<ReturnType<typeof makeSeeds>>, ffprobe: string, worker: number): Promise<void> {
  for (let number = next++; number < count; number = next++) {
    const { name, content } = seeds[number % seeds.length] ?? { name: '', content: Buffer.alloc(0) };
    const path = join(dir, `${worker}.${name}`);
    await writeFile(path, mutate(content, createRandom(number)));
    const since = performance.now();
    const outcome = await checkFile(path, name === 'ogg' || name === 'wav' ? 'audio' : 'video', ffprobe).catch(
      (error) => {
        beyond.push(`${name} ${number}: ${error}`);
        return 'beyond';
      },
    );
    slowest = Math.max(slowest, performance.now() - since);
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    if ((number + 1) % 500 === 0) process.stdout.write(`${number + 1} of ${count}, ${beyond.length} beyond the caps\n`);
  }
}

try {
  const [seeds, ffprobe] = [await makeSeeds(dir), await writeLimitedProbe(dir)];
  await Promise.all(Array.from({ length: AT_ONCE }, (_, worker) => work(seeds, ffprobe, worker)));
  for (const [outcome, times] of [...outcomes].sort())
    process.stdout.write(`${String(times).padStart(7)} ${outcome}\n`);
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  process.stdout.write(`${count} files in ${seconds} s, the slowest ${Math.round(slowest)} ms\n`);
  for (const line of beyond) process.stdout.write(`${line}\n`);
  process.exitCode = beyond.length > 0 ? 1 : 0;
} finally {
  await rm(dir, { recursive: true, force: true });
}
