import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startTool } from '../../../../../../src/core/pods/prepare/tools/tool.ts';
import { FfmpegTransport } from '../../../../../../src/core/pods/streamer/output/transport.ts';
import { until } from '../../../../../kit/wait.ts';

beforeEach(() => {
  vi.stubEnv('LOOPSTREAM_S3_SECRET_ACCESS_KEY', 'hunter2');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'hunter2');
  vi.stubEnv('FFREPORT', 'file=hunter2.log');
  vi.stubEnv('TMPDIR', '/tmp');
  vi.stubEnv('LOOPSTREAM_NODE_CONTAINER', 'pod/streamer');
});
afterEach(() => vi.unstubAllEnvs());

const names = (environ: string) => environ.split('\0').map((entry) => entry.split('=')[0]);

test('a tool of prepare sees where programs and temporary files are and whose it is, and no credential', async () => {
  const { stdout, done } = startTool('cat', ['/proc/self/environ'], new AbortController().signal);
  const environ = await text(stdout);
  await done;
  expect(names(environ)).toEqual(expect.arrayContaining(['PATH', 'TMPDIR', 'LOOPSTREAM_NODE_CONTAINER']));
  expect(environ).not.toMatch(/hunter2|LOOPSTREAM_S3|AWS/);
});

test('so does the ffmpeg that sends a stream', async () => {
  const address = {
    protocol: 'rtmp',
    host: '127.0.0.1',
    port: 9,
    format: 'flv',
    url: 'rtmp://127.0.0.1:9/',
    app: '',
    playpath: '',
  } as const;
  const transport = new FfmpegTransport(
    'ffmpeg',
    { ...address, preset: '', secrets: [] },
    { onProgress: () => undefined },
  );
  try {
    // Between fork and exec a child has its parent's environment.
    await until('it runs', async () => (await readFile(`/proc/${transport.pid}/cmdline`, 'utf8')).startsWith('ffmpeg'));
    const environ = await readFile(`/proc/${transport.pid}/environ`, 'utf8');
    expect(names(environ)).toEqual(expect.arrayContaining(['PATH', 'TMPDIR', 'LOOPSTREAM_NODE_CONTAINER']));
    expect(environ).not.toMatch(/hunter2|LOOPSTREAM_S3|AWS/);
  } finally {
    transport.kill({ code: 'exited', message: 'the test is over' });
    await transport.ended;
  }
});
