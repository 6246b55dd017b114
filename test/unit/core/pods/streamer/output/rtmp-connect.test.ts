/** Tests a server's answers to `connect`, however they are split, from any server. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { answerChallenge } from '../../../../../../src/core/pods/streamer/output/authmod.ts';
import { connectCommand, readConnectReply } from '../../../../../../src/core/pods/streamer/output/rtmp-connect.ts';

const HANDSHAKE = Buffer.alloc(3073, 3);
/** A reply in chunks of the command's size. */
const reply = (name: '_result' | '_error', description: string): Buffer => {
  const bytes = connectCommand('a', description).toString('latin1');
  const renamed = bytes.replace('connect', name === '_error' ? '_error\0' : '_result');
  return Buffer.concat([HANDSHAKE, Buffer.from(renamed, 'latin1')]);
};

test('a grant counts when it is complete, and not before', () => {
  const whole = reply('_result', 'x'.repeat(500));
  for (let length = 0; length < whole.length; length += 7)
    expect(readConnectReply(whole.subarray(0, length))).toBeUndefined();
  expect(readConnectReply(whole)).toEqual({ isGranted: true, description: '' });
});

test('no bytes of a server make it throw', () => {
  const start = fc.constantFrom(HANDSHAKE, reply('_result', 'x').subarray(0, 3100));
  const check = (head: Buffer, tail: Uint8Array) => {
    readConnectReply(Buffer.concat([head, tail]));
    return true;
  };
  fc.assert(fc.property(start, fc.uint8Array({ maxLength: 400 }), check), { numRuns: 20_000 });
});

test('no description of a server makes the answer reach another line, or reveal the password', () => {
  const publisher = { login: { user: 'bob', password: 'verysecret' }, app: 'live', nonce: '0badcafe' };
  const word = fc.oneof(
    fc.constantFrom('&opaque=', '&challenge=', '&salt=', '&user=', '\n', '\r', ' ', 'x'),
    fc.string({ unit: 'binary' }),
  );
  const check = (mod: string, words: string[]) => {
    const challenge = answerChallenge(`authmod=${mod} ?reason=needauth${words.join('')}`, publisher);
    return challenge.kind !== 'password' || !/[\s\p{Cc}]|verysecret/u.test(challenge.query);
  };
  fc.assert(fc.property(fc.constantFrom('adobe', 'llnw'), fc.array(word, { maxLength: 8 }), check), { numRuns: 5000 });
});
