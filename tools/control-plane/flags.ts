/** Builds the command lines of the control plane. Pure: no I/O, no clock. */
import type { Certificates } from './certificates.ts';

export interface ControlPlanePorts {
  etcdClient: number;
  etcdPeer: number;
  apiserver: number;
}

const flags = (values: Record<string, string | number | boolean>): string[] =>
  Object.entries(values).map(([name, value]) => `--${name}=${value}`);

/** One member, TLS with client certificates on both ports: Secrets are in there, and other users may be on the machine. */
export function etcdArgs(
  dataDir: string,
  ports: ControlPlanePorts,
  certificates: Certificates,
  unsafeNoFsync: boolean,
): string[] {
  const client = `https://127.0.0.1:${ports.etcdClient}`;
  const peer = `https://127.0.0.1:${ports.etcdPeer}`;
  const { etcd, etcdCaFile } = certificates;
  return flags({
    name: 'loopstream',
    'data-dir': dataDir,
    'listen-client-urls': client,
    'advertise-client-urls': client,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': `loopstream=${peer}`,
    'cert-file': etcd.certFile,
    'key-file': etcd.keyFile,
    'trusted-ca-file': etcdCaFile,
    'client-cert-auth': true,
    'peer-cert-file': etcd.certFile,
    'peer-key-file': etcd.keyFile,
    'peer-trusted-ca-file': etcdCaFile,
    'peer-client-cert-auth': true,
    'log-level': 'warn',
    ...(unsafeNoFsync ? { 'unsafe-no-fsync': true } : {}),
  });
}

export function apiserverArgs(host: string, ports: ControlPlanePorts, certificates: Certificates): string[] {
  const { apiserver, etcdClient, kubeletClient } = certificates;
  return flags({
    'bind-address': host,
    // Otherwise it looks for an address of the default route, and there may be none.
    'advertise-address': '127.0.0.1',
    // There is one API server, at an address that is no one's Service: nothing to reconcile.
    'endpoint-reconciler-type': 'none',
    'secure-port': ports.apiserver,
    'tls-cert-file': apiserver.certFile,
    'tls-private-key-file': apiserver.keyFile,
    'client-ca-file': certificates.caFile,
    'anonymous-auth': false,
    'authorization-mode': 'Node,RBAC',
    'enable-admission-plugins': 'NodeRestriction',
    'allow-privileged': true,
    'etcd-servers': `https://127.0.0.1:${ports.etcdClient}`,
    'etcd-cafile': certificates.etcdCaFile,
    'etcd-certfile': etcdClient.certFile,
    'etcd-keyfile': etcdClient.keyFile,
    'service-cluster-ip-range': '10.96.0.0/16',
    'service-account-issuer': 'https://kubernetes.default.svc.cluster.local',
    'service-account-key-file': certificates.serviceAccountPublicKeyFile,
    'service-account-signing-key-file': certificates.serviceAccountKeyFile,
    'kubelet-certificate-authority': certificates.caFile,
    'kubelet-client-certificate': kubeletClient.certFile,
    'kubelet-client-key': kubeletClient.keyFile,
    // By default a node's host name comes first, and it would be looked up in DNS.
    'kubelet-preferred-address-types': 'InternalIP',
    profiling: false,
  });
}

/** For a controller: one copy, so no leader to elect, and no port of its own. */
const controllerFlags = (kubeconfig: string) => ({
  kubeconfig,
  'authentication-kubeconfig': kubeconfig,
  'authorization-kubeconfig': kubeconfig,
  'leader-elect': false,
  'secure-port': 0,
  profiling: false,
});

export function controllerManagerArgs(kubeconfig: string, certificates: Certificates): string[] {
  return flags({
    ...controllerFlags(kubeconfig),
    'use-service-account-credentials': true,
    'service-account-private-key-file': certificates.serviceAccountKeyFile,
    'root-ca-file': certificates.caFile,
    // The default of 20 a second is felt when hundreds of Jobs are made at once.
    'kube-api-qps': 100,
    'kube-api-burst': 200,
  });
}

export const schedulerArgs = (kubeconfig: string): string[] => flags(controllerFlags(kubeconfig));
