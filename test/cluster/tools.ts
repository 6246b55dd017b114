/**
 * Tests what platform teams' own tools see of streams on air: kubectl and its plugin, Helm, kstatus and Argo CD. The channel is the sample of
 * manifests/gitops, with media that exists here.
 */
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { buildKubectl } from '../../scripts/build-kubectl.ts';
import type { KubeObject } from '../../src/core/kube/types.ts';
import { API_VERSION } from '../../src/core/resources/common/names.ts';
import { environment } from '../../src/core/settings/environment.ts';
import { PROJECT_ROOT } from '../../tools/process/root.ts';
import { run } from '../../tools/process/run.ts';
import { NAMESPACE } from '../kit/real/cluster/release.ts';
import { type Scene, seconds } from '../kit/real/cluster/scene.ts';
import type { WatchedStream } from '../kit/real/cluster/stream.ts';
import { type Helm, openHelms } from '../kit/real/helm/index.ts';
import { openJudge } from '../kit/real/judge.ts';
import { tempDir } from '../kit/temp-dir.ts';

const KINDS = 'loopstreams,playlists,uploads,destinations';
const WAIT = ['--for=condition=Ready', '--timeout=150s'];

/** Copies the sample into `dir` with the film's link in place of its own. */
async function writeChannel(dir: string, film: string): Promise<void> {
  await cp(join(PROJECT_ROOT, 'manifests/gitops/channel'), dir, { recursive: true });
  for (const name of await readdir(dir)) {
    const text = await readFile(join(dir, name), 'utf8');
    await writeFile(join(dir, name), text.replaceAll(/https:\/\/media\.example\.com\/\S+/g, film));
  }
}

const buildSecret = (name: string, rtmpUrl: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name },
  stringData: { rtmpUrl, rtmpKey: `${name}-of-the-cluster` },
});

/** Writes a chart of one stream, which plays the playlist of the sample. */
async function writeChart(dir: string, { rtmpUrl, playlist }: { rtmpUrl: string; playlist: string }): Promise<void> {
  const own = (kind: string, spec: object) => ({ apiVersion: API_VERSION, kind, metadata: { name: 'packaged' }, spec });
  const objects = [
    buildSecret('packaged', rtmpUrl),
    own('Destination', { secretName: 'packaged' }),
    own('LoopStream', { quality: '1080p', playlistNames: [playlist], destinationNames: ['packaged'] }),
  ];
  await mkdir(join(dir, 'templates'), { recursive: true });
  await writeFile(join(dir, 'Chart.yaml'), 'apiVersion: v2\nname: packaged\nversion: 1.0.0\n');
  await writeFile(join(dir, 'templates/stream.yaml'), objects.map((one) => JSON.stringify(one)).join('\n---\n'));
}

export function toolsTests(getContext: () => { scene: Scene; stream: WatchedStream }): void {
  describe('the tools of platform teams', () => {
    const inside = (...args: string[]) => getContext().scene.release.inside(...args);
    const readAll = async (): Promise<KubeObject[]> => JSON.parse(await inside('get', KINDS, '-o', 'json')).items;

    test('a channel of a repository comes on air, and applied once more it is unchanged', async () => {
      const dir = tempDir();
      const { release } = getContext().scene;
      await writeChannel(dir, release.urls.film);
      await inside('apply', '-k', dir);
      await release.kubectl(
        ['-n', NAMESPACE, 'apply', '-f', '-'],
        [buildSecret('channel-destination', release.urls.receiver)],
      );
      await inside('wait', ...WAIT, 'loopstream/channel');
      expect(await inside('get', 'loopstream/channel', '-o', 'jsonpath={.status.phase}')).toBe('live');
      expect(await inside('diff', '-k', dir)).toBe('');
      const answers = (await inside('apply', '-k', dir)).trim().split('\n');
      expect(answers).toHaveLength(5);
      for (const answer of answers) expect(answer).toMatch(/ unchanged$/);
    });

    const withHelm4 = async (use: (helm: Helm) => Promise<void>) => {
      const { helms, close } = await openHelms(getContext().scene.cluster.plane.kubeconfig);
      const helm = helms.find(({ name }) => name === 'Helm 4');
      await (helm ? use(helm) : Promise.reject(new Error('no Helm 4'))).finally(close);
    };

    test('helm install --wait ends when the stream of its chart is on air', () =>
      withHelm4(async (helm) => {
        const dir = tempDir();
        const { release, results } = getContext().scene;
        await writeChart(dir, { rtmpUrl: release.urls.receiver, playlist: 'channel' });
        const from = performance.now();
        const how = ['--namespace', NAMESPACE, '--wait', '--timeout', '90s'];
        expect(await helm.run(['install', 'packaged', dir, ...how])).toMatchObject({ ok: true });
        results.add('helm install --wait of a chart with a stream', seconds(performance.now() - from), 'it is live');
        expect(await inside('get', 'loopstream/packaged', '-o', 'jsonpath={.status.phase}')).toBe('live');
        expect(await helm.run(['uninstall', 'packaged', ...how])).toMatchObject({ ok: true });
        expect(await inside('get', 'pods', '-l', 'loopstream.dev/stream=packaged', '-o', 'name')).toBe('');
      }));

    test('kstatus and Argo CD take what is on air for healthy, and what cannot be for failed', async () => {
      const dir = tempDir();
      const judge = await openJudge(dir);
      const healthy = (await readAll()).filter(({ metadata }) => metadata.name.startsWith('channel'));
      expect(healthy).toHaveLength(5);
      for (const verdict of await judge(healthy)) expect(verdict).toEqual({ kstatus: 'Current', argo: 'Healthy' });
      await inside('delete', 'secret/channel-destination');
      await inside('wait', 'destination/channel', '--for=condition=Stalled', '--timeout=90s');
      const ill = (await readAll()).filter(
        ({ kind, metadata }) => kind === 'Destination' && metadata.name === 'channel',
      );
      expect(await judge(ill)).toEqual([{ kstatus: 'Failed', argo: 'Degraded' }]);
    });

    test('kubectl loop says what is on air, and the cause of what is not', async () => {
      const dir = tempDir();
      const { scene, stream } = getContext();
      await buildKubectl(dir);
      const { kubectlPath, plane } = scene.cluster;
      const env = {
        PATH: [dir, dirname(kubectlPath), environment().PATH].join(delimiter),
        HOME: dir,
        KUBECONFIG: plane.kubeconfig,
      };
      const loop = (...words: string[]) =>
        run(kubectlPath, ['loop', ...words, '-n', NAMESPACE], { env, timeoutMs: 60_000 });
      const status = await loop('status');
      expect(status.stdout).toMatch(new RegExp(`^${stream.id} .*\\blive\\b`, 'm'));
      const diagnosis = await loop('diagnose', stream.id);
      expect(diagnosis, diagnosis.stderr).toMatchObject({ ok: true });
      expect(diagnosis.stdout).toContain((await stream.pod()).metadata.name);
      expect((await loop('diagnose', 'channel')).stdout).toContain('channel-destination');
      expect((await loop('logs', stream.id)).stdout).toContain('"level"');
    });

    test('and the channel goes when its folder does', async () => {
      const dir = tempDir();
      await writeChannel(dir, getContext().scene.release.urls.film);
      await inside('delete', '-k', dir, '--timeout=150s');
      expect((await readAll()).filter(({ metadata }) => metadata.name.startsWith('channel'))).toEqual([]);
    });
  });
}
