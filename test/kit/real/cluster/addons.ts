/** Installs the add-ons of a control plane: the API server's own Service, and DNS on every node. */
import type { ControlPlane } from '../../../../tools/control-plane/controlplane.ts';
import type { CommandResult } from '../../../../tools/process/run.ts';
import { DNS_IMAGE } from './config.ts';
import { type ClusterLayout, DNS_ADDRESS } from './layout.ts';

export type Kubectl = (args: string[], objects?: object[]) => Promise<CommandResult>;

/** Returns a Service that leads out of the cluster, to an address of the host. */
export const outside = (namespace: string, name: string, address: string, port: number, portName = 'tcp') => [
  { apiVersion: 'v1', kind: 'Service', metadata: { namespace, name }, spec: { ports: [{ name: portName, port }] } },
  endpoints(namespace, name, address, port, portName),
];

const endpoints = (namespace: string, name: string, address: string, port: number, portName: string) => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { namespace, name, labels: { 'kubernetes.io/service-name': name } },
  addressType: 'IPv4',
  ports: [{ name: portName, port, protocol: 'TCP' }],
  endpoints: [{ addresses: [address], conditions: { ready: true } }],
});

const COREFILE = `.:53 {
  errors
  health
  ready
  kubernetes cluster.local
  cache 5
  loadbalance
}
`;
const namespace = 'kube-system';
const name = 'coredns';
const labels = { 'k8s-app': 'kube-dns' };

/** DNS runs on every node, so that a drain takes no pod's DNS away. */
const dns = [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name } },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'system:coredns' },
    rules: [
      { apiGroups: [''], resources: ['services', 'namespaces', 'pods'], verbs: ['list', 'watch'] },
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'system:coredns' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:coredns' },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data: { Corefile: COREFILE } },
  {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { namespace, name, labels },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: name,
          priorityClassName: 'system-node-critical',
          dnsPolicy: 'Default',
          containers: [
            {
              name,
              image: DNS_IMAGE,
              args: ['-conf', '/etc/coredns/Corefile'],
              readinessProbe: { httpGet: { path: '/ready', port: 8181 }, periodSeconds: 1 },
              volumeMounts: [{ name: 'config', mountPath: '/etc/coredns', readOnly: true }],
            },
          ],
          volumes: [{ name: 'config', configMap: { name } }],
        },
      },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace, name: 'kube-dns', labels },
    spec: {
      clusterIP: DNS_ADDRESS,
      selector: labels,
      ports: ['UDP', 'TCP'].map((protocol) => ({ name: protocol.toLowerCase(), port: 53, protocol })),
    },
  },
];

/** Resolves when the nodes are ready and DNS answers. */
export async function installAddons(kubectl: Kubectl, plane: ControlPlane, layout: ClusterLayout): Promise<void> {
  const must = async (args: string[], objects?: object[]) => {
    const { ok, stdout, stderr } = await kubectl(args, objects);
    if (!ok) throw new Error(`kubectl ${args.join(' ')}: ${stderr}${stdout}`);
  };
  const port = Number(new URL(plane.apiserverUrl).port);
  await must(['apply', '-f', '-'], [endpoints('default', 'kubernetes', layout.gateway, port, 'https'), ...dns]);
  await must(['wait', '--for=condition=Ready', 'nodes', '--all', '--timeout=120s']);
  await must(['rollout', 'status', 'daemonset/coredns', '-n', namespace, '--timeout=180s']);
}
