/** Prints the versions of the plugin, of Kubernetes and of the operators. */
import manifest from '../../../../package.json' with { type: 'json' };
import { PODS, type Pod } from '../../kube/core.ts';
import { type Kube, KubeError } from '../../kube/types.ts';
import { COMPONENT_LABEL, MANAGED_BY, MANAGED_BY_LABEL } from '../../resources/common/names.ts';
import type { Invocation } from '../shell/call.ts';
import { describeFailure } from '../shell/failure.ts';
import { warn, write } from '../shell/output.ts';

export const VERSION: string = manifest.version;

const OPERATORS = `${COMPONENT_LABEL}=operator`;

/** Other products have operators too: ours has its role as its argument, and our settings. */
const isOperator = ({ spec }: Pod): boolean =>
  ((spec.containers ?? []) as { args?: string[]; env?: { name: string }[] }[]).some(
    ({ args, env }) => args?.[0] === 'operator' && env?.some(({ name }) => name.startsWith('LOOPSTREAM_')),
  );

const readImages = (pods: readonly Pod[]): string[] => [
  ...new Set(
    pods.flatMap(({ metadata, spec }) =>
      ((spec.containers ?? []) as { image?: string }[]).map(
        ({ image = 'unknown' }) => `${image} (namespace ${metadata.namespace})`,
      ),
    ),
  ),
];

/** The pods of the operators; in the cluster as a whole where the account may look there, else in the namespace. */
export async function listOperators(kube: Kube, namespace: string): Promise<Pod[]> {
  const list = (where: { namespace?: string }) => kube.list(PODS, { ...where, labelSelector: OPERATORS });
  const pods = await list({}).catch((error: unknown) => {
    if (!(error instanceof KubeError) || error.reason !== 'Forbidden') throw error;
    return list({ namespace });
  });
  return pods.filter(isOperator);
}

export interface Versions {
  plugin: string;
  kubernetes: string;
  /** Images of the operators that the account can see, with their namespace. */
  operators: string[];
  /** Images of the pods of streams and Jobs that were looked at. */
  pods: string[];
}

/** Returns the version of Kubernetes, such as `v1.37.1`. */
export async function readKubernetesVersion(kube: Pick<Kube, 'raw'>): Promise<string> {
  const { status, text } = await kube.raw('GET', '/version');
  return status === 200 ? String((JSON.parse(text) as { gitVersion?: string }).gitVersion) : 'unknown';
}

export const listVersions = (kubernetes: string, operators: readonly Pod[], pods: readonly Pod[]): Versions => ({
  plugin: VERSION,
  kubernetes,
  operators: readImages(operators),
  pods: readImages(pods),
});

async function readVersions(kube: Kube, namespace: string): Promise<Versions> {
  const [kubernetes, operators, pods] = await Promise.all([
    readKubernetesVersion(kube),
    listOperators(kube, namespace),
    kube.list(PODS, { namespace, labelSelector: `${MANAGED_BY_LABEL}=${MANAGED_BY}` }),
  ]);
  return listVersions(kubernetes, operators, pods);
}

export async function printVersions({ flags, cluster }: Invocation<{ client?: boolean }>): Promise<number> {
  write(`Plugin:      ${VERSION}\n`);
  if (flags.client) return 0;
  const { kube, namespace } = cluster();
  const { kubernetes, operators, pods } = await readVersions(kube, namespace).catch((error: unknown) => {
    warn(describeFailure(error, namespace) ?? String(error));
    return { kubernetes: 'unknown', operators: [], pods: [] };
  });
  write(`Kubernetes:  ${kubernetes}\n`);
  write(`Operator:    ${operators.join('\n             ') || 'no pod of it is visible'}\n`);
  if (pods.length > 0) write(`Pods:        ${pods.join('\n             ')}\n`);
  return 0;
}
