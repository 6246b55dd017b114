/** Builds the files of a Secret, ConfigMap, downward API or projected volume. Pure: no I/O, no clock. */
import type { Pod } from '../../src/core/kube/core.ts';
import { fieldValue, type PodAddress } from './environment.ts';
import type { DownwardItem, KeyToPath, ProjectedSource, SourceName, TokenItem, Volume } from './types.ts';

export interface FileContent {
  data: Buffer;
  mode: number;
}

/** Relative path → file. */
export type Files = Map<string, FileContent>;

/** The bytes of a Secret or ConfigMap by key; undefined when there is none of that name. */
export type LookUpBytes = (kind: 'Secret' | 'ConfigMap', name: string) => Record<string, Buffer> | undefined;

/** The volume cannot be set up now: a FailedMount, tried again later. */
export class MountError extends Error {
  override readonly name = 'MountError';
}

/**
 * There are no users to tell apart inside a container here, and everybody on the machine outside: files are for the
 * agent's user alone, whatever the volume's mode gives to others.
 */
const ownMode = (mode: number | undefined): number => ((mode ?? 0o644) & 0o700) | 0o400;

/** A path below the volume, as the API server has checked it (validateLocalDescendingPath); checked again before use. */
function safePath(path: string): string {
  const parts = path.split('/');
  if (path === '' || path.startsWith('/') || parts.some((part) => part === '..' || part === '.' || part === '')) {
    throw new MountError(`invalid path in volume: ${path}`);
  }
  return path;
}

interface Keyed extends SourceName {
  items: KeyToPath[] | undefined;
  optional: boolean | undefined;
}

function keyedFiles({ kind, name, items, optional }: Keyed, mode: number | undefined, lookUp: LookUpBytes): Files {
  const files: Files = new Map();
  const data = lookUp(kind, name);
  if (!data) {
    if (optional) return files;
    throw new MountError(`${kind.toLowerCase()} "${name}" not found`);
  }
  if (!items) {
    for (const [key, value] of Object.entries(data)) files.set(safePath(key), { data: value, mode: ownMode(mode) });
    return files;
  }
  for (const item of items) {
    const value = data[item.key];
    if (value) files.set(safePath(item.path), { data: value, mode: ownMode(item.mode ?? mode) });
    else if (!optional) throw new MountError(`references non-existent ${kind.toLowerCase()} key: ${item.key}`);
  }
  return files;
}

function downwardFiles(items: DownwardItem[], mode: number | undefined, pod: Pod, address: PodAddress): Files {
  const files: Files = new Map();
  for (const item of items) {
    if (!item.fieldRef) throw new MountError(`this node has only fieldRef for downward API files: ${item.path}`);
    const value = fieldValue(item.fieldRef.fieldPath, pod, address);
    files.set(safePath(item.path), { data: Buffer.from(value), mode: ownMode(item.mode ?? mode) });
  }
  return files;
}

const merge = (parts: Files[]): Files => new Map(parts.flatMap((part) => [...part]));

interface Sources {
  secret?: { name: string; items: KeyToPath[] | undefined; optional: boolean | undefined };
  configMap?: { name: string; items: KeyToPath[] | undefined; optional: boolean | undefined };
  downwardAPI?: { items: DownwardItem[] };
  token?: TokenItem;
}

/** The sources of a volume in one shape; undefined when it is of another kind. */
function listSources(volume: Volume): { sources: Sources[]; mode: number | undefined } | undefined {
  const { secret, configMap, downwardAPI, projected } = volume;
  if (secret) {
    const { items, optional, defaultMode } = secret;
    return { sources: [{ secret: { name: secret.secretName ?? '', items, optional } }], mode: defaultMode };
  }
  if (configMap) {
    const { items, optional, defaultMode } = configMap;
    return { sources: [{ configMap: { name: configMap.name ?? '', items, optional } }], mode: defaultMode };
  }
  if (downwardAPI) {
    return { sources: [{ downwardAPI: { items: downwardAPI.items ?? [] } }], mode: downwardAPI.defaultMode };
  }
  if (projected) return { sources: (projected.sources ?? []).map(projectedSource), mode: projected.defaultMode };
  return undefined;
}

function projectedSource({ secret, configMap, downwardAPI, serviceAccountToken, ...other }: ProjectedSource): Sources {
  if (secret) return { secret: { name: secret.name ?? '', items: secret.items, optional: secret.optional } };
  if (configMap)
    return { configMap: { name: configMap.name ?? '', items: configMap.items, optional: configMap.optional } };
  if (downwardAPI) return { downwardAPI: { items: downwardAPI.items ?? [] } };
  if (serviceAccountToken) return { token: serviceAccountToken };
  throw new MountError(`this node cannot project ${Object.keys(other).join(', ')}`);
}

export const isWritten = ({ secret, configMap, downwardAPI, projected }: Volume): boolean =>
  Boolean(secret ?? configMap ?? downwardAPI ?? projected);

/** The Secrets and ConfigMaps that the volume shows. */
export function volumeSources(volume: Volume): SourceName[] {
  return (listSources(volume)?.sources ?? []).flatMap(({ secret, configMap }): SourceName[] => {
    if (secret) return [{ kind: 'Secret', name: secret.name }];
    return configMap ? [{ kind: 'ConfigMap', name: configMap.name }] : [];
  });
}

/** The service account tokens that the volume shows. */
export const volumeTokens = (volume: Volume): TokenItem[] =>
  (listSources(volume)?.sources ?? []).flatMap(({ token }) => token ?? []);

/** The files of a volume for which `isWritten` holds. Throws MountError, or ContainerConfigError for a wrong fieldPath. */
export function volumeFiles(
  volume: Volume,
  pod: Pod,
  address: PodAddress,
  lookUp: LookUpBytes,
  tokens: ReadonlyMap<TokenItem, string> = new Map(),
): Files {
  const { sources, mode } = listSources(volume) ?? { sources: [], mode: undefined };
  return merge(
    sources.map(({ secret, configMap, downwardAPI, token }) => {
      if (secret) return keyedFiles({ kind: 'Secret', ...secret }, mode, lookUp);
      if (configMap) return keyedFiles({ kind: 'ConfigMap', ...configMap }, mode, lookUp);
      if (token) {
        const data = Buffer.from(tokens.get(token) ?? '');
        return new Map([[safePath(token.path), { data, mode: ownMode(mode) }]]);
      }
      return downwardFiles(downwardAPI?.items ?? [], mode, pod, address);
    }),
  );
}
