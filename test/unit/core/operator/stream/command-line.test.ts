/**
 * Tests that Node knows the flags of a streamer, and that the image has its environment: with a flag that Node does not know, it ends at
 * once, and no stream would go on air.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { readStage } from '../../../../../scripts/release/stage.ts';
import { IMAGE_ENV, NODE_FLAGS } from '../../../../../src/core/operator/stream/command-line.ts';
import { PROJECT_ROOT } from '../../../../../tools/process/root.ts';

test('Node starts with the flags of a streamer, and has what a streamer uses', async () => {
  const script = `process.getBuiltinModule('node:http').createServer(() => undefined).listen(0, '127.0.0.1', function () {
    this.close();
    process.stdout.write(JSON.stringify(process.execArgv));
  })`;
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [...NODE_FLAGS, '-e', script], {
    env: IMAGE_ENV,
  });
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual(expect.arrayContaining(NODE_FLAGS));
});

test('a flag that Node does not know ends it, which is why the test above is there', async () => {
  const started = promisify(execFile)(process.execPath, ['--no-such-flag-of-v8', '-e', '0']);
  await expect(started).rejects.toMatchObject({ code: 9 });
});

test('the image that streams has the environment of a streamer', () => {
  const { config } = readStage(readFileSync(join(PROJECT_ROOT, 'Dockerfile'), 'utf8'), 'loopstream');
  expect(config.Env).toEqual(
    expect.arrayContaining(Object.entries(IMAGE_ENV).map(([name, value]) => `${name}=${value}`)),
  );
});
