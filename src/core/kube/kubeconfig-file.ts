/** Declares the parts of a kubeconfig file that we read: https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/ */

export interface KubeconfigCluster {
  server?: string;
  'certificate-authority'?: string;
  'certificate-authority-data'?: string;
  'insecure-skip-tls-verify'?: boolean;
  'tls-server-name'?: string;
  'proxy-url'?: string;
  extensions?: { name: string; extension: unknown }[];
}

export interface KubeconfigUser {
  'client-certificate'?: string;
  'client-certificate-data'?: string;
  'client-key'?: string;
  'client-key-data'?: string;
  token?: string;
  tokenFile?: string;
  username?: string;
  password?: string;
  as?: string;
  'as-uid'?: string;
  'as-groups'?: string[];
  'as-user-extra'?: Record<string, string[]>;
  exec?: ExecPlugIn;
  'auth-provider'?: unknown;
}

export interface ExecPlugIn {
  apiVersion?: string;
  command?: string;
  env?: { name: string; value: string }[] | null;
  provideClusterInfo?: boolean;
}

export interface Context {
  cluster: string;
  /** Without one, requests are anonymous, as behind `kubectl proxy`. */
  user?: string;
  namespace?: string;
}

export interface Kubeconfig {
  'current-context'?: string;
  clusters?: { name: string; cluster: KubeconfigCluster }[];
  contexts?: { name: string; context: Context }[];
  users?: { name: string; user?: KubeconfigUser }[];
}

/** A user with a plug-in from a file in `folder`, and the cluster that the context joins to it. */
export interface PlugInEntry {
  user: KubeconfigUser;
  folder: string;
  cluster: KubeconfigCluster;
  /** The cluster's certificate authority, as PEM. */
  ca: string | Buffer | undefined;
}
