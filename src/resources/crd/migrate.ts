/**
 * Migrates stored objects to another version: makes it the storage version, writes every object again, says in the definitions that no object of
 * another version is left, and names owners and keeps managed fields by that version. May be interrupted at any point, and run again.
 */
import { createHash } from 'node:crypto';
import pMap from 'p-map';
import { CRDS } from '../../kube/core.ts';
import { formatApiVersion, formatQuery, getKey, objectPath } from '../../kube/paths.ts';
import { toKubeError } from '../../kube/transport.ts';
import {
  hasReason,
  type Kube,
  KubeError,
  type KubeObject,
  type ListPage,
  type Resource,
  type Stored,
} from '../../kube/types.ts';
import { sleep } from '../../lib/clock.ts';
import { DEFINITION_NAMES } from '../common/names.ts';
import type { Version } from '../versions/names.ts';
import { retryConflicts } from './conflicts.ts';
import { convertManagers } from './managers.ts';
import { renameOwners } from './owners.ts';

const FIELD_MANAGER = 'loopstream-migrate';
const PAGE_SIZE = 500;
/** Writes at the same time. */
const AT_ONCE = 8;
/** Several API servers see a change of a definition one after the other, as a rule within a second. */
const SETTLE_MS = 5_000;
const POLL_MS = 100;
const SERVED_MS = 60_000;

interface DefinedVersion {
  name: string;
  served: boolean;
  storage: boolean;
}
type Definition = KubeObject<
  { group: string; names: { kind: string; plural: string }; versions: DefinedVersion[] },
  { storedVersions?: string[] }
>;
const DEFINITIONS = CRDS as Resource<Definition>;

/** The error of a migration that did not begin, or that could not write an object; its message says what to do. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

export interface MigrationOptions {
  to: Version;
  /** Is called with a line for each step and each page. */
  onProgress?: (line: string) => void;
  /** Time for other API servers to see the new storage version, in milliseconds; 5,000 by default. */
  settleMs?: number;
  /** Objects that are read at once; 500 by default. */
  pageSize?: number;
}

const storageVersion = ({ spec }: Definition): string => spec.versions.find(({ storage }) => storage)?.name ?? '';

const isDone = (definition: Definition, to: string): boolean =>
  storageVersion(definition) === to && definition.status?.storedVersions?.join() === to;

const toResource = ({ spec: { group, names } }: Definition, version: string): Resource => ({
  group,
  version,
  kind: names.kind,
  plural: names.plural,
  namespaced: true,
});

/**
 * Resolves to how many objects were written. Rejects with MigrationError where it cannot begin, with nothing changed, and where an object could
 * not be written; with KubeError where Kubernetes does not respond. Run it again after either.
 */
export async function migrateStorage(
  kube: Kube,
  { to, onProgress = () => {}, settleMs = SETTLE_MS, pageSize = PAGE_SIZE }: MigrationOptions,
): Promise<number> {
  const definitions = await readDefinitions(kube);
  const pending = definitions.filter((definition) => !isDone(definition, to));
  for (const definition of pending) await requireConversion(kube, definition, to);
  for (const definition of pending) await setStorageVersion(kube, definition.metadata.name, to);
  if (pending.length > 0) onProgress(`New objects are stored as ${to}.`);
  for (const definition of pending) await untilStoredAs(kube, definition, to);
  if (pending.length > 0) await sleep(settleMs);
  let written = 0;
  for (const definition of pending) {
    written += await rewrite(kube, toResource(definition, to), { pageSize, onProgress });
    await setStoredVersions(kube, definition.metadata.name, to);
  }
  onProgress(`All objects are stored as ${to}${pending.length === 0 ? ' already' : ''}.`);
  const renamed = await renameOwners(kube, to);
  if (renamed > 0) onProgress(`${renamed} objects name their owners by ${to} now.`);
  let converted = 0;
  for (const definition of definitions) converted += await convertManagers(kube, toResource(definition, to), to);
  if (converted > 0) onProgress(`The managed fields of ${converted} objects are kept by ${to} now.`);
  return written;
}

async function readDefinitions(kube: Kube): Promise<Stored<Definition>[]> {
  try {
    return await Promise.all(DEFINITION_NAMES.map((name) => kube.get(DEFINITIONS, '', name)));
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error;
    throw new MigrationError(
      'A definition of loopstream is missing, so nothing was changed. Install the release first.',
    );
  }
}

/** Reads an object in both versions: a GET comes from etcd, so that one of the two has to be converted. */
async function requireConversion(kube: Kube, definition: Stored<Definition>, to: string): Promise<void> {
  const { name } = definition.metadata;
  const served = definition.spec.versions.filter((version) => version.served).map((version) => version.name);
  if (!served.includes(to))
    throw new MigrationError(
      `${name} does not serve ${to} (but ${served.join(', ')}), so nothing was changed. Upgrade the release first, with crds.alpha=true.`,
    );
  try {
    const { items } = await kube.page(toResource(definition, to), { limit: 1 });
    const [{ metadata } = {}] = items;
    if (!metadata) return;
    for (const version of served)
      await kube.get(toResource(definition, version), metadata.namespace ?? '', metadata.name);
  } catch (error) {
    if (hasReason(error, 'NotFound')) return;
    if (!(error instanceof KubeError)) throw error;
    throw new MigrationError(
      `The conversion webhook does not answer (${error.message}), so nothing was changed. Check that operators of the new release are running.`,
      { cause: error },
    );
  }
}

