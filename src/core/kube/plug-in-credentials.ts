/**
 * Runs exec plug-ins and auth providers of kubeconfig files through @kubernetes/client-node, which caches their
 * credentials until these expire.
 *
 * Importing any module of client-node loads every generated API, which was measured at 0.6 s of start-up and 47 MB of
 * memory. Nothing imports this file before it is needed. Its import is static, so that a bundler can leave the APIs out.
 */
import { resolve, sep } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import type { ExecPlugIn, PlugInEntry } from './kubeconfig-file.ts';
import type { KubeCredentials } from './types.ts';

const NAME = 'chosen';
/** The extension of a cluster that only plug-ins read. */
const PLUG_IN_EXTENSION = 'client.authentication.k8s.io/exec';

/** Only the user is handed over: client-node refuses clusters without TLS, such as those behind a local proxy. */
export function runPlugIn(entry: PlugInEntry): () => Promise<KubeCredentials> {
  const { user, folder } = entry;
  const config = new KubeConfig();
  const given = { ...user, ...(user.exec && { exec: prepareExec(user.exec, entry) }) };
  config.loadFromString(
    JSON.stringify({
      'current-context': NAME,
      users: [{ name: NAME, user: given }],
      contexts: [{ name: NAME, context: { cluster: NAME, user: NAME } }],
    }),
  );
  config.makePathsAbsolute(folder);
  return async () => {
    const options: Parameters<KubeConfig['applyToHTTPSOptions']>[0] = {};
    await config.applyToHTTPSOptions(options);
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(options.headers ?? {})) headers[name.toLowerCase()] = String(value);
    const { cert, key } = options as { cert?: string; key?: string };
    return { headers, ...(cert && key ? { tls: { cert, key } } : {}) };
  };
}

/**
 * Adds what kubectl does and client-node does not: a command with a slash starts in the folder of the file, and the
 * variable KUBERNETES_EXEC_INFO tells the plug-in which version to speak, and of which cluster.
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
 */
function prepareExec(exec: ExecPlugIn, { cluster, folder, ca }: PlugInEntry): ExecPlugIn {
  const { command, apiVersion, env, provideClusterInfo } = exec;
  const { server, 'tls-server-name': serverName, 'insecure-skip-tls-verify': skipsVerify, extensions } = cluster;
  const about = {
    server,
    'tls-server-name': serverName,
    'insecure-skip-tls-verify': skipsVerify,
    'proxy-url': cluster['proxy-url'],
    'certificate-authority-data': ca && Buffer.from(ca).toString('base64'),
    config: extensions?.find(({ name }) => name === PLUG_IN_EXTENSION)?.extension,
  };
  const spec = { interactive: false, ...(provideClusterInfo && { cluster: about }) };
  const value = JSON.stringify({ apiVersion, kind: 'ExecCredential', spec });
  return {
    ...exec,
    ...(command?.includes(sep) && { command: resolve(folder, command) }),
    env: [{ name: 'KUBERNETES_EXEC_INFO', value }, ...(env ?? [])],
  };
}
