/** Begins a span for a request to the Kubernetes API server, named by the semantic conventions of HTTP clients. */

import { currentSpan } from '../lib/context.ts';
import type { Span } from '../lib/span.ts';
import { startSpan } from '../lib/tracing/tracing.ts';

/** Of `/apis/<group>/<version>/namespaces/<namespace>/<plural>/<name>/<subresource>`; a core resource is below `/api/<version>`. */
const OBJECT = /^(\/apis\/[^/]+\/[^/]+|\/api\/[^/]+)(?:\/namespaces\/([^/]+))?\/([a-z]+)(?:\/([^/]+))?(?:\/([a-z]+))?$/;

/** Returns the path without names, and the names. */
export function describePath(path: string): { template: string; namespace?: string; name?: string; plural?: string } {
  const [bare = ''] = path.split('?', 1);
  const [, root, namespace, plural, name, subresource] = OBJECT.exec(bare) ?? [];
  if (root === undefined || plural === undefined) return { template: bare };
  const template = [
    root,
    ...(namespace === undefined ? [] : ['namespaces', '{namespace}']),
    plural,
    ...(name === undefined ? [] : ['{name}']),
    ...(subresource === undefined ? [] : [subresource]),
  ].join('/');
  return { template, plural, ...(namespace !== undefined && { namespace }), ...(name !== undefined && { name }) };
}

/** Undefined while tracing is off, and for what belongs to no span: lists and watches of caches would drown the rest. */
export function startCallSpan(method: string, path: string, server: URL): Span | undefined {
  if (!currentSpan()) return undefined;
  const { template, namespace, name, plural } = describePath(path);
  return startSpan(`${method} ${template}`, {
    kind: 'client',
    attributes: {
      'http.request.method': method,
      'url.template': template,
      'server.address': server.hostname,
      'server.port': Number(server.port) || (server.protocol === 'https:' ? 443 : 80),
      'k8s.namespace.name': namespace,
      ...(plural === 'pods' ? { 'k8s.pod.name': name } : { 'loopstream.object.name': name }),
    },
  });
}

/** `status` is 0 where no response came. */
export function endCallSpan(span: Span | undefined, status: number): void {
  if (status > 0) span?.set({ 'http.response.status_code': status });
  if (status === 0 || status >= 400) span?.fail(status === 0 ? 'unreachable' : String(status));
  span?.end();
}
