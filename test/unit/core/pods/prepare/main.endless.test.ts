/** Tests a Job that meets a step without an end: it ends itself, and says so to the operator. */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Value } from 'typebox/value';
import { expect, onTestFinished, test } from 'vitest';
import { PrepareResult, type PrepareTask } from '../../../../../src/core/protocol/task.ts';
import { room } from '../../../../kit/make/prepare.ts';
import { serve } from '../../../../kit/serve.ts';

const MAIN = join(import.meta.dirname, '../../../../../src/core/main.ts');
/** Stands for a fault of the program: what a server answers keeps it busy for ever. */
const FAULT = `import { subscribe } from 'node:diagnostics_channel'; subscribe('undici:request:headers', () => { for (;;); });`;

test('a Job that computes without an end ends itself, with its reason', async () => {
  await using place = await room();
  await using server = await serve((_, response) => response.end('text'));
  const resultFile = place.path('termination-message');
  const task: PrepareTask = { action: 'import', url: `${server.url}/my.mp4`, type: 'video', sourceKey: 'sources/x' };
  const job = spawn(process.execPath, [`--import=data:text/javascript,${encodeURIComponent(FAULT)}`, MAIN, 'prepare'], {
    env: {
      PATH: process.env.PATH,
      LOOPSTREAM_TASK: JSON.stringify(task),
      LOOPSTREAM_RESULT_FILE: resultFile,
      LOOPSTREAM_STORAGE_URL: place.storageUrl,
      LOOPSTREAM_ALLOW_PRIVATE_LINKS: 'true',
      LOOPSTREAM_STEP_SECONDS: '1',
    },
    stdio: 'ignore',
  });
  onTestFinished(() => void job.kill('SIGKILL'));
  expect(await new Promise((done) => job.once('close', done))).toBe(70);
  const result: unknown = JSON.parse(await readFile(resultFile, 'utf8'));
  expect(Value.Check(PrepareResult, result)).toBe(true);
  expect(result).toMatchObject({ action: 'failed', error: { code: 'media_too_complex' }, isEndless: true });
});
