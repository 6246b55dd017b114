import { readFile, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Lifecycle } from '../../../../../../src/core/lib/lifecycle.ts';
import { runDecoder } from '../../../../../../src/core/pods/prepare/tools/decoder.ts';
import {
  encodeEnd,
  FrameError,
  FrameParser,
  outputHeader,
  parseRequest,
} from '../../../../../../src/core/pods/prepare/tools/decoder-protocol.ts';
import { type Keeper, openKeeper } from '../../../../../../src/core/pods/prepare/tools/keeper.ts';
import { ToolError } from '../../../../../../src/core/pods/prepare/tools/tool.ts';
import { decoderConfig } from '../../../../../../src/core/protocol/environment.ts';
import { quiet } from '../../../../../kit/make/prepare.ts';
import { tempDir } from '../../../../../kit/temp-dir.ts';
import { until } from '../../../../../kit/wait.ts';

let dir: string;
let keeper: Keeper;
const lifecycles: Lifecycle[] = [];

beforeEach(async () => {
  dir = tempDir();
  keeper = await openKeeper(join(dir, 'decoder.sock'), 5000);
});
afterEach(async () => {
  for (const lifecycle of lifecycles.splice(0)) await lifecycle.stop('the test is over');
  await keeper.close();
});

/** Starts a decoder whose tools are this script. */
async function startDecoder(script: string, more: Record<string, string> = {}) {
  const tool = join(dir, `tool-${lifecycles.length}`);
  await writeFile(tool, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const lifecycle = new Lifecycle();
  lifecycles.push(lifecycle);
  const env = { LOOPSTREAM_DECODER_SOCKET: join(dir, 'decoder.sock'), LOOPSTREAM_CONFINE: 'off' };
  const config = decoderConfig({ ...env, LOOPSTREAM_FFMPEG: tool, LOOPSTREAM_FFPROBE: tool, ...more });
  void runDecoder(config, lifecycle, quiet);
  return lifecycle;
}
const start = (args: string[] = [], signal = new AbortController().signal) => keeper.tool('ffmpeg').start(args, signal);

test('the decoder runs the requested tool; its output, its end and its last words reach the keeper', async () => {
  await startDecoder('printf "%s|" "$@"; echo bye >&2');
  const { stdout, done } = start(['a b', '$(id)', '']);
  expect(await text(stdout)).toBe('a b|$(id)||');
  expect(await done).toBe('bye\n');
});

test('a tool that fails is an error with its status and its words', async () => {
  await startDecoder('echo why >&2; exit 3');
  const { stdout, done } = start();
  stdout.resume();
  await expect(done).rejects.toMatchObject({
    killed: false,
    stderr: 'why\n',
    message: expect.stringContaining('status 3'),
  });
});

test('megabytes arrive whole and in order, and wait for a slow reader', async () => {
  const bytes = 24 * 2 ** 20;
  await startDecoder(`head -c ${bytes} /dev/zero; echo $? > ${join(dir, 'ended')}`);
  const { stdout, done } = start();
  await new Promise((resolve) => stdout.once('readable', resolve));
  await expect(readFile(join(dir, 'ended'))).rejects.toThrow('ENOENT');
  let received = 0;
  for await (const chunk of stdout) received += (chunk as Buffer).length;
  await done;
  expect(received).toBe(bytes);
});

test('work that is given up is killed at once, and the next is done', async () => {
  const pid = join(dir, 'pid');
  await startDecoder(`if [ "$1" = wait ]; then echo $$ > ${pid}; exec sleep 600; fi; echo next`);
  const stop = new AbortController();
  const { stdout, done } = start(['wait'], stop.signal);
  stdout.resume();
  done.catch(() => undefined);
  const child = await until('it runs', async () => Number(await readFile(pid, 'utf8').catch(() => '')) || undefined);
  stop.abort(new Error('no longer wanted'));
  await expect(done).rejects.toThrow('no longer wanted');
  await until('it is gone', async () => {
    try {
      process.kill(child, 0);
      return false;
    } catch {
      return true;
    }
  });
  expect(await text(start(['next']).stdout)).toBe('next\n');
});

test('a lost decoder is an error that another try may fix, and so is one that never comes', async () => {
  const lifecycle = await startDecoder('echo up; exec sleep 600');
  const { stdout, done } = start();
  await new Promise((resolve) => stdout.once('readable', resolve));
  stdout.resume();
  done.catch(() => undefined);
  await lifecycle.stop('killed');
  await expect(done).rejects.toMatchObject({ name: 'ToolError', killed: true });
  const none = await openKeeper(join(dir, 'none.sock'), 20);
  await expect(none.tool('ffprobe').start([], new AbortController().signal).done).rejects.toThrow(ToolError);
  await none.close();
});

test('a decoder comes again to a keeper that begins after it, by a path that is too long for a socket', async () => {
  const deep = join(dir, 'a'.repeat(120));
  await import('node:fs/promises').then(({ mkdir }) => mkdir(deep));
  const socket = join(deep, 'decoder.sock');
  await startDecoder('echo here', { LOOPSTREAM_DECODER_SOCKET: socket });
  const late = await openKeeper(socket, 5000);
  expect(await text(late.tool('ffmpeg').start([], new AbortController().signal).stdout)).toBe('here\n');
  await late.close();
});

describe('the keeper does not trust a decoder’s messages', () => {
  test.each([
    ['no frames', Buffer.from('HTTP/1.1 200 OK\r\n\r\n')],
    ['an end that is none', Buffer.concat([Buffer.from([2, 0, 0, 0, 2]), Buffer.from('{}')])],
    ['an end without bounds', Buffer.from([2, 0xff, 0xff, 0xff, 0xff])],
    ['a frame of nothing', Buffer.from([1, 0, 0, 0, 0])],
  ])('%s', async (_, bytes) => {
    const socket = connect(join(dir, 'decoder.sock'));
    socket.on('error', () => undefined).once('data', () => socket.write(bytes));
    const { stdout, done } = start();
    stdout.resume();
    await expect(done).rejects.toMatchObject({ name: 'ToolError', killed: true });
    socket.destroy();
  });

  test('frames may come in any pieces', () => {
    const end = { ok: true, message: '', killed: false, stderr: 'x' };
    const bytes = Buffer.concat([
      outputHeader(3),
      Buffer.from('abc'),
      outputHeader(1),
      Buffer.from('d'),
      encodeEnd(end),
    ]);
    for (const size of [1, 2, 3, 7, bytes.length]) {
      let output = '';
      const ends: unknown[] = [];
      const parser = new FrameParser(
        (part) => (output += part.toString()),
        (told) => ends.push(told),
      );
      for (let at = 0; at < bytes.length; at += size) parser.push(bytes.subarray(at, at + size));
      expect([output, ends]).toEqual(['abcd', [end]]);
    }
    expect(() => new FrameParser(String, String).push(Buffer.from([9, 0, 0, 0, 1]))).toThrow(FrameError);
  });
});

test('a decoder takes two tools by name and lists of words, and nothing else', async () => {
  for (const wrong of [
    '',
    '{}',
    '{"tool":"sh","args":[]}',
    '{"tool":"ffmpeg","args":"-i x"}',
    '{"tool":"ffmpeg","args":[1]}',
  ])
    expect(parseRequest(wrong), wrong).toBeUndefined();
  const socket = join(dir, 'other.sock');
  const marker = join(dir, 'ran');
  const server = createServer((connection) =>
    connection.on('error', () => undefined).write('{"tool":"sh","args":[]}\n'),
  );
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  const closed = new Promise((resolve) => server.once('connection', (connection) => connection.once('close', resolve)));
  await startDecoder(`touch ${marker}`, { LOOPSTREAM_DECODER_SOCKET: socket });
  await closed;
  await expect(readFile(marker)).rejects.toThrow('ENOENT');
  await new Promise((resolve) => {
    server.close(resolve);
    void lifecycles.at(-1)?.stop('the test is over');
  });
});

describe('input for a tool', () => {
  /** Starts a tool that reads its stdin. */
  const feed = (input: AsyncIterable<Buffer>, signal = new AbortController().signal) =>
    keeper.tool('ffmpeg').start([], signal, { input });

  test('arrives whole, and its end is seen while output still comes', async () => {
    await startDecoder('wc -c; echo over');
    const piece = Buffer.alloc(2 ** 20, 1);
    const { stdout, done } = feed(Readable.from([piece, piece, piece]));
    expect(await text(stdout)).toMatch(/^\s*3145728\nover\n$/);
    await done;
  });

  test('reaches the tool while more is still to come', async () => {
    await startDecoder('while read line; do echo "got $line"; done');
    const more = Promise.withResolvers<void>();
    const input = async function* () {
      yield Buffer.from('one\n');
      await more.promise;
      yield Buffer.from('two\n');
    };
    const { stdout, done } = feed(input());
    let all = '';
    for await (const bytes of stdout) {
      all += String(bytes);
      if (all === 'got one\n') more.resolve();
    }
    expect(all).toBe('got one\ngot two\n');
    await done;
  });

  test('that a tool leaves does not keep the decoder from its next one', async () => {
    await startDecoder('if [ "$1" = next ]; then echo next; else echo enough; fi');
    for (let n = 0; n < 4; n++) {
      const { stdout, done } = feed(Readable.from([Buffer.alloc(2 ** 22)]));
      expect(await text(stdout)).toBe('enough\n');
      await done;
    }
    expect(await text(start(['next']).stdout)).toBe('next\n');
  });
});
