/** Finds operators of a release that serves no conversion webhook: they know only v1alpha1. */
import { PODS, type Pod } from '../../kube/core.ts';
import { hasReason, type Kube } from '../../kube/types.ts';
import { COMPONENT_LABEL, CONVERSION_PORT_NAME } from '../../resources/common/names.ts';

const OPERATORS = `app.kubernetes.io/part-of=loopstream,${COMPONENT_LABEL}=operator`;

interface Container {
  ports?: { name?: string }[];
}

/** One that is terminating has given up its lease, or is about to. */
function isOld({ metadata, spec, status }: Pod): boolean {
  const containers = (spec.containers ?? []) as Container[];
  const converts = containers.some(({ ports = [] }) => ports.some(({ name }) => name === CONVERSION_PORT_NAME));
  const isOver =
    metadata.deletionTimestamp !== undefined || status?.phase === 'Succeeded' || status?.phase === 'Failed';
  return !converts && !isOver;
}

/** Lists their pods in the whole cluster as `namespace/name`. Somebody who may not look finds none. */
export async function listOldOperators(kube: Pick<Kube, 'list'>): Promise<string[]> {
  try {
    const pods = await kube.list(PODS, { labelSelector: OPERATORS });
    return pods.filter(isOld).map(({ metadata: { namespace, name } }) => `${namespace}/${name}`);
  } catch (error) {
    if (hasReason(error, 'Forbidden')) return [];
    throw error;
  }
}
