import { describe, expect, it } from 'vitest';
import { streamerConfig } from '../../src/config.ts';
import { programOf } from '../../src/operator/media.ts';
import { buildPod, targetsOf, templateHash } from '../../src/operator/pod.ts';
import { destination, SETTINGS, stream, world } from '../support/operator.ts';

const of = stream({ destinationRefs: ['tv', 'backup.example'] });
const objects = world({ destinations: [destination('tv'), destination('backup.example')] });
const targets = targetsOf(of, objects.destinations);
const pod = buildPod(of, programOf(of, objects, '2026-06-01T12:00:00Z'), targets, SETTINGS);
// The spec is plain JSON for Kubernetes; the test reads it as such.
// biome-ignore lint/suspicious/noExplicitAny: the builder's answer has the shape of a pod, which is not typed here.
const spec = JSON.parse(JSON.stringify(pod.spec)) as any;
const container = spec.containers[0];
const env: Record<string, string> = Object.fromEntries(
  container.env.map((entry: { name: string; value?: string }) => [entry.name, entry.value ?? '10.0.0.1']),
);

describe('the pod of a stream', () => {
  it('has the name that is the lock, and belongs to the stream', () => {
    expect(pod.metadata).toMatchObject({
      name: 'bunny-onair',
      namespace: 'tv',
      labels: { 'loopstream.dev/stream': 'bunny', 'app.kubernetes.io/component': 'streamer' },
      ownerReferences: [
        {
          apiVersion: 'loopstream.dev/v1alpha1',
          kind: 'LoopStream',
          uid: 'uid-of-bunny',
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    });
  });

  it('hands over everything that the streamer reads, and nothing by another way', () => {
    expect(streamerConfig(env)).toMatchObject({
      programFile: '/etc/loopstream/program/program.json',
      destinationsDir: '/etc/loopstream/destinations',
      storageUrl: 'file:///media',
      host: '10.0.0.1',
      port: 9400,
    });
    expect(container.args).toEqual(['streamer']);
    expect(container.command).toBeUndefined();
  });

  it('mounts each Secret under the name of its destination, readable by the group alone', () => {
    const mounts = container.volumeMounts.map(({ name, mountPath }: { name: string; mountPath: string }) => [
      name,
      mountPath,
    ]);
    expect(mounts).toContainEqual(['destinations', '/etc/loopstream/destinations']);
    const filesOf = (name: string) => ({
      secret: {
        name: `${name}-secret`,
        items: [
          { key: 'rtmpUrl', path: `${name}/rtmpUrl` },
          { key: 'rtmpKey', path: `${name}/rtmpKey` },
        ],
      },
    });
    expect(spec.volumes).toContainEqual({
      name: 'destinations',
      projected: { defaultMode: 0o440, sources: [filesOf('tv'), filesOf('backup.example')] },
    });
  });

  it('gives every volume a mount and every mount a volume', () => {
    const names = (list: { name: string }[]) => list.map(({ name }) => name).sort();
    expect(names(container.volumeMounts)).toEqual(names(spec.volumes));
  });

  it('has no API token, and can write nowhere but to /tmp', () => {
    expect(spec.automountServiceAccountToken).toBe(false);
    expect(container.securityContext).toMatchObject({ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false });
    const writable = container.volumeMounts.filter((mount: { readOnly?: boolean }) => !mount.readOnly);
    expect(writable).toEqual([{ name: 'tmp', mountPath: '/tmp' }]);
  });
});

describe('the template hash', () => {
  const hash = templateHash(of, targets, SETTINGS);
  it.each([
    ['another frame rate', templateHash(stream({ ...of.spec, framerate: 60 }), targets, SETTINGS)],
    ['a destination less', templateHash(of, targets.slice(1), SETTINGS)],
    ['another Secret', templateHash(of, [{ name: 'tv', secretName: 'x' }, ...targets.slice(1)], SETTINGS)],
    ['another storage', templateHash(of, targets, { ...SETTINGS, storageUrl: 'file:///else' })],
  ])('changes with %s', (_what, other) => expect(other).not.toBe(hash));

  it.each([
    ['another image', templateHash(of, targets, { ...SETTINGS, image: 'loopstream:2', logLevel: 'debug' })],
    ['another name', templateHash(stream({ ...of.spec, displayName: 'x' }), targets, SETTINGS)],
    ['another upload', templateHash(stream({ ...of.spec, uploadRef: 'x' }), targets, SETTINGS)],
  ])('stays with %s, so that nothing goes off air for it', (_what, other) => expect(other).toBe(hash));
});
