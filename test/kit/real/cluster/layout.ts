/**
 * Where everything of the test cluster is and what it is called. One cluster at a time has a machine: the names are fixed, so
 * that whatever a run leaves behind is found by the next one. Pure: no I/O, no clock.
 */
import { join, resolve } from 'node:path';

export interface NodeLayout {
  name: string;
  /** Of its network namespace, of the host's end of its cable, and of its cgroup. */
  id: string;
  address: string;
  podCidr: string;
  podGateway: string;
  /** containerd's content, kubelet's volumes, logs. */
  dir: string;
  /** Sockets and mounts: their paths have to be short. */
  runDir: string;
}

export interface ClusterLayout {
  /** Images and what is made of them, kept from run to run. */
  imagesDir: string;
  /** Of one run: on the same file system as `imagesDir`, since files of images are linked. */
  stateDir: string;
  runDir: string;
  /** Of the machine, not of the cache: names and addresses are the same for everybody. */
  lockFile: string;
  /** Tells the run after a crash which state directory the one before had. */
  ownerFile: string;
  bridge: string;
  /** The host's address on the bridge: the API server, the database, the receiver and the rest of the outside world. */
  gateway: string;
  /** An address that is public as far as policies can tell (RFC 5737), and leads to the host. */
  internet: string;
  /** All of these addresses must be free on the machine. */
  range: string;
  nodes: NodeLayout[];
}

/** As kube-apiserver is told by `tools/control-plane/flags.ts`. */
export const SERVICE_CIDR = '10.96.0.0/16';
export const DNS_ADDRESS = '10.96.0.10';
/** Where a cloud's metadata service is; here one listens on each node. */
export const METADATA_ADDRESS = '169.254.169.254';
export const RANGE_PREFIX = '10.213.';

/** Of the state directory, in any cache. */
export const STATE_PATH = 'cluster/run';

export function clusterLayout(cacheDir: string): ClusterLayout {
  const root = join(resolve(cacheDir), 'cluster');
  const stateDir = join(resolve(cacheDir), STATE_PATH);
  const runDir = '/run/loopstream-cluster';
  const nodes = ['a', 'b'].map((letter, index) => ({
    name: `node-${letter}`,
    id: `loopstream-${letter}`,
    address: `${RANGE_PREFIX}0.${11 + index}`,
    podCidr: `${RANGE_PREFIX}${1 + index}.0/24`,
    podGateway: `${RANGE_PREFIX}${1 + index}.1`,
    dir: join(stateDir, letter),
    runDir: join(runDir, letter),
  }));
  return {
    imagesDir: join(root, 'images'),
    stateDir,
    runDir,
    lockFile: `${runDir}.lock`,
    ownerFile: join(runDir, 'state-dir'),
    bridge: 'loopstream0',
    gateway: `${RANGE_PREFIX}0.1`,
    internet: '203.0.113.1',
    range: `${RANGE_PREFIX}0.0/16`,
    nodes,
  };
}
