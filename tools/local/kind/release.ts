/** Installs the chart in the cluster of kind, as anybody would install it, with settings that fit a single machine. */
import type { Kube, KubeObject, Resource } from '../../../src/core/kube/types.ts';
import type { LocalEnvironment } from '../../process/environment.ts';
import { PROJECT_ROOT } from '../../process/root.ts';
import { NAMESPACE } from '../rights.ts';
import { SELLER, WELCOME_GRANT_MINOR } from '../servers.ts';
import { type KindCluster, makeNodeDirectory } from './cluster.ts';
import type { Commands } from './commands.ts';
import { type ImageTags, REPOSITORIES } from './image.ts';

const RELEASE = 'loopstream';
const INSTALL_TIMEOUT_MS = 6 * 60_000;
const MEDIA = 'loopstream-media';
const MEDIA_DIR = '/var/lib/loopstream-media';
const MEDIA_SIZE = '20Gi';

interface Service extends KubeObject<{ ports: { nodePort: number }[] }> {}
const SERVICES: Resource<Service> = { group: '', version: 'v1', kind: 'Service', plural: 'services', namespaced: true };
const VOLUMES: Resource = {
  group: '',
  version: 'v1',
  kind: 'PersistentVolume',
  plural: 'persistentvolumes',
  namespaced: false,
};

export interface ReleaseOptions {
  /** The tags of the images on the node. */
  tags: ImageTags;
  authSecret: string;
  /** Addresses as pods reach them. */
  databaseUrl: string;
  smtpUrl: string;
  /** This machine's address for pods, and the ports of its receiver and its media server. */
  gateway: string;
  mediaPorts: readonly number[];
  /** The address of the API as this machine's browser sees it. */
  publicUrl: string;
  logLevel: LocalEnvironment['logLevel'];
}

/** The values of the chart. */
const buildValues = (options: ReleaseOptions) => ({
  logLevel: options.logLevel,
  image: { repository: REPOSITORIES.image, tag: options.tags.image },
  prepareImage: { repository: REPOSITORIES.prepareImage, tag: options.tags.prepareImage },
  // One namespace, since a volume of a node has one claim.
  streamsNamespace: { name: NAMESPACE },
  storage: { type: 'file', file: { storageClass: MEDIA, size: MEDIA_SIZE } },
  operator: { replicas: 1, allowPrivateLinks: true, allowPrivateDestinations: true },
  api: {
    replicas: 1,
    publicUrl: options.publicUrl,
    auth: { secret: options.authSecret },
    service: { type: 'NodePort' },
  },
  billing: {
    enabled: true,
    replicas: 1,
    invoices: { seller: SELLER },
    welcomeGrant: { minor: WELCOME_GRANT_MINOR },
  },
  platform: { enabled: true, allowPrivateWatch: true },
  database: { url: options.databaseUrl },
  mail: { url: options.smtpUrl, from: 'loopstream <loopstream@localhost>' },
  networkPolicy: {
    mediaAlsoTo: [
      {
        to: [{ ipBlock: { cidr: `${options.gateway}/32` } }],
        ports: options.mediaPorts.map((port) => ({ port, protocol: 'TCP' })),
      },
    ],
  },
});

/** The media, in a directory of the node. It is deleted with the cluster, as the resources that name it are. */
const volume = {
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: MEDIA },
  spec: {
    storageClassName: MEDIA,
    capacity: { storage: MEDIA_SIZE },
    accessModes: ['ReadWriteMany'],
    persistentVolumeReclaimPolicy: 'Retain',
    hostPath: { path: MEDIA_DIR, type: 'Directory' },
  },
};

/** Resolves when every pod of the release is ready, to the node's port of the API. */
export async function installRelease(
  { kubeconfig }: Pick<KindCluster, 'kubeconfig'>,
  kube: Kube,
  commands: Commands,
  options: ReleaseOptions & { signal: AbortSignal },
): Promise<number> {
  await makeNodeDirectory(commands, MEDIA_DIR);
  await kube.apply(VOLUMES, '', volume, { fieldManager: 'loopstream-local' });
  const chart = `${PROJECT_ROOT}/charts/loopstream`;
  await commands.helm(
    [
      ...['upgrade', RELEASE, chart, '--install', '--namespace', NAMESPACE, '--create-namespace'],
      ...['--kubeconfig', kubeconfig, '--values', '-', '--wait', '--timeout', '5m'],
    ],
    // On standard input, since a list of arguments shows its secrets to everybody on the machine.
    { input: JSON.stringify(buildValues(options)), timeoutMs: INSTALL_TIMEOUT_MS, signal: options.signal },
  );
  const { spec } = await kube.get(SERVICES, NAMESPACE, `${RELEASE}-api`);
  const [port] = spec.ports;
  if (!port) throw new Error(`The Service ${RELEASE}-api has no port.`);
  return port.nodePort;
}
