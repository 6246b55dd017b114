/**
 * Names and locates everything of the test cluster. A machine has one cluster at a time: the names are fixed, so that the next run finds
 * the leftovers of a crash. Pure: no I/O, no clock.
 */
import { join, resolve } from 'node:path';

export interface NodeLayout {
  name: string;
  /** The id of its network namespace, of the host's end of its cable, and of its cgroup. */
  id: string;
  address: string;
  podCidr: string;
  podGateway: string;
  /** containerd's content, kubelet's volumes, logs. */
  dir: string;
  /** Sockets and mounts, whose paths have to be short. */
  runDir: string;
}

export interface ClusterLayout {
  /** Images and their sources, kept from run to run. */
  imagesDir: string;
  /** The state of one run, on the same file system as `imagesDir`, since image files are hard links. */
  stateDir: string;
  runDir: string;
  /** The lock of the machine, not of the cache: names and addresses are the same for every cache. */
  lockFile: string;
  /** Names the previous run's state directory after a crash. */
  ownerFile: string;
  bridge: string;
  /** The host's address on the bridge: the API server, the database, the receiver and the rest of the outside world. */
  gateway: string;
  /** An address that policies take for public (RFC 5737), and that leads to the host. */
  internet: string;
  /** All of these addresses must be free on the machine. */
  range: string;
  nodes: NodeLayout[];
}

/** Matches `tools/control-plane/flags.ts`. */
export const SERVICE_CIDR = '10.96.0.0/16';
export const DNS_ADDRESS = '10.96.0.10';
/** The address of a cloud's metadata service; here a server listens on it on each node. */
export const METADATA_ADDRESS = '169.254.169.254';
export const RANGE_PREFIX = '10.213.';

/** The state directory's path in any cache. */
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
