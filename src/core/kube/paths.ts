/** Builds paths and queries of the Kubernetes API. Pure: no I/O, no clock. */
import type { ListOptions, Resource } from './types.ts';

/** The collection of a resource; of every namespace when none is given. */
export function collectionPath(resource: Resource, namespace?: string): string {
  const root = resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const scope = resource.namespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}${scope}/${resource.plural}`;
}

export function objectPath(resource: Resource, namespace: string, name: string, subresource?: string): string {
  const object = `${collectionPath(resource, namespace)}/${encodeURIComponent(name)}`;
  return subresource ? `${object}/${subresource}` : object;
}

export const formatApiVersion = (resource: Resource): string =>
  resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;

type Value = string | number | boolean | undefined;

/** `?a=b`, without what is undefined; '' when nothing is left. */
export function formatQuery(values: Record<string, Value>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) params.set(name, String(value));
  const text = params.toString();
  return text ? `?${text}` : '';
}

export const buildSelectors = (options: ListOptions): Record<string, Value> => ({
  labelSelector: options.labelSelector,
  fieldSelector: options.fieldSelector,
});

/** `namespace/name`, or the bare name of a cluster-scoped object: the key of caches and queues. */
export const getKey = (object: { metadata: { name: string; namespace?: string } }): string =>
  objectKey(object.metadata.namespace, object.metadata.name);

export const objectKey = (namespace: string | undefined, name: string): string =>
  namespace ? `${namespace}/${name}` : name;
