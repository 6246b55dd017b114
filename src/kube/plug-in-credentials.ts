/**
 * Runs exec plug-ins and auth providers of kubeconfig files through @kubernetes/client-node, which caches their
 * credentials until these expire.
 *
 * Importing any module of client-node loads every generated API, which was measured at 0.6 s of start-up and 47 MB of
 * memory. Nothing imports this file before it is needed. Its import is static, so that a bundler can leave the APIs out.
 */
import { KubeConfig } from '@kubernetes/client-node';
import type { KubeCredentials } from './types.ts';

/** `files` as KUBECONFIG has them, the first one first. */
export function runPlugIns(files: readonly string[], context: string): () => Promise<KubeCredentials> {
  const config = new KubeConfig();
  for (const [index, file] of files.entries()) {
    if (index === 0) {
      config.loadFromFile(file);
      continue;
    }
    const more = new KubeConfig();
    more.loadFromFile(file);
    config.mergeConfig(more, true);
  }
  config.setCurrentContext(context);
  return async () => {
    const options: Parameters<KubeConfig['applyToHTTPSOptions']>[0] = {};
    await config.applyToHTTPSOptions(options);
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(options.headers ?? {})) headers[name.toLowerCase()] = String(value);
    const { cert, key } = options as { cert?: string; key?: string };
    return { headers, ...(cert && key ? { tls: { cert, key } } : {}) };
  };
}
