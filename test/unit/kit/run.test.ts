import { expect, test } from 'vitest';
import { run } from '../../kit/run.ts';

test('a program that fails is named with its words and its complaint, and the error has its status and both outputs', async () => {
  const words = ['-c', 'echo half; echo no such film >&2; exit 3'];
  await expect(run('sh', words)).rejects.toMatchObject({
    message: `sh ${words.join(' ')}: no such film`,
    code: 3,
    stdout: 'half\n',
    stderr: 'no such film\n',
  });
  await expect(run('no-such-program', ['--version'])).rejects.toThrow('no-such-program --version: ');
});

test('a program that succeeds gives its outputs', async () => {
  expect(await run('sh', ['-c', 'cat; echo aside >&2'], { input: 'said' })).toEqual({
    stdout: 'said',
    stderr: 'aside\n',
  });
});
