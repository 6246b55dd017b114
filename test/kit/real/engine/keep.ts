/**
 * Keeps an engine for the tests' servers, until its standard input closes (`test:engine` in package.json). Its first line is the engine's
 * address, unix://…, or the reason why there is none; the file named by its argument gets the same line. It uses and never stops an engine
 * that already answers; otherwise it starts one of our own, and ends it.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { localEnvironment } from '../../../../tools/process/environment.ts';
import { removeContainers } from './containers.ts';
import { findEngine } from './find.ts';
import { ensureServersImage } from './image.ts';
import { withOwnEngine } from './own.ts';
import { whatIsMissing, whyNoEngine } from './programs.ts';

const { cacheDir } = localEnvironment();

const over = new Promise<void>((resolve) => {
  process.stdin.resume().once('end', resolve).once('error', resolve);
  process.once('SIGINT', resolve).once('SIGTERM', resolve);
});

const [file] = process.argv.slice(2);

async function keep(line: string): Promise<void> {
  if (file !== undefined) {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `${line}\n`);
  }
  process.stdout.write(`${line}\n`);
  await over;
}

/** `whyNot` is the reason why no other engine can be used. */
async function keepOwn(whyNot: string): Promise<void> {
  const why = (await whyNoEngine()) ?? (await whatIsMissing());
  if (why !== undefined) return keep(`${whyNot}, and ${why}`);
  let lacking: string | undefined;
  let isTold = false;
  try {
    await withOwnEngine(cacheDir, async (socket) => {
      await removeContainers(socket, () => true);
      lacking = await ensureServersImage(socket, cacheDir);
      if (lacking !== undefined) return;
      isTold = true;
      await keep(`unix://${socket}`);
      await removeContainers(socket, () => true);
    });
  } catch (error) {
    if (isTold) throw error;
    lacking = `one of our own could not be had: ${(error as Error).message}`;
  }
  if (lacking !== undefined) await keep(`${whyNot}, and ${lacking}`);
}

if (process.env.LOOPSTREAM_TEST_SERVERS === 'processes') await keep('LOOPSTREAM_TEST_SERVERS says so');
else {
  const found = await findEngine();
  if ('socket' in found) await keep((await ensureServersImage(found.socket, cacheDir)) ?? `unix://${found.socket}`);
  else await keepOwn(found.whyNot);
}
// An open input would keep the process alive.
process.stdin.destroy();
