import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../src/core/kube/core.ts';
import type { Volume } from '../../../../tools/node-agent/types.ts';
import { MountError, volumeFiles } from '../../../../tools/node-agent/volume-content.ts';

describe('the content of volumes', () => {
  const pod = { metadata: { name: 'p', labels: { app: 'x' }, annotations: {} }, spec: {} } as unknown as Pod;
  const address = { podIP: '127.16.0.1', hostIP: '127.0.0.1' };
  const data: Record<string, Buffer> = { user: Buffer.from('u'), pass: Buffer.from([0, 255]) };
  const lookUp = (_kind: string, name: string) => (name === 's' ? data : undefined);
  const buildFiles = (volume: Omit<Volume, 'name'>) => volumeFiles({ name: 'v', ...volume }, pod, address, lookUp);

  it('a Secret gives each key, bytes as they are, to the owner alone', () => {
    const written = buildFiles({ secret: { secretName: 's', defaultMode: 0o644 } });
    expect(written.get('pass')).toEqual({ data: Buffer.from([0, 255]), mode: 0o600 });
    expect(buildFiles({ secret: { secretName: 's', items: [{ key: 'user', path: 'a/b', mode: 0o440 }] } })).toEqual(
      new Map([['a/b', { data: Buffer.from('u'), mode: 0o400 }]]),
    );
  });

  it('a missing Secret or key is a mount error unless it is optional', () => {
    expect(() => buildFiles({ secret: { secretName: 'none' } })).toThrow(new MountError('secret "none" not found'));
    expect(() => buildFiles({ secret: { secretName: 's', items: [{ key: 'no', path: 'no' }] } })).toThrow(
      'non-existent',
    );
    expect(buildFiles({ secret: { secretName: 'none', optional: true } }).size).toBe(0);
  });

  it('a projected volume puts its sources together', () => {
    const sources = [
      { secret: { name: 's', items: [{ key: 'user', path: 'user' }] } },
      { downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
    ];
    const written = buildFiles({ projected: { sources } });
    expect([...written].map(([path, file]) => [path, file.data.toString()])).toEqual([
      ['user', 'u'],
      ['labels', 'app="x"'],
    ]);
  });

  it('no path leads out of the volume', () => {
    expect(() => buildFiles({ secret: { secretName: 's', items: [{ key: 'user', path: '../x' }] } })).toThrow(
      MountError,
    );
  });
});
