/**
 * Tests ffmpeg-send (scripts/build-sender): receivers get the same bytes from it as from the machine's ffmpeg, for a fraction of the work
 * where RTMP's chunks are small.
 */
import { open, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  encodeHeader,
  encodeMetaData,
  encodeTag,
  TAG_SCRIPT,
  TAG_VIDEO,
} from '../../../src/core/pods/rendition/flv.ts';
import { directTo, readAddress } from '../../../src/core/pods/streamer/output/address.ts';
import { FfmpegTransport } from '../../../src/core/pods/streamer/output/transport.ts';
import { ensureCompiled, SENDER, whyNotCompiled } from '../../../tools/process/compiled.ts';
import { connected, expectUntouched } from '../../kit/make/destinations.ts';
import { openStudio, type Studio } from '../../kit/make/onair.ts';
import { buildProgram, computeSteps, readPackets } from '../../kit/make/streamer.ts';
import { type RtmpServer, startRtmpServer } from '../../kit/real/rtmp.ts';
import { run } from '../../kit/run.ts';
import { until } from '../../kit/wait.ts';
import { freeUdpPort, startListener } from './srt-listener.ts';
import { tapWire } from './wire.ts';

/** RTMP begins with chunks of this size (RTMP 1.0, section 5.4.1), and a receiver that asks for nothing leaves it. */
const SMALL_CHUNK_BYTES = 128;
const TICKS_PER_SECOND = 100;
const BUILD_MS = 10 * 60_000;
const ET_EXEC = 2;
const PT_INTERP = 3;
const PT_GNU_RELRO = 0x6474e552;

const why = whyNotCompiled(SENDER);
if (why !== undefined) process.stdout.write(`skipped: the tests of ffmpeg-send, since ${why}\n`);

/** Pictures of nothing, 40 KB each, behind the 24 bits that a timestamp has without its extension. */
function makeHeavyFlv(pictures: number): Buffer {
  const startMs = 2 ** 24 + 5;
  const body = Buffer.alloc(40_000, 'picture');
  body.set([0x17, 1, 0, 0, 0]);
  return Buffer.concat([
    encodeHeader({ audio: false, video: true }),
    encodeTag(TAG_SCRIPT, startMs, encodeMetaData({ width: 640 })),
    ...Array.from({ length: pictures }, (_, index) => encodeTag(TAG_VIDEO, startMs + index * 40, body)),
  ]);
}

