/**
 * Reads the address of the API server and our credentials from kubeconfig files or the pod's service account.
 *
 * Users with `exec` plug-ins or auth providers (OIDC) need client-node, by way of plug-in-credentials.ts, which is loaded only
 * then. All else is read here. Of it, client-node 2.0 refuses servers without TLS and names that two files have, passes over
 * `tokenFile`, takes one group of impersonation headers for all, and quotes the file in its errors.
 */
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { ConfigError } from '../settings/settings.ts';
import type { Context, Kubeconfig, KubeconfigCluster, KubeconfigUser, PlugInEntry } from './kubeconfig-file.ts';
import type { KubeCredentials } from './types.ts';

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
/** Kubernetes renews a pod's token long before it ends, so a token read a minute ago still holds. */
const TOKEN_TTL_MS = 60_000;

export interface Tls {
  ca?: string | Buffer;
  cert?: string | Buffer;
  key?: string | Buffer;
  servername?: string;
  rejectUnauthorized?: boolean;
}

export interface ClusterAccess {
  server: URL;
  tls: Tls;
  /** HTTP proxy on the way to the server. */
  proxyUrl?: string;
  /** The namespace of the context, or of the pod. */
  namespace?: string;
  credentials(): Promise<KubeCredentials>;
}

/** An entry and the folder of its file: relative paths in the entry start there. */
type FoundEntry<T> = T & { folder: string; file: string };

/**
 * `kubeconfig` may name several files, as the variable does; the first file that has an entry wins. Without it: the
 * service account of the pod, or else ~/.kube/config. Throws ConfigError.
 */
export function loadAccess(options: { kubeconfig?: string | undefined; context?: string | undefined }): ClusterAccess {
  if (options.kubeconfig) return fromFiles(splitList(options.kubeconfig), options.context);
  if (existsSync(join(SERVICE_ACCOUNT, 'token'))) return inCluster();
  const home = join(homedir(), '.kube', 'config');
  if (existsSync(home)) return fromFiles([home], options.context);
  throw new ConfigError('No cluster is configured. Set KUBECONFIG, or run in a pod with a service account.');
}

/** Of a list, kubectl passes over the files that do not exist. One that stands alone is meant. */
function splitList(kubeconfig: string): string[] {
  const files = kubeconfig.split(delimiter).filter(Boolean);
  const there = files.filter((file) => existsSync(file));
  return there.length > 0 ? there : files.slice(0, 1);
}

function inCluster(): ClusterAccess {
  return {
    // Every conformant cluster serves this name, and its certificate carries it.
    server: new URL('https://kubernetes.default.svc'),
    tls: { ca: readFileSync(join(SERVICE_ACCOUNT, 'ca.crt')) },
    namespace: readFileSync(join(SERVICE_ACCOUNT, 'namespace'), 'utf8').trim(),
    credentials: tokenFrom(join(SERVICE_ACCOUNT, 'token')),
  };
}

function fromFiles(files: string[], wanted: string | undefined): ClusterAccess {
  const configs = files.map((file) => ({ file, folder: dirname(resolve(file)), config: read(file) }));
  const where = `KUBECONFIG ${files.join(delimiter)}`;
  const find = <T>(what: string, name: string, pick: (c: Kubeconfig) => ({ name: string } & T)[] | undefined) => {
    for (const { file, folder, config } of configs) {
      const entry = pick(config)?.find((e) => e.name === name);
      if (entry) return { ...entry, folder, file } as FoundEntry<T>;
    }
    throw new ConfigError(`${where} has no ${what} "${name}".`);
  };
  const name = wanted ?? configs.map((c) => c.config['current-context']).find(Boolean);
  if (!name) throw new ConfigError(`${where} has no current-context.`);
  const { context } = find<{ context: Context }>('context', name, (c) => c.contexts);
  const cluster = find<{ cluster: KubeconfigCluster }>('cluster', context.cluster, (c) => c.clusters);
  const found = context.user ? find<{ user?: KubeconfigUser }>('user', context.user, (c) => c.users) : undefined;
  const { folder = '' } = found ?? {};
  const user = found?.user ?? {};
  if (!cluster.cluster.server || !URL.canParse(cluster.cluster.server))
    throw new ConfigError(`${where} has no server URL for the cluster "${context.cluster}".`);
  const proxyUrl = cluster.cluster['proxy-url'];
  const tls = clusterTls(cluster.cluster, cluster.folder);
  const usesPlugIn = user.exec || user['auth-provider'];
  const readCredentials = usesPlugIn
    ? plugInCredentials({ user, folder, cluster: cluster.cluster, ca: tls.ca })
    : userCredentials(user, folder);
  return {
    server: new URL(cluster.cluster.server),
    tls: { ...tls, ...userTls(user, folder) },
    ...(proxyUrl ? { proxyUrl } : {}),
    ...(context.namespace ? { namespace: context.namespace } : {}),
    credentials: impersonate(user, readCredentials),
  };
}