/** A merge patch under a name of our own, whose ownership of fields is dropped afterwards. */
async function patchDefinition(kube: Kube, name: string, patch: unknown): Promise<void> {
  const path = `${objectPath(CRDS, '', name)}${formatQuery({ fieldManager: FIELD_MANAGER })}`;
  const answer = await kube.raw('PATCH', path, patch, { 'content-type': 'application/merge-patch+json' });
  if (answer.status >= 400) throw toKubeError(answer, `PATCH ${name}`);
}

async function setStorageVersion(kube: Kube, name: string, to: string): Promise<void> {
  await retryConflicts(async () => {
    const { metadata, spec } = await kube.get(DEFINITIONS, '', name);
    const versions = spec.versions.map((version) => ({ ...version, storage: version.name === to }));
    await patchDefinition(kube, name, { metadata: { resourceVersion: metadata.resourceVersion }, spec: { versions } });
  });
  await retryConflicts(() => dropOwnership(kube, name));
}

/** Helm 4 applies a definition by server-side apply, which fails on a field that another manager has changed. */
async function dropOwnership(kube: Kube, name: string): Promise<void> {
  const { text } = await kube.raw('GET', objectPath(CRDS, '', name));
  const { metadata } = JSON.parse(text) as {
    metadata: { resourceVersion: string; managedFields?: { manager: string }[] };
  };
  const managedFields = metadata.managedFields?.filter(({ manager }) => manager !== FIELD_MANAGER) ?? [];
  if (managedFields.length === 0 || managedFields.length === metadata.managedFields?.length) return;
  await patchDefinition(kube, name, { metadata: { resourceVersion: metadata.resourceVersion, managedFields } });
}

/** Waits until discovery shows the storage version: its hash is that of group, version and kind (KEP 2339). */
async function untilStoredAs(kube: Kube, definition: Definition, to: string): Promise<void> {
  const resource = toResource(definition, to);
  const identity = `${formatApiVersion(resource)}/${resource.kind}`;
  const hash = createHash('sha256').update(identity).digest().subarray(0, 8).toString('base64');
  for (const began = performance.now(); performance.now() - began < SERVED_MS; await sleep(POLL_MS)) {
    const { status, text } = await kube.raw('GET', `/apis/${formatApiVersion(resource)}`);
    if (status !== 200) continue;
    const { resources = [] } = JSON.parse(text) as { resources?: { name: string; storageVersionHash?: string }[] };
    if (resources.some((one) => one.name === resource.plural && one.storageVersionHash === hash)) return;
  }
  throw new MigrationError(
    `${resource.plural} are not stored as ${to} after ${SERVED_MS / 1000} s. Run the migration again.`,
  );
}

/** Writes every object as it was read, page by page. */
async function rewrite(
  kube: Kube,
  resource: Resource,
  { pageSize, onProgress }: Required<Pick<MigrationOptions, 'pageSize' | 'onProgress'>>,
): Promise<number> {
  let written = 0;
  for (let next: string | undefined = ''; next !== undefined; ) {
    const page = await readPage(kube, resource, { limit: pageSize, continue: next || undefined });
    const results = await pMap(page.items, (object) => rewriteOne(kube, resource, object), { concurrency: AT_ONCE });
    written += results.filter(Boolean).length;
    onProgress(`${resource.plural}: ${written} written`);
    next = page.continue;
  }
  return written;
}

type Page = Pick<ListPage<KubeObject>, 'items' | 'continue'>;

/** A list that took too long begins again: what was written already is not stored once more. */
const readPage = (
  kube: Kube,
  resource: Resource,
  from: { limit: number; continue: string | undefined },
): Promise<Page> =>
  kube.page(resource, from).catch((error: unknown) => {
    if (error instanceof KubeError && error.status === 410) return { items: [], continue: '' };
    throw error;
  });

/** Resolves to false where the object is gone. */
async function rewriteOne(kube: Kube, resource: Resource, read: Stored<KubeObject>): Promise<boolean> {
  const { namespace = '', name } = read.metadata;
  let object = read;
  try {
    await retryConflicts(async () => {
      try {
        await kube.replace(resource, namespace, object);
      } catch (error) {
        if (hasReason(error, 'Conflict')) object = await kube.get(resource, namespace, name);
        throw error;
      }
    });
    return true;
  } catch (error) {
    if (hasReason(error, 'NotFound')) return false;
    // Somebody wrote it after we read it, and so in the new version.
    if (hasReason(error, 'Conflict')) return true;
    if (!(error instanceof KubeError)) throw error;
    throw new MigrationError(
      `${resource.kind} ${getKey(read)} could not be written (${error.message}). Correct or delete it, and run the migration again.`,
      { cause: error },
    );
  }
}

async function setStoredVersions(kube: Kube, name: string, to: string): Promise<void> {
  await retryConflicts(async () => {
    const definition = await kube.get(DEFINITIONS, '', name);
    if (storageVersion(definition) !== to)
      throw new MigrationError(`Somebody changed the storage version of ${name} meanwhile. Run the migration again.`);
    const { resourceVersion } = definition.metadata;
    const patch = { metadata: { resourceVersion }, status: { storedVersions: [to] } };
    await kube.mergePatch(DEFINITIONS, '', name, patch, { subresource: 'status' });
  });
}
