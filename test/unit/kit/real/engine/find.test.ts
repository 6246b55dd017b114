import { describe, expect, test } from 'vitest';
import { type EngineInfo, whyOutOfReach } from '../../../../../tools/local/kind/engine.ts';
import { findEngine } from '../../../../kit/real/engine/find.ts';

const HERE: EngineInfo = {
  Name: 'here',
  OSType: 'linux',
  OperatingSystem: 'Debian GNU/Linux 12 (bookworm)',
  SecurityOptions: ['name=seccomp,profile=default'],
};

describe('an engine is used only when its containers can listen on the loopback address of this machine', () => {
  test('as one of this machine can', () => {
    expect(whyOutOfReach(HERE, 'here')).toBeUndefined();
    expect(whyOutOfReach({ ...HERE, SecurityOptions: null }, 'here')).toBeUndefined();
  });

  test.each<[string, Partial<EngineInfo>, RegExp]>([
    ['of another machine', { Name: 'elsewhere' }, /another machine \(elsewhere\)/],
    ['without root', { SecurityOptions: ['name=rootless'] }, /network of its own/],
    ['in a virtual machine', { OperatingSystem: 'Docker Desktop' }, /virtual machine/],
    ['of Windows', { OSType: 'windows' }, /not of Linux/],
  ])('and one %s cannot', (_, different, why) => {
    expect(whyOutOfReach({ ...HERE, ...different }, 'here')).toMatch(why);
  });

  test('not at an address that is no file, nor one that does not answer', async () => {
    expect(await findEngine('tcp://127.0.0.1:2375')).toMatchObject({ whyNot: /may be another machine/ });
    const nobody = `unix://${import.meta.dirname}/nobody.sock`;
    expect(await findEngine(nobody)).toEqual({ whyNot: `no Docker engine answers at ${nobody}` });
  });
});