function read(file: string): Kubeconfig {
  let config: unknown;
  try {
    config = parse(readFileSync(file, 'utf8'));
  } catch (error) {
    // A parser's message quotes the file, which holds keys: only the code is passed on.
    const code = (error as { code?: string }).code ?? 'not YAML';
    throw new ConfigError(`KUBECONFIG ${file} cannot be read (${code}).`);
  }
  if (typeof config !== 'object' || config === null) throw new ConfigError(`KUBECONFIG ${file} is empty.`);
  return config;
}

function pem(file: string | undefined, data: string | undefined, folder: string): Buffer | undefined {
  if (data) return Buffer.from(data, 'base64');
  if (!file) return undefined;
  try {
    return readFileSync(resolve(folder, file));
  } catch (error) {
    throw new ConfigError(`KUBECONFIG names ${file}, which cannot be read (${(error as { code?: string }).code}).`);
  }
}

function clusterTls(cluster: KubeconfigCluster, folder: string): Tls {
  const ca = pem(cluster['certificate-authority'], cluster['certificate-authority-data'], folder);
  return {
    ...(ca ? { ca } : {}),
    ...(cluster['tls-server-name'] ? { servername: cluster['tls-server-name'] } : {}),
    ...(cluster['insecure-skip-tls-verify'] ? { rejectUnauthorized: false } : {}),
  };
}

function userTls(user: KubeconfigUser, folder: string): Tls {
  const cert = pem(user['client-certificate'], user['client-certificate-data'], folder);
  const key = pem(user['client-key'], user['client-key-data'], folder);
  return cert && key ? { cert, key } : {};
}

function userCredentials(user: KubeconfigUser, folder: string): () => Promise<KubeCredentials> {
  if (user.tokenFile) return tokenFrom(resolve(folder, user.tokenFile));
  const authorization = user.token
    ? `Bearer ${user.token}`
    : user.username
      ? `Basic ${Buffer.from(`${user.username}:${user.password ?? ''}`).toString('base64')}`
      : undefined;
  const headers: Record<string, string> = authorization ? { authorization } : {};
  return async () => ({ headers });
}

/** Reads a token that another program renews. */
function tokenFrom(file: string): () => Promise<KubeCredentials> {
  let cached: KubeCredentials | undefined;
  let readAt = 0;
  return async () => {
    if (!cached || performance.now() - readAt > TOKEN_TTL_MS) {
      cached = { headers: { authorization: `Bearer ${(await readFile(file, 'utf8')).trim()}` } };
      readAt = performance.now();
    }
    return cached;
  };
}

/** https://kubernetes.io/docs/reference/access-authn-authz/user-impersonation/ */
function impersonate(user: KubeconfigUser, read: () => Promise<KubeCredentials>): () => Promise<KubeCredentials> {
  const extra = Object.entries(user['as-user-extra'] ?? {});
  const headers: KubeCredentials['headers'] = {
    ...(user.as && { 'impersonate-user': user.as }),
    ...(user['as-uid'] && { 'impersonate-uid': user['as-uid'] }),
    ...(user['as-groups']?.length && { 'impersonate-group': user['as-groups'] }),
    ...Object.fromEntries(extra.map(([key, values]) => [`impersonate-extra-${encodeURIComponent(key)}`, values])),
  };
  return async () => {
    const credentials = await read();
    return { ...credentials, headers: { ...credentials.headers, ...headers } };
  };
}

/** Leaves plug-ins to client-node, which is loaded with the first request. */
function plugInCredentials(entry: PlugInEntry): () => Promise<KubeCredentials> {
  let loading: Promise<() => Promise<KubeCredentials>> | undefined;
  return async () => {
    loading ??= import('./plug-in-credentials.ts').then(({ runPlugIn }) => runPlugIn(entry));
    return (await loading)();
  };
}
