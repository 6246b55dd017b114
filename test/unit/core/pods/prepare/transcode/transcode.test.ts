/** Tests how the output of an encoder is passed on while it runs. */
import { chmod, stat, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { transcode } from '../../../../../../src/core/pods/prepare/transcode/transcode.ts';
import { ffmpeg, quiet, room } from '../../../../../kit/make/prepare.ts';
import { until } from '../../../../../kit/wait.ts';

test('all that an encoder has written is passed on while it waits for its input', async () => {
  await using place = await room();
  const made = place.path('made.flv');
  const sound = ['-f', 'lavfi', '-i', 'sine=440:r=48000:d=5', '-ac', '2', '-c:a', 'aac', '-b:a', '160k'];
  await ffmpeg(...sound, '-output_ts_offset', '1', '-flvflags', 'no_duration_filesize', made);
  const waits = place.path('waits');
  await writeFile(waits, `#!/bin/sh\ncat '${made}'\nexec sleep 600\n`);
  await chmod(waits, 0o755);
  const output = {
    bytes: 0,
    write: async (data: Buffer) => {
      output.bytes += data.length;
    },
    end: async () => undefined,
  };
  const stop = new AbortController();
  const about = { framerate: undefined, seconds: 5, most: { seconds: 9, bytes: 1e6 } };
  const running = transcode([], output, { ...about, ffmpeg: waits, signal: stop.signal, log: quiet });
  const ended = expect(running).rejects.toThrow('enough');
  const { size } = await stat(made);
  await until('nearly all has been passed on', () => output.bytes > 0.9 * size);
  stop.abort(new Error('enough'));
  await ended;
});
