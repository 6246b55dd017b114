/**
 * Creates the cluster of kind, or takes the one that an earlier run has kept. At the end of the run, the cluster is deleted with everything
 * that was made for it, unless `--keep` says otherwise. A cluster of this name that somebody else has made is used, and never deleted.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { spawnChild } from '../../process/processes.ts';
import type { Context } from '../context.ts';
import type { Commands } from './commands.ts';
import type { EngineInfo } from './engine.ts';

export const CLUSTER = 'loopstream';
const NODE = `${CLUSTER}-control-plane`;
/** The network of every cluster of kind. */
const NETWORK = 'kind';
/** A node is ready when the network of its pods is. */
const WAIT = ['--wait', '120s'];
const DELETE_TIMEOUT_MS = 60_000;
const LOAD_TIMEOUT_MS = 5 * 60_000;

export interface KindCluster {
  /** A file with the rights of the cluster's administrator. */
  kubeconfig: string;
  /** The node's address, reachable from this machine. */
  node: string;
  /** This machine's address, reachable from the cluster's pods. */
  gateway: string;
  /** Notes that the system runs in it: only such a cluster is kept. */
  markReady(): void;
}

/** The record in the state directory of a cluster that this system has made. */
interface Made {
  /** Whether a start in it came to its end. The cluster is deleted otherwise: a release that is half installed stays so. */
  ready: boolean;
  /** Whether the network was made with it. */
  network: boolean;
}

/** The configuration of the cluster. From 1.35 on, kubelet starts on version 1 of cgroups only with this setting. */
const kindConfig = ({ CgroupVersion }: EngineInfo): string =>
  stringify({
    kind: 'Cluster',
    apiVersion: 'kind.x-k8s.io/v1alpha4',
    ...(CgroupVersion === '1' && {
      kubeadmConfigPatches: [stringify({ kind: 'KubeletConfiguration', failCgroupV1: false })],
    }),
  });

export function openCluster(context: Context, commands: Commands, engine: EngineInfo): Promise<KindCluster> {
  const { options, state, lifecycle, progress } = context;
  const { docker, kind } = commands;
  const { signal } = lifecycle;
  const kubeconfig = state.path('kind.kubeconfig');
  const recordFile = state.path('kind.json');
  const record = (made: Made) => writeFileSync(recordFile, JSON.stringify(made));
  const readMade = () => (existsSync(recordFile) ? (JSON.parse(readFileSync(recordFile, 'utf8')) as Made) : undefined);
  const hasCluster = async () => (await kind(['get', 'clusters'], { signal })).split('\n').includes(CLUSTER);
  const hasNetwork = () =>
    docker(['network', 'inspect', NETWORK]).then(
      () => true,
      () => false,
    );

  const remove = async ({ network }: Pick<Made, 'network'>) => {
    await kind(['delete', 'cluster', '--name', CLUSTER, '--kubeconfig', kubeconfig], { timeoutMs: DELETE_TIMEOUT_MS });
    // Another cluster may use it by now.
    if (network) await docker(['network', 'rm', NETWORK]).catch(() => undefined);
    for (const file of [recordFile, kubeconfig]) rmSync(file, { force: true });
  };
  const deferRemoval = (made: Pick<Made, 'network'>) =>
    lifecycle.defer(
      'kind cluster',
      async () => {
        if (options.keep && readMade()?.ready)
          progress.say(`The cluster ${CLUSTER} stays. To delete it: kind delete cluster --name ${CLUSTER}`);
        else await remove(made);
      },
      2 * DELETE_TIMEOUT_MS,
    );

  const create = async () => {
    const made = { network: !(await hasNetwork()) };
    record({ ...made, ready: false });
    deferRemoval(made);
    const configFile = state.path('kind.yaml');
    writeFileSync(configFile, kindConfig(engine));
    const image = options.nodeImage === undefined ? [] : ['--image', options.nodeImage];
    // In a process group of its own, it ends before the deletion begins, and not with the terminal's Ctrl-C in the middle of it.
    const child = await spawnChild({
      name: 'kind',
      command: 'kind',
      args: [
        'create',
        'cluster',
        '--name',
        CLUSTER,
        '--config',
        configFile,
        '--kubeconfig',
        kubeconfig,
        ...WAIT,
        ...image,
      ],
      env: commands.env,
      logFile: state.path('logs', 'kind.log'),
      stateDir: state.dir,
    });
    lifecycle.defer('kind', () => child.stop());
    const { code } = await child.exited;
    if (code !== 0) throw new Error('kind could not create the cluster. Read kind.log.');
    return made;
  };

  return progress.step('kind cluster', async () => {
    const earlier = readMade();
    if (earlier && !earlier.ready) await remove(earlier);
    const isThere = await hasCluster();
    const made = isThere ? earlier : await create();
    if (isThere) {
      if (made) deferRemoval(made);
      await kind(['export', 'kubeconfig', '--name', CLUSTER, '--kubeconfig', kubeconfig], { signal });
    }
    if (made) record({ ...made, ready: false });
    const networks = JSON.parse(
      await docker(['inspect', NODE, '--format', '{{json .NetworkSettings.Networks}}'], { signal }),
    ) as Record<string, { IPAddress: string; Gateway: string }>;
    const [network] = Object.values(networks);
    if (!network?.IPAddress) throw new Error(`The node ${NODE} has no address. Delete the cluster, and start again.`);
    const markReady = () => made && record({ ...made, ready: true });
    return { kubeconfig, node: network.IPAddress, gateway: network.Gateway, markReady };
  });
}

/** Gives the node images of the engine. */
export const loadImages = ({ progress, lifecycle }: Context, { kind }: Commands, images: string[]): Promise<void> =>
  progress.step('images on the node', async () => {
    await kind(['load', 'docker-image', ...images, '--name', CLUSTER], {
      timeoutMs: LOAD_TIMEOUT_MS,
      signal: lifecycle.signal,
    });
  });

/** Makes a directory on the node, in which any pod may write. */
export async function makeNodeDirectory({ docker }: Commands, path: string): Promise<void> {
  await docker(['exec', NODE, 'mkdir', '-p', '-m', '0777', path]);
}
