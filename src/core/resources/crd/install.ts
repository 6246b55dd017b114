/** Installs the CustomResourceDefinitions in a cluster and waits until it serves them. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { CRDS } from '../../kube/core.ts';
import { collectionPath } from '../../kube/paths.ts';
import { type Kube, KubeError, type KubeObject, type Resource } from '../../kube/types.ts';
import { sleep } from '../../lib/clock.ts';
import { type CustomResourceDefinition, customResourceDefinitions } from './crds.ts';
import { refuseOldVersion } from './old-version.ts';

const FIELD_MANAGER = 'loopstream-install';
const POLL_MS = 50;
const TIMEOUT_MS = 30_000;

interface CrdStatus {
  conditions?: { type: string; status: string; reason?: string; message?: string }[];
}

/**
 * Applies our definitions, or the YAML files of `dir`. Resolves when each is established and the collection of each version
 * responds. Throws OldVersionError with nothing changed, and KubeError, also for a name that another definition holds, and after a wait
 * of 30 s.
 */
export async function applyCrds(kube: Kube, { dir }: { dir?: string } = {}): Promise<void> {
  await refuseOldVersion(kube);
  const crds = dir ? await readCrds(dir) : customResourceDefinitions();
  await Promise.all(
    crds.map(async (crd) => {
      await kube.apply(CRDS, '', { ...crd }, { fieldManager: FIELD_MANAGER });
      await served(kube, crd);
    }),
  );
}

async function readCrds(dir: string): Promise<CustomResourceDefinition[]> {
  const files = (await readdir(dir)).filter((name) => name.endsWith('.yaml'));
  return Promise.all(files.map(async (name) => parse(await readFile(join(dir, name), 'utf8'))));
}

async function served(kube: Kube, crd: CustomResourceDefinition): Promise<void> {
  const { name } = crd.metadata;
  for (const began = performance.now(); performance.now() - began < TIMEOUT_MS; await sleep(POLL_MS)) {
    const { status } = await kube.get(CRDS as Resource<KubeObject<unknown, CrdStatus>>, '', name);
    const conditions = status?.conditions ?? [];
    const refused = conditions.find(({ type, status: is }) => type === 'NamesAccepted' && is === 'False');
    if (refused) throw new KubeError(409, refused.reason ?? 'Conflict', `${name}: ${refused.message}`);
    if (!conditions.some(({ type, status: is }) => type === 'Established' && is === 'True')) continue;
    // Established says that it will be served; the handler follows a moment later.
    const responses = await Promise.all(crd.spec.versions.map((version) => responds(kube, crd, version.name)));
    if (responses.every(Boolean)) return;
  }
  throw new KubeError(504, 'Timeout', `${name} was not served within ${TIMEOUT_MS / 1000} s.`);
}

async function responds(kube: Kube, { spec }: CustomResourceDefinition, version: string): Promise<boolean> {
  const resource = { ...CRDS, group: spec.group, version, plural: spec.names.plural };
  const { status } = await kube.raw('GET', `${collectionPath(resource)}?limit=1`);
  return status === 200;
}
