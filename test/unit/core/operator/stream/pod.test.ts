import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildPod, findLabelPatch, hashTemplate } from '../../../../../src/core/operator/stream/pod.ts';
import { streamerConfig } from '../../../../../src/core/protocol/environment.ts';
import { PROJECT_ROOT } from '../../../../../tools/process/root.ts';
import { destination, makeProgram, SETTINGS, stream, world } from '../../../../kit/make/operator.ts';

const loopStream = stream({ destinationNames: ['tv', 'backup.example'] });
const objects = world({ destinations: [destination('tv'), destination('backup.example')] });
const pod = buildPod(loopStream, makeProgram(loopStream, objects, '2026-06-01T12:00:00Z'), SETTINGS);
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
          apiVersion: 'loopstream.dev/v1beta1',
          kind: 'LoopStream',
          uid: 'uid-of-bunny',
          controller: true,
        },
      ],
    });
  });

  it.each([
    [undefined, {}, 'true', undefined],
    ['OnDrain', {}, 'true', undefined],
    ['Always', {}, 'true', undefined],
    ['Never', {}, 'false', 'true'],
    ['Never', { 'karpenter.sh/do-not-disrupt': 'false' }, 'false', 'false'],
    ['Always', { 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false' }, 'false', undefined],
  ] as const)(
    'tells node autoscalers what disruptionPolicy %s means, unless the user does: %j',
    (policy, own, safe, fixed) => {
      const one = stream({ ...(policy && { disruptionPolicy: policy }), template: { annotations: own } });
      const program = makeProgram(one, world(), '2026-06-01T12:00:00Z');
      const { annotations = {} } = buildPod(one, program, SETTINGS).metadata;
      expect(annotations['cluster-autoscaler.kubernetes.io/safe-to-evict']).toBe(safe);
      expect(annotations['karpenter.sh/do-not-disrupt']).toBe(fixed);
    },
  );

  it('hands over everything that the streamer reads, and nothing by another way', () => {
    expect(streamerConfig(env)).toMatchObject({
      programFile: '/stream/program.json',
      destinationsFile: '/stream/destinations.json',
      controlTokenFile: '/stream/token',
      storageUrl: 'file:///media',
      host: '10.0.0.1',
      port: 9400,
    });
    expect(container.args).toEqual(['streamer']);
  });

  it('starts the image’s own program, with flags for Node', () => {
    const dockerfile = readFileSync(join(PROJECT_ROOT, 'Dockerfile'), 'utf8');
    const [node, program] = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(dockerfile)?.[1] ?? '[]') as string[];
    const [first, ...rest] = container.command as string[];
    expect([first, rest.pop()]).toEqual([node, program]);
    expect(rest.every((flag) => flag.startsWith('--'))).toBe(true);
  });

  it('mounts its program, its UID and all of the one Secret of its stream, readable by the group alone, so that both can change', () => {
    expect(container.volumeMounts).toContainEqual({
      name: 'stream',
      mountPath: '/stream',
      readOnly: true,
    });
    const fieldRef = { fieldPath: "metadata.annotations['loopstream.dev/program']" };
    const uid = { path: 'podUid', fieldRef: { fieldPath: 'metadata.uid' } };
    expect(spec.volumes).toContainEqual({
      name: 'stream',
      projected: {
        defaultMode: 0o440,
        sources: [
          { secret: { name: 'stream-uid-of-bunny' } },
          { downwardAPI: { items: [{ path: 'program.json', fieldRef }, uid] } },
        ],
      },
    });
    expect(JSON.stringify(spec)).not.toContain('tv-secret');
  });

  it('follows the stream’s template, which can take none of our labels and nothing of its confinement', () => {
    const template = {
      resources: { limits: { memory: '1Gi' } },
      nodeSelector: { disk: 'ssd' },
      tolerations: [{ key: 'media', operator: 'Exists' as const }],
      affinity: { nodeAffinity: {} },
      labels: { team: 'tv', 'app.kubernetes.io/component': 'mine' },
      annotations: { note: 'x', 'loopstream.dev/program': 'mine' },
      runtimeClassName: 'gvisor',
      priorityClassName: 'high',
    };
    const as = stream({ template, disruptionPolicy: 'Never' });
    const made = buildPod(as, makeProgram(as, world(), '2026-06-01T12:00:00Z'), SETTINGS);
    const { labels, annotations, affinity, resources, ...rest } = template;
    expect(made.metadata.labels).toMatchObject({
      team: 'tv',
      'app.kubernetes.io/component': 'streamer',
      'loopstream.dev/disruption': 'Never',
    });
    expect(made.metadata.annotations?.note).toBe('x');
    expect(made.metadata.annotations?.['loopstream.dev/program']).not.toBe('mine');
    expect(made.spec).toMatchObject({
      ...rest,
      affinity,
      containers: [{ resources }],
      securityContext: { runAsNonRoot: true },
    });
    expect(made.spec).toMatchObject({ automountServiceAccountToken: false });
  });

  it('has the labels that users gave the stream and no others of it, and is told of those that changed', () => {
    const label = (labels: Record<string, string>) => {
      const one = stream({});
      return { ...one, metadata: { ...one.metadata, labels: { ...one.metadata.labels, ...labels } } };
    };
    const before = label({ 'label.loopstream.dev/team': 'news', 'label.loopstream.dev/env': 'prod', other: 'x' });
    const made = buildPod(before, makeProgram(before, world(), '2026-06-01T12:00:00Z'), SETTINGS);
    expect(made.metadata.labels).toMatchObject({
      'label.loopstream.dev/team': 'news',
      'label.loopstream.dev/env': 'prod',
    });
    expect(made.metadata.labels).not.toHaveProperty('other');
    const podOf = (labels = made.metadata.labels) => ({ metadata: { ...made.metadata, labels } }) as never;
    expect(findLabelPatch(before, podOf())).toBeUndefined();
    expect(findLabelPatch(label({ 'label.loopstream.dev/team': 'sport' }), podOf())).toEqual({
      'label.loopstream.dev/team': 'sport',
      'label.loopstream.dev/env': null,
    });
    const after = label({ 'label.loopstream.dev/team': 'sport' });
    expect(hashTemplate(after, SETTINGS)).toBe(hashTemplate(before, SETTINGS));
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

describe('the files of a pod', () => {
  it('are its program, its UID and all of the stream’s Secret, without which it does not start', () => {
    const { projected } = spec.volumes.find(({ name }: { name: string }) => name === 'stream');
    expect(projected.sources).toEqual([
      { secret: { name: 'stream-uid-of-bunny' } },
      {
        downwardAPI: {
          items: [
            { path: 'program.json', fieldRef: expect.anything() },
            { path: 'podUid', fieldRef: expect.anything() },
          ],
        },
      },
    ]);
  });
});

describe('the template hash', () => {
  const hash = hashTemplate(loopStream, SETTINGS);
  it.each([
    ['another template', hashTemplate(stream({ ...loopStream.spec, template: { labels: { a: 'b' } } }), SETTINGS)],
    ['another storage', hashTemplate(loopStream, { ...SETTINGS, storageUrl: 'file:///else' })],
    ['another image', hashTemplate(loopStream, { ...SETTINGS, image: 'loopstream:2' })],
  ])('changes with %s', (_what, other) => expect(other).not.toBe(hash));

  it.each([
    ['another log level', hashTemplate(loopStream, { ...SETTINGS, logLevel: 'debug' })],
    ['another name', hashTemplate(stream({ ...loopStream.spec, displayName: 'x' }), SETTINGS)],
    ['another upload', hashTemplate(stream({ ...loopStream.spec, uploadName: 'x' }), SETTINGS)],
    ['another frame rate', hashTemplate(stream({ ...loopStream.spec, framerate: 60 }), SETTINGS)],
    ['a destination less', hashTemplate(stream({ ...loopStream.spec, destinationNames: ['tv'] }), SETTINGS)],
  ])('stays with %s, which the pod takes up as it is', (_what, other) => expect(other).toBe(hash));
});
