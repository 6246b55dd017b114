/**
 * Honours the pods that the release before this one started without the Secret of their stream. Such a pod may publish since its first
 * report was answered with a grant, which is written nowhere but in the pod, and holds until the pod is over. Its control token is derived
 * from a key in the Secret of one of its destinations.
 *
 * No pod of this release is started so. The next release removes this module: by then, the new image has replaced these pods.
 */

import { createHmac } from 'node:crypto';
import type { Pod } from '../../kube/core.ts';
import { GROUP } from '../../resources/common/names.ts';
import type { ControllerDeps } from '../caches/controller-deps.ts';
import { findSecretText } from './find-secret.ts';

/** On such a pod: the name of the Secret with the key. */
const CONTROL_SECRET_ANNOTATION = `${GROUP}/control-secret`;
/** The API server of that release wrote it into the Secret of each destination. */
const CONTROL_KEY = 'controlKey';

const findControlSecret = ({ metadata }: Pick<Pod, 'metadata'>): string | undefined =>
  metadata.annotations?.[CONTROL_SECRET_ANNOTATION];

/** Whether a pod may publish whatever the Secret of its stream says. */
export const isGrantedPod = (pod: Pick<Pod, 'metadata'>): boolean => findControlSecret(pod) !== undefined;

/** Returns the control token of such a pod; undefined for any other pod, and where the key is gone. */
export async function readGrantedToken(
  { kube }: Pick<ControllerDeps, 'kube'>,
  { metadata }: Pick<Pod, 'metadata'>,
): Promise<string | undefined> {
  const name = findControlSecret({ metadata });
  const key = name && (await findSecretText(kube, metadata.namespace ?? '', name, CONTROL_KEY));
  return key ? createHmac('sha256', key).update(`control ${metadata.uid}`).digest('base64url') : undefined;
}