/** Reads the seconds of processor time that a process has used (proc(5)). */
async function readCpuSeconds(pid: number): Promise<number> {
  const line = await readFile(`/proc/${pid}/stat`, 'latin1');
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

describe.skipIf(why !== undefined)('ffmpeg-send', () => {
  let studio: Studio;
  let small: RtmpServer;
  let sender: string;
  beforeAll(async () => {
    studio = await openStudio();
    const record = join(studio.root, 'small');
    [sender, small] = await Promise.all([
      ensureCompiled(SENDER),
      startRtmpServer({ record, chunkBytes: SMALL_CHUNK_BYTES }),
    ]);
  }, BUILD_MS);
  afterEach(() => studio?.cleanUp());
  afterAll(async () => {
    await small?.close();
    await studio?.close();
  });

  /** Sends a file; returns what the server got from the first media to the farewell, and the processor time of the program. */
  async function send(program: string, server: RtmpServer, key: string, flv: Buffer) {
    const wire = await tapWire(server.port);
    studio.cleanups.push(() => wire.close());
    const address = directTo(readAddress({ rtmpUrl: wire.url, rtmpKey: key }), { ip: '127.0.0.1' });
    const transport = new FfmpegTransport(program, address, { onProgress: () => undefined });
    transport.stdin.write(flv);
    await until('all has arrived', () => wire.bytes() > flv.length);
    const cpuSeconds = await readCpuSeconds(transport.pid ?? 0);
    await transport.finish();
    const sent = wire.sent();
    return { media: sent.subarray(sent.indexOf('@setDataFrame'), sent.lastIndexOf('FCUnpublish')), cpuSeconds };
  }

  test('is one file at fixed addresses, which no loader relocates, and knows only the protocols of destinations', async () => {
    const file = await open(sender);
    const { buffer: head } = await file.read(Buffer.alloc(4096), 0, 4096, 0);
    await file.close();
    expect(head.readUInt16LE(16)).toBe(ET_EXEC);
    const [start, size, count] = [Number(head.readBigUInt64LE(32)), head.readUInt16LE(54), head.readUInt16LE(56)];
    const parts = Array.from({ length: count }, (_, index) => head.readUInt32LE(start + index * size));
    expect(parts).not.toContain(PT_INTERP);
    expect(parts).toContain(PT_GNU_RELRO);
    const { stdout } = await run(sender, ['-hide_banner', '-protocols'], { env: {} });
    const protocols = new Set([...stdout.matchAll(/^ {2}(\w+)$/gm)].map(([, name]) => name));
    expect([...protocols].sort()).toEqual(['file', 'pipe', 'rtmp', 'srt', 'tcp']);
  });

  test('sends the same bytes as the machine’s ffmpeg, in chunks of 4096 and 128 bytes, with and without long timestamps', async () => {
    const rendition = await readFile(join(studio.root, 'storage/renditions/one.flv'));
    const flv = { short: rendition, long: makeHeavyFlv(3) };
    for (const [size, server] of [
      [4096, studio.rtmp],
      [SMALL_CHUNK_BYTES, small],
    ] as const)
      for (const length of ['short', 'long'] as const) {
        const own = await send(sender, server, `sender-${length}`, flv[length]);
        const theirs = await send('ffmpeg', server, `ffmpeg-${length}`, flv[length]);
        expect(own.media.length, `${size}, ${length}`).toBeGreaterThan(flv[length].length * 0.9);
        expect(own.media.equals(theirs.media), `${size}, ${length}`).toBe(true);
      }
  });

  test('works no more for chunks of 128 bytes than for long ones: the machine’s ffmpeg makes a system call for each', async () => {
    const flv = makeHeavyFlv(800);
    const own = await send(sender, small, 'own-heavy', flv);
    const theirs = await send('ffmpeg', small, 'theirs-heavy', flv);
    expect(theirs.cpuSeconds).toBeGreaterThan(0);
    expect(own.cpuSeconds).toBeLessThan(theirs.cpuSeconds / 3);
  });

  test('ends where a receiver asks on air for chunks of no bytes: the machine’s ffmpeg would send them for ever', async () => {
    const wire = await tapWire(studio.rtmp.port);
    studio.cleanups.push(() => wire.close());
    const address = directTo(readAddress({ rtmpUrl: wire.url, rtmpKey: 'no-bytes' }), { ip: '127.0.0.1' });
    const transport = new FfmpegTransport(sender, address, { onProgress: () => undefined });
    studio.cleanups.push(async () => transport.kill({ code: 'exited', message: 'the test is over' }));
    let ended: string | undefined;
    void transport.ended.then(({ message }) => {
      ended = message;
    });
    transport.stdin.write(makeHeavyFlv(2));
    await until('it is on air', () => wire.bytes() > 50_000);
    // Set Chunk Size (RTMP 1.0, section 5.4.1): a full header on chunk stream 2, four bytes of type 1.
    wire.answer(Buffer.from('02000000000004010000000000000000', 'hex'));
    // ffmpeg reads what the receiver says when it sends.
    const picture = encodeTag(TAG_VIDEO, 2 ** 24 + 200, Buffer.alloc(1000));
    const end = until('it has ended', () => {
      if (ended === undefined) transport.stdin.write(picture);
      return ended;
    });
    expect(await end).toContain('Invalid data found');
  });

  test('puts a stream on air, confined as in a pod: at an RTMP server, and at an SRT listener that decrypts it', async () => {
    const port = await freeUdpPort();
    const received = join(studio.root, 'encrypted.ts');
    const listener = await startListener(port, received, '&passphrase=a-passphrase-of-both');
    studio.cleanups.push(async () => void listener.kill('SIGKILL'));
    const stream = await studio.onAir(
      buildProgram(studio.items, { destinations: ['rtmp', 'srt'] }),
      {
        rtmp: [studio.rtmp.url, 'by-sender'],
        srt: [`srt://127.0.0.1:${port}?passphrase=a-passphrase-of-both&pbkeylen=32`, ''],
      },
      { env: { LOOPSTREAM_SENDER: sender } },
    );
    await Promise.all(['rtmp', 'srt'].map((name) => connected(stream, name)));
    const bytes = () => stat(received).then(({ size }) => size);
    await until('enough to look at', async () => (await bytes()) > 300_000);
    await stream.stop();
    await expectUntouched(studio.rtmp, 'by-sender');
    const packets = await readPackets(received);
    expect(computeSteps(packets, 'video').packets).toBeGreaterThan(30);
    expect(computeSteps(packets, 'video').notIncreasing).toBe(0);
  });
});
