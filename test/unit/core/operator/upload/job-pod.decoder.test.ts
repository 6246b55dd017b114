import { describe, expect, it } from 'vitest';
import type { PodSettings } from '../../../../../src/core/operator/pods/security.ts';
import {
  buildHelpersJob,
  buildJob,
  buildSweepJob,
  wantImport,
  wantRendition,
} from '../../../../../src/core/operator/upload/job.ts';
import { decoderConfig, prepareConfig } from '../../../../../src/core/protocol/environment.ts';
import { MEDIA, S3_SETTINGS, SETTINGS, upload, wantHelpers } from '../../../../kit/make/operator.ts';

interface Container {
  name: string;
  args: string[];
  restartPolicy?: string;
  env: { name: string; value?: string; valueFrom?: unknown }[];
  envFrom?: unknown;
  volumeMounts: { name: string; mountPath: string; subPath?: string; readOnly?: boolean }[];
  securityContext: Record<string, unknown>;
}
interface Template {
  metadata: { annotations: Record<string, string> };
  spec: {
    initContainers?: Container[];
    containers: Container[];
    securityContext: object;
    shareProcessNamespace?: boolean;
  };
}
const buildTemplate = ({ spec }: { spec: unknown }): Template =>
  JSON.parse(JSON.stringify((spec as { template: unknown }).template));
const film = upload('film', {});
const JOBS = {
  import: (settings: PodSettings) => buildTemplate(buildJob(film, wantImport(film), settings)),
  rendition: (settings: PodSettings) => buildTemplate(buildJob(film, wantRendition(film, MEDIA, '720p30'), settings)),
  range: (settings: PodSettings) =>
    buildTemplate(buildHelpersJob(film, wantHelpers(film, MEDIA, '720p30'), 3, settings)),
};
const getEnv = ({ env }: Container) => Object.fromEntries(env.map(({ name, value }) => [name, value ?? '10.0.0.1']));

const CASES = Object.entries(JOBS).flatMap(([kind, build]) =>
  Object.entries({ 'a directory': SETTINGS, S3: S3_SETTINGS }).map(
    ([where, settings]) => [kind, where, build(settings), settings] as const,
  ),
);

describe.each(CASES)(
  'the decoder of the Job of an %s with media in %s',
  (kind, where, { spec, metadata }, settings) => {
    const [decoder] = spec.initContainers ?? [];
    const [keeper] = spec.containers;
    if (!decoder || !keeper) throw new Error('there are not two containers');

    it('is a sidecar with the tools alone, and the keeper has none of its own', () => {
      expect(spec.initContainers).toHaveLength(1);
      expect(decoder).toMatchObject({ name: 'decoder', args: ['decoder'], restartPolicy: 'Always' });
      expect(decoderConfig(getEnv(decoder))).toMatchObject({ confine: 'auto' });
      expect(prepareConfig(getEnv(keeper)).decoderSocket).toBe(decoderConfig(getEnv(decoder)).socket);
    });

    it('gets nothing but a log level, a socket and its confinement', () => {
      const names = decoder.env.map(({ name }) => name).sort();
      expect(names).toEqual(['LOOPSTREAM_CONFINE', 'LOOPSTREAM_DECODER_SOCKET', 'LOOPSTREAM_LOG_LEVEL']);
      expect(decoder.env.every(({ valueFrom }) => valueFrom === undefined)).toBe(true);
      expect(decoder.envFrom).toBeUndefined();
      expect(metadata.annotations['eks.amazonaws.com/skip-containers']).toBe('decoder');
    });

    it('can write nowhere, and sees no credentials, no storage and nothing of other media', () => {
      expect(decoder.volumeMounts.filter(({ readOnly }) => !readOnly)).toEqual([]);
      const source = `sources/${film.metadata.uid}`;
      const expected = [
        { name: 'cage', mountPath: '/run/loopstream', readOnly: true },
        { name: 'tmp', mountPath: '/var/lib/loopstream/input', subPath: 'input', readOnly: true },
        ...(kind !== 'import' && where !== 'S3'
          ? [{ name: 'storage', mountPath: `/media/${source}`, subPath: source, readOnly: true }]
          : []),
      ];
      expect(decoder.volumeMounts).toEqual(expected);
    });

    it('never sees all of the media directory, wherever that is said to be', () => {
      const odd = JOBS[kind as keyof typeof JOBS]({ ...settings, storageMountPath: '/elsewhere' });
      const mounts = odd.spec.initContainers?.[0]?.volumeMounts ?? [];
      expect(mounts.filter(({ name, subPath }) => name === 'storage' && subPath === undefined)).toEqual([]);
    });

    it('has another user than the keeper, whose processes it cannot see', () => {
      expect(spec.securityContext).toMatchObject({ runAsUser: 10_001, seccompProfile: { type: 'RuntimeDefault' } });
      expect(decoder.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
        runAsUser: 10_002,
        runAsGroup: 10_002,
      });
      expect(spec.shareProcessNamespace).toBeUndefined();
    });
  },
);

describe('the keeper', () => {
  const getMounts = (template: Template) =>
    template.spec.containers[0]?.volumeMounts.filter(({ name }) => name === 'storage');

  it.each(['rendition', 'range'] as const)(
    'of a %s sees the renditions and the one source, which it can only read',
    (kind) => {
      const source = `sources/${film.metadata.uid}`;
      expect(getMounts(JOBS[kind](SETTINGS))).toEqual([
        { name: 'storage', mountPath: '/media/renditions', subPath: 'renditions' },
        { name: 'storage', mountPath: `/media/${source}`, subPath: source, readOnly: true },
      ]);
    },
  );

  it('of a sweep works alone: it opens no media', () => {
    const task = { action: 'sweep', keep: '', shard: 0, shards: 1, graceSeconds: 1 } as const;
    const { spec } = buildTemplate(buildSweepJob(task, SETTINGS));
    expect(spec.initContainers).toBeUndefined();
    expect(JSON.stringify(spec)).not.toContain('DECODER');
  });
});
