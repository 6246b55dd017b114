/** Reads what RTMP servers send, in pieces of any size, and refuses what none would send. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  acknowledge,
  ChunkReader,
  encodeCommand,
  RtmpError,
  readCommand,
  readPing,
} from '../../../../../src/core/platform/watch/rtmp-messages.ts';

/** A message in chunks of 128 bytes, as a server begins. */
function encode(chunkStream: number, type: number, timestampMs: number, body: Buffer): Buffer {
  const head = Buffer.alloc(12);
  head[0] = chunkStream;
  head.writeUIntBE(Math.min(timestampMs, 0xffffff), 1, 3);
  head.writeUIntBE(body.length, 4, 3);
  head[7] = type;
  const extended = Buffer.alloc(timestampMs >= 0xffffff ? 4 : 0);
  if (extended.length > 0) extended.writeUInt32BE(timestampMs);
  const parts = [];
  for (let at = 0; at < body.length; at += 128)
    parts.push(at === 0 ? head : Buffer.of(0xc0 | chunkStream), extended, body.subarray(at, at + 128));
  return Buffer.concat(parts);
}

const bodies = fc.array(fc.uint8Array({ minLength: 1, maxLength: 1_000 }), { minLength: 1, maxLength: 6 });

test('messages of two tracks come out whole, however their bytes are cut, also behind four hours', () => {
  fc.assert(
    fc.property(bodies, fc.array(fc.integer({ min: 1, max: 300 })), fc.nat(0xffffffff), (list, cuts, timestampMs) => {
      const data = Buffer.concat(
        list.map((body, at) => encode(4 + (at % 2), 8 + (at % 2), timestampMs, Buffer.from(body))),
      );
      const reader = new ChunkReader();
      const messages = [];
      let at = 0;
      for (const cut of [...cuts, data.length]) {
        messages.push(...reader.push(data.subarray(at, at + cut)));
        at += cut;
      }
      expect(messages.map(({ body }) => [...body])).toEqual(list.map((body) => [...body]));
      expect(messages.every((message) => message.timestampMs === timestampMs)).toBe(true);
    }),
    { numRuns: 50 },
  );
});

test('the size of chunks may change', () => {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(4_096);
  const body = Buffer.alloc(1_000, 3);
  const head = Buffer.alloc(12);
  head[0] = 6;
  head.writeUIntBE(body.length, 4, 3);
  head[7] = 9;
  const messages = new ChunkReader().push(Buffer.concat([encode(2, 1, 0, size), head, body]));
  expect(messages.at(-1)?.body).toEqual(body);
});

test('any bytes end in messages or in an error of our own, and hold no more memory than they have', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2_000 }), (bytes) => {
      try {
        new ChunkReader().push(Buffer.from(bytes)).map((message) => [readCommand(message), readPing(message)]);
      } catch (error) {
        expect(error).toBeInstanceOf(RtmpError);
      }
    }),
  );
  const huge = Buffer.alloc(12);
  huge[0] = 5;
  huge.writeUIntBE(0xfffffe, 4, 3);
  expect(() => new ChunkReader().push(huge)).toThrow(RtmpError);
});

test('a server cannot have messages begun without end', () => {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(2 ** 23 - 1);
  const reader = new ChunkReader();
  reader.push(encode(2, 1, 0, size));
  const begin = (chunkStream: number) => {
    const head = Buffer.alloc(12);
    head[0] = chunkStream;
    head.writeUIntBE(2 ** 23, 4, 3);
    reader.push(Buffer.concat([head, Buffer.alloc(2 ** 23 - 1)]));
  };
  begin(4);
  begin(5);
  expect(() => begin(6)).toThrow(RtmpError);
});

test('commands are read as they are written', () => {
  const [status] = new ChunkReader().push(
    encodeCommand(1, 'onStatus', 0, null, { level: 'error', code: 'NetStream.Play.StreamNotFound' }),
  );
  expect(status && readCommand(status)).toMatchObject({ name: 'onStatus', code: 'NetStream.Play.StreamNotFound' });
  const [result] = new ChunkReader().push(encodeCommand(0, '_result', 2, null, 7));
  expect(result && readCommand(result)).toMatchObject({ name: '_result', transaction: 2, number: 7 });
});

test('a ping is answered with its own bytes', () => {
  const [message] = new ChunkReader().push(encode(2, 4, 0, Buffer.from([0, 6, 1, 2, 3, 4])));
  const pong = message && readPing(message);
  expect([...(pong?.subarray(-6) ?? [])]).toEqual([0, 7, 1, 2, 3, 4]);
  const [other] = new ChunkReader().push(acknowledge(5));
  expect(other && readPing(other)).toBeUndefined();
});
