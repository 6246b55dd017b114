/**
 * Remembers the Uploads whose deletion was seen until a sweep has written that to the storage: a source is deleted on this evidence alone. A
 * finalizer holds each Upload until it is remembered, so that no deletion is missed while no operator runs.
 */
import { Type } from 'typebox';
import { CONFIG_MAPS, type ConfigMap } from '../../kube/core.ts';
import { hasReason, type Kube, type KubeError } from '../../kube/types.ts';
import { parseAs } from '../../lib/parse.ts';
import { DELETED_UPLOADS, UPLOAD_FINALIZER } from '../../resources/common/names.ts';
import { UPLOADS, type Upload } from '../../resources/upload/resource.ts';
import { sourceKey } from '../../resources/upload/spec.ts';
import type { ControllerDeps } from '../caches/controller-deps.ts';
import { type DeletedUpload, hasSource } from './records.ts';

const Entry = Type.Object({ name: Type.String(), sourceKey: Type.String() });

type Deps = Pick<ControllerDeps, 'kube' | 'caches' | 'log'>;

/** Whether Kubernetes takes no write here: the right is missing, or the namespace is being deleted. */
const isBarred = (error: unknown): error is KubeError => hasReason(error, 'Forbidden', 'NotFound');

/** Adds the finalizer before the Upload gets a source. Returns the Upload as it is then; without the right to, as it was. */
export async function addUploadFinalizer({ kube, caches, log }: Deps, upload: Upload): Promise<Upload> {
  const { name, namespace = '', resourceVersion, finalizers = [] } = upload.metadata;
  if (finalizers.includes(UPLOAD_FINALIZER) || !hasSource(upload)) return upload;
  try {
    const metadata = { resourceVersion, finalizers: [...finalizers, UPLOAD_FINALIZER] };
    const written = await kube.mergePatch(UPLOADS, namespace, name, { metadata });
    caches.uploads.upsert(written);
    return written;
  } catch (error) {
    if (!hasReason(error, 'Forbidden')) throw error;
    log.debug({ namespace, upload: name }, 'the upload has no finalizer: the operator may not patch uploads here');
    return upload;
  }
}

/** Notes the deletion; removes the finalizer. */
export async function letUploadGo({ kube, log }: Deps, upload: Upload): Promise<void> {
  const { name, namespace = '', uid, resourceVersion, finalizers = [] } = upload.metadata;
  if (!finalizers.includes(UPLOAD_FINALIZER)) return;
  const entry = { name, sourceKey: upload.status?.sourceKey ?? sourceKey(uid) };
  try {
    await remember(kube, namespace, { [uid]: JSON.stringify(entry) });
  } catch (error) {
    if (!isBarred(error)) throw error;
    log.warn(
      { namespace, upload: name, err: error },
      'the deletion of the upload is not written down: its source stays for a month',
    );
  }
  const left = finalizers.filter((finalizer) => finalizer !== UPLOAD_FINALIZER);
  try {
    await kube.mergePatch(UPLOADS, namespace, name, { metadata: { uid, resourceVersion, finalizers: left } });
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error;
  }
}

async function remember(kube: Kube, namespace: string, data: Record<string, string>): Promise<void> {
  try {
    await kube.mergePatch(CONFIG_MAPS, namespace, DELETED_UPLOADS, { data });
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error;
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: DELETED_UPLOADS, namespace }, data };
    try {
      await kube.create(CONFIG_MAPS, namespace, map as ConfigMap);
    } catch (failure) {
      if (!hasReason(failure, 'AlreadyExists')) throw failure;
      await kube.mergePatch(CONFIG_MAPS, namespace, DELETED_UPLOADS, { data });
    }
  }
}

/** Lists the deleted Uploads of a namespace that no sweep has written down yet. */
export async function listDeletedUploads(kube: Pick<Kube, 'get'>, namespace: string): Promise<DeletedUpload[]> {
  try {
    const { data = {} } = await kube.get(CONFIG_MAPS, namespace, DELETED_UPLOADS);
    return Object.entries(data).flatMap(([uid, text]) => {
      const entry = parseAs(Entry, text);
      return entry ? [{ uid, ...entry }] : [];
    });
  } catch (error) {
    if (isBarred(error)) return [];
    throw error;
  }
}

/** Forgets Uploads that a sweep has written down. */
export async function forgetDeleted(kube: Pick<Kube, 'mergePatch'>, namespace: string, uids: readonly string[]) {
  if (uids.length === 0) return;
  const data = Object.fromEntries(uids.map((uid) => [uid, null]));
  try {
    await kube.mergePatch(CONFIG_MAPS, namespace, DELETED_UPLOADS, { data });
  } catch (error) {
    if (!isBarred(error)) throw error;
  }
}
