import { describe, expect, test } from 'vitest';
import { createCredentialCache } from '../../../../src/service/auth/credential-cache.ts';

const start = Date.parse('2026-01-01T00:00:00Z');
function clockAt() {
  const clock = { ms: 1000, now: () => new Date(start + clock.ms), monotonicMs: () => clock.ms };
  return clock;
}

describe('a checked credential in the cache', () => {
  test('is valid until it expires, or has to be checked again, whichever comes first', () => {
    const clock = clockAt();
    const recent = createCredentialCache<string>(clock);
    recent.keep('looked at again', 'a', { untilMs: 3000, expiresAt: start + 9000 });
    recent.keep('over', 'b', { untilMs: 9000, expiresAt: start + 3000 });
    recent.keep('over already', 'c', { untilMs: 9000, expiresAt: start });
    recent.keep('without end', 'd', { untilMs: 9000, expiresAt: Number.POSITIVE_INFINITY });
    const listKnown = () => ['looked at again', 'over', 'over already', 'without end'].map((text) => recent.get(text));
    expect(listKnown()).toEqual(['a', 'b', undefined, 'd']);
    clock.ms = 2999;
    expect(listKnown()).toEqual(['a', 'b', undefined, 'd']);
    clock.ms = 3000;
    expect(listKnown()).toEqual([undefined, undefined, undefined, 'd']);
  });

  test('is looked up once for concurrent requests, and again for a later one, or after its removal', async () => {
    const recent = createCredentialCache<string>(clockAt());
    const finds: PromiseWithResolvers<string>[] = [];
    const ask = () =>
      recent.share('x', () => {
        const find = Promise.withResolvers<string>();
        finds.push(find);
        return find.promise;
      });
    const [first, second] = [ask(), ask()];
    recent.forget(() => true);
    const third = ask();
    expect(finds).toHaveLength(2);
    finds[0]?.resolve('before');
    finds[1]?.resolve('after');
    expect(await Promise.all([first, second, third])).toEqual(['before', 'before', 'after']);
    const fourth = ask();
    finds[2]?.reject(new Error('away'));
    await expect(fourth).rejects.toThrow('away');
    const fifth = ask();
    expect(finds).toHaveLength(4);
    finds[3]?.resolve('again');
    expect(await fifth).toBe('again');
  });
});
