import { expect, test } from 'vitest';
import type { Kube } from '../../../../src/core/kube/types.ts';
import { Sources } from '../../../../tools/node-agent/sources.ts';

const NAMES = [{ kind: 'Secret' as const, name: 'key' }];

test('waiting pods share a read for a second; a new one reads the present state, and so do the others then', async () => {
  let version = 0;
  let nowMs = 0;
  const encoded = () => Buffer.from(String(++version)).toString('base64');
  const kube = { get: async () => ({ data: { is: encoded() } }) } as unknown as Kube;
  const sources = new Sources(kube, { now: () => new Date(nowMs), monotonicMs: () => nowMs });
  const look = async (options?: { fresh: boolean }) =>
    (await sources.bytes('tv', NAMES, options))('Secret', 'key')?.is?.toString();
  expect(await look()).toBe('1');
  nowMs = 500;
  expect(await look()).toBe('1');
  expect(await look({ fresh: true })).toBe('2');
  nowMs = 1200;
  expect(await look()).toBe('2');
  nowMs = 1600;
  expect(await look()).toBe('3');
});
