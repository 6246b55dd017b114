/** Builds ffmpeg-send into the cache, where `make run` and the tests find it, and prints its path. */
import { ConfigError } from '../src/core/settings/settings.ts';
import { ensureCompiled, SENDER } from '../tools/process/compiled.ts';

try {
  const file = await ensureCompiled(SENDER, {
    onProgress: (step) => void process.stdout.write(`${step}, a minute or two\n`),
  });
  process.stdout.write(`${file}\n`);
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
