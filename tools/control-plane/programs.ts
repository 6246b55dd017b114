/**
 * Lists the programs of the control plane, of a node and of the cluster's DNS: their names, their sources, and the
 * check that they work.
 */

export const KUBERNETES_VERSION = '1.36.3';
export const ETCD_VERSION = '3.6.8';
/** The one that kubeadm of this Kubernetes installs. */
const COREDNS_VERSION = '1.14.2';

export interface Program {
  /** The file's name, also in a KUBEBUILDER_ASSETS directory. */
  file: string;
  goPackage: string;
  versionArgs: readonly string[];
  version: string;
}

const kubernetes = (file: string, versionArgs: readonly string[] = ['--version']): Program => ({
  file,
  goPackage: `k8s.io/kubernetes/cmd/${file}`,
  versionArgs,
  version: KUBERNETES_VERSION,
});

/** In the order in which they are linked. */
export const PROGRAMS = {
  etcd: { file: 'etcd', goPackage: 'go.etcd.io/etcd/server/v3', versionArgs: ['--version'], version: ETCD_VERSION },
  kubeApiserver: kubernetes('kube-apiserver'),
  kubeControllerManager: kubernetes('kube-controller-manager'),
  kubeScheduler: kubernetes('kube-scheduler'),
  kubectl: kubernetes('kubectl', ['version', '--client']),
  kubeadm: kubernetes('kubeadm', ['version', '--output', 'short']),
  kubelet: kubernetes('kubelet'),
  kubeProxy: kubernetes('kube-proxy'),
  coreDns: { file: 'coredns', goPackage: './coredns', versionArgs: ['-version'], version: COREDNS_VERSION },
} as const satisfies Record<string, Program>;

export type ProgramKey = keyof typeof PROGRAMS;

/**
 * The control plane, which is all that `make run` needs; and what a machine needs to be a real node of it, or of a cluster of kubeadm, with
 * DNS for its pods.
 */
export const PROGRAM_KEYS = ['etcd', 'kubeApiserver', 'kubeControllerManager', 'kubeScheduler', 'kubectl'] as const;
export const NODE_PROGRAM_KEYS = ['kubelet', 'kubeProxy', 'coreDns', 'kubeadm'] as const;

/** Absolute paths. */
export type Binaries = Record<(typeof PROGRAM_KEYS)[number], string>;
export type NodeBinaries = Record<(typeof NODE_PROGRAM_KEYS)[number], string>;

/** Without these the programs would call themselves v0.0.0, and clients compare versions. */
export const LINKER_FLAGS = [
  '-s',
  '-w',
  ...Object.entries({
    gitVersion: `v${KUBERNETES_VERSION}`,
    gitMajor: '1',
    gitMinor: '36',
    gitTreeState: 'clean',
  }).flatMap(([name, value]) =>
    ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].map((pkg) => `-X ${pkg}.${name}=${value}`),
  ),
].join(' ');

/**
 * Half of the code, and little of the work: code repeated for each kind (defaults, conversions, typed clients),
 * controllers, the kubelet, kubectl. Code that runs for each request, and so for the kinds of CRDs, is elsewhere.
 */
export const SELDOM_USED = [
  ...['api', 'cli-runtime', 'kubectl', 'kubernetes'].map((name) => `k8s.io/${name}/...`),
  ...['applyconfigurations', 'informers', 'kubernetes', 'listers'].map((name) => `k8s.io/client-go/${name}/...`),
  ...['coredns/...', 'google/cadvisor/...', 'miekg/dns', 'quic-go/...'].map((name) => `github.com/${name}`),
  'sigs.k8s.io/kustomize/...',
];
