import { describe, expect, it } from 'vitest';
import { Addresses } from '../../../../tools/node-agent/addresses.ts';

describe('addresses', () => {
  it('each owner keeps its own, a freed one rests, and the wanted one is given when it is free', () => {
    const addresses = new Addresses('127.16.0.0/29');
    expect(addresses.claim('a')).toBe('127.16.0.1');
    expect(addresses.claim('b')).toBe('127.16.0.2');
    expect(addresses.claim('a')).toBe('127.16.0.1');
    addresses.release('a');
    expect(addresses.claim('c')).toBe('127.16.0.3');
    expect(addresses.claim('d', '127.16.0.1')).toBe('127.16.0.1');
    expect(addresses.claim('e', '127.16.0.1')).toBe('127.16.0.4');
    expect(addresses.claim('f', '10.0.0.1')).toBe('127.16.0.5');
    expect(addresses.claim('g')).toBe('127.16.0.6');
    expect(() => addresses.claim('h')).toThrow('No address is left');
  });
});
