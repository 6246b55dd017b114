/**
 * Starts the first pod of a stream without a Secret of its own. The pod has the Secrets of its destinations as files, and the Secret of the
 * stream if there is one later. It is held like any other pod, and its first report is answered with a grant.
 *
 * - A first pod always has the first of the stream's two names, so there is one at a time.
 * - It is granted to publish when it exists and no pod of the other name may run (grantFirst).
 * - Another pod gets the publisher lock when it exists and the first pod is over, whatever the Secret says (acquirePublisher in
 *   secret.ts). Each of the two is there before the other is looked for, so at least one of them is found.
 * - A grant is written nowhere but in the pod. It holds until the pod is over, and nothing takes it back.
 */

import type { Pod } from '../../kube/core.ts';
import type { Grant } from '../../protocol/grant.ts';
import { ACCOUNT_LABEL, podName } from '../../resources/common/names.ts';
import type { Destination } from '../../resources/destination/resource.ts';
import { listReceivers } from '../../resources/stream/destinations.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import type { ControllerDeps } from '../caches/controller-deps.ts';
import { isOver } from '../pods/status.ts';
import { type FirstStart, readControlKey } from './first-pod.ts';
import type { Observation } from './observation.ts';
import { fetchOtherPods, findViewToken } from './secret.ts';

/** Its Secret has a key of control tokens, unless an older release made it. A Secret that somebody made with kubectl has none. */
const isOfApi = ({ metadata, spec }: Destination): boolean =>
  metadata.labels?.[ACCOUNT_LABEL] !== undefined && spec.secretName === metadata.name;

/**
 * Finds what the first pod of a stream that was never on air is made with. Undefined where it needs the Secret of the stream: for want of
 * reports nothing would ask for the grant, or no Secret of its destinations has a key.
 */
export async function findFirstStart(
  deps: Pick<ControllerDeps, 'kube' | 'settings'>,
  { stream, destinations }: Pick<Observation, 'stream' | 'destinations'>,
  name: string = podName(stream.metadata.name),
): Promise<FirstStart | undefined> {
  if (deps.settings.reportsUrl === undefined || name !== podName(stream.metadata.name)) return undefined;
  const found = listReceivers(stream.spec).flatMap((one) => destinations.get(one) ?? []);
  const controlSecret = found.find(isOfApi)?.spec.secretName;
  if (controlSecret === undefined) return undefined;
  const controlKey = await readControlKey(deps, stream.metadata.namespace ?? '', controlSecret);
  const secretNames = new Map(found.map(({ metadata, spec }) => [metadata.name, spec.secretName]));
  return controlKey === undefined ? undefined : { secretNames, controlSecret, controlKey };
}

export type GrantFirst = (stream: LoopStream, pod: Pod) => Promise<Grant | undefined>;

/** Grants a first pod, which exists, to publish; undefined while a pod of the other name may run. */
export async function grantFirst(
  deps: Pick<ControllerDeps, 'kube'>,
  stream: LoopStream,
  { metadata: { name, uid } }: Pod,
): Promise<Grant | undefined> {
  const [others, viewToken] = await Promise.all([
    fetchOtherPods(deps, stream, name),
    findViewToken(deps.kube, stream.metadata.namespace ?? '', stream.metadata.uid),
  ]);
  return others.every(isOver) ? { publisher: uid, viewToken } : undefined;
}
