/** Reads the settings that several roles share. Pure: no I/O, no clock. */
import { type Env, reader } from './settings.ts';

/** For every role. */
export const common = (env: Env) => ({ logLevel: reader(env).text('LOG_LEVEL') });

/** Kubernetes: the kubeconfig file, or the pod's service account when there is none. */
export const kube = (env: Env) => ({
  kubeconfig: env.KUBECONFIG,
  namespace: reader(env).text('NAMESPACE'),
});

/** For the roles that read the resources of accounts: the process's own namespace, and further ones. */
export const cells = (env: Env) => ({ ...kube(env), cellNamespaces: reader(env).list('CELL_NAMESPACES') });

/** Lists the namespaces of accounts, each once, the process's own first. */
export const listNamespaces = ({
  namespace,
  cellNamespaces,
}: Pick<ReturnType<typeof cells>, 'namespace' | 'cellNamespaces'>) => [...new Set([namespace, ...cellNamespaces])];

/** The largest source file, in bytes. */
export const maxSourceBytes = (env: Env): number => reader(env).integer('MAX_SOURCE_BYTES');

/** Stands in the operator's URL of the storage for the namespace of the object that a pod works for. */
export const NAMESPACE_PLACEHOLDER = '{namespace}';
