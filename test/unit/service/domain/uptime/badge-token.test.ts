import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createBadgeTokens } from '../../../../../src/service/domain/uptime/badge-token.ts';

const tokens = createBadgeTokens('a secret of this installation');
const uid = randomUUID();
const token = tokens.build(uid);

describe('the token of a badge', () => {
  test('leads to its stream, and is always the same', () => {
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(tokens.read(token)).toBe(uid);
    expect(tokens.build(uid)).toBe(token);
  });

  test('is one of this installation alone', () =>
    expect(tokens.read(createBadgeTokens('another secret').build(uid))).toBeUndefined());

  test('cannot be made of another one by any change of a byte', () => {
    const bytes = Buffer.from(token, 'base64url');
    for (const [i, byte] of bytes.entries()) {
      const changed = Buffer.from(bytes);
      changed[i] = byte ^ 1;
      expect(tokens.read(changed.toString('base64url'))).toBeUndefined();
    }
  });

  test.each([
    ['', ''],
    ['a short one', 'abc'],
    ['more behind it', `${token}AAAA`],
    ['another spelling', `${token}=`],
  ])('is not %s', (_what, text) => expect(tokens.read(text)).toBeUndefined());
});
