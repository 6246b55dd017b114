/** Builds the configuration files of a node, and the objects that an installer gives a cluster. Pure: no I/O, no clock. */
import { join } from 'node:path';
import { stringify } from 'yaml';
import { DNS_ADDRESS, type NodeLayout } from './layout.ts';

/**
 * The interval of a node's reports, and the time after which it counts as lost. The defaults are 10 s and 50 s: five times as long here
 * too, so that a busy node is trusted as long as anywhere.
 */
const HEARTBEAT = '4s';
export const NODE_GRACE = '20s';
export const PAUSE_IMAGE = 'registry.test/pause:1';
export const DNS_IMAGE = 'registry.test/coredns:1';

/** containerd 1.6 and newer; settings by https://github.com/containerd/containerd/blob/v1.6.20/docs/cri/config.md. */
export function containerdConfig(node: NodeLayout): string {
  const cri = 'plugins."io.containerd.grpc.v1.cri"';
  return `version = 2
root = "${join(node.dir, 'containerd')}"
state = "${join(node.runDir, 'containerd')}"
[grpc]
address = "${join(node.runDir, 'containerd.sock')}"
[${cri}]
sandbox_image = "${PAUSE_IMAGE}"
# Without the right to lower an OOM score no sandbox would start.
restrict_oom_score_adj = true
netns_mounts_under_state_dir = true
[${cri}.cni]
bin_dir = "/usr/lib/cni"
conf_dir = "${join(node.dir, 'cni')}"
[${cri}.containerd]
snapshotter = "overlayfs"
default_runtime_name = "runc"
[${cri}.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[${cri}.containerd.runtimes.runc.options]
SystemdCgroup = false
Root = "${join(node.runDir, 'runc')}"
`;
}

export const cniConfig = (node: NodeLayout): string =>
  JSON.stringify({
    cniVersion: '0.4.0',
    name: 'loopstream',
    plugins: [
      {
        // Not a bridge: the answer of a neighbour would pass by the node's connection tracking, and Services need it both ways.
        type: 'ptp',
        ipMasq: false,
        ipam: {
          type: 'host-local',
          dataDir: join(node.runDir, 'ipam'),
          ranges: [[{ subnet: node.podCidr, gateway: node.podGateway }]],
          routes: [{ dst: '0.0.0.0/0' }],
        },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  });

/** https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/ */
export const kubeletConfig = (node: NodeLayout, caFile: string): string =>
  stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: node.address,
    tlsCertFile: join(node.dir, 'serving.crt'),
    tlsPrivateKeyFile: join(node.dir, 'serving.key'),
    authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile: caFile } },
    authorization: { mode: 'Webhook' },
    containerRuntimeEndpoint: `unix://${join(node.runDir, 'containerd.sock')}`,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${node.id}`,
    failCgroupV1: false,
    failSwapOn: false,
    oomScoreAdj: 0,
    clusterDNS: [DNS_ADDRESS],
    clusterDomain: 'cluster.local',
    resolvConf: join(node.dir, 'resolv.conf'),
    podLogsDir: join(node.dir, 'logs'),
    volumePluginDir: join(node.dir, 'volume-plugins'),
    nodeStatusUpdateFrequency: HEARTBEAT,
    // The machine's disk is shared with much else, and the images must stay.
    evictionHard: { 'memory.available': '50Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
    imageGCHighThresholdPercent: 100,
  });

export const kubeProxyConfig = (node: NodeLayout, kubeconfig: string): string =>
  stringify({
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'iptables',
    hostnameOverride: node.name,
    bindAddress: node.address,
    clientConnection: { kubeconfig },
    // Pods keep their address when they call a Service, as on most clusters; what comes from elsewhere has to return the same way.
    detectLocalMode: 'InterfaceNamePrefix',
    detectLocal: { interfaceNamePrefix: 'veth' },
    conntrack: { maxPerCore: 0, min: 0 },
    oomScoreAdj: 0,
  });
