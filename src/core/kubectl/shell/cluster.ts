/** Opens the cluster of a command, as kubectl finds it: flags first, then KUBECONFIG, the pod's account or ~/.kube/config. */
import { createKube } from '../../kube/client.ts';
import { loadAccess } from '../../kube/kubeconfig.ts';
import type { Kube } from '../../kube/types.ts';
import { environment } from '../../settings/environment.ts';

export interface Cluster {
  kube: Kube;
  /** The namespace that the flags or the context name; `default` without one. */
  namespace: string;
}

export interface ClusterFlags {
  context?: string | undefined;
  kubeconfig?: string | undefined;
  namespace?: string | undefined;
}

/** Nothing is sent before the first request. Throws ConfigError. */
export function openCluster({ context, kubeconfig = environment().KUBECONFIG, namespace }: ClusterFlags): Cluster {
  const access = loadAccess({ kubeconfig, context });
  return { kube: createKube({ access, role: 'kubectl' }), namespace: namespace ?? access.namespace ?? 'default' };
}
