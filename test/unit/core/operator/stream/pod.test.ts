import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildPod, hashTemplate } from '../../../../../src/core/operator/stream/pod.ts';
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

describe('the first pod of a stream', () => {
  const CONTROL_KEY = 'key-of-control-tokens';
  const first = {
    secretNames: new Map([
      ['tv', 'tv-secret'],
      ['backup.example', 'backup.example-secret'],
    ]),
    controlSecret: 'tv-secret',
    controlKey: CONTROL_KEY,
  };
  const program = makeProgram(loopStream, objects, '2026-06-01T12:00:00Z');
  const firstPod = buildPod(loopStream, program, SETTINGS, 'bunny-onair', first);
  const firstSpec = JSON.parse(JSON.stringify(firstPod.spec)) as typeof spec;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  const sources: any[] = firstSpec.volumes.find(({ name }: { name: string }) => name === 'stream').projected.sources;

  it('mounts the Secret of the stream if there is one, and what the streamer reads of its destinations’ Secrets', () => {
    const fields = ['rtmpUrl', 'rtmpKey', 'rtmpUser', 'rtmpPassword'];
    const own = (name: string, more: object[] = []) => ({
      secret: {
        name: `${name}-secret`,
        optional: true,
        items: [...fields.map((key) => ({ key, path: `destinations/${name}/${key}` })), ...more],
      },
    });
    expect(sources).toEqual([
      { secret: { name: 'stream-uid-of-bunny', optional: true } },
      own('tv', [{ key: 'controlKey', path: 'controlKey' }]),
      own('backup.example'),
      { downwardAPI: expect.anything() },
    ]);
  });

  it('writes no file of its volume twice, also where two destinations have one Secret', () => {
    const secretNames = new Map([...first.secretNames, ['tv2', 'tv-secret']]);
    const { volumes } = buildPod(loopStream, program, SETTINGS, 'bunny-onair', { ...first, secretNames }).spec as never;
    // biome-ignore lint/suspicious/noExplicitAny: as above.
    const shared: any[] = (volumes as any[]).find(({ name }) => name === 'stream').projected.sources;
    expect(shared).toHaveLength(sources.length + 1);
    const files = shared.flatMap(({ secret, downwardAPI }) => (secret ?? downwardAPI).items ?? []);
    const filePaths = files.map(({ path }: { path: string }) => path);
    expect(new Set(filePaths).size).toBe(filePaths.length);
  });

  it('names the Secret with the key of its control token', () => {
    expect(firstPod.metadata.annotations?.['loopstream.dev/control-secret']).toBe('tv-secret');
    expect(pod.metadata.annotations).not.toHaveProperty(['loopstream.dev/control-secret']);
  });

  it('hands over where its files are, and keeps its grant where it can write', () => {
    const given: { name: string; value?: string }[] = firstSpec.containers[0].env;
    const config = streamerConfig(Object.fromEntries(given.map(({ name, value = '10.0.0.1' }) => [name, value])));
    expect(config).toMatchObject({
      destinationsFile: '/stream/destinations.json',
      destinationsDir: '/stream/destinations',
      controlTokenFile: '/stream/token',
      controlKeyFile: '/stream/controlKey',
      publisherFile: '/stream/publisher',
      grantDir: '/tmp/grant',
    });
    expect(streamerConfig(env).grantDir).toBeUndefined();
  });

  it('shows no value of a Secret', () => expect(JSON.stringify(firstPod)).not.toContain(CONTROL_KEY));

  it('is like any other pod of the stream in all else, its template hash included', () => {
    const { 'loopstream.dev/control-secret': _, ...annotations } = firstPod.metadata.annotations ?? {};
    expect({ ...firstPod.metadata, annotations }).toEqual(pod.metadata);
    const withoutSpecial = (given: typeof spec) => {
      const text = JSON.stringify(given).replace(String.raw`\"GRANT_DIR\":\"/tmp/grant\",`, '');
      const copy = JSON.parse(text) as typeof spec;
      for (const { name, projected } of copy.volumes) if (name === 'stream') projected.sources = [];
      return copy;
    };
    expect(withoutSpecial(firstPod.spec)).toEqual(withoutSpecial(pod.spec));
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
