/**
 * Builds the environment and the argv of a container, resolved as a kubelet resolves them (core/v1 EnvVar,
 * EnvFromSource, and the `$(VAR)` references of command, args and values). Pure: no I/O, no clock.
 */
import type { Pod } from '../../src/core/kube/core.ts';
import { type Container, type EnvVar, getSpec, type SourceName } from './types.ts';

/** Values that the pod's object may not have yet. */
export interface PodAddress {
  podIP: string;
  hostIP: string;
}

/** The decoded text of a Secret or ConfigMap; undefined when there is none of that name. */
export type LookUp = (kind: 'Secret' | 'ConfigMap', name: string) => Record<string, string> | undefined;

/** The container cannot be started as it is configured: kubelet's CreateContainerConfigError. */
export class ContainerConfigError extends Error {
  override readonly name = 'ContainerConfigError';
}

/** Names of the Secrets and ConfigMaps that the container's environment needs, each once. */
export function referredSources(container: Container): SourceName[] {
  const found = new Map<string, SourceName>();
  const add = (kind: 'Secret' | 'ConfigMap', name: string | undefined) => {
    if (name) found.set(`${kind}/${name}`, { kind, name });
  };
  for (const source of container.envFrom ?? []) {
    add('Secret', source.secretRef?.name);
    add('ConfigMap', source.configMapRef?.name);
  }
  for (const { valueFrom } of container.env ?? []) {
    add('Secret', valueFrom?.secretKeyRef?.name);
    add('ConfigMap', valueFrom?.configMapKeyRef?.name);
  }
  return [...found.values()];
}

/**
 * Replaces `$(NAME)` by the variable's value; an unknown name stays as it is written and `$$` is a plain `$`, so that
 * `$$(NAME)` is how to write `$(NAME)` itself.
 */
export function expand(text: string, variables: Record<string, string>): string {
  return text.replace(/\$(?:\$|\(([^()]*)\))/g, (whole, name: string | undefined) => {
    if (name === undefined) return '$';
    return Object.hasOwn(variables, name) ? (variables[name] ?? whole) : whole;
  });
}

/** `labels['x']` style maps, and all of one as a volume shows them: sorted lines of key="value". */
function mapField(path: string, pod: Pod): string | undefined {
  const match = /^metadata\.(labels|annotations)(?:\['([^']*)'\])?$/.exec(path);
  if (!match) return undefined;
  const map = (match[1] === 'labels' ? pod.metadata.labels : pod.metadata.annotations) ?? {};
  if (match[2] !== undefined) return map[match[2]] ?? '';
  const lines = Object.entries(map).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  return lines.sort().join('\n');
}

/** The value of a downward API fieldPath. Throws ContainerConfigError for one that is not known. */
export function fieldValue(path: string, pod: Pod, address: PodAddress): string {
  switch (path) {
    case 'metadata.name':
      return pod.metadata.name;
    case 'metadata.namespace':
      return pod.metadata.namespace ?? '';
    case 'metadata.uid':
      return pod.metadata.uid;
    case 'spec.nodeName':
      return getSpec(pod).nodeName ?? '';
    case 'spec.serviceAccountName':
      return getSpec(pod).serviceAccountName ?? '';
    case 'status.podIP':
    case 'status.podIPs':
      return address.podIP;
    case 'status.hostIP':
    case 'status.hostIPs':
      return address.hostIP;
  }
  const value = mapField(path, pod);
  if (value === undefined) throw new ContainerConfigError(`unsupported fieldPath: ${path}`);
  return value;
}

function fromKey(
  kind: 'Secret' | 'ConfigMap',
  ref: { name?: string; key: string; optional?: boolean },
  lookUp: LookUp,
) {
  const name = ref.name ?? '';
  const value = lookUp(kind, name)?.[ref.key];
  if (value !== undefined || ref.optional) return value;
  const noun = kind.toLowerCase();
  if (!lookUp(kind, name)) throw new ContainerConfigError(`${noun} "${name}" not found`);
  throw new ContainerConfigError(`couldn't find key ${ref.key} in ${kind} ${name}`);
}

function variable(env: EnvVar, known: Record<string, string>, pod: Pod, address: PodAddress, lookUp: LookUp) {
  const from = env.valueFrom;
  if (!from) return expand(env.value ?? '', known);
  if (from.fieldRef) return fieldValue(from.fieldRef.fieldPath, pod, address);
  if (from.secretKeyRef) return fromKey('Secret', from.secretKeyRef, lookUp);
  if (from.configMapKeyRef) return fromKey('ConfigMap', from.configMapKeyRef, lookUp);
  throw new ContainerConfigError(`${env.name}: this node has no ${Object.keys(from).join(', ') || 'empty'} source`);
}

/**
 * The container's own variables, in order, each seeing those before it. Throws ContainerConfigError when a Secret,
 * ConfigMap or key that is not optional is missing.
 */
export function resolveEnvironment(container: Container, pod: Pod, address: PodAddress, lookUp: LookUp) {
  const variables: Record<string, string> = {};
  for (const { prefix = '', secretRef, configMapRef } of container.envFrom ?? []) {
    const kind = secretRef ? 'Secret' : 'ConfigMap';
    const ref = secretRef ?? configMapRef;
    const data = ref?.name ? lookUp(kind, ref.name) : undefined;
    if (!data && ref && !ref.optional) throw new ContainerConfigError(`${kind.toLowerCase()} "${ref.name}" not found`);
    for (const [key, value] of Object.entries(data ?? {})) variables[prefix + key] = value;
  }
  for (const env of container.env ?? []) {
    const value = variable(env, variables, pod, address, lookUp);
    if (value !== undefined) variables[env.name] = value;
  }
  return variables;
}

/**
 * The argv of a container: its `command`, or the entrypoint that stands for its image, then its `args`. The rewriting
 * of mount paths does not touch the image's entrypoint, which already names real files.
 */
export function resolveArgv(
  container: Container,
  entrypoint: readonly string[],
  variables: Record<string, string>,
  rewrite: (text: string) => string,
): string[] {
  const resolve = (text: string) => rewrite(expand(text, variables));
  const command = container.command?.length ? container.command.map(resolve) : entrypoint;
  return [...command, ...(container.args ?? []).map(resolve)];
}
