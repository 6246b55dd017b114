/**
 * Reads what is special of the first pod of a stream: it is started without the stream's Secret, and controlled with a token that is
 * derived from the key in the Secret of a destination (first-start.ts).
 */

import type { Pod } from '../../kube/core.ts';
import { CONTROL_SECRET_ANNOTATION, SECRET_CONTROL_KEY } from '../../resources/common/names.ts';
import { controlToken } from '../../resources/stream/control-token.ts';
import type { ControllerDeps } from '../caches/controller-deps.ts';
import { findSecretText } from './find-secret.ts';

/** The Secrets that a first pod is made with. */
export interface FirstStart {
  /** Names of the stream's destinations → names of their Secrets. */
  secretNames: ReadonlyMap<string, string>;
  /** The Secret with the key of the pod's control token, and the key. */
  controlSecret: string;
  controlKey: string;
}

const findControlSecret = ({ metadata }: Pick<Pod, 'metadata'>): string | undefined =>
  metadata.annotations?.[CONTROL_SECRET_ANNOTATION];

export const isFirstPod = (pod: Pick<Pod, 'metadata'>): boolean => findControlSecret(pod) !== undefined;

/** Undefined where the key is missing: a Secret that somebody made with kubectl has none. */
export const readControlKey = (
  { kube }: Pick<ControllerDeps, 'kube'>,
  namespace: string,
  secretName: string,
): Promise<string | undefined> => findSecretText(kube, namespace, secretName, SECRET_CONTROL_KEY);

/** The control token of a first pod; undefined of any other pod, and where the key is gone. */
export async function readFirstToken(
  deps: Pick<ControllerDeps, 'kube'>,
  { metadata }: Pick<Pod, 'metadata'>,
): Promise<string | undefined> {
  const secretName = findControlSecret({ metadata });
  const key = secretName && (await readControlKey(deps, metadata.namespace ?? '', secretName));
  return key ? controlToken(key, metadata.uid) : undefined;
}
